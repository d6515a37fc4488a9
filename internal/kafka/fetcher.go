package kafka

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// fetchLinger is how long a request is delayed so that it fetches more records. While records
// trickle, the next request is sent this long after the last response with records, so that not
// every record takes a request and a commit. If a waiting reader is known to have more to read, the
// request is not delayed. fetchLinger also bounds how long a broker holds a request that does not
// serve all readers.
const fetchLinger = 20 * time.Millisecond

// fetcher fetches from partitions of a topic, with one request at a time to each broker that leads
// some of them. A request costs the broker and this process as much as dozens of records.
type fetcher struct {
	client  *Client
	topic   string
	readers int // how many readers will use the fetcher: one for each partition
	most    int // bytes of a partition that are fetched at once

	mu      sync.Mutex                        // guards the fields below, and those of the brokers; nothing blocks under it
	open    int                               // how many readers have fetched and are not closed
	brokers map[kafkago.Broker]*brokerFetcher // partitions without a leader are under the zero Broker
}

// brokerFetcher sends the requests for the readers whose partitions one broker led when they first
// fetched. kafka-go routes each request to the leader. If a partition has moved to another leader,
// the request fails for all of its readers, and each reader looks for its broker again.
type brokerFetcher struct {
	fetcher *fetcher
	open    int           // readers that have fetched from this broker and are not closed
	waiting []*waiter     // for the next request
	running bool          // there is a goroutine that sends requests
	hurry   chan struct{} // holds an element if a waiting reader has more to read; a leftover one skips one delay

	// Only the goroutine of run uses the fields below. A new goroutine starts only after the previous
	// one has set running to false, under fetcher.mu.
	lastRecords time.Time // when a response last held records, or was made by several requests
	trickle     bool      // delay the next request by fetchLinger after lastRecords
}

// waiter is a call of Fetch. It stays in the queue if its context ends.
type waiter struct {
	reader *Reader
	until  time.Time // when it is answered with no records
	answer chan response
}

// response is the part of a fetch response for one partition, or an error.
type response struct {
	partition *fetch.ResponsePartition
	err       error
}

// newFetcher returns a fetcher for the given number of readers. Each fetches at most the given
// number of bytes at once.
func (c *Client) newFetcher(topic string, readers, most int) *fetcher {
	return &fetcher{client: c, topic: topic, readers: readers, most: most, brokers: make(map[kafkago.Broker]*brokerFetcher)}
}

// reader returns a reader of a partition. If the fetcher has others, the caller must close it, also
// after an error. While a reader is closed or does not fetch, a broker holds the requests of the
// others for at most fetchLinger.
func (f *fetcher) reader(partition int, offset int64) *Reader {
	return &Reader{fetcher: f, partition: partition, offset: offset}
}

