package kafkadoor_test

import (
	"context"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/ingestor"
)

// freezer makes a broker stand still like a stopped process while it is locked: connections stay, and
// nothing is read or answered.
type freezer struct{ sync.RWMutex }

func (f *freezer) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	return frozenListener{l, f}, err
}

type frozenListener struct {
	net.Listener
	f *freezer
}

func (l frozenListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return frozenConn{c, l.f}, err
}

type frozenConn struct {
	net.Conn
	f *freezer
}

func (c frozenConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.f.RLock()
	defer c.f.RUnlock()
	return n, err
}

func (c frozenConn) Write(p []byte) (int, error) {
	c.f.RLock()
	defer c.f.RUnlock()
	return c.Conn.Write(p)
}

func TestAllGoesOnByItselfAfterTheBrokerStoodStill(t *testing.T) {
	f := new(freezer)
	w := newWorld(t, 2, kfake.ListenFn(f.listen), kfake.GroupMinSessionTimeout(time.Millisecond))
	w.kafka.Timing.Session = 500 * time.Millisecond // so long the member that was cut off is waited for
	w.kafka.Timing.Request = 100 * time.Millisecond
	w.open()
	consumer := w.door.NewConsumer(w.acceptor(), w.metrics)
	w.run(consumer)
	good, bad := w.mixed(2)
	w.waitCommitted(int64(good + bad))

	f.Lock()
	w.eventually("the consumer has noticed", func() bool { return w.metrics.retried("join") > 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := w.door.Append(ctx, []ingestor.Record{{Raw: message(0), Received: received}}); err == nil {
		t.Error("a broker that stands still has taken a record")
	}
	if err := w.door.Ping(ctx); err == nil {
		t.Error("a broker that stands still answers")
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v to find out", took)
	}
	f.Unlock()

	w.produce(0, records(good, 10)...)
	w.eventually("all is read", func() bool { return w.index.plates() == good+10 })
	if got := len(w.rejectsByOrigin()); got != bad {
		t.Errorf("%d rejects, want %d", got, bad)
	}
}

func TestConsumersThatComeAndGoLoseNothingAndNoOffsetMovesBack(t *testing.T) {
	const partitions, rounds, atOnce = 6, 8, 30
	w := newWorld(t, partitions)
	w.kafka.Timing.Drain = 2 * time.Second
	w.open()
	var stops []func()
	last := make(map[int]int64)
	check := func() {
		now := w.committed()
		for p, offset := range now {
			offset = max(0, offset) // -1 where there is none yet
			now[p] = offset
			if offset < last[p] {
				t.Errorf("the committed offset of partition %d went from %d to %d", p, last[p], offset)
			}
		}
		maps.Copy(last, now)
	}
	produced := 0
	for round := range rounds {
		stops = append(stops, w.consume())
		for p := range partitions {
			w.produce(p, records(produced, atOnce)...)
			produced += atOnce
			check()
		}
		if round%2 == 1 {
			stops[0]()
			stops = stops[1:]
			check()
		}
	}
	w.eventually("all is committed", func() bool {
		check()
		sum := int64(0)
		for _, offset := range last {
			sum += offset
		}
		return sum == int64(produced)
	})
	w.wantFiled(produced)
	t.Logf("%d messages, %d of them came again", produced, w.metrics.duplicate.Load())
}
