package kafkadoor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
	"bagtrail/parser"
)

// RejectReplay judges the messages of the rejects topic again.
type RejectReplay struct {
	// Acceptor decides on the messages. It should append accepted messages to the raw topic, so that
	// the raw topic alone rebuilds every answer, and it should have no Rejects.
	Acceptor *ingestor.Acceptor
	// From says where to begin in the rejects topic. Settled must know the decisions that were made
	// since then.
	From kafka.Start
	// Retention is how long a decision is kept after the received time of its message. From.Time,
	// if it is set, is that long ago.
	Retention time.Duration
	// Settled returns the origins of the messages on which somebody has decided already. The replay
	// leaves these messages out.
	Settled func(ctx context.Context, origins []string) (map[string]bool, error)
	// May reports whether the API key with this name may post a message now.
	May func(sender string, m *parser.Message) bool
	// Decided is called for every message, by one goroutine at a time.
	Decided func(origin string, outcome ingestor.Outcome)
}

// forgotten reports whether a decision on a message may have been made and removed since: when the
// message was written to the topic, its decision would have been kept; now it is too old for that.
func (r *RejectReplay) forgotten(received, written time.Time) bool {
	return received.Before(r.From.Time) && written.Sub(received) < r.Retention
}

// ReplayRejects judges the messages on the rejects topic, from replay.From up to the present end of
// the topic, once for each origin. Messages keep their received times, and get no position in the
// log. A second replay changes nothing: messages that the first one accepted are Duplicate then.
func (d *Door) ReplayRejects(ctx context.Context, replay RejectReplay) error {
	seen := make(map[string]bool) // origins
	err := d.readRejects(ctx, replay.From, func(ctx context.Context, records []kafka.Record) error {
		var envelopes []ingestor.Envelope
		var origins []string
		for i := range records {
			env := rejectEnvelope(d.conf.Topics.Rejects, &records[i])
			if seen[env.Origin] || replay.forgotten(env.Received, records[i].Time) {
				continue
			}
			seen[env.Origin] = true
			if env.Sender != "" {
				env.Authorise = func(m *parser.Message) bool { return replay.May(env.Sender, m) }
			}
			envelopes, origins = append(envelopes, env), append(origins, env.Origin)
		}
		settled, err := replay.Settled(ctx, origins)
		if err != nil {
			return err
		}
		envelopes = slices.DeleteFunc(envelopes, func(env ingestor.Envelope) bool { return settled[env.Origin] })
		for len(envelopes) > 0 {
			outcomes, err := replay.Acceptor.AcceptBatch(ctx, envelopes)
			if err != nil {
				return err
			}
			for i, outcome := range outcomes {
				replay.Decided(envelopes[i].Origin, outcome)
			}
			envelopes = envelopes[len(outcomes):]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replay rejects: %w", err)
	}
	return nil
}

// readRejects brings the records of the rejects topic to take, from start up to the present end of
// the topic. Partitions are read at the same time, but take is called by one goroutine at a time.
func (d *Door) readRejects(ctx context.Context, start kafka.Start, take func(context.Context, []kafka.Record) error) error {
	topic := d.conf.Topics.Rejects
	spans, err := d.client.Spans(ctx, topic, start)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return d.client.ReadSpans(ctx, topic, spans, func(ctx context.Context, _ int, records []kafka.Record, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		return take(ctx, records)
	})
}

// RestoreRejects writes the rejections of the rejects topic, from start on, to rejects. Each has
// the faults that it had when it was rejected, even if the message would be accepted now.
// RestoreRejects returns the number of records that it has read.
//
// If a record names no door, because another program has written it, it gets door.
func (d *Door) RestoreRejects(ctx context.Context, start kafka.Start, door string, judge *ingestor.Judge, rejects ingestor.Rejects) (n int, err error) {
	err = d.readRejects(ctx, start, func(ctx context.Context, records []kafka.Record) error {
		rejections := make([]ingestor.Rejection, len(records))
		for i := range records {
			env := rejectEnvelope(d.conf.Topics.Rejects, &records[i])
			env.Door = cmp.Or(env.Door, door)
			o := judge.Judge(env) // for the airport
			var faults []ingestor.Diagnostic
			_ = json.Unmarshal([]byte(records[i].Header(headerDiagnostics)), &faults) // another program may have written the record
			if len(faults) == 0 {
				faults = o.Errors
			}
			rejections[i] = ingestor.Rejection{Envelope: env, Errors: faults, Airport: o.Airport}
		}
		n += len(rejections)
		return rejects.Reject(ctx, rejections)
	})
	if err != nil {
		return n, fmt.Errorf("restore rejects: %w", err)
	}
	return n, nil
}
