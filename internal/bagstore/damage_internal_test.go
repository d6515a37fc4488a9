package bagstore

import (
	"context"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/redis/redistest"
)

// Before damage is moved aside a replay may write the good value, or another process may move it.
func TestWhatIsGoodByNowIsNotMovedAside(t *testing.T) {
	told := 0
	s, err := Open(redistest.Open(t, ""), Config{Retention: time.Hour, Now: time.Now, Damaged: func(string, error) { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx := context.Background()
	f := []bag.Filing{{Raw: "BSM", Received: time.Now(), Entries: []bag.Entry{{Plate: "0220123456", PNRs: []string{"ABC123"}}}}}
	if _, err := s.Writer().File(ctx, f); err != nil {
		t.Fatal(err)
	}
	before := s.redis.WriteClient().HGetAll(ctx, "b:0220123456").Val()
	for field := range before {
		for _, d := range []damage{
			{"b:0220123456", badValue, field, "damaged"},
			{"b:0220123456", badValue, "gone", "damaged"},
			{key: "p:ABC123", kind: badMember, member: "moved by another process"},
			{key: "n:GONE", kind: badMember, member: "-1"},
			{key: "b:0220123456", kind: badType},
			{key: "p:ABC123", kind: badType},
			{key: "p:GONE", kind: badType},
		} {
			if err := s.moveAside(ctx, d); err != nil {
				t.Errorf("%+v: %v", d, err)
			}
		}
	}
	if now := s.redis.WriteClient().HGetAll(ctx, "b:0220123456").Val(); len(before) != 1 || len(now) != 1 || told != 0 {
		t.Errorf("%q became %q, and %d damages were told", before, now, told)
	}
	if keys := s.redis.WriteClient().Keys(ctx, "*").Val(); len(keys) != 2 {
		t.Errorf("keys %q", keys)
	}
}

func TestDamageThatCannotBeMovedIsToldWithoutItsName(t *testing.T) {
	told := make(chan error, 1)
	s, err := Open(redistest.Open(t, "redis://127.0.0.1:1"), Config{Retention: time.Hour, Now: time.Now, Damaged: func(digest string, err error) {
		if len(digest) != 16 {
			t.Errorf("digest %q", digest)
		}
		told <- err
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.report(damage{"b:0220123456", badValue, "identity", "SECRET"})
	if err := <-told; err == nil {
		t.Error("no error")
	}
	s.Close()                                                        // does not wait until it is tried again
	s.report(damage{"b:0220123456", badValue, "identity", "SECRET"}) // is left alone
}

func TestDamageThatFoundNoRoomIsReportedAgain(t *testing.T) {
	s := &Store{damages: damageQueue{queue: make(chan damage, 1)}}
	first, second := damage{key: "b:0220000001"}, damage{key: "b:0220000002"}
	s.report(first)
	s.report(second)
	<-s.damages.queue
	s.report(second)
	if len(s.damages.queue) != 1 {
		t.Error("it was forgotten")
	}
}

func TestWhatNeverExpiredIsKeptAsideForTheRetention(t *testing.T) {
	s, err := Open(redistest.Open(t, ""), Config{Retention: time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	client := s.redis.WriteClient()
	if err := client.RPush(t.Context(), "b:0220123456", "no hash").Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.moveAside(t.Context(), damage{key: "b:0220123456", kind: badType}); err != nil {
		t.Fatal(err)
	}
	if left := client.TTL(t.Context(), "x:{b:0220123456}:key").Val(); left < 59*time.Minute || left > 61*time.Minute {
		t.Errorf("it expires in %v", left)
	}
}
