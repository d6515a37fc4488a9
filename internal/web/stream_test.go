package web_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/operation"
	"bagtrail/internal/session"
	"bagtrail/internal/web"
)

// streamServer serves streams over real connections, whose time limits are far below the length of
// a stream. A key may have two of them.
func streamServer(t *testing.T, keys web.Keys, run func(context.Context, *web.Call, *web.Stream)) (*httptest.Server, *web.Site) {
	t.Helper()
	op := web.Operation{
		Operation: operation.ByID("getChanges"),
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			return c.Stream(func(ctx context.Context, s *web.Stream) { run(ctx, c, s) })
		},
	}
	site := web.New(web.Settings{Keys: keys, Log: zap.NewNop(), Clock: time.Now, Streams: 2}, []web.Operation{op}, nil)
	server := httptest.NewUnstartedServer(site)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(site.Stop)
	return server, site
}

// opened is the answer to a request for a stream.
type opened struct {
	StatusCode int
	Header     http.Header
	Body       io.ReadCloser // closed when the test ends
}

// open asks for a stream.
func open(t *testing.T, server *httptest.Server, key string) opened {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/changes", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("api_key", key)
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return opened{answer.StatusCode, answer.Header, answer.Body}
}

func TestAStreamIsSentAsItHappensAndEndsWithTheSite(t *testing.T) {
	next := make(chan string)
	server, site := streamServer(t, testKeys, func(ctx context.Context, _ *web.Call, s *web.Stream) {
		for {
			select {
			case data := <-next:
				if s.Send("change", "cursor-"+data, []byte(data)) != nil {
					t.Error("the caller takes nothing")
				}
				s.Flush()
			case <-ctx.Done():
				return
			}
		}
	})
	answer := open(t, server, "secret-of-demo")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
		"Content-Encoding": "", "Etag": "", "X-Content-Type-Options": "nosniff",
	} {
		if got := answer.Header.Get(name); got != want || answer.StatusCode != http.StatusOK {
			t.Errorf("%d, %s is %q", answer.StatusCode, name, got)
		}
	}
	lines := bufio.NewScanner(answer.Body)
	text := func() (block string) {
		for lines.Scan() && lines.Text() != "" {
			block += lines.Text() + "|"
		}
		return block
	}
	tick := time.NewTicker(80 * time.Millisecond) // more than the limits of the connection
	defer tick.Stop()
	for _, data := range []string{"1", "2", "3"} {
		next <- data
		if got := text(); got != "event: change|id: cursor-"+data+"|data: "+data+"|" {
			t.Errorf("event %q", got)
		}
		<-tick.C
	}
	if n := site.OpenStreams(); n != 1 {
		t.Errorf("%d open streams", n)
	}
	site.Stop()
	if got := text(); !regexp.MustCompile(`^retry: [1-5]\d\d\d\|$`).MatchString(got) {
		t.Errorf("at the stop: %q", got)
	}
	if lines.Scan() {
		t.Error("the stream goes on")
	}
}

func TestAKeyMayHaveSomeStreams(t *testing.T) {
	ended := make(chan struct{}, 10)
	server, site := streamServer(t, testKeys, func(ctx context.Context, _ *web.Call, s *web.Stream) {
		if s.Send("heartbeat", "x", nil) == nil {
			s.Flush()
			<-ctx.Done()
		}
		ended <- struct{}{}
	})
	first := open(t, server, "secret-of-demo")
	open(t, server, "secret-of-demo")
	refused := open(t, server, "secret-of-demo")
	if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("Retry-After") == "" || refused.Header.Get("Content-Type") != "application/problem+json; charset=utf-8" {
		t.Errorf("a third stream: %d %v", refused.StatusCode, refused.Header)
	}
	if other := open(t, server, "secret-of-none"); other.StatusCode != http.StatusOK {
		t.Errorf("a stream of another key: %d", other.StatusCode)
	}
	if n := site.OpenStreams(); n != 3 {
		t.Errorf("%d open streams", n)
	}
	_ = first.Body.Close() // the caller leaves
	<-ended
	until(t, "the stream that was left counts as open", func() bool { return site.OpenStreams() == 2 })
	if again := open(t, server, "secret-of-demo"); again.StatusCode != http.StatusOK {
		t.Errorf("after one has ended: %d", again.StatusCode)
	}
}

func TestAStreamIsOpenWhileItsKeyHasTheRight(t *testing.T) {
	key := func(operations ...string) *apikey.Key {
		return &apikey.Key{Name: "demo", Customer: "DEMO", Operations: apikey.ScopeOf(operations)}
	}
	all := keys{demo: key()}
	stream := newRenewing(func() *apikey.Key { return all[demo] })
	server, _ := streamServer(t, all, stream.serve)
	r := httptest.NewRequest(http.MethodGet, "/v1/changes", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+demo)
	go server.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
	stream.renew() // from now on only the stream looks up the key
	for _, step := range []struct {
		key  *apikey.Key
		want string
	}{{key(), "goes on"}, {key("changes"), "goes on"}, {key("bags"), "ended"}, {nil, "ended"}} {
		if all[demo] = step.key; step.key == nil {
			delete(all, demo)
		}
		if got := stream.renew(); got != step.want {
			t.Errorf("key %+v: %s", step.key, got)
		}
	}
	close(stream.ask)
}

