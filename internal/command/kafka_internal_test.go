package command

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
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
	reject := func(door string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
		defer cancel()
		return places.Reject(ctx, []ingestor.Rejection{{Envelope: ingestor.Envelope{Door: door}}})
	}
	if err := reject(httpDoor); err != nil || topic.n != 1 {
		t.Errorf("at the HTTP door: %d on the rejects topic, %v", topic.n, err)
	}
	if err := reject(kafkaDoor); err == nil || topic.n != 1 {
		t.Errorf("at the Kafka door: %d on the rejects topic, %v", topic.n, err)
	}
}
