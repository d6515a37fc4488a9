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
	waited := time.Duration(0)
	s := &service{
		consumer: telemetry.NewConsumer(prometheus.NewRegistry(), "kafka", nil, time.Now),
		waited:   func() time.Duration { return waited },
	}
	for _, c := range []struct {
		records int64
		oldest  time.Time
		waited  time.Duration
		want    bool
	}{
		{1, time.Now().AddDate(-1, 0, 0), 20 * time.Millisecond, false},
		{600, time.Now().AddDate(-1, 0, 0), 20 * time.Millisecond, false},
		{1, time.Now(), 120 * time.Millisecond, true},
		{1001, time.Now(), 20 * time.Millisecond, true},
		{0, time.Time{}, 0, false},
	} {
		waited = c.waited
		s.consumer.Lag(3, c.records, c.oldest)
		if got := s.doorIsBehind(); got != c.want {
			t.Errorf("%+v: behind is %v", c, got)
		}
	}
	s.consumer.Lag(3, 501, time.Now())
	s.consumer.Lag(4, 500, time.Now())
	if !s.doorIsBehind() {
		t.Error("the records of two partitions are not added")
	}
}
