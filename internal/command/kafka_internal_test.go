package command

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// hanging is a Redis that does not answer.
type hanging struct{}

func (hanging) Reject(ctx context.Context, _ []ingestor.Rejection) error {
	<-ctx.Done()
	return ctx.Err()
}

// kept keeps rejections, unless the time is over.
type kept struct{ n int }

func (k *kept) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	k.n += len(rejections)
	return ctx.Err()
}

// A caller waits at most 900 ms, perhaps for the rejections of another one before its own.
func TestACallerLearnsFaultsWhileRedisHangs(t *testing.T) {
	topic := &kept{}
	places := rejectPlaces{storedRejects{hanging{}, zap.NewNop()}, topic}
	reject := func(door string, at bag.Position) error {
		ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
		defer cancel()
		return places.Reject(ctx, []ingestor.Rejection{{Envelope: ingestor.Envelope{Door: door, Position: at}}})
	}
	if err := reject(httpDoor, bag.Position{}); err != nil || topic.n != 1 {
		t.Errorf("at the HTTP door: %d on the rejects topic, %v", topic.n, err)
	}
	if err := reject(httpDoor, bag.InRequest(0)); err == nil || topic.n != 1 { // v1 answers that the message is kept
		t.Errorf("in a request with several messages: %d on the rejects topic, %v", topic.n, err)
	}
	if err := reject(kafkaDoor, bag.Position{}); err == nil || topic.n != 1 {
		t.Errorf("at the Kafka door: %d on the rejects topic, %v", topic.n, err)
	}
}
