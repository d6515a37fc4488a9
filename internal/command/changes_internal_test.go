package command

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bagtrail/internal/telemetry"
)

// The time of a record is by the clock of whoever produced it: an old message that is copied into the
// topic is no reason for owners to rest.
func TestADoorIsBehindByRecordsNotByTheirTimes(t *testing.T) {
	s := &service{}
	if s.doorIsBehind() {
		t.Error("a process without the Kafka door is behind")
	}
	s.consumer = telemetry.NewConsumer(prometheus.NewRegistry(), "kafka", nil, time.Now)
	for _, c := range []struct {
		records int64
		oldest  time.Time
		want    bool
	}{
		{1, time.Now().AddDate(-1, 0, 0), false},
		{600, time.Now().AddDate(-1, 0, 0), false},
		{1001, time.Now(), true},
		{0, time.Time{}, false},
	} {
		s.consumer.Lag(3, c.records, c.oldest)
		if got := s.doorIsBehind(); got != c.want {
			t.Errorf("%d records since %v: %v, want %v", c.records, c.oldest, got, c.want)
		}
	}
	s.consumer.Lag(3, 501, time.Now())
	s.consumer.Lag(4, 500, time.Now())
	if !s.doorIsBehind() {
		t.Error("the records of two partitions are not added")
	}
}
