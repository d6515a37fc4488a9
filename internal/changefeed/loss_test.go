package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/kafka"
)

// told returns up to what sequence the first partition is told, and the epoch.
func (w *world) told() (int64, int64) {
	w.t.Helper()
	e, progress, err := w.index.State(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return progress[0].Told, e.Begun
}

// loseAfter takes a plate of the first partition, and all that was told after a sequence, from Redis,
// as a failover to a replica that lagged does.
func (w *world) loseAfter(told, epoch int64, plate string) {
	base := w.redis.Prefix() + "d:{" + strconv.FormatInt(epoch, 10) + ".0}:"
	c, ctx := w.redis.WriteClient(), context.Background()
	err := errors.Join(
		c.ZAdd(ctx, base+"at", goredis.Z{Score: float64(told), Member: "told"}).Err(),
		c.ZRem(ctx, base+"all", plate).Err(), c.ZRem(ctx, base+"a:LX", plate).Err())
	if err != nil {
		w.t.Error(err)
	}
}

// publishedOf returns the first record of changes of a plate, once it is published.
func (w *world) publishedOf(plate string) (record kafka.Record) {
	w.t.Helper()
	in := w.kafka.Reader("bag.changes", 0, 0)
	w.eventually("the change is published", func() bool {
		batch, err := in.Fetch(w.t.Context(), time.Second)
		if err != nil {
			w.t.Fatal(err)
		}
		at := slices.IndexFunc(batch.Records, func(r kafka.Record) bool { return string(r.Key) == plate })
		if at >= 0 {
			r := batch.Records[at]
			record = kafka.Record{Key: r.Key, Value: r.Value, Headers: r.Headers}
		}
		return at >= 0
	})
	return record
}

// publishOnceMore publishes a record once more.
func (w *world) publishOnceMore(r kafka.Record) {
	w.t.Helper()
	if err := w.kafka.Produce(w.t.Context(), "bag.changes", []kafka.Record{r}); err != nil {
		w.t.Fatal(err)
	}
}

// Redis fails over, and has lost two changes that were told. A stream begins, and reads the index. Then
// an owner that stood still publishes the second one.
func TestAStreamThatBeginsAfterALossMissesNothing(t *testing.T) {
	w := newWorld(t)
	plates := platesOfOnePartition(3)
	w.send(bsm(plates[0], "LX100", "MUELLER", "ABC123"))
	r := w.reader(key("*", "*"), changefeed.Filter{})
	before, epoch := w.told()
	w.send(bsm(plates[1], "LX100", "MUELLER", "ABC123"), bsm(plates[2], "LX100", "MUELLER", "ABC123"))
	record := w.publishedOf(plates[2])
	w.loseAfter(before, epoch, plates[1])
	w.loseAfter(before, epoch, plates[2])
	l := r.stream()
	w.publishOnceMore(record)
	seen := map[string]bool{}
	for !seen[plates[1]] {
		if e := l.next(); e.name == changefeed.EventChange {
			seen[l.change(e).Plate] = true
		}
	}
}

// An owner that stood still publishes a change again that its successor has told since, and another
// one of the plate with it. A stream that takes all three at once tells the newest state.
func TestAChangeThatIsPublishedLateHidesNoNewerOne(t *testing.T) {
	w := newWorld(t)
	plates := platesOfOnePartition(2)
	fast, slow := w.reader(key("*", "*"), changefeed.Filter{}).stream(), w.reader(key("*", "*"), changefeed.Filter{}).listen(0)
	slow.next()
	w.send(bsm(plates[0], "LX100", "MUELLER", "ABC123")) // slow hangs with it
	fast.change(fast.next())
	w.eventually("the stream hangs", func() bool { return slow.sends.Load() == 2 })
	for i := range 2 {
		w.send(bsm(plates[1], fmt.Sprintf("LX%d00", i+1), "MUELLER", "ABC123"))
		fast.change(fast.next())
	}
	w.publishOnceMore(w.publishedOf(plates[1]))
	w.send(bsm(plates[0], "LX200", "MUELLER", "ABC123"))
	fast.change(fast.next()) // so everything waits for slow, too
	events := 0
	for events < 2 {
		e := slow.next()
		if e.name != changefeed.EventChange {
			continue
		}
		if c := slow.change(e); c.Plate == plates[1] {
			events = len(c.Bags[0].Events)
		}
	}
}
