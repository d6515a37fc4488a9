package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/budget"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
)

// element is the element that fills the answers of this file.
var element = strings.Repeat("x", 1000)

// list answers with the number of elements in the path.
func list() web.Operation {
	return history(func(_ context.Context, c *web.Call) web.Answer {
		var n int
		_, _ = fmt.Sscan(c.Values[0], &n)
		dst := append(c.Buffer, `{"bags":"`...)
		for range n {
			dst = c.Part(append(dst, element...))
		}
		return c.OK(append(dst, `"}`...))
	})
}

func largeSite(operation web.Operation, bytes int64) *web.Site {
	return web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: bytes}, []web.Operation{operation}, nil)
}

func listPath(n int, query string) string {
	return fmt.Sprintf("/baggage/history/v1.0/tag/%d/flightdate/x%s", n, query)
}

func TestAnswerInPartsIsWhole(t *testing.T) {
	s := largeSite(list(), 16<<20)
	for _, n := range []int{0, 1, 64, 65, 66, 67, 131, 200, 5000} {
		want := `{"bags":"` + strings.Repeat(element, n) + `"}`
		for query, want := range map[string]string{"": want, "?callback=cb": "/**/cb(" + want + ");"} {
			w := ask(t, s, "GET", listPath(n, query), nil, "api_key", demo)
			if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Length") != fmt.Sprint(len(want)) {
				t.Errorf("%d elements %s: %d, %d bytes, announced %s", n, query, w.Code, w.Body.Len(), w.Header().Get("Content-Length"))
			}
		}
	}
}

// stuckCaller is a caller who does not read.
type stuckCaller struct {
	http.ResponseWriter
	reached, leave chan struct{}
}

func (w stuckCaller) Write(p []byte) (int, error) {
	w.reached <- struct{}{}
	<-w.leave
	return len(p), io.ErrClosedPipe
}

func TestLargeAnswersUnderWayAreBoundedAndSmallOnesAlwaysPass(t *testing.T) {
	s := largeSite(list(), 2<<20)
	end := stuck(s, request("GET", listPath(700, ""), "", "api_key", demo))
	for name, want := range map[string]int{listPath(700, ""): 503, listPath(700, "?callback=cb"): 503, listPath(64, ""): 200, listPath(200, ""): 200} {
		w := ask(t, s, "GET", name, nil, "api_key", demo)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", name, w.Code, want)
		}
		if want == 503 && (!strings.Contains(w.Body.String(), failure(fault.Unavailable)) || w.Header().Get("Retry-After") != "1") {
			t.Errorf("%s: %s, Retry-After %q", name, w.Body, w.Header().Get("Retry-After"))
		}
	}
	end()
	if w := ask(t, s, "GET", listPath(900, ""), nil, "api_key", demo); w.Code != 200 {
		t.Errorf("after the caller has gone: %d", w.Code)
	}
}

func TestAnswerThatWasLargeIsRefusedBeforeItIsMade(t *testing.T) {
	operation := list()
	made, serveIt := 0, operation.Serve
	operation.Serve = func(ctx context.Context, c *web.Call) web.Answer {
		made++
		return serveIt(ctx, c)
	}
	s := largeSite(operation, 2<<20)
	end := stuck(s, request("GET", listPath(700, ""), "", "api_key", demo))
	for _, want := range []struct{ target, status, made int }{{900, 503, 2}, {900, 503, 2}, {700, 503, 2}, {10, 200, 3}, {10, 200, 4}} {
		w := ask(t, s, "GET", listPath(want.target, ""), nil, "api_key", demo)
		if w.Code != want.status || made != want.made {
			t.Errorf("%d elements: %d, %d answers made, want %+v", want.target, w.Code, made, want)
		}
	}
	end()
	if w := ask(t, s, "GET", listPath(900, ""), nil, "api_key", demo); w.Code != 200 {
		t.Errorf("when there is room again: %d", w.Code)
	}
}

