package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/internal/simulate"
	"bagtrail/test/service"
)

// begin is when the journeys of the stream begin. Their records have these times.
var begin = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// load follows the changes and the commits of the group, and sends messages by Kafka and by POST until
// endLoad.
func (w *world) load(apis ...*service.Service) *watch {
	w.t.Helper()
	w.follow(apis...)
	watch := w.watchGroup()
	w.startStream(size().rate).flow()
	w.startPosts(size().postRate, apis...)
	return watch
}

// endLoad ends the load, and waits until everything is committed.
func (w *world) endLoad() {
	w.t.Helper()
	w.stream.stop()
	w.posts.stop()
	w.caughtUp()
}

// stream sends the simulated feed, with malformed messages, to the raw topic. It stops when it has
// sent as many messages as are allowed, and goes on when more are allowed.
type stream struct {
	allowed atomic.Int64
	sent    atomic.Int64
	end     context.CancelFunc
	done    chan struct{}
}

// startStream starts a stream of rate messages per second.
func (w *world) startStream(rate int) *stream {
	w.t.Helper()
	next, stop := iter.Pull(simulate.Generate(simulate.Options{
		Seed: 1, Start: begin, Bags: 10_000_000, Interval: size().checkIn, Faults: simulate.DefaultFaults(),
	}, nil))
	ctx, end := context.WithCancel(w.t.Context())
	s := &stream{end: end, done: make(chan struct{})}
	writer := &kafka.Writer{
		Addr: kafka.TCP(w.broker), Topic: w.name, Balancer: &kafka.RoundRobin{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: 5 * time.Millisecond, MaxAttempts: 1, WriteTimeout: 3 * time.Second, ReadTimeout: 3 * time.Second,
		Transport: w.client.Transport,
	}
	go func() {
		defer close(s.done)
		defer stop()
		defer func() { _ = writer.Close() }()
		s.run(ctx, writer, next, rate)
	}()
	w.t.Cleanup(s.stop)
	w.stream = s
	return s
}

const beat = 50 * time.Millisecond

func (s *stream) run(ctx context.Context, writer *kafka.Writer, next func() (simulate.Message, bool), rate int) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		n := min(int64(rate)*int64(beat)/int64(time.Second), s.allowed.Load()-s.sent.Load())
		var records []kafka.Message
		for range n {
			if m, ok := next(); ok {
				records = append(records, kafka.Message{Key: []byte(m.Plate), Value: []byte(m.Text), Time: m.Received})
			}
		}
		for len(records) > 0 && ctx.Err() == nil {
			if err := writer.WriteMessages(ctx, records...); err != nil {
				rest(ctx, beat) // some may be written twice; a repeated message counts once
				continue
			}
			s.sent.Add(n)
			records = nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// allow lets the stream send n more messages.
func (s *stream) allow(n int) { s.allowed.Add(int64(n)) }

// flow lets the stream send until it is stopped.
func (s *stream) flow() { s.allowed.Store(1 << 60) }

// finish waits until the stream has sent all that is allowed.
func (s *stream) finish(w *world) {
	w.t.Helper()
	if !until(w.t.Context(), 20*time.Minute, beat, func(context.Context) bool { return s.sent.Load() >= s.allowed.Load() }) {
		w.t.Fatalf("the stream has sent %d of %d messages", s.sent.Load(), s.allowed.Load())
	}
	s.stop()
}

func (s *stream) stop() {
	s.end()
	<-s.done
}

// posts sends messages by POST and counts the answers.
type posts struct {
	mu    sync.Mutex
	acked []acceptedPost
	end   context.CancelFunc
	wg    sync.WaitGroup

	refused atomic.Int64 // 503
	unheard atomic.Int64 // no connection
	cut     atomic.Int64 // a connection, and no answer
	wrong   []string     // any other answer
	slowest time.Duration
}

// acceptedPost is a message whose POST was answered 200.
type acceptedPost struct{ plate, text string }

// callers is the number of concurrent POSTs.
const callers = 4

// startPosts posts rate messages per second to the processes in turn, as a load balancer does. If a
// process refuses the connection, the next one is tried; after 503 the message is sent again. Half of
// the messages go to /v1/messages.
func (w *world) startPosts(rate int, to ...*service.Service) *posts {
	w.t.Helper()
	next, stop := iter.Pull(simulate.Generate(simulate.Options{
		Seed: 2, Start: time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Second), Bags: 10_000_000,
	}, nil))
	ctx, end := context.WithCancel(w.t.Context())
	p := &posts{end: end}
	turn := make(chan simulate.Message)
	p.wg.Go(func() {
		defer stop()
		defer close(turn)
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		defer ticker.Stop()
		for {
			m, ok := next()
			if !ok {
				return
			}
			if m.Plate == "" || m.Code != "" {
				continue // about a container, which may hold no bag
			}
			select {
			case <-ctx.Done():
				return
			case turn <- m:
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	for range callers {
		p.wg.Go(func() {
			caller := newCaller()
			defer caller.client.CloseIdleConnections()
			for m := range turn {
				p.post(ctx, caller, m, to)
			}
		})
	}
	w.t.Cleanup(p.stop)
	w.posts = p
	return p
}

// post repeats a message until it is accepted.
func (p *posts) post(ctx context.Context, c *caller, m simulate.Message, to []*service.Service) {
	path, document := service.ProcessPath, any(map[string]string{"bim_message": m.Text})
	if len(m.Text)%2 == 0 {
		path, document = "/v1/messages", map[string]any{"messages": []map[string]string{{"text": m.Text}}}
	}
	body, err := json.Marshal(document)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	for ctx.Err() == nil {
		c.turn++
		began := time.Now()
		status, text, err := c.ask(http.MethodPost, to[c.turn%len(to)].URL+path, body)
		p.took(time.Since(began), status)
		switch {
		case noConnection(err):
			p.unheard.Add(1)
			rest(ctx, 20*time.Millisecond)
		case err != nil:
			p.cut.Add(1)
			rest(ctx, 20*time.Millisecond)
		case status == http.StatusOK:
			p.mu.Lock()
			p.acked = append(p.acked, acceptedPost{m.Plate, m.Text})
			p.mu.Unlock()
			return
		case status == http.StatusServiceUnavailable:
			p.refused.Add(1)
			rest(ctx, 100*time.Millisecond)
		default:
			p.mu.Lock()
			p.wrong = append(p.wrong, http.StatusText(status)+": "+text)
			p.mu.Unlock()
			return
		}
	}
}

func (p *posts) took(d time.Duration, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status != 0 {
		p.slowest = max(p.slowest, d)
	}
}

// accepted returns how many POSTs were answered 200.
func (p *posts) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.acked)
}

// stop ends the posting. Messages that are not accepted yet are dropped.
func (p *posts) stop() {
	p.end()
	p.wg.Wait()
}

// noConnection reports whether a request failed before any part of it was sent.
func noConnection(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// caller is a client of the service with connections of its own.
type caller struct {
	client *http.Client
	turn   int
}

func newCaller() *caller {
	return &caller{client: &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 4, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext},
	}}
}

// ask sends one request and reads the whole answer.
func (c *caller) ask(method, url string, body []byte) (status int, text string, err error) {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header["api_key"] = []string{service.DevelopmentKey}
	req.Header.Set("Content-Type", "application/json")
	// Sending again is safe, so a client may do so if an idle connection turns out to be closed.
	req.Header["Idempotency-Key"] = []string{}
	res, err := c.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		return 0, "", err
	}
	return res.StatusCode, b.String(), nil
}
