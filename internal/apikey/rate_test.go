package apikey_test

import (
	"testing"
	"time"

	"bagtrail/internal/apikey"
)

func TestAKeyWithoutRateIsNeverLimited(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ""))
	k, _ := w.Lookup("secret", now)
	for range 1000 {
		if got := k.Take(now); got != (apikey.Allowance{}) {
			t.Fatalf("%+v", got)
		}
	}
}

func TestARateLetsABurstPassAndThenSoManyASecond(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ", rate: 2, burst: 3"))
	k, _ := w.Lookup("secret", now)
	for i, c := range []struct {
		after time.Duration
		want  apikey.Allowance
	}{
		{0, apikey.Allowance{Limit: 3, Window: 2, Remaining: 2, Reset: 1}},
		{0, apikey.Allowance{Limit: 3, Window: 2, Remaining: 1, Reset: 1}},
		{0, apikey.Allowance{Limit: 3, Window: 2, Remaining: 0, Reset: 2}},
		{0, apikey.Allowance{Limit: 3, Window: 2, Remaining: 0, Reset: 2, RetryAfter: 1}},
		{499 * time.Millisecond, apikey.Allowance{Limit: 3, Window: 2, Remaining: 0, Reset: 2, RetryAfter: 1}},
		{500 * time.Millisecond, apikey.Allowance{Limit: 3, Window: 2, Remaining: 0, Reset: 2}},
		{0, apikey.Allowance{Limit: 3, Window: 2, Remaining: 0, Reset: 2, RetryAfter: 1}}, // a clock that goes back grants nothing
		{time.Hour, apikey.Allowance{Limit: 3, Window: 2, Remaining: 2, Reset: 1}},
	} {
		if got := k.Take(now.Add(c.after)); got != c.want {
			t.Errorf("request %d: %+v, want %+v", i+1, got, c.want)
		}
	}
}

func TestASlowRateTellsHowLongToWait(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ", rate: 0.1"))
	k, _ := w.Lookup("secret", now)
	k.Take(now)
	if got := k.Take(now.Add(2500 * time.Millisecond)); got != (apikey.Allowance{Limit: 1, Window: 10, Reset: 8, RetryAfter: 8}) {
		t.Errorf("%+v", got)
	}
}

func TestReadingTheFileAgainGrantsNothing(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ", rate: 1, burst: 2"))
	k, _ := w.Lookup("secret", now)
	k.Take(now)
	k.Take(now)
	if err := w.change("keys:\n" + entry("renamed", "secret", ", rate: 1, burst: 5") + entry("other", "second", ", rate: 1")); err != nil {
		t.Fatal(err)
	}
	k, _ = w.Lookup("secret", now)
	if got := k.Take(now); got.RetryAfter == 0 || got.Limit != 5 {
		t.Errorf("the used-up key: %+v", got)
	}
	other, _ := w.Lookup("second", now)
	if got := other.Take(now); got.RetryAfter > 0 {
		t.Errorf("another key: %+v", got)
	}
}