// Two answers need more than the key may take. The memory of the first is reserved while it is
// made, also if the answer was only refused so far.
func TestOfTwoCallersOfALargeAnswerOneGetsIt(t *testing.T) {
	for _, refused := range []bool{false, true} {
		operation := list()
		var held, others atomic.Bool
		begun, leave, serveIt := make(chan struct{}), make(chan struct{}), operation.Serve
		operation.Serve = func(ctx context.Context, c *web.Call) web.Answer {
			if held.CompareAndSwap(true, false) {
				others.Store(false)
				close(begun)
				<-leave
			} else {
				others.Store(true)
			}
			return serveIt(ctx, c)
		}
		s := largeSite(operation, 2<<20)
		want, end := 200, func() {}
		if refused {
			want, end = 503, stuck(s, request("GET", listPath(600, ""), "", "api_key", demo))
		}
		if w := answer(s, request("GET", listPath(700, ""), "", "api_key", demo)); w.Code != want {
			t.Fatal(w.Code)
		}
		end()
		held.Store(true)
		first := make(chan int, 1)
		go func() { first <- answer(s, request("GET", listPath(700, ""), "", "api_key", demo)).Code }()
		<-begun
		if w := answer(s, request("GET", listPath(700, ""), "", "api_key", demo)); w.Code != 503 || others.Load() {
			t.Errorf("refused before %t: while the answer is made for another caller: %d, made %t", refused, w.Code, others.Load())
		}
		close(leave)
		if got := <-first; got != 200 {
			t.Errorf("refused before %t: the first caller: %d", refused, got)
		}
		if w := answer(s, request("GET", listPath(700, ""), "", "api_key", demo)); w.Code != 200 {
			t.Errorf("refused before %t: after it: %d", refused, w.Code)
		}
	}
}

// stuck lets a caller ask who does not read the answer. It returns once the answer is being
// written. end lets the caller go.
func stuck(s *web.Site, r *http.Request) (end func()) {
	caller := stuckCaller{ResponseWriter: httptest.NewRecorder(), reached: make(chan struct{}), leave: make(chan struct{})}
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.ServeHTTP(caller, r)
	}()
	<-caller.reached
	return func() { close(caller.leave); <-over }
}

// sizedSite answers with as many elements as size says for the key and the request.
func sizedSite(size func(key, query string) int) *web.Site {
	download := bagsV1(func(_ context.Context, c *web.Call) web.Answer {
		dst := append(c.Buffer, `{"x":"`...)
		for range size(c.Key.Name, c.Request.URL.RawQuery) {
			dst = c.Part(append(dst, element...))
		}
		return c.OK(append(dst, `"}`...))
	})
	return web.New(web.Settings{Keys: mayPost, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: 2 << 20}, []web.Operation{download}, nil)
}

func TestALargeAnswerIsGivenAgainAndNotIfItHasGrownTooMuch(t *testing.T) {
	n := 0
	s := sizedSite(func(string, string) int { return n })
	for _, want := range []struct{ n, status int }{{900, 200}, {900, 200}, {950, 200}, {3000, 503}, {3000, 503}, {900, 200}, {900, 200}} {
		if n = want.n; download(s, demo) != want.status {
			t.Errorf("%d elements: not %d", n, want.status)
		}
	}
	single := largeSite(history(func(_ context.Context, c *web.Call) web.Answer { return c.OK(make([]byte, 900<<10)) }), 2<<20)
	for range 3 {
		if w := answer(single, request("GET", listPath(1, ""), "", "api_key", demo)); w.Code != 200 {
			t.Errorf("in one piece: %d", w.Code)
		}
	}
}

// A caller holds most of what the key may take. Small answers pass beside it, though answers to
// another key, to another query, or to the same request before, are large.
func TestTheSizeOfAnAnswerIsThatOfItsKeyAndRequestTheLastTime(t *testing.T) {
	var small atomic.Bool
	s := sizedSite(func(key, query string) int {
		if key == "demo" && query == "" && !small.Load() || query == "stuck=1" {
			return 700
		}
		return 10
	})
	get := func(key, query string) int {
		return answer(s, request("GET", "/v1/bags/0724100001"+query, "", "api_key", key)).Code
	}
	if got := get(demo, ""); got != 200 {
		t.Fatal(got)
	}
	for _, key := range []string{demo, "secret-of-other"} {
		end := stuck(s, request("GET", "/v1/bags/0724100001?stuck=1", "", "api_key", key))
		if got := get(key, "?x=1"); got != 200 {
			t.Errorf("%s, another query: %d", key, got)
		}
		want := 200
		if key == demo {
			want = 503
		}
		if got := get(key, ""); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
		end()
	}
	small.Store(true)
	if got := get(demo, ""); got != 200 {
		t.Errorf("smaller now: %d", got)
	}
	defer stuck(s, request("GET", "/v1/bags/0724100001?stuck=1", "", "api_key", demo))()
	if got := get(demo, ""); got != 200 {
		t.Errorf("small the last time: %d", got)
	}
}

