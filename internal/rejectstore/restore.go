package rejectstore

import (
	"context"

	"bagtrail/ingestor"
)

// Restore decides again on rejects that a Redis had lost and that are back, while the messages of
// the log are filed again: a reject from which a message of the log was made is Resubmitted. What
// else was done to rejects is not in the log. It implements kafkadoor.Acceptor.
type Restore struct {
	Acceptor interface {
		JudgeBatch(envelopes []ingestor.Envelope) *ingestor.Batch
		Apply(ctx context.Context, batch *ingestor.Batch) error
	}
	Store *Store
}

// JudgeBatch implements kafkadoor.Acceptor.
func (r Restore) JudgeBatch(envelopes []ingestor.Envelope) *ingestor.Batch {
	return r.Acceptor.JudgeBatch(envelopes)
}

// Apply implements kafkadoor.Acceptor.
func (r Restore) Apply(ctx context.Context, b *ingestor.Batch) error {
	if err := r.Acceptor.Apply(ctx, b); err != nil {
		return err
	}
	for i := range b.Outcomes {
		env, verdict := &b.Envelopes[i], b.Outcomes[i].Verdict
		if env.Reject == "" || verdict != ingestor.Accepted && verdict != ingestor.Duplicate {
			continue
		}
		found, err := r.Store.Get(ctx, true, env.Reject)
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].State != Open {
			continue
		}
		step := Step{At: env.Received, Action: "resubmit", Key: env.Sender, Verdict: ingestor.Accepted.String()}
		text := found[0].Text
		if message, ok := ingestor.DecodeDocument(text); found[0].JSON && ok {
			text = message
		}
		if text != env.Raw { // it was mended
			step.Text = env.Raw
		}
		if _, _, err := r.Store.Decide(ctx, env.Reject, "", Resubmitted, step); err != nil {
			return err
		}
	}
	return nil
}
