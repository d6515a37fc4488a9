package apikey

import (
	"math"
	"sync"
	"time"
)

// Allowance says whether the rate limit of the key lets a request pass, and holds the values of the
// RateLimit headers. It is zero for a key without a limit.
type Allowance struct {
	Limit      int // requests at once, at least 1
	Remaining  int // requests that would pass now, after this one
	Window     int // whole seconds in which an empty bucket refills to Limit
	Reset      int // whole seconds until Remaining is Limit again
	RetryAfter int // whole seconds until the next request passes; 0 if this one did
}

// Take takes one request from the limit of the key. Each process has its own limit.
func (k *Key) Take(now time.Time) Allowance {
	if k.Rate == 0 || k.bucket == nil {
		return Allowance{}
	}
	return k.bucket.take(now, k.Rate, float64(k.Burst))
}

// bucket is a token bucket; the zero bucket is full. A key keeps its bucket when the key file is
// read again, so that a reload does not refill it (see newKeySet).
type bucket struct {
	mutex  sync.Mutex
	tokens float64
	filled time.Time // when tokens was last computed; zero before the first take
}

func (b *bucket) take(now time.Time, rate, burst float64) Allowance {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.filled.IsZero() {
		b.tokens, b.filled = burst, now
	}
	if passed := now.Sub(b.filled); passed > 0 {
		b.tokens += passed.Seconds() * rate
		b.filled = now
	}
	b.tokens = min(b.tokens, burst)
	a := Allowance{Limit: int(burst)}
	if b.tokens >= 1 {
		b.tokens--
	} else {
		a.RetryAfter = int(math.Ceil((1 - b.tokens) / rate))
	}
	a.Remaining = int(b.tokens)
	a.Window = int(math.Ceil(burst / rate))
	a.Reset = int(math.Ceil((burst - b.tokens) / rate))
	return a
}
