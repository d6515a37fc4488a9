package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/protocol/metadata"
)

// leaders holds the latest epoch of the leader of each partition. Each leader has a higher one than
// the leader before it.
//
// A broker that stood still, or that does not reach the controller, does not know that its
// partitions have other leaders by now, and names itself in its metadata. Its log lacks the records
// of these leaders, so that a partition seems to have lost its end.
type leaders struct {
	mu     sync.Mutex
	latest map[partitionName]leaderEpoch
	closed time.Time // when the connections were last closed
}

type partitionName struct {
	topic  string
	number int32
}

type leaderEpoch struct {
	epoch   int32
	earlier time.Time // when the metadata were first seen to name an earlier epoch; zero if they do not
}

// madeAnew is how long the metadata must name an earlier epoch to be right: the topic was deleted
// and made anew.
const madeAnew = 10 * time.Second

var errOldMetadata = errors.New("a broker does not know the leader that the partition has by now")

// checkLeaders fails with errOldMetadata if a leader of a topic was replaced according to earlier
// metadata, while the present ones, by which requests are routed, name it again. If that lasts, it
// closes the connections, so that the next metadata may come from another broker.
func (c *Client) checkLeaders(ctx context.Context, topic string) error {
	answer, err := c.client.Transport.RoundTrip(ctx, c.client.Addr, &metadata.Request{TopicNames: []string{topic}}) // from the cache
	if err != nil {
		return fmt.Errorf("ask for topic %s: %w", topic, err)
	}
	now, lasts, l := time.Now(), false, &c.leaders
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range answer.(*metadata.Response).Topics {
		for _, p := range t.Partitions {
			name := partitionName{topic, p.PartitionIndex}
			known, have := l.latest[name]
			switch {
			case !have || p.LeaderEpoch >= known.epoch || !known.earlier.IsZero() && now.Sub(known.earlier) >= madeAnew:
				known = leaderEpoch{epoch: p.LeaderEpoch}
			case known.earlier.IsZero():
				known.earlier, err = now, errOldMetadata
			default:
				err = errOldMetadata
				lasts = lasts || now.Sub(known.earlier) >= 2*metadataTTL
			}
			l.latest[name] = known
		}
	}
	if lasts && now.Sub(l.closed) >= metadataTTL {
		l.closed = now
		c.Close()
	}
	return err
}