func TestAnAnswerThatWasTooLargeIsMadeOnceItIsSmall(t *testing.T) {
	size := 2 << 20
	s := largeSite(history(func(_ context.Context, c *web.Call) web.Answer {
		return c.OK(make([]byte, size))
	}), 1<<20)
	for _, want := range []struct{ size, status int }{{2 << 20, 503}, {2 << 20, 503}, {10, 200}} {
		size = want.size
		if w := ask(t, s, "GET", listPath(1, ""), nil, "api_key", demo); w.Code != want.status {
			t.Errorf("%d bytes: %d, want %d", size, w.Code, want.status)
		}
	}
}

func TestAnswerInOnePieceIsCountedToo(t *testing.T) {
	s := largeSite(history(func(_ context.Context, c *web.Call) web.Answer {
		return c.OK(append(c.Buffer, bytes.Repeat([]byte("x"), 200<<10)...))
	}), 100<<10)
	if w := ask(t, s, "GET", listPath(1, ""), nil, "api_key", demo); w.Code != 503 || w.Body.String() != failure(fault.Unavailable) {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
}

func TestWhatAnswersAreMadeOfIsBoundedWithinTheDeadline(t *testing.T) {
	began, leave := make(chan struct{}), make(chan struct{})
	operation := history(func(ctx context.Context, c *web.Call) web.Answer {
		if err := budget.Need(ctx, 700<<10); err != nil {
			return c.Unavailable(err)
		}
		began <- struct{}{}
		<-leave
		return c.OK(append(c.Buffer, "{}"...))
	})
	operation.Limit = 50 * time.Millisecond
	s := largeSite(operation, 1<<20)
	first := make(chan int)
	go func() {
		first <- answer(s, request("GET", listPath(1, ""), "", "api_key", demo)).Code
	}()
	<-began
	if w := ask(t, s, "GET", listPath(1, ""), nil, "api_key", demo); w.Code != 503 || w.Body.String() != failure(fault.Unavailable) {
		t.Errorf("the second one: %d %s", w.Code, w.Body)
	}
	close(leave)
	if code := <-first; code != 200 {
		t.Errorf("the first one: %d", code)
	}
	go func() { <-began }()
	if w := ask(t, s, "GET", listPath(1, ""), nil, "api_key", demo); w.Code != 200 {
		t.Errorf("behind the first one: %d", w.Code)
	}
}

// The write limit cuts off a caller who reads nothing, and frees the memory of his answer.
func TestCallerWhoDoesNotReadIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	const n = 40_000
	address, _ := serve(t, largeSite(list(), 128<<20))
	conn := dial(t, address)
	began := time.Now()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\napi_key: %s\r\n\r\n", listPath(n, ""), demo)
	_, _ = conn.Read(make([]byte, 1))
	get := func() int {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+listPath(n, ""), nil)
		r.Header.Set("api_key", demo)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	if status := get(); status != 503 {
		t.Errorf("beside it: %d", status)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for get() != 200 {
		if <-tick.C; time.Since(began) > 45*time.Second {
			t.Fatal("the answer is held for longer than the limit")
		}
	}
	if held := time.Since(began); held < 25*time.Second {
		t.Errorf("the caller was cut off after %v", held)
	}
	if got, _ := io.Copy(io.Discard, conn); got >= n*int64(len(element)) {
		t.Error("the answer came whole")
	}
}

// mayPost are keys of which two have all rights, and one has none.
var mayPost = keys{
	demo:              {Name: "demo", Operations: apikey.Scope{All: true}},
	"secret-of-other": {Name: "other", Operations: apikey.Scope{All: true}},
	"secret-of-none":  {Name: "none"},
}

// uploadSite has an operation with large bodies and one with a large answer. A key has memory for one
// body.
func uploadSite() *web.Site {
	upload := web.Operation{
		Operation: operation.ByID("postMessages"), MaxBody: 4 << 20,
		Serve: func(_ context.Context, c *web.Call) web.Answer { return c.OK([]byte("{}")) },
	}
	download := bagsV1(func(_ context.Context, c *web.Call) web.Answer {
		return c.OK(append(append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), 100<<10)...), `"}`...))
	})
	settings := web.Settings{Keys: mayPost, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: 2 * (4<<20 + 2000)}
	return web.New(settings, []web.Operation{upload, download}, nil)
}

