package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Offsets holds for each partition the offset of the next record to read.
type Offsets map[int]int64

// String returns the offsets in the form that ParseStart reads: "0:1200,1:1187".
func (o Offsets) String() string {
	var parts []string
	for _, partition := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, strconv.Itoa(partition)+":"+strconv.FormatInt(o[partition], 10))
	}
	return strings.Join(parts, ",")
}

// Start says where to begin to read a topic. The zero Start is the beginning of the topic.
type Start struct {
	Time    time.Time // if not zero: at the first record that is not older
	Offsets Offsets   // if not nil: at these offsets; other partitions at their beginning
}

// ParseStart reads "earliest", a time (RFC 3339) or a date (YYYY-MM-DD, from midnight UTC), or
// offsets.
func ParseStart(s string) (Start, error) {
	if s == "" || s == "earliest" {
		return Start{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return Start{Time: t}, nil
		}
	}
	offsets := make(Offsets)
	for part := range strings.SplitSeq(s, ",") {
		number, offset, _ := strings.Cut(part, ":")
		p, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
		o, err2 := strconv.ParseUint(strings.TrimSpace(offset), 10, 63)
		_, twice := offsets[int(p)]
		if err != nil || err2 != nil || twice {
			return Start{}, fmt.Errorf(`start %q is neither "earliest", a time, nor offsets as 0:1200,1:1187`, s)
		}
		offsets[int(p)] = int64(o)
	}
	return Start{Offsets: offsets}, nil
}

const (
	// readersAtOnce bounds how many partitions ReadSpans reads at the same time.
	readersAtOnce = 16
	// spanPatience is how long Spans retries to get the bounds, for all partitions together: a new
	// partition has no leader at first.
	spanPatience = 10 * time.Second
	// ReadPatience is how long ReadSpans retries without progress.
	ReadPatience = 30 * time.Second
)

// Span is a part of a partition: the offsets from From up to but not including To.
type Span struct {
	Partition int
	From, To  int64
}

// Spans returns, for each partition of a topic, the span from start to the end that the partition
// has now.
func (c *Client) Spans(ctx context.Context, topic string, start Start) ([]Span, error) {
	numbers, err := c.Partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, spanPatience)
	defer cancel()
	spans := make([]Span, len(numbers))
	for i, p := range numbers {
		err := c.Retry(limited, func() (err error) {
			spans[i], err = c.span(limited, topic, p, start)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spans, nil
}

func (c *Client) span(ctx context.Context, topic string, partition int, start Start) (Span, error) {
	in := c.Reader(topic, partition, 0)
	first, end, err := in.Bounds(ctx)
	if err != nil {
		return Span{}, err
	}
	from := first
	switch {
	case start.Offsets != nil:
		from = max(first, start.Offsets[partition])
	case !start.Time.IsZero():
		if from, err = in.OffsetAt(ctx, start.Time, end); err != nil {
			return Span{}, err
		}
	}
	return Span{partition, min(from, end), end}, nil
}

// Ends returns, for each partition of a topic, the offset after the last record that can be read
// now.
func (c *Client) Ends(ctx context.Context, topic string) (map[int]int64, error) {
	numbers, err := c.Partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	ask := make([]kafkago.OffsetRequest, len(numbers))
	for i, p := range numbers {
		ask[i] = kafkago.LastOffsetOf(p)
	}
	found, err := c.listOffsets(ctx, topic, ask...)
	if err != nil {
		return nil, err
	}
	ends := make(map[int]int64, len(numbers))
	for _, p := range found {
		ends[p.Partition] = p.LastOffset
	}
	if len(ends) < len(numbers) {
		return nil, errNoAnswer
	}
	return ends, nil
}

// Take handles the next records of a partition, perhaps none. next is the offset after them. Calls
// for different partitions run at the same time.
type Take func(ctx context.Context, partition int, records []Record, next int64) error

// ReadSpans reads spans to their ends, several at the same time, and passes every batch to take. It
// retries errors of the broker, and ends at the first error of take.
func (c *Client) ReadSpans(ctx context.Context, topic string, spans []Span, take Take) error {
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(readersAtOnce)
	for _, s := range spans {
		reading.Go(func() error { return c.readSpan(ctx, topic, s, take) })
	}
	return reading.Wait()
}

func (c *Client) readSpan(ctx context.Context, topic string, s Span, take Take) error {
	in, pauses, deadline := c.Reader(topic, s.Partition, s.From), c.backoff(), c.conf.Now().Add(ReadPatience)
	for in.offset < s.To {
		from := in.offset
		b, err := in.Fetch(ctx, c.conf.Timing.Wait)
		if errors.Is(err, kafkago.OffsetOutOfRange) {
			first, _, _ := in.Bounds(ctx)
			in.offset = max(from, first) // older records have been deleted meanwhile
		}
		if err == nil && in.offset > from {
			n, _ := slices.BinarySearchFunc(b.Records, s.To, func(r Record, end int64) int { return cmp.Compare(r.Offset, end) })
			if err := take(ctx, s.Partition, b.Records[:n], min(b.Next, s.To)); err != nil {
				return err
			}
		}
		switch {
		case in.offset > from:
			pauses, deadline = c.backoff(), c.conf.Now().Add(ReadPatience)
		case c.conf.Now().After(deadline):
			return cmp.Or(err, fmt.Errorf("read %s/%d: nothing comes at offset %d, but the end was at %d", topic, s.Partition, from, s.To))
		case err == nil:
		case !pauses.wait(ctx):
			return context.Cause(ctx)
		default:
			c.conf.Logger.Warn("a fetch failed and is retried", zap.Error(err), zap.String("topic", topic), zap.Int("partition", s.Partition))
		}
	}
	return nil
}
