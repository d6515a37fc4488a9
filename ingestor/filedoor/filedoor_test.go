package filedoor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/filedoor"
	"bagtrail/internal/messagefile"
)

// acceptor accepts at most so many envelopes at once, and fails after so many.
type acceptor struct {
	most, fail int
	accepted   []ingestor.Envelope
}

var errAway = errors.New("the index is away")

func (a *acceptor) AcceptBatch(_ context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error) {
	if len(a.accepted) >= a.fail {
		return nil, errAway
	}
	n := min(len(envelopes), a.most)
	a.accepted = append(a.accepted, envelopes[:n]...)
	outcomes := make([]ingestor.Outcome, n)
	for i, env := range envelopes[:n] {
		outcomes[i].Identifier = env.Raw
	}
	return outcomes, nil
}

// received has a precision and a zone that messages do not keep.
var received = time.Date(2026, 3, 12, 7, 0, 0, 5e6+1, time.FixedZone("CET", 3600))

var errUnreadable = errors.New("no regular file")

// run takes in n messages, with an unreadable file in between, and returns how many were decided on.
func run(t *testing.T, a *acceptor, n int) (decided int, err error) {
	err = filedoor.Door{
		AcceptBatch: a.AcceptBatch, Received: received,
		Messages: func(yield func(messagefile.Message, error) bool) {
			for i := range n {
				if i == n/2 && !yield(messagefile.Message{}, errUnreadable) || !yield(messagefile.Message{File: "a", Number: i + 1, Text: string(rune(i))}, nil) {
					return
				}
			}
		},
		Decided: func(messages []messagefile.Message, outcomes []ingestor.Outcome) {
			for i, m := range messages {
				if outcomes[i].Identifier != m.Text || m.Number != decided+i+1 {
					t.Errorf("message %d has the outcome of %q", m.Number, outcomes[i].Identifier)
				}
			}
			decided += len(messages)
		},
	}.Run(t.Context())
	return decided, err
}

func TestMessagesOfFilesAreReplayedAMillisecondApart(t *testing.T) {
	a := &acceptor{most: 700, fail: 5000}
	decided, err := run(t, a, 4500)
	if !errors.Is(err, errUnreadable) || decided != 4500 {
		t.Fatalf("decided on %d, error %v", decided, err)
	}
	for i, env := range a.accepted {
		if want := received.UTC().Add(time.Duration(i)*time.Millisecond - 1); env.Received != want || !env.NoPosition || env.Raw != string(rune(i)) {
			t.Fatalf("envelope %d: %+v, want received %v", i, env, want)
		}
	}
	if want := []string{"file/a/d202ef8d/1773295200005/1", "file/a/a505df1b/1773295200006/2"}; !slices.Equal([]string{a.accepted[0].Origin, a.accepted[1].Origin}, want) {
		t.Errorf("origins %v, %v", a.accepted[0].Origin, a.accepted[1].Origin)
	}
}

func TestABatchOfLongMessagesIsBounded(t *testing.T) {
	a := &longest{acceptor: acceptor{most: 5000, fail: 5000}}
	text := strings.Repeat("x", 64<<10)
	err := filedoor.Door{
		AcceptBatch: a.AcceptBatch, Received: received, Decided: func([]messagefile.Message, []ingestor.Outcome) {},
		Messages: func(yield func(messagefile.Message, error) bool) {
			for i := 0; i < 40 && yield(messagefile.Message{File: "a", Number: i + 1, Text: text}, nil); i++ {
			}
		},
	}.Run(t.Context())
	if err != nil || len(a.accepted) != 40 || a.longest != 16 {
		t.Errorf("%d messages of 64 KiB, at most %d at once, error %v", len(a.accepted), a.longest, err)
	}
}

// longest is an acceptor that keeps how many envelopes it got at once.
type longest struct {
	acceptor
	longest int
}

func (a *longest) AcceptBatch(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error) {
	a.longest = max(a.longest, len(envelopes))
	return a.acceptor.AcceptBatch(ctx, envelopes)
}

func TestABatchThatFailsStopsTheDoor(t *testing.T) {
	for fail, unreadable := range map[int]bool{1400: false, 2700: true, 4000: true} { // the unreadable file is in the second batch of three
		if decided, err := run(t, &acceptor{most: 700, fail: fail}, 4500); !errors.Is(err, errAway) || errors.Is(err, errUnreadable) != unreadable || decided != fail {
			t.Errorf("decided on %d of %d, error %v", decided, fail, err)
		}
	}
}

func TestAStopBlamesNoServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := filedoor.Door{
		AcceptBatch: func(context.Context, []ingestor.Envelope) ([]ingestor.Outcome, error) {
			cancel()
			return nil, errAway
		},
		Messages: func(yield func(messagefile.Message, error) bool) {
			yield(messagefile.Message{File: "a", Number: 1, Text: "x"}, nil)
		},
	}.Run(ctx)
	if !errors.Is(err, context.Canceled) || errors.Is(err, errAway) {
		t.Errorf("error %v", err)
	}
}

// Messages that other doors receive meanwhile would come before those of the file.
func TestNoMessageOfAFileIsReceivedInTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, taken := time.Now(), 0
		d := filedoor.Door{
			Received: begun, Decided: func([]messagefile.Message, []ingestor.Outcome) {},
			AcceptBatch: func(_ context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error) {
				taken += len(envelopes)
				if last := envelopes[len(envelopes)-1].Received; last.After(time.Now()) {
					t.Errorf("received at %v, accepted at %v", last, time.Now())
				}
				return make([]ingestor.Outcome, len(envelopes)), nil
			},
			Messages: func(yield func(messagefile.Message, error) bool) {
				for i := 0; i < 5000 && yield(messagefile.Message{File: "a", Number: i + 1, Text: "x"}, nil); i++ {
				}
			},
		}
		for _, want := range []time.Duration{4999 * time.Millisecond, 0} { // the second time, the received times are past
			start := time.Now()
			if err := d.Run(t.Context()); err != nil || time.Since(start) != want {
				t.Errorf("error %v after %v, want none after %v", err, time.Since(start), want)
			}
		}
		if taken != 10000 {
			t.Errorf("%d messages were accepted", taken)
		}
	})
}
