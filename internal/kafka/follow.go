package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/internal/pause"
)

const followRetryWait = time.Second // after an error

// Follower says what Client.Follow does with a topic. Each partition has a goroutine, which calls
// these functions; those of several partitions call them at the same time.
type Follower struct {
	// Begin returns the offset at which to read a partition. It is called at first and after each
	// error. at is the offset after the last record that was read, or -1 at first and after the
	// partition has lost its end. The partition holds the offsets from first up to, but not including, end.
	Begin func(at, first, end int64) int64
	// Take handles a batch, which may be empty.
	Take func(partition int, batch Batch)
	// Fail handles an error. Follow tries again a second later.
	Fail func(error)
}

// Follow reads every partition of a topic, without a consumer group, until ctx ends.
func (c *Client) Follow(ctx context.Context, topic string, f Follower) {
	var reading sync.WaitGroup
	defer reading.Wait()
	for ctx.Err() == nil {
		partitions, err := c.Partitions(ctx, topic)
		if err == nil {
			fetcher := c.newFetcher(topic, len(partitions), fetchMost)
			for _, p := range partitions {
				reading.Go(func() { c.follow(ctx, fetcher, p, f) })
			}
			return
		}
		f.pause(ctx, err)
	}
}

// follow reads one partition. After an error Begin says where it goes on.
func (c *Client) follow(ctx context.Context, fetcher *fetcher, partition int, f Follower) {
	r := fetcher.reader(partition, -1)
	for ctx.Err() == nil {
		whole, err := c.Span(ctx, fetcher.topic, partition, Start{})
		if err == nil {
			r.offset = f.Begin(r.offset, whole.From, whole.To)
		}
		for err == nil {
			var batch Batch
			if batch, err = r.Fetch(ctx, c.conf.Timing.Wait); err == nil {
				f.Take(partition, batch)
			}
		}
		r.Close()
		if errors.Is(err, kafkago.OffsetOutOfRange) { // the partition has lost its end, and may have grown again since
			r.offset = -1
		}
		f.pause(ctx, err)
	}
}

// pause waits after an error.
func (f Follower) pause(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.Fail(err)
	_ = pause.For(ctx, followRetryWait)
}
