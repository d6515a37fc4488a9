package rejectstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/rejectstore"
)

// accepting accepts every message.
type accepting struct{}

func (accepting) JudgeBatch(envelopes []ingestor.Envelope) *ingestor.Batch {
	return &ingestor.Batch{Envelopes: envelopes, Outcomes: slices.Repeat([]ingestor.Outcome{{Verdict: ingestor.Accepted}}, len(envelopes))}
}

func (accepting) Apply(context.Context, *ingestor.Batch) error { return nil }

// A log that was made anew has other messages with the same origins.
func TestARebuildLeavesOutWhatWasRejectedAndNothingElse(t *testing.T) {
	w := newWorld(t)
	old := rejection("bim.raw/0/7", noon.AddDate(0, -1, 0), "kafka", "ZRH", "", "SVCPRB015") // it is not kept any more
	r := rejectstore.NewRestore(accepting{}, w.Store)
	if err := r.Reject(t.Context(), []ingestor.Rejection{old}); err != nil {
		t.Fatal(err)
	}
	log := slices.Repeat([]ingestor.Envelope{{Origin: old.Origin, Raw: old.Raw, Received: old.Received}}, 4)
	log[1].Origin, log[2].Raw, log[3].Received = "bim.raw/0/8", "another text", old.Received.Add(time.Millisecond)
	for i, o := range r.JudgeBatch(log).Outcomes {
		if (o.Verdict == ingestor.Rejected) != (i == 0) {
			t.Errorf("%+v is %v", log[i], o.Verdict)
		}
	}
}
