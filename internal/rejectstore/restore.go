package rejectstore

import (
	"context"
	"hash/maphash"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
)

// Restore restores rejects after a loss of Redis. It first takes the rejections of the rejects topic,
// and stores them. Then it is the acceptor of a rebuild. What was rejected stays rejected, even if it
// would be accepted by now: somebody may have dismissed or resubmitted it. For each message of the log
// that has the id of a reject, Restore marks that reject as Resubmitted. Dismissals are not in the
// log, and are not restored. It implements ingestor.Rejects and kafkadoor.Acceptor.
type Restore struct {
	kafkadoor.Acceptor
	store    *Store
	seed     maphash.Seed
	rejected map[uint64]bool // by digest
}

// NewRestore returns a Restore that brings the messages of the log to an acceptor.
func NewRestore(acceptor kafkadoor.Acceptor, store *Store) *Restore {
	return &Restore{acceptor, store, maphash.MakeSeed(), make(map[uint64]bool)}
}

// digest returns a digest of the data that identify a message of the log. The origin alone does not
// identify it: a log that was made anew has other messages with the same origins.
func (r *Restore) digest(env *ingestor.Envelope) uint64 {
	return maphash.Comparable(r.seed, struct {
		origin, raw string
		received    int64
	}{env.Origin, env.Raw, env.Received.UnixMilli()})
}

// Reject implements ingestor.Rejects.
func (r *Restore) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	for i := range rejections {
		r.rejected[r.digest(&rejections[i].Envelope)] = true
	}
	return r.store.Reject(ctx, rejections)
}

// JudgeBatch implements kafkadoor.Acceptor.
func (r *Restore) JudgeBatch(envelopes []ingestor.Envelope) *ingestor.Batch {
	b := r.Acceptor.JudgeBatch(envelopes)
	for i := range b.Outcomes {
		if r.rejected[r.digest(&b.Envelopes[i])] {
			b.Outcomes[i] = ingestor.Outcome{Verdict: ingestor.Rejected}
		}
	}
	return b
}

// Apply implements kafkadoor.Acceptor.
func (r *Restore) Apply(ctx context.Context, b *ingestor.Batch) error {
	if err := r.Acceptor.Apply(ctx, b); err != nil {
		return err
	}
	for i := range b.Outcomes {
		env, verdict := &b.Envelopes[i], b.Outcomes[i].Verdict
		if env.Reject == "" || verdict != ingestor.Accepted && verdict != ingestor.Duplicate {
			continue
		}
		found, err := r.store.Get(ctx, true, env.Reject)
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
		if _, _, err := r.store.Decide(ctx, env.Reject, "", Resubmitted, step); err != nil {
			return err
		}
	}
	return nil
}