// upload begins to post 4 MiB, of which some bytes arrive. finish lets the body end, and returns the
// answer.
func upload(s *web.Site, key string, arrived int) (finish func() *httptest.ResponseRecorder) {
	r := request("POST", "/v1/messages", "", "api_key", key, "Content-Type", "application/json")
	body, sender := io.Pipe()
	r.Body, r.ContentLength = body, 4<<20
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- answer(s, r) }()
	_, _ = sender.Write(make([]byte, arrived))
	_, _ = sender.Write(nil) // returns when the site reads on, and so has counted what has arrived
	return func() *httptest.ResponseRecorder {
		_ = sender.Close()
		return <-answered
	}
}

// A body that finds no memory returns what it has taken, once.
func TestABodyThatIsRefusedReturnsItsMemoryOnce(t *testing.T) {
	s := uploadSite()
	finish := upload(s, demo, 1<<20+1)
	if got := upload(s, demo, 4<<20-1)().Code; got != http.StatusServiceUnavailable {
		t.Errorf("the second body: %d", got)
	}
	finish()
	finish = upload(s, demo, 4<<20-1)
	if got := upload(s, demo, 200<<10)().Code; got != http.StatusServiceUnavailable {
		t.Errorf("beside a body that takes all: %d", got)
	}
	finish()
}

// download asks for a large answer, and returns its status.
func download(s *web.Site, key string) int {
	return answer(s, request("GET", "/v1/bags/0724100001", "", "api_key", key)).Code
}

// A body takes memory from large answers as its bytes arrive, not as they are announced.
func TestABodyThatIsOnlyAnnouncedKeepsNobodyFromALargeAnswer(t *testing.T) {
	for arrived, want := range map[int]int{1000: http.StatusOK, 3 << 20: http.StatusServiceUnavailable} {
		s := uploadSite()
		finish := upload(s, demo, arrived)
		if got := download(s, demo); got != want {
			t.Errorf("beside a body of which %d bytes have arrived: %d", arrived, got)
		}
		finish()
		if got := download(s, demo); got != http.StatusOK {
			t.Errorf("after it: %d", got)
		}
	}
}

func TestABodyOfAKeyWithoutTheRightTakesNoMemory(t *testing.T) {
	s := uploadSite()
	finish := upload(s, "secret-of-none", 4<<20-1)
	if got := download(s, "secret-of-none"); got != http.StatusOK {
		t.Errorf("beside the body: %d", got)
	}
	if got := problem(t, finish()); got != "403 not-authorised " {
		t.Errorf("the body: %s", got)
	}
	if got := problem(t, answer(s, request("POST", "/v1/messages", "", "api_key", "secret-of-none"))); got != "415 unsupported-media-type " {
		t.Errorf("a small body: %s", got)
	}
}

func TestAKeyThatHoldsItsShareOfTheMemoryKeepsNoOtherFromIt(t *testing.T) {
	s := uploadSite()
	finish := upload(s, demo, 4<<20-1)
	if got := upload(s, demo, 4<<20-1)().Code; got != http.StatusServiceUnavailable {
		t.Errorf("another body of the key: %d", got)
	}
	finishOther := upload(s, "secret-of-other", 4<<20-1)
	for key, want := range map[string]int{demo: http.StatusServiceUnavailable, "secret-of-other": http.StatusServiceUnavailable} {
		if got := download(s, key); got != want {
			t.Errorf("%s beside both bodies: %d", key, got)
		}
	}
	if got := finishOther().Code; got != http.StatusOK {
		t.Errorf("the body of the other key: %d", got)
	}
	if got := download(s, "secret-of-other"); got != http.StatusOK {
		t.Errorf("an answer to the other key: %d", got)
	}
	finish()
	if got := download(s, demo); got != http.StatusOK {
		t.Errorf("after the body: %d", got)
	}
}