// brokerOf returns the brokerFetcher of a reader. The first call chooses it by the leader of the
// partition, and counts the reader as open.
func (f *fetcher) brokerOf(ctx context.Context, r *Reader) (*brokerFetcher, error) {
	if r.broker != nil {
		return r.broker, nil
	}
	topic, err := f.client.topic(ctx, f.topic)
	if err != nil {
		return nil, err
	}
	var broker kafkago.Broker
	for _, partition := range topic.Partitions {
		if partition.ID == r.partition {
			broker = partition.Leader
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.brokers[broker]
	if l == nil {
		l = &brokerFetcher{fetcher: f, hurry: make(chan struct{}, 1)}
		f.brokers[broker] = l
	}
	r.broker = l
	l.open++
	f.open++
	return l, nil
}

// misrouted reports whether kafka-go has sent no request, because no broker leads all of its
// partitions.
func misrouted(err error) bool {
	_, routing := errors.AsType[*fetch.Error](err)
	return routing
}

// await waits for the answer of the broker of a reader. The answer is empty if no records come in
// time. After ctx has ended, a request may still use the reader.
func (f *fetcher) await(ctx context.Context, r *Reader, until time.Time) (*fetch.ResponsePartition, error) {
	l, err := f.brokerOf(ctx, r)
	if err != nil {
		return nil, err
	}
	w := &waiter{r, until, make(chan response, 1)} // buffered: if ctx has ended, nobody receives
	f.mu.Lock()
	l.waiting = append(l.waiting, w)
	if !l.running {
		l.running = true
		go l.run() //nolint:contextcheck // a request serves many readers, and outlives the one that started it
	}
	f.mu.Unlock()
	if r.more {
		select {
		case l.hurry <- struct{}{}:
		default:
		}
	}
	select {
	case a := <-w.answer:
		return a.partition, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run sends requests until nobody waits.
func (l *brokerFetcher) run() {
	for {
		if l.trickle {
			select {
			case <-time.After(time.Until(l.lastRecords.Add(fetchLinger))):
			case <-l.hurry:
			}
		}
		waiters, wait := l.take()
		if len(waiters) == 0 {
			return
		}
		answers, together := l.fetcher.fetchTogether(waiters, wait)
		l.give(waiters, answers)
		if !together {
			l.trickle, l.lastRecords = true, time.Now() // bound the rate of such repeated requests
		}
	}
}

// fetchTogether fetches for waiters with one request. If the request fails although the broker can
// be reached and answers in time, the records of one partition may be unreadable: then it sends one
// request for each waiter, and together is false.
func (f *fetcher) fetchTogether(waiters []*waiter, wait time.Duration) (answers []response, together bool) {
	answers, err := f.request(waiters, wait)
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case err == nil:
		return answers, true
	case len(waiters) == 1 || misrouted(err) || errors.Is(err, errOldMetadata) || errors.Is(err, context.DeadlineExceeded) || network:
		return slices.Repeat([]response{{err: err}}, len(waiters)), true
	}
	answers = make([]response, len(waiters))
	var asking sync.WaitGroup
	for i := range waiters {
		asking.Go(func() {
			alone, err := f.request(waiters[i:i+1], 0)
			if answers[i].err = err; err == nil {
				answers[i] = alone[0]
			}
		})
	}
	asking.Wait()
	return answers, false
}

// request asks for the next records of partitions that one broker leads, and returns an answer for
// each waiter. If no records come within the wait, the answers are empty. One unreadable partition
// makes request fail for all waiters, since kafka-go reads all records before it returns any.
func (f *fetcher) request(waiters []*waiter, wait time.Duration) ([]response, error) {
	partitions := make([]fetch.RequestPartition, len(waiters))
	for i, w := range waiters {
		partitions[i] = fetch.RequestPartition{
			Partition: int32(w.reader.partition), CurrentLeaderEpoch: -1, FetchOffset: w.reader.offset, LogStartOffset: -1, PartitionMaxBytes: int32(f.most),
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait+f.client.conf.Timing.Request)
	defer cancel()
	if err := f.client.checkLeaders(ctx, f.topic); err != nil {
		return nil, err
	}
	answer, err := f.client.client.Transport.RoundTrip(ctx, f.client.client.Addr, &fetch.Request{
		ReplicaID: -1, MaxWaitTime: int32(max(1, wait.Milliseconds())), MinBytes: 1, MaxBytes: math.MaxInt32, // PartitionMaxBytes counts
		IsolationLevel: int8(kafkago.ReadCommitted), SessionEpoch: -1,
		Topics: []fetch.RequestTopic{{Topic: f.topic, Partitions: partitions}},
	})
	if err != nil {
		return nil, err
	}
	fetched, ok := answer.(*fetch.Response)
	switch {
	case !ok:
		return nil, errNoAnswer
	case fetched.ErrorCode != 0:
		return nil, kafkago.Error(fetched.ErrorCode)
	}
	byPartition := make(map[int32]*fetch.ResponsePartition, len(waiters))
	for i := range fetched.Topics {
		for j := range fetched.Topics[i].Partitions {
			p := &fetched.Topics[i].Partitions[j]
			byPartition[p.Partition] = p
		}
	}
	all := make([]response, len(waiters))
	for i, w := range waiters {
		switch p := byPartition[int32(w.reader.partition)]; {
		case p == nil:
			all[i].err = errNoAnswer
		case p.ErrorCode != 0:
			all[i].err = kafkago.Error(p.ErrorCode)
		default:
			all[i].partition = p
		}
	}
	return all, nil
}

// take returns the waiters, and how long the broker may hold their request: until the first waiter
// must be answered, but at most fetchLinger if some readers are not waiting or not open yet, since
// these may call Fetch at any time.
func (l *brokerFetcher) take() (waiters []*waiter, wait time.Duration) {
	l.fetcher.mu.Lock()
	defer l.fetcher.mu.Unlock()
	waiters, l.waiting = l.waiting, nil
	if l.running = len(waiters) > 0; !l.running {
		return nil, 0
	}
	first := slices.MinFunc(waiters, func(a, b *waiter) int { return a.until.Compare(b.until) })
	wait = max(0, time.Until(first.until))
	if len(waiters) < l.open || l.fetcher.open < l.fetcher.readers {
		wait = min(wait, fetchLinger)
	}
	return waiters, wait
}

// give answers the waiters that have records or an error, and those whose wait is over. The others
// come first in the next request: a broker returns a batch that is larger than the limit only for
// the first partition that has records.
func (l *brokerFetcher) give(waiters []*waiter, answers []response) {
	now := time.Now()
	anyRecords := false
	var unanswered []*waiter
	l.fetcher.mu.Lock()
	defer l.fetcher.mu.Unlock()
	for i, w := range waiters {
		a := answers[i]
		hasRecords := a.err == nil && advances(a.partition)
		if a.err == nil && !hasRecords && now.Before(w.until) {
			unanswered = append(unanswered, w)
			continue
		}
		anyRecords = anyRecords || hasRecords
		w.answer <- a // from now on its goroutine may change the reader
	}
	l.waiting = append(unanswered, l.waiting...)
	if anyRecords {
		l.trickle, l.lastRecords = now.Sub(l.lastRecords) < 2*fetchLinger, now
	}
}

// advances reports whether an answer holds record batches. All of them may belong to an aborted
// transaction: the reader then returns no records, but moves on.
func advances(p *fetch.ResponsePartition) bool {
	stream, ok := p.RecordSet.Records.(*protocol.RecordStream)
	return ok && len(stream.Records) > 0
}
