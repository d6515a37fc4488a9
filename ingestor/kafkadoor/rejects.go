package kafkadoor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
)

// Judge is the pipeline, as ReplayRejects needs it.
type Judge interface {
	Judge(env ingestor.Envelope) ingestor.Outcome
	Settle(ctx context.Context, outcomes []ingestor.Outcome) error
}

// Retried is a rejected message that was judged again.
type Retried struct {
	Origin   string
	Received time.Time
	Outcome  ingestor.Outcome
}

// ReplayRejects judges the messages of the rejects topic again, each origin once, up to the end that the topic has
// now. What is accepted now is appended to the raw topic, so that the log alone goes on to rebuild every answer, and
// then filed; both with the received time of the rejected message, and without a position. To do this twice changes
// nothing: the copy in the log is the same message, and its outcome is Duplicate.
//
// report is called for every message, by one goroutine at a time.
func (d *Door) ReplayRejects(ctx context.Context, pipeline Judge, report func(Retried)) error {
	r := &rejectReplay{Door: d, pipeline: pipeline, report: report, seen: make(map[string]struct{})}
	spans, err := d.client.Spans(ctx, d.conf.Topics.Rejects, kafka.Start{})
	if err == nil {
		err = d.client.ReadSpans(ctx, d.conf.Topics.Rejects, spans, func(ctx context.Context, _ int, records []kafka.Record, _ int64) error {
			return r.retry(ctx, r.fresh(records))
		})
	}
	if err != nil {
		return fmt.Errorf("replay rejects: %w", err)
	}
	return nil
}

type rejectReplay struct {
	*Door
	pipeline Judge
	report   func(Retried)

	mu   sync.Mutex
	seen map[string]struct{} // origins
}

// fresh returns the envelopes of messages whose origin has not been seen.
func (r *rejectReplay) fresh(records []kafka.Record) []ingestor.Envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	var envelopes []ingestor.Envelope
	for i := range records {
		env := envelope(&records[i])
		env.Position = bag.Position{} // in another topic
		env.Sender = records[i].Header(headerSender)
		env.Origin = records[i].Header(headerOrigin)
		if env.Origin == "" { // written by somebody else
			env.Origin = origin(r.conf.Topics.Rejects, &records[i])
		}
		if _, again := r.seen[env.Origin]; !again {
			r.seen[env.Origin] = struct{}{}
			envelopes = append(envelopes, env)
		}
	}
	return envelopes
}

// retry judges envelopes, and makes what is accepted take effect before anything is reported.
func (r *rejectReplay) retry(ctx context.Context, envelopes []ingestor.Envelope) error {
	outcomes := make([]ingestor.Outcome, len(envelopes))
	var records []ingestor.Record
	for i, env := range envelopes {
		outcomes[i] = r.pipeline.Judge(env)
		if outcomes[i].Verdict != ingestor.Rejected {
			record := outcomes[i].Record()
			record.Replayed = true
			records = append(records, record)
		}
	}
	if len(records) > 0 {
		if err := r.Append(ctx, records); err != nil {
			return err
		}
		if err := r.pipeline.Settle(ctx, outcomes); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, env := range envelopes {
		r.report(Retried{Origin: env.Origin, Received: env.Received, Outcome: outcomes[i]})
	}
	return nil
}
