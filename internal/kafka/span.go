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
			spans[i], err = c.Span(limited, topic, p, start)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spans, nil
}

// Bounds returns, for each partition of a topic, the span of the records that can be read now.
// Unlike Spans it asks once.
func (c *Client) Bounds(ctx context.Context, topic string) ([]Span, error) {
	numbers, err := c.Partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	return c.spans(ctx, topic, numbers, Start{})
}

// Span returns the span of a partition from start to the end that it has now. It asks once.
func (c *Client) Span(ctx context.Context, topic string, partition int, start Start) (Span, error) {
	spans, err := c.spans(ctx, topic, []int{partition}, start)
	if err != nil {
		return Span{}, err
	}
	return spans[0], nil
}

var errNoEnd = errors.New("the new leader of the partition does not know its end yet")

// spans asks the leaders of partitions for their spans. The records in them are committed.
func (c *Client) spans(ctx context.Context, topic string, partitions []int, start Start) ([]Span, error) {
	var ask []kafkago.OffsetRequest
	for _, p := range partitions {
		ask = append(ask, kafkago.FirstOffsetOf(p), kafkago.LastOffsetOf(p))
		if !start.Time.IsZero() && start.Time.UnixMilli() >= 0 { // Kafka gives negative times other meanings
			ask = append(ask, kafkago.TimeOffsetOf(p, start.Time))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.conf.Timing.Request)
	defer cancel()
	what := topic
	if len(partitions) == 1 {
		what += "/" + strconv.Itoa(partitions[0])
	}
	if err := c.checkLeaders(ctx, topic); err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", what, err)
	}
	answer, err := c.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{topic: ask}, IsolationLevel: kafkago.ReadCommitted,
	})
	if err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", what, err)
	}
	var spans []Span
	for _, p := range answer.Topics[topic] {
		err := p.Error
		switch {
		case errors.Is(err, kafkago.Unknown): // kafka-go puts it in the place of the cause, also if the context ends
			err = cmp.Or(ctx.Err(), errNoAnswer)
		case errors.Is(err, kafkago.OffsetNotAvailable): // kafka-go has no text for it
			err = errNoEnd
		}
		if err != nil {
			return nil, fmt.Errorf("offsets of %s/%d: %w", topic, p.Partition, err)
		}
		from := max(p.FirstOffset, start.Offsets[p.Partition])
		for offset := range p.Offsets { // the offset for start.Time; -1 if all records are older
			if from = offset; from < 0 {
				from = p.LastOffset
			}
		}
		spans = append(spans, Span{p.Partition, min(from, p.LastOffset), p.LastOffset})
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Partition, b.Partition) })
	return spans, nil
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
			whole, _ := c.Span(ctx, topic, s.Partition, Start{})
			in.offset = max(from, whole.From) // older records have been deleted meanwhile
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
