package changefeed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
)

// dying is what marks at a door that is killed: before it has marked anything, or after that.
type dying struct {
	ingestor.Marks
	after bool
}

var errKilled = errors.New("killed")

func (d dying) Mark(ctx context.Context, b *ingestor.Batch) error {
	if d.after {
		if err := d.Marks.Mark(ctx, b); err != nil {
			return err
		}
	}
	return errKilled
}

// marked returns how many marks there are.
func (w *world) marked() int64 { return w.records("bag.dirty") }

// records returns how many records a topic has.
func (w *world) records(topic string) (n int64) {
	w.t.Helper()
	spans, err := w.kafka.Bounds(w.t.Context(), topic)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range spans {
		n += s.To
	}
	return n
}

// The first two points of the table in docs/adr/0016: the door is killed before it commits.
func TestADoorThatIsKilledIsFollowedByOneThatMarks(t *testing.T) {
	for _, tc := range []struct {
		after string
		told  []string // when it is killed
		marks int64    // in the end
	}{
		{"filed", nil, 1},
		{"marked", []string{"0724100001 ABC123:1"}, 2},
	} {
		t.Run(tc.after, func(t *testing.T) {
			w := newWorld(t)
			r := w.reader(key("*", "*"), changefeed.Filter{})
			record := ingestor.Envelope{Raw: strings.ReplaceAll(bsm("0724100001", "LX100", "MUELLER", "ABC123"), " ", "\r\n"), Received: w.received}
			conf := w.door
			conf.Marks = dying{conf.Marks, tc.after == "marked"}
			if _, err := ingestor.NewAcceptor(conf).AcceptBatch(t.Context(), []ingestor.Envelope{record}); !errors.Is(err, errKilled) {
				t.Fatalf("error %v", err)
			}
			if found, err := w.feed.Trails.TracePlates(t.Context(), []bag.Plate{"0724100001"}); err != nil || len(found) != 1 {
				t.Errorf("%d bags are found (%v), want one", len(found), err)
			}
			published := func(n int) {
				t.Helper()
				w.eventually("the topic has what is told", func() bool { return w.records("bag.changes") == int64(n) })
			}
			w.settle()
			r.want("when it is killed", tc.told...)
			published(len(tc.told))

			outcomes, err := ingestor.NewAcceptor(w.door).AcceptBatch(t.Context(), []ingestor.Envelope{record}) // the record comes again
			if err != nil || outcomes[0].Verdict != ingestor.Duplicate {
				t.Fatalf("%+v (%v)", outcomes, err)
			}
			w.settle()
			if n := w.marked(); n != tc.marks {
				t.Errorf("%d marks, want %d", n, tc.marks)
			}
			if tc.told == nil {
				r.want("in the end", "0724100001 ABC123:1")
			} else {
				r.want("in the end") // the owner has told it
			}
			published(1)
		})
	}
}
