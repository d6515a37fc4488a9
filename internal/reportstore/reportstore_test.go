package reportstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

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
