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
