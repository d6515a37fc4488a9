package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"sync"
	"time"

	"bagtrail/internal/pause"
	"bagtrail/internal/strictjson"
)

// Poster posts each message to the service. It posts the messages of a bag one after the other, and
// the messages of several bags concurrently. The service sets the received times, so the truth about
// the order of events does not hold.
type Poster struct {
	Client      *http.Client
	URL         string // of the operation: http://127.0.0.1:8080/baggage/processbim/v1.0/
	Key         string // API key
	Connections int    // concurrent posts
}

// ErrAnswer reports a wrong answer: a message was rejected that must be accepted, or the reverse.
var ErrAnswer = errors.New("unexpected answer")

// Send is a Sink. It returns the first error, and posts nothing after it.
func (p Poster) Send(ctx context.Context, messages []Message) error {
	lanes := make([][]Message, max(1, p.Connections))
	for _, m := range messages {
		hash := fnv.New32a()
		io.WriteString(hash, m.Plate)
		lane := hash.Sum32() % uint32(len(lanes))
		lanes[lane] = append(lanes[lane], m)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var wg sync.WaitGroup
	for _, lane := range lanes {
		wg.Go(func() {
			for _, m := range lane {
				if err := p.postWithRetry(ctx, m); err != nil {
					fail(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

const (
	retryFor     = time.Minute // how long a message is retried while the service is not available
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// postWithRetry posts a message until the service accepts or rejects it.
func (p Poster) postWithRetry(ctx context.Context, m Message) error {
	limited, cancel := context.WithTimeout(ctx, retryFor)
	defer cancel()
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		retry, err := p.post(limited, m)
		if err == nil || !retry {
			return err
		}
		if pause.For(limited, wait) != nil {
			return err
		}
	}
}

// post posts a message once. retry reports whether another attempt may succeed.
func (p Poster) post(ctx context.Context, m Message) (retry bool, err error) {
	body := append(strictjson.AppendString([]byte(`{"bim_message":`), m.Text), '}')
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("post: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-API-Key", p.Key)
	response, err := p.Client.Do(request)
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("post: %w", err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return true, fmt.Errorf("post: %w", err)
	}
	want := http.StatusOK
	if m.Code != "" {
		want = http.StatusBadRequest
	}
	if response.StatusCode == want {
		return false, nil
	}
	retry = response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusTooManyRequests
	return retry, fmt.Errorf("post: %w: %s, want %d", ErrAnswer, response.Status, want)
}
