package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"
)

// consumeBare is the bare pipeline: fetch, split, one HSET of the raw text, two ZADD, commit. Group, fetch sizes,
// connections and batches are those of the Kafka door and the store.
func consumeBare(ctx context.Context, r *redisServer, k *kafkaServer, topic string, messages int) (float64, error) {
	if err := r.empty(ctx); err != nil {
		return 0, err
	}
	client := redis.NewClient(clientOptions(r.addr))
	defer client.Close()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: k.name("bare"), Brokers: k.brokers, Topics: []string{topic}, StartOffset: kafka.FirstOffset,
		HeartbeatInterval: time.Second, SessionTimeout: 6 * time.Second, RebalanceTimeout: 6 * time.Second, JoinGroupBackoff: time.Second,
	})
	if err != nil {
		return 0, err
	}
	defer group.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	watch := newStopwatch(messages, cancel)
	generation, err := group.Next(ctx)
	if err != nil {
		return 0, err
	}
	for _, a := range generation.Assignments[topic] {
		generation.Start(func(ctx context.Context) {
			if err := barePartition(ctx, generation, client, k.brokers[0], topic, a.ID, watch); err != nil && ctx.Err() == nil {
				fail(err)
			}
		})
	}
	<-ctx.Done()
	rate, err := watch.rate()
	if err != nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return rate, err
}

func barePartition(ctx context.Context, generation *kafka.Generation, client *redis.Client, broker, topic string, partition int, watch *stopwatch) error {
	conn, err := kafka.DialLeader(ctx, "tcp", broker, topic, partition)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Seek(0, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
		return err
	}
	for ctx.Err() == nil {
		conn.SetDeadline(time.Now().Add(4 * time.Second))
		fetched := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: 256 << 10, MaxWait: 500 * time.Millisecond})
		var batch []kafka.Message
		for {
			m, err := fetched.ReadMessage()
			if err != nil {
				break
			}
			batch = append(batch, m)
		}
		if err := fetched.Close(); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(batch) == 0 {
			continue
		}
		watch.start()
		if err := bareStore(ctx, client, batch); err != nil {
			return err
		}
		watch.add(len(batch))
		if err := generation.CommitOffsets(map[string]map[int]int64{topic: {partition: fetched.Offset()}}); err != nil {
			return err
		}
	}
	return nil
}

// bareStore stores a batch, a thousand commands at a time.
func bareStore(ctx context.Context, client *redis.Client, batch []kafka.Message) error {
	pipe := client.Pipeline()
	for _, m := range batch {
		bareCommands(ctx, pipe, string(m.Value), strconv.Itoa(m.Partition)+"/"+strconv.FormatInt(m.Offset, 10), m.Time)
		if pipe.Len() >= 1000 {
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
	}
	_, err := pipe.Exec(ctx)
	return err
}

// bareCommands splits a message and stores it: the raw text under the plate, the plate under flight and PNR.
func bareCommands(ctx context.Context, pipe redis.Pipeliner, text, id string, received time.Time) {
	var plate, flight, pnr string
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) < 4 {
			continue
		}
		switch line[:3] {
		case ".N/", ".B/":
			if at := strings.LastIndexByte(line, '/') + 1; len(line) >= at+10 {
				plate = line[at : at+10]
			}
		case ".F/":
			if fields := strings.SplitN(line[3:], "/", 3); len(fields) == 3 {
				flight = fields[0] + ":" + fields[1]
			}
		case ".L/":
			pnr = strings.TrimSpace(line[3:])
		}
	}
	score := float64(received.Unix())
	pipe.HSet(ctx, "b:"+plate, id, text)
	if flight != "" {
		pipe.ZAdd(ctx, "f:"+flight, redis.Z{Score: score, Member: plate})
	}
	if pnr != "" {
		pipe.ZAdd(ctx, "p:"+pnr, redis.Z{Score: score, Member: plate})
	}
}
