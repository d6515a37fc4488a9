package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/pause"
	"bagtrail/test/loopback"
)

// Receivers of line 15. The first is dead, the second is slow.
const (
	receivers        = 50
	receiversOfOne   = 20 // webhooks that a customer may have
	slowAnswer       = 9 * time.Second
	webhookMessages  = 20 // a second
	webhookPatience  = time.Minute
	webhookTarget    = time.Second
	firstWebhookBags = 700_000
)

// hookLoad is the load of line 15.
type hookLoad struct {
	program *bagtrail
	keys    []string
	mu      sync.Mutex
	sent    map[string]time.Time // by plate
	took    []time.Duration      // from the POST of a message to the first attempt at each good receiver
	told    map[string]bool      // receivers and plates
}

// webhookLine measures line 15: how long after a message each of 50 receivers is told, if one of them is dead and one is slow.
// Broker and Redis are those in the process.
func webhookLine(ctx context.Context, b *bench) ([]row, error) {
	l := &hookLoad{sent: map[string]time.Time{}, told: map[string]bool{}}
	file := filepath.Join(b.suite.TempDir(), "keys.yaml")
	all := apikey.Scope{All: true}
	for i := range (receivers + receiversOfOne - 1) / receiversOfOne {
		key := apikey.Key{Name: fmt.Sprint("bench", i), Customer: fmt.Sprint("BENCH", i), Airlines: all, Airports: all, Operations: all}
		text, err := apikey.Create(file, key)
		if err != nil {
			return nil, err
		}
		l.keys = append(l.keys, text)
	}
	server := httptest.NewServer(http.HandlerFunc(l.receive))
	defer server.Close() // after the program, which has connections to it
	var err error
	if l.program, err = b.startProgram("serve", "BAGTRAIL_KEYS_FILE="+file, "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8", "BAGTRAIL_LOG_LEVEL=error"); err != nil {
		return nil, err
	}
	defer l.program.end()
	if err := l.create(ctx, server.URL); err != nil {
		return nil, err
	}
	seconds := b.size(30)
	if err := l.send(ctx, seconds*webhookMessages); err != nil {
		return nil, err
	}
	return l.rows()
}

// receive takes a delivery. The path is the number of the receiver.
func (l *hookLoad) receive(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	var delivery struct {
		Data struct{ Changes []struct{ Plate string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&delivery); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/1" {
		pause.For(r.Context(), slowAnswer)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range delivery.Data.Changes {
		id := r.URL.Path + " " + c.Plate
		if sent, is := l.sent[c.Plate]; is && !l.told[id] {
			l.told[id] = true
			l.took = append(l.took, came.Sub(sent))
		}
	}
}

// create makes the webhooks. The index of changes is built first, so the first may be refused for a while.
func (l *hookLoad) create(ctx context.Context, receiver string) error {
	dead, err := loopback.Addresses(1)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, webhookPatience)
	defer cancel()
	for i := range receivers {
		url := fmt.Sprint(receiver, "/", i)
		if i == 0 {
			url = "http://" + dead[0] + "/"
		}
		for {
			got, err := l.program.TryDo(http.MethodPost, "/v1/webhooks", strings.NewReader(fmt.Sprintf(`{"url":%q}`, url)),
				"api_key", l.keys[i/receiversOfOne], "Content-Type", "application/json")
			if err != nil {
				return err
			}
			if got.Status == http.StatusCreated {
				break
			}
			if got.Status != http.StatusServiceUnavailable || pause.For(limited, 100*time.Millisecond) != nil {
				return fmt.Errorf("create a webhook: %d %s", got.Status, got.Body)
			}
		}
	}
	return nil
}

// send posts messages about a bag each, at an even pace, and waits until the good receivers are told of all.
func (l *hookLoad) send(ctx context.Context, n int) error {
	began := time.Now()
	for i := range n {
		pause.For(ctx, time.Until(began.Add(time.Duration(i)*time.Second/webhookMessages)))
		m := bsm(i, "LX600", plateOf(firstWebhookBags+i))
		l.mu.Lock()
		l.sent[m.Plate] = time.Now()
		l.mu.Unlock()
		if got := l.program.Process(m.Text, "api_key", l.keys[0]); got.Status != http.StatusOK {
			return fmt.Errorf("post a message: %d %s", got.Status, got.Body)
		}
	}
	limited, cancel := context.WithTimeout(ctx, webhookPatience)
	defer cancel()
	for limited.Err() == nil {
		l.mu.Lock()
		told := len(l.took)
		l.mu.Unlock()
		if told == n*(receivers-2) {
			return nil
		}
		pause.For(limited, 50*time.Millisecond)
	}
	return fmt.Errorf("the receivers are not told of all: %w", limited.Err())
}

func (l *hookLoad) rows() ([]row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p50, p99 := percentile(l.took, 50), percentile(l.took, 99)
	return []row{{
		"15", fmt.Sprintf("posted to first attempt, %d webhooks, one receiver dead and one answering in %v, %d messages/s", receivers, slowAnswer, webhookMessages),
		fmt.Sprintf("p50 %.0f ms, p99 %.0f ms of %d", p50.Seconds()*1000, p99.Seconds()*1000, len(l.took)), "–", "–",
		"p99 ≤ 1 s", verdictOf(p99 <= webhookTarget),
	}}, nil
}
