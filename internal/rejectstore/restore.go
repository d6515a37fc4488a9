package rejectstore

import (
	"context"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
)

// Restore restores the state Resubmitted of rejects after a loss of Redis. It wraps the acceptor of
// a rebuild: for each message of the log that has the id of a reject, it marks that reject as
// Resubmitted. Dismissals are not in the log, and are not restored. It implements
// kafkadoor.Acceptor.
type Restore struct {
	kafkadoor.Acceptor
	Store *Store
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
