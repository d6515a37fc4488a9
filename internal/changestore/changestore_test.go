package changestore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

func TestTheEpochOfASilentRedisIsGivenUpWithinASecond(t *testing.T) {
	proxy := redistest.StartProxy(t, miniredis.RunT(t).Addr())
	s := changestore.New(redistest.Open(t, proxy.URL("")), time.Hour, time.Now)
	if e, err := s.Epoch(t.Context()); err != nil || e != (changes.Epoch{}) {
		t.Fatal(e, err)
	}
	proxy.Silence(true)
	began := time.Now()
	_, err := s.Epoch(t.Context())
	if took := time.Since(began); !errors.Is(err, redis.ErrUnavailable) || took > time.Second {
		t.Errorf("error %v after %v", err, took)
	}
}

// Two owners find that the epoch has ended.
func TestAnEpochIsFollowedByOneOther(t *testing.T) {
	s := changestore.New(redistest.Open(t, ""), time.Hour, time.Now)
	first, second := changes.Epoch{Begun: 5, Partitions: 3}, changes.Epoch{Begun: 6, Partitions: 3}
	for _, next := range []changes.Epoch{first, second} {
		if e, err := s.Begin(t.Context(), changes.Epoch{}, next); err != nil || e != first {
			t.Errorf("%+v begins after none, want %+v (%v)", e, first, err)
		}
	}
	if e, err := s.Begin(t.Context(), first, second); err != nil || e != second {
		t.Errorf("%+v begins, want %+v (%v)", e, second, err)
	}
}
