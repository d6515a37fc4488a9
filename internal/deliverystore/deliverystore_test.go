package deliverystore_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/deliverystore"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

func TestTheLastHundredDeliveriesOfAWebhookAreKept(t *testing.T) {
	s := deliverystore.New(redistest.Open(t, ""))
	for i := range 103 {
		if err := s.Add(t.Context(), "a", []byte(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context(), "a")
	if err != nil || len(list) != 100 || list[0] != "102" || list[99] != "3" {
		t.Errorf("%d deliveries, %q, %v", len(list), list, err)
	}
	if other, err := s.List(t.Context(), "b"); err != nil || len(other) != 0 {
		t.Errorf("another webhook: %q, %v", other, err)
	}
}

func TestASilentRedisIsGivenUpWithinASecond(t *testing.T) {
	proxy := redistest.StartProxy(t, miniredis.RunT(t).Addr())
	s := deliverystore.New(redistest.Open(t, proxy.URL("")))
	if _, err := s.List(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	proxy.Silence(true)
	began := time.Now()
	_, err := s.List(t.Context(), "a")
	if took := time.Since(began); !errors.Is(err, redis.ErrUnavailable) || took > time.Second {
		t.Errorf("error %v after %v", err, took)
	}
}
