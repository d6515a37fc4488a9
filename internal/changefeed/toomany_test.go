package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/budget"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/flightref"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
)

// crammed is an index behind a Redis that sends at most so many messages within the time that a read may take
// (0.8 s, see bagstore.Reader). The owners of the world read without it.
type crammed struct {
	trail.Index
	most int
}

func (s crammed) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	lengths, err := s.Lengths(ctx, w.PlateMessages)
	if err != nil {
		return trail.Found{}, err
	}
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if sum > s.most {
		return trail.Found{}, redis.Unavailable("bagstore: read", errors.New("i/o timeout"))
	}
	return s.Index.Read(ctx, w)
}

// A sender repeats a message about some bags without end. Each of their plates can be read in time, ten of
// them together cannot. Whoever follows a cursor must get past them, as the owner does.
func TestPlatesThatCannotBeReadTogetherHoldNoReaderUp(t *testing.T) {
	const plates, messages = 10, 60
	w := newWorld(t)
	index, ok := w.door.Index.(trail.Index)
	if !ok {
		t.Fatal("no index")
	}
	r := w.reader(key("*", "*"), changefeed.Filter{})
	w.received = w.received.Add(time.Minute)
	w.now.Store(w.received.Unix())
	for i := range plates {
		var texts []string
		for j := range messages {
			texts = append(texts, bsm(fmt.Sprintf("07241%05d", i), fmt.Sprintf("LX%d", 100+j), "MUELLER", "ABC123"))
		}
		w.file(w.received, texts...)
	}
	w.settle()
	last := "0724999999"
	w.send(bsm(last, "LX100", "MEIER", "GHI789"))            // a usual bag after them
	for _, most := range []int{3 * messages, messages - 1} { // a plate alone can be read in time, or with more time
		w.readFrom(crammed{index, most})
		for i := range plates {
			if _, err := w.feed.Trails.TracePlates(t.Context(), []bag.Plate{bag.Plate(fmt.Sprintf("07241%05d", i))}); (err == nil) != (most > messages) {
				t.Fatal("a plate alone:", err)
			}
		}
		told, cursor := map[string]bool{}, r.cursor
		var err error
		for range 10 { // requests, or turns of a webhook
			var b changefeed.Batch
			if b, err = w.feed.Next(t.Context(), r.asker, cursor, r.limits); err != nil {
				continue
			}
			for _, c := range b.Changes {
				told[string(c.Plate)] = true
			}
			cursor = b.Cursor
		}
		if len(told) != plates+1 || !told[last] {
			t.Errorf("%d of %d plates are told, the usual one %t; the last error: %v", len(told), plates+1, told[last], err)
		}
	}
}

// readFrom makes the feed read from another index, without a cache.
func (w *world) readFrom(index trail.Index) {
	library := airport.New()
	w.feed.Trails = trail.New(index, enricher.New(library), trail.Settings{
		Window: 10 * time.Minute, Airports: library, Departed: flightref.None().Departed, Now: w.feed.Clock,
	}).Uncached() // as for plates with too many messages to be cached
}

// large is an index each of whose reads needs so much memory.
type large struct {
	trail.Index
	bytes int64
}

func (s large) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	if err := budget.Need(ctx, s.bytes); err != nil {
		return trail.Found{}, err
	}
	return s.Index.Read(ctx, w)
}

// A batch that is folded a few plates at a time holds the memory of no more than these.
func TestABatchHoldsTheMemoryOfOneFold(t *testing.T) {
	const plates, all = 40, 1 << 20
	w := newWorld(t)
	index, ok := w.door.Index.(trail.Index)
	if !ok {
		t.Fatal("no index")
	}
	r := w.reader(key("*", "*"), changefeed.Filter{})
	var texts []string
	for i := range plates {
		texts = append(texts, bsm(fmt.Sprintf("07241%05d", i), "LX100", "MUELLER", "ABC123"))
	}
	w.send(texts...)
	w.readFrom(large{index, all})
	memory := budget.New(all, nil)
	ctx, question := memory.Ask(t.Context())
	told := 0
	_, _, err := w.feed.Each(ctx, r.asker, r.cursor, r.limits, func(changefeed.Change) error {
		if told++; !memory.Try(all) {
			return fmt.Errorf("change %d: the memory of its fold is held", told)
		}
		memory.Return(all)
		return nil
	})
	if err != nil || told != plates {
		t.Errorf("%d of %d changes are told: %v", told, plates, err)
	}
	question.End()
}