// renewing is a stream that renews its key whenever a test asks it to.
type renewing struct {
	key     func() *apikey.Key // as it is now
	ask     chan struct{}
	renewed chan string
}

func newRenewing(key func() *apikey.Key) *renewing {
	return &renewing{key, make(chan struct{}), make(chan string)}
}

func (r *renewing) serve(ctx context.Context, c *web.Call, _ *web.Stream) {
	for range r.ask {
		switch current, valid := c.Renew(ctx); {
		case !valid:
			r.renewed <- "ended"
		case current != r.key():
			r.renewed <- "an old key"
		default:
			r.renewed <- "goes on"
		}
	}
}

func (r *renewing) renew() string {
	r.ask <- struct{}{}
	return <-r.renewed
}

// While it is not known whether its session was ended, a stream has the rights that its key has now.
func TestAStreamOfASessionKeepsNoOldRightsWhileRedisIsAway(t *testing.T) {
	key := func(airports ...string) *apikey.Key {
		return &apikey.Key{Name: "demo", Customer: "DEMO", Airlines: apikey.Scope{All: true}, Airports: apikey.ScopeOf(airports), Operations: apikey.Scope{All: true}}
	}
	all, redis := keys{demo: key()}, &endings{ended: map[string]bool{}}
	sessions := session.New(all, []byte("signing"), redis)
	stream := newRenewing(func() *apikey.Key { return all[demo] })
	op := web.Operation{
		Operation: operation.ByID("getChanges"),
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			return c.Stream(func(ctx context.Context, s *web.Stream) { stream.serve(ctx, c, s) })
		},
	}
	site := web.New(web.Settings{Keys: all, Log: zap.NewNop(), Clock: time.Now, Sessions: sessions}, []web.Operation{op}, nil)
	_, cookie := sessions.Begin(all[demo], time.Now())
	r := httptest.NewRequest(http.MethodGet, "/v1/changes", http.NoBody)
	r.AddCookie(&http.Cookie{Name: session.Cookie, Value: cookie})
	go site.ServeHTTP(httptest.NewRecorder(), r)
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"nothing", "goes on", func() {}},
		{"the key is narrowed", "goes on", func() { all[demo] = key("GVA") }},
		{"Redis is away", "goes on", func() { redis.err = context.DeadlineExceeded }},
		{"the key loses the right", "ended", func() { all[demo].Operations = apikey.ScopeOf([]string{"bags"}) }},
	} {
		step.do()
		if got := stream.renew(); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
	close(stream.ask)
}

func TestAStreamWhoseCallerTakesNothingIsCutOff(t *testing.T) {
	t.Parallel()
	took := make(chan time.Duration, 1)
	server, _ := streamServer(t, testKeys, func(_ context.Context, _ *web.Call, s *web.Stream) {
		began := time.Now()
		for s.Send("change", "x", []byte(strings.Repeat("x", 1<<20))) == nil {
			s.Flush()
			began = time.Now()
		}
		took <- time.Since(began)
	})
	open(t, server, "secret-of-demo")
	if d := <-took; d < 29*time.Second || d > 45*time.Second {
		t.Errorf("cut off after %v", d)
	}
}

func TestAStreamIsWantedIfAcceptNamesItsType(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/event-stream": true, "Text/Event-Stream": true, "application/json, text/event-stream;q=0.5": true, "text/event-stream; charset=utf-8": true,
		"text/event-stream;q=x": true, "text/event-stream;": true,
		"": false, "*/*": false, "application/json": false, "text/event-stream;q=0": false, "application/json, text/event-stream; Q=0.000": false,
	} {
		c := &web.Call{Request: httptest.NewRequest("GET", "/v1/changes", nil)}
		c.Request.Header.Set("Accept", accept)
		if got := c.WantsStream(); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
}

// A caller that announces a body and does not send it is cut off, or gets its answer, as others are.
func TestABodyThatDoesNotComeHoldsNoStreamAndNoWaitingCaller(t *testing.T) {
	op := web.Operation{
		Operation: operation.ByID("getChanges"),
		Serve: func(_ context.Context, c *web.Call) web.Answer {
			if c.WantsStream() {
				return c.Stream(func(_ context.Context, s *web.Stream) { _ = s.Send("heartbeat", "x", nil) })
			}
			soon, cancel := context.WithTimeout(c.Request.Context(), 10*time.Millisecond)
			defer cancel()
			c.Wait(soon, nil)
			return c.OK([]byte("{}"))
		},
	}
	site := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now, Streams: 2}, []web.Operation{op}, nil)
	server := httptest.NewUnstartedServer(site)
	server.Config.ReadTimeout = 100 * time.Millisecond
	server.Start()
	t.Cleanup(server.CloseClientConnections)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		conn := dial(t, server.Listener.Addr().String())
		_, _ = io.WriteString(conn, "GET /v1/changes HTTP/1.1\r\nHost: x\r\napi_key: secret-of-demo\r\nAccept: "+accept+"\r\nContent-Length: 10\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if text, err := io.ReadAll(conn); err != nil {
			t.Errorf("%s: %v %s", accept, err, text)
		}
	}
}
