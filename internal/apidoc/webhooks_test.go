package apidoc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/deliverystore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/secret"
	"bagtrail/internal/webhooks"
)

// stillFeed is a feed that has nothing to tell.
type stillFeed struct{}

func (stillFeed) Now(context.Context, changefeed.Asker) (changes.Cursor, error) {
	return changes.Cursor{Epoch: 1, Sequences: []int64{0}}, nil
}

func (f stillFeed) Since(ctx context.Context, a changefeed.Asker, _ time.Time) (changes.Cursor, error) {
	return f.Now(ctx, a)
}

func (stillFeed) Next(_ context.Context, _ changefeed.Asker, c changes.Cursor, _ changefeed.Limits) (changefeed.Batch, error) {
	return changefeed.Batch{Cursor: c}, nil
}

func (stillFeed) News(changefeed.Asker) (<-chan struct{}, func()) { return nil, func() {} }

// goodReceiver takes every delivery.
type goodReceiver struct{}

func (goodReceiver) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
}

// exampleWebhooks returns webhooks of which each has the same times, and ids in the order in which
// they are made.
func exampleWebhooks(t *testing.T) *webhooks.Service {
	t.Helper()
	client := kafkatest.Open(t, kafkatest.Start(t), kafka.Config{Topics: []string{"bag.webhooks"}})
	if err := client.EnsureTopics(t.Context(), kafka.Topic{Name: "bag.webhooks", Partitions: 1, Compacted: true}); err != nil {
		t.Fatal(err)
	}
	made := 0
	s := webhooks.New(webhooks.Config{
		Kafka: client, Topic: "bag.webhooks", Group: "webhooks", Feed: stillFeed{}, Keys: exampleKeys,
		Secret: secret.Secret("a secret of at least 32 characters"), Client: &http.Client{Transport: goodReceiver{}},
		Deliveries: deliverystore.New(redistest.Open(t, "")), Count: func(string) {}, Logger: zap.NewNop(),
		Now:    func() time.Time { return time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC) },
		Random: func() float64 { return 0 },
		NewID:  func() string { made++; return fmt.Sprint("wh_", made) },
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.Read(ctx) }()
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	})
	return s
}
