package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/simulate"
)

const (
	partitions = 12     // of every raw topic
	fullBags   = 20_000 // bags of line 2, unless -quick is set
)

// kafkaLine is line 2: from the raw topic to the index, against the bare pipeline.
func kafkaLine(ctx context.Context, b *bench) ([]row, error) {
	r, k, topics, messages, err := b.fullTopic(ctx, fullBags)
	if err != nil {
		return nil, err
	}
	p, err := b.alternate(
		func() (float64, error) { return consumeOurs(ctx, r, k, topics, messages) },
		func() (float64, error) { return consumeBare(ctx, r, k, topics.Raw, messages) })
	if err != nil {
		return nil, err
	}
	rows := []row{p.rates("2", fmt.Sprintf("Kafka to index, messages/s (%s messages)", thousands(float64(messages))), p.ratioAndCPU(), 0.6)}
	all, truth := feed(b.size(fullBags))
	flights := streamedFlights(all, truth)
	for _, streams := range []int{0, liveStreams} {
		queries := make([]string, streams)
		for i := range queries {
			queries[i] = flights[i*len(flights)/streams]
		}
		p, err := b.apart().alternate(
			func() (float64, error) { return b.consumeApart(ctx, r, k, topics, messages, queries) },
			func() (float64, error) { return consumeBare(ctx, r, k, topics.Raw, messages) })
		if err != nil {
			return rows, err
		}
		rows = append(rows, p.rates("2", fmt.Sprintf("  by ingest beside api, with changes and %d streams", streams), p.ratio(), 0.6))
	}
	return rows, nil
}

// fullTopic returns the servers, and a new raw topic with the messages of full bags, or of a tenth
// with -quick, and the number of these messages.
func (b *bench) fullTopic(ctx context.Context, full int) (r *redisServer, k *kafkaServer, topics kafkadoor.Topics, messages int, err error) {
	if r, err = b.needRedis(ctx); err != nil {
		return nil, nil, topics, 0, err
	}
	if k, err = b.needKafka(ctx); err != nil {
		return nil, nil, topics, 0, err
	}
	all, _ := feed(b.size(full))
	topics, err = fill(ctx, k, all)
	return r, k, topics, len(all), err
}

// openDoor opens a Kafka door to topics, which it makes if they are missing. The function closes the
// door; after an error there is none to close.
func openDoor(ctx context.Context, brokers []string, group string, topics kafkadoor.Topics) (*kafkadoor.Door, func(), error) {
	client, err := kafka.Open(kafka.Config{Brokers: brokers, Topics: topics.Names()})
	if err != nil {
		return nil, nil, err
	}
	door := kafkadoor.New(client, kafkadoor.Config{Group: group, Topics: topics, Partitions: partitions})
	if err = door.EnsureTopics(ctx); err != nil {
		client.Close()
	}
	return door, client.Close, err
}

// fill makes new topics, and writes the messages to the raw one.
func fill(ctx context.Context, k *kafkaServer, messages []simulate.Message) (kafkadoor.Topics, error) {
	topics := kafkadoor.Topics{Raw: k.name("raw"), Rejects: k.name("rejected")}
	door, closeDoor, err := openDoor(ctx, k.brokers, "unused", topics)
	if err != nil {
		return topics, err
	}
	defer closeDoor()
	return topics, produce(ctx, door, messages)
}

// produce writes messages to the raw topic as fast as the broker takes them.
func produce(ctx context.Context, door *kafkadoor.Door, messages []simulate.Message) error {
	sink := simulate.ToLog(door)
	for part := range slices.Chunk(messages, 4000) {
		if err := sink(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// openStore empties Redis, and opens the index in it.
func openStore(ctx context.Context, r *redisServer) (*index, error) {
	if err := r.empty(ctx); err != nil {
		return nil, err
	}
	return openIndex(r.url())
}

// consumeOurs runs the Kafka door as `bagtrail ingest` does, until all messages are decided on. It
// returns messages a second, from the first batch on.
func consumeOurs(ctx context.Context, r *redisServer, k *kafkaServer, topics kafkadoor.Topics, messages int) (float64, error) {
	store, err := openStore(ctx, r)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	door, closeDoor, err := openDoor(ctx, k.brokers, k.name("ours"), topics)
	if err != nil {
		return 0, err
	}
	defer closeDoor()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	watch := newStopwatch(messages, cancel)
	acceptor := ingestor.NewAcceptor(ingestor.Config{Judge: newJudge(), Index: timed{store.Writer(), watch}, Rejects: door, Observe: watch.observe})
	if err := door.NewConsumer(acceptor, nil).Run(ctx); err != nil {
		return 0, err
	}
	return watch.rate()
}

// consumeApart has an ingest process consume the raw topic, beside an api process that tells changes to
// streams. It returns messages a second, from when the first are seen to be decided on.
func (b *bench) consumeApart(ctx context.Context, r *redisServer, k *kafkaServer, topics kafkadoor.Topics, messages int, streams []string) (float64, error) {
	if err := r.empty(ctx); err != nil {
		return 0, err
	}
	index, err := openIndexOfChanges(ctx, r) // so that streams can be opened before there are messages
	if err != nil {
		return 0, err
	}
	defer index.client.Close()
	group := k.name("apart")
	env := []string{"BAGTRAIL_KAFKA_DIRTY_TOPIC=" + group + ".marks", "BAGTRAIL_KAFKA_CHANGES_TOPIC=" + group + ".changes",
		fmt.Sprint("BAGTRAIL_HTTP_STREAMS=", liveStreams)}
	l := &live{closeDoor: func() {}}
	defer l.close()
	start := func(command string) (*bagtrail, error) {
		p, err := b.launch(command, r, k, topics, group, env...)
		if err == nil {
			l.processes = append(l.processes, p)
		}
		return p, err
	}
	if l.api, err = start("api"); err != nil {
		return 0, err
	}
	listening, err := l.listen(ctx, len(streams), func(i int) string { return streams[i] })
	if err != nil {
		return 0, err
	}
	if l.ingest, err = start("ingest"); err != nil {
		return 0, err
	}
	first, err := awaitAll(ctx, []*bagtrail{l.ingest})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	err = l.awaitDecided(ctx, float64(messages))
	rate := (float64(messages) - first) / time.Since(began).Seconds()
	return rate, errors.Join(err, listening.close())
}

// stopwatch measures messages a second, from the first batch to the last message.
type stopwatch struct {
	mu    sync.Mutex
	want  int
	count int
	began time.Time
	ended time.Time
	done  func() // called once all messages came
}

func newStopwatch(want int, done func()) *stopwatch { return &stopwatch{want: want, done: done} }

// start starts the stopwatch with the first batch; later batches change nothing.
func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
}

func (s *stopwatch) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count += n
	if s.count >= s.want && s.ended.IsZero() {
		s.ended = time.Now()
		s.done()
	}
}

// observe counts messages when everything about them is done except the commit.
func (s *stopwatch) observe(b *ingestor.Batch) { s.add(len(b.Outcomes)) }

// rate returns messages a second. It fails unless all messages came.
func (s *stopwatch) rate() (float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.IsZero() {
		return 0, fmt.Errorf("%d of %d messages came", s.count, s.want)
	}
	return float64(s.count) / s.ended.Sub(s.began).Seconds(), nil
}

// timed is an index that starts the stopwatch before it files.
type timed struct {
	ingestor.Index
	watch *stopwatch
}

func (t timed) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	t.watch.start()
	return t.Index.File(ctx, filings)
}
