package kafka

import (
	"context"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"

	"bagtrail/internal/pause"
)

// While records come soon after each other, a request waits until fetchSoon after the last one, so
// that a steady trickle does not become one request and one commit for each record. It does not wait
// if more than backlog records of a partition were there: these are to be read at once.
const (
	fetchSoon = 20 * time.Millisecond
	backlog   = 100
)

// poller fetches from several partitions of a topic, with one request at a time to each broker that
// leads some of them. A request costs the broker and this process as much as dozens of records.
type poller struct {
	client  *Client
	topic   string
	mu      sync.Mutex
	leaders map[kafkago.Broker]*leader // partitions without a leader are under the zero Broker
}

// leader is a broker, and the readers of partitions that it leads.
type leader struct {
	poller  *poller
	mu      sync.Mutex
	readers int       // that were given this leader, and are not closed
	waiting []*waiter // of these, those that are in Fetch
	running bool      // there is a goroutine that sends requests
	came    time.Time // when records came last
	busy    bool      // they came soon after others, and there were few
}

// waiter is a reader in Fetch.
type waiter struct {
	reader *Reader
	until  time.Time // if nothing has come by then, it is answered
	answer chan response
}

// response is what a broker says of one partition.
type response struct {
	partition *fetch.ResponsePartition
	err       error
}

func (c *Client) newPoller(topic string) *poller {
	return &poller{client: c, topic: topic, leaders: make(map[kafkago.Broker]*leader)}
}

// Reader returns a reader of a partition that begins at an offset. It must be closed.
func (p *poller) Reader(partition int, offset int64) *Reader {
	r := p.client.Reader(p.topic, partition, offset)
	r.poller = p
	return r
}

// leaderOf returns the leader of a reader.
func (p *poller) leaderOf(ctx context.Context, r *Reader) (*leader, error) {
	if r.leader != nil {
		return r.leader, nil
	}
	topic, err := p.client.topic(ctx, p.topic)
	if err != nil {
		return nil, err
	}
	var broker kafkago.Broker
	for _, partition := range topic.Partitions {
		if partition.ID == r.partition {
			broker = partition.Leader
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.leaders[broker]
	if l == nil {
		l = &leader{poller: p}
		p.leaders[broker] = l
	}
	r.leader = l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers++
	return l, nil
}

// fetch waits for the next records of a reader. The answer is empty if nothing comes in time.
func (p *poller) fetch(ctx context.Context, r *Reader, wait time.Duration) (*fetch.ResponsePartition, error) {
	l, err := p.leaderOf(ctx, r)
	if err != nil {
		return nil, err
	}
	w := &waiter{r, time.Now().Add(wait), make(chan response, 1)} // the reader may have gone
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	if !l.running {
		l.running = true
		go l.run() //nolint:contextcheck // a request serves many readers, and outlives the one that started it
	}
	l.mu.Unlock()
	select {
	case a := <-w.answer:
		return a.partition, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// leave says that a reader fetches no more.
func (l *leader) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers--
}

// run sends requests until nobody waits.
func (l *leader) run() {
	for {
		if l.busy {
			_ = pause.For(context.Background(), time.Until(l.came.Add(fetchSoon)))
		}
		waiters, wait := l.take()
		if len(waiters) == 0 {
			return
		}
		readers := make([]*Reader, len(waiters))
		for i, w := range waiters {
			readers[i] = w.reader
		}
		l.give(waiters, l.poller.client.fetch(context.Background(), l.poller.topic, readers, wait))
	}
}

// take returns those who wait, and how long they wait together: not for long while others still
// handle what they were given, and may come at any time.
func (l *leader) take() (waiters []*waiter, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiters, l.waiting = l.waiting, nil
	if l.running = len(waiters) > 0; !l.running {
		return nil, 0
	}
	until := waiters[0].until
	for _, w := range waiters {
		if w.until.Before(until) {
			until = w.until
		}
	}
	wait = max(0, time.Until(until))
	if len(waiters) < l.readers {
		wait = min(wait, fetchSoon)
	}
	return waiters, wait
}

// give answers those for whom something came, and those who have waited for long enough. The others
// go on waiting.
func (l *leader) give(waiters []*waiter, answers []response) {
	now := time.Now()
	some, many := false, false
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range waiters {
		a := answers[i]
		came := a.err == nil && hasRecords(a.partition)
		if a.err == nil && !came && now.Before(w.until) {
			l.waiting = append(l.waiting, w)
			continue
		}
		some = some || came
		many = many || came && a.partition.HighWatermark-w.reader.offset > backlog
		w.answer <- a // from now on the reader changes
	}
	if some {
		l.busy, l.came = !many && now.Sub(l.came) < 2*fetchSoon, now
	}
}

func hasRecords(p *fetch.ResponsePartition) bool {
	stream, ok := p.RecordSet.Records.(*protocol.RecordStream)
	return ok && len(stream.Records) > 0
}
