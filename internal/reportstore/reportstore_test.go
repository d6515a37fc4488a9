package reportstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/reportstore"
)

func TestARequestIsClaimedOnce(t *testing.T) {
	s, ctx := reportstore.New(redistest.Open(t, "")), context.Background()
	var claims atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			note, claimed, err := s.Claim(ctx, "a")
			if err != nil || note != "" {
				t.Errorf("note %q, error %v", note, err)
			}
			if claimed {
				claims.Add(1)
			}
		})
	}
	group.Wait()
	if claims.Load() != 1 {
		t.Errorf("claimed %d times", claims.Load())
	}
	if _, claimed, err := s.Claim(ctx, "b"); !claimed || err != nil {
		t.Errorf("another request: claimed %v, error %v", claimed, err)
	}
}

func TestWhatWasNotedIsFoundAndWhatWasReleasedIsClaimedAgain(t *testing.T) {
	s, ctx := reportstore.New(redistest.Open(t, "")), context.Background()
	for range 2 {
		if _, claimed, err := s.Claim(ctx, "a"); !claimed || err != nil {
			t.Fatalf("claimed %v, error %v", claimed, err)
		}
		if err := s.Note(ctx, "a", "done"); err != nil {
			t.Fatal(err)
		}
		if note, claimed, err := s.Claim(ctx, "a"); note != "done" || claimed || err != nil {
			t.Errorf("note %q, claimed %v, error %v", note, claimed, err)
		}
		if err := s.Release(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAfterTheEndOfRedisNothingIsClaimed(t *testing.T) {
	s, ctx := reportstore.New(redistest.Open(t, "redis://127.0.0.1:1")), context.Background()
	if _, claimed, err := s.Claim(ctx, "a"); claimed || err == nil {
		t.Errorf("claimed %v, error %v", claimed, err)
	}
	if s.Note(ctx, "a", "x") == nil || s.Release(ctx, "a") == nil {
		t.Error("no error")
	}
}

func TestAClaimWhoseReplyIsLostIsGivenBack(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s, ctx := reportstore.New(redistest.Open(t, proxy.URL(""))), context.Background()
	if _, claimed, err := s.Claim(ctx, "a"); !claimed || err != nil {
		t.Fatalf("claimed %v, error %v", claimed, err)
	}
	proxy.CutAfter(0)
	if _, claimed, err := s.Claim(ctx, "b"); claimed || err == nil {
		t.Fatalf("with a lost reply: claimed %v, error %v", claimed, err)
	}
	redistest.Eventually(t, 10*time.Second, "nobody can claim it", func() bool {
		_, claimed, err := s.Claim(ctx, "b")
		return claimed && err == nil
	})
	for _, id := range []string{"a", "b"} {
		if note, claimed, err := s.Claim(ctx, id); note != "" || claimed || err != nil {
			t.Errorf("%s again: note %q, claimed %v, error %v", id, note, claimed, err)
		}
	}
}
