package kafkadoor

import (
	"context"
	"fmt"
	"sync"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
	"bagtrail/parser"
)

// RejectReplay judges the messages of the rejects topic again.
type RejectReplay struct {
	// Acceptor decides. If it files accepted messages, it should append them to the raw topic, so that
	// this alone rebuilds every answer. It must not write rejected ones to the rejects topic.
	Acceptor interface {
		// AcceptBatch decides on the first of the envelopes, at least one: on as many as it returns
		// outcomes.
		AcceptBatch(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error)
	}
	// From is where to start; by default at the beginning of the topic.
	From kafka.Start
	// May reports whether the API key with this name may post a message now; nil: every key may.
	May func(sender string, m *parser.Message) bool
	// Decided is called for every message, by one goroutine at a time; nil: nobody looks.
	Decided func(origin string, outcome ingestor.Outcome)
}

// ReplayRejects judges each origin on the rejects topic once, up to the end that the topic has now.
// Messages keep their received times, and get no position in the log. To do this twice changes
// nothing: messages that were accepted the first time are Duplicate the second time.
func (d *Door) ReplayRejects(ctx context.Context, replay RejectReplay) error {
	r := &rejectReader{Door: d, replay: replay, seen: make(map[string]struct{})}
	spans, err := d.client.Spans(ctx, d.conf.Topics.Rejects, replay.From)
	if err == nil {
		err = d.client.ReadSpans(ctx, d.conf.Topics.Rejects, spans, func(ctx context.Context, _ int, records []kafka.Record, _ int64) error {
			return r.accept(ctx, r.unseen(records))
		})
	}
	if err != nil {
		return fmt.Errorf("replay rejects: %w", err)
	}
	return nil
}

type rejectReader struct {
	*Door
	replay RejectReplay

	mu   sync.Mutex
	seen map[string]struct{} // origins
}

// unseen returns the envelopes of messages whose origin has not been seen.
func (r *rejectReader) unseen(records []kafka.Record) []ingestor.Envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	var envelopes []ingestor.Envelope
	for i := range records {
		env := rejected(r.conf.Topics.Rejects, &records[i])
		if _, again := r.seen[env.Origin]; again {
			continue
		}
		r.seen[env.Origin] = struct{}{}
		if env.Sender != "" && r.replay.May != nil {
			env.Authorise = func(m *parser.Message) bool { return r.replay.May(env.Sender, m) }
		}
		envelopes = append(envelopes, env)
	}
	return envelopes
}

func (r *rejectReader) accept(ctx context.Context, envelopes []ingestor.Envelope) error {
	for len(envelopes) > 0 {
		outcomes, err := r.replay.Acceptor.AcceptBatch(ctx, envelopes)
		if err != nil {
			return err
		}
		r.decided(envelopes, outcomes)
		envelopes = envelopes[len(outcomes):]
	}
	return nil
}

func (r *rejectReader) decided(envelopes []ingestor.Envelope, outcomes []ingestor.Outcome) {
	if r.replay.Decided == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, outcome := range outcomes {
		r.replay.Decided(envelopes[i].Origin, outcome)
	}
}
