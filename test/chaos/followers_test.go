package chaos_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/internal/changes"
	"bagtrail/test/service"
)

func TestAFollowerKeepsTheFirstStateOfAPosition(t *testing.T) {
	f := &follower{ordered: true, states: make(map[string]change)}
	for _, bags := range []string{"first", "again"} {
		f.tell(change{"0724100001-1-5", "0724100001", 1, 5, json.RawMessage(bags)})
	}
	if got := string(f.states["0724100001"].Bags); got != "first" || len(f.faults) > 0 {
		t.Errorf("it keeps what was told %s, with the faults %q", got, f.faults)
	}
	f.tell(change{"0724100001-1-6", "0724100001", 1, 7, nil})
	f.tell(change{"0724100001-1-6", "0724100001", 1, 6, nil})
	if got := f.states["0724100001"].Sequence; got != 7 || len(f.faults) != 2 {
		t.Errorf("it keeps sequence %d, with the faults %q", got, f.faults)
	}
}

func TestAFollowerNoticesABagThatItsKeyDoesNotSee(t *testing.T) {
	for bags, faults := range map[string]int{
		`[{"legs":[{"airline":"LH"},{"airline":"BA"}]}]`: 0, `[]`: 0,
		`[{"legs":[{"airline":"LX"}]},{"legs":[{"airline":"LH"}]}]`: 1,
	} {
		f := &follower{key: limitedKey, states: make(map[string]change)}
		f.tell(change{"0724100001-1-5", "0724100001", 1, 5, json.RawMessage(bags)})
		if len(f.faults) != faults {
			t.Errorf("%s: faults %q", bags, f.faults)
		}
	}
}

// limitedKey sees the bags of two of the eight airlines of the simulated feed.
const limitedKey = "of-two-airlines"

// keys writes a file with both keys and returns the setting for it.
func keys(t *testing.T) string {
	t.Helper()
	return "BAGTRAIL_KEYS_FILE=" + service.WriteFile(t, "keys.yaml", "keys:\n"+service.KeyEntry("everything", service.DevelopmentKey, ", customer: ALL")+
		service.KeyEntry("limited", limitedKey, ", customer: TWO, airlines: [LX, BA]"))
}

// change is a change as the service tells it.
type change struct {
	ID       string          `json:"id"`
	Plate    string          `json:"plate"`
	Epoch    int64           `json:"epoch"`
	Sequence int64           `json:"sequence"`
	Bags     json.RawMessage `json:"bags"`
}

// before reports whether a change has a lower position than another one of the plate.
func (c change) before(other change) bool {
	return cmp.Or(cmp.Compare(c.Epoch, other.Epoch), cmp.Compare(c.Sequence, other.Sequence)) < 0
}

// follower follows changes as its readers are told to: of each plate it keeps what has the highest
// position, and drops what is not higher.
type follower struct {
	name, key string
	ordered   bool // positions of a plate never go down

	mu      sync.Mutex
	states  map[string]change // by plate
	told    int
	resets  int
	faults  []string
	retries int
}

// tell notes a change.
func (f *follower) tell(c change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told++
	if id := fmt.Sprintf("%s-%d-%d", c.Plate, c.Epoch, c.Sequence); c.ID != id {
		f.faults = append(f.faults, fmt.Sprintf("a change has the id %q, not %s", c.ID, id))
	}
	if f.key == limitedKey && !ofTwoAirlines(c.Bags) {
		f.faults = append(f.faults, fmt.Sprintf("%s is told, with a bag that the key does not see: %s", c.Plate, c.Bags))
	}
	last, known := f.states[c.Plate]
	if known && !last.before(c) {
		if f.ordered && c.before(last) {
			f.faults = append(f.faults, fmt.Sprintf("%s went back from %d to %d", c.Plate, last.Sequence, c.Sequence))
		}
		return
	}
	f.states[c.Plate] = c
}

// ofTwoAirlines reports whether each bag has a leg of the airlines of limitedKey.
func ofTwoAirlines(told json.RawMessage) bool {
	var bags []struct {
		Legs []struct{ Airline string }
	}
	err := json.Unmarshal(told, &bags)
	for _, b := range bags {
		if !slices.ContainsFunc(b.Legs, func(l struct{ Airline string }) bool { return l.Airline == "LX" || l.Airline == "BA" }) {
			return false
		}
	}
	return err == nil
}

// count returns how many changes were told.
func (f *follower) count() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(f.told)
}

func (f *follower) note(count *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*count++
}

func (f *follower) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// followers follow the changes by the delta query, by the stream and by a webhook, with two keys each.
type followers struct {
	list []*follower
	end  context.CancelFunc
	wg   sync.WaitGroup
}

// follow starts followers of the changes that processes tell. They use the processes in turn.
func (w *world) follow(apis ...*service.Service) {
	w.t.Helper()
	ctx, end := context.WithCancel(w.t.Context())
	fs := &followers{end: end}
	for name, key := range map[string]string{"everything": service.DevelopmentKey, "two airlines": limitedKey} {
		for way, run := range map[string]func(*follower, context.Context, []*service.Service, string){
			"delta query": (*follower).query, "stream": (*follower).stream,
		} {
			f := &follower{name: way + ", " + name, key: key, ordered: true, states: make(map[string]change)}
			cursor := f.first(w, apis[0])
			fs.list = append(fs.list, f)
			fs.wg.Go(func() { run(f, ctx, apis, cursor) })
		}
		f := &follower{name: "webhook, " + name, key: key, states: make(map[string]change)} // which may repeat older ones
		f.hook(w, apis[0])
		fs.list = append(fs.list, f)
	}
	w.t.Cleanup(fs.stop)
	w.followers = fs
}

func (fs *followers) stop() {
	fs.end()
	fs.wg.Wait()
}

// first returns a cursor from now on.
func (f *follower) first(w *world, s *service.Service) (cursor string) {
	w.t.Helper()
	var last error
	if !until(w.t.Context(), time.Minute, 100*time.Millisecond, func(ctx context.Context) bool {
		var page page
		if _, last = f.get(ctx, s.URL+"/v1/changes", &page); last == nil {
			cursor = page.Cursor
		}
		return last == nil
	}) {
		w.t.Fatalf("%s: there is no cursor: %v", f.name, last)
	}
	return cursor
}

// hook makes a webhook that posts to this test.
func (f *follower) hook(w *world, s *service.Service) {
	w.t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var told struct {
			Type string `json:"type"`
			Data struct {
				Changes []change `json:"changes"`
			} `json:"data"`
		}
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			f.note(&f.retries) // the process was killed while it posted
			return
		}
		if told.Type == "bags.reset" {
			f.note(&f.resets)
		}
		for _, c := range told.Data.Changes {
			f.tell(c)
		}
	}))
	w.t.Cleanup(receiver.Close)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, s.URL+"/v1/webhooks", strings.NewReader(`{"url":"`+receiver.URL+`"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", f.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := followersClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusCreated {
		var b bytes.Buffer
		_, _ = b.ReadFrom(res.Body)
		w.t.Fatalf("%s: %s %s", f.name, res.Status, b.String())
	}
}

// page is an answer of the delta query, or a problem that resets the cursor.
type page struct {
	Changes []change `json:"changes"`
	Cursor  string   `json:"cursor"`
	Reset   string   `json:"reset"`
}

// get reads an answer of the service. A status other than 200 is an error.
func (f *follower) get(ctx context.Context, target string, into any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	res, err := f.open(ctx, target, "")
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(b.Bytes(), into); err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, fmt.Errorf("%s: %s", res.Status, b.String())
	}
	return res.StatusCode, nil
}

// followersClient connects for each request, since the processes are killed again and again.
var followersClient = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
}}

func (f *follower) open(ctx context.Context, target, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-Key", f.key)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return followersClient.Do(req)
}

// query follows by the delta query.
func (f *follower) query(ctx context.Context, apis []*service.Service, cursor string) {
	for turn := 0; ctx.Err() == nil; turn++ {
		var p page
		target := apis[turn%len(apis)].URL + "/v1/changes?wait=2&limit=1000&cursor=" + url.QueryEscape(cursor)
		status, err := f.get(ctx, target, &p)
		switch {
		case status == http.StatusGone && p.Cursor != "":
			f.note(&f.resets)
		case err != nil:
			f.note(&f.retries)
			rest(ctx, 100*time.Millisecond)
			continue
		}
		for _, c := range p.Changes {
			f.tell(c)
		}
		cursor = p.Cursor
	}
}

// stream follows by the stream, and goes on where it stopped.
func (f *follower) stream(ctx context.Context, apis []*service.Service, cursor string) {
	for turn := 0; ctx.Err() == nil; turn++ {
		if err := f.streamOnce(ctx, apis[turn%len(apis)], &cursor); err != nil && ctx.Err() == nil {
			f.note(&f.retries)
		}
		rest(ctx, 100*time.Millisecond)
	}
}

func (f *follower) streamOnce(ctx context.Context, s *service.Service, cursor *string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := f.open(ctx, s.URL+"/v1/changes?cursor="+url.QueryEscape(*cursor), "text/event-stream")
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	silence := time.AfterFunc(12*time.Second, cancel) // a heartbeat comes every 5 s
	defer silence.Stop()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	var id, event, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data += value
		case "":
			silence.Reset(12 * time.Second)
			f.event(event, data)
			*cursor, event, data = cmp.Or(id, *cursor), "", ""
		}
	}
	return cmp.Or(lines.Err(), errors.New("the stream ended"))
}

// event takes an event of the stream.
func (f *follower) event(event, data string) {
	switch event {
	case "change":
		var c change
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			f.fail("no change: %v: %s", err, data)
			return
		}
		f.tell(c)
	case "reset":
		f.note(&f.resets)
	case "heartbeat", "":
	default:
		f.fail("an event %q", event)
	}
}

// verifyFollowers compares what every follower was told last of each plate with what the service
// answers to its key.
func (w *world) verifyFollowers(u *reference, s *service.Service) {
	w.t.Helper()
	known := make(map[string]map[string]string) // by key and plate
	topic := &follower{name: "topic, everything", key: service.DevelopmentKey, states: make(map[string]change)}
	for _, f := range append(w.followers.list, topic) {
		if known[f.key] == nil {
			known[f.key] = f.known(w, s, slices.Sorted(maps.Keys(u.days)))
		}
		var missed []string
		whileItMoves(w.t.Context(), 500*time.Millisecond, func(context.Context) (bool, int64) {
			if f == topic {
				w.readTopic(f)
			}
			missed = f.missed(known[f.key])
			return len(missed) == 0, f.count()
		})
		f.mu.Lock()
		w.t.Logf("%s: %d changes told, %d times asked again, %d resets; %d of %d plates are seen, of which %d states are missed",
			f.name, f.told, f.retries, f.resets, len(known[f.key]), len(u.days), len(missed))
		for _, fault := range slices.Concat(f.faults, missed)[:min(3, len(f.faults)+len(missed))] {
			w.t.Errorf("%s: %s", f.name, fault)
		}
		if f.resets > 0 {
			w.t.Errorf("%s: %d resets", f.name, f.resets)
		}
		if len(known[f.key]) == 0 {
			w.t.Errorf("%s: sees no bag", f.name)
		}
		f.mu.Unlock()
	}
	w.followers.stop()
}

// readTopic reads the topic of changes from its beginning.
func (w *world) readTopic(f *follower) {
	f.told, f.states = 0, make(map[string]change)
	w.read(w.changes(), func(m kafka.Message) {
		r, err := changes.ParseRecord(m.Value)
		if err != nil {
			f.fail("no change: %s", m.Value)
			return
		}
		f.tell(change{r.ID, string(r.Plate), r.Epoch, r.Sequence, r.Bags})
	})
}

// known returns what the service answers to the key of each plate that the key sees. What it may no
// longer see is not told either.
func (f *follower) known(w *world, s *service.Service, plates []string) map[string]string {
	w.t.Helper()
	var (
		mu  sync.Mutex
		wg  sync.WaitGroup
		all = make(map[string]string)
	)
	next := make(chan string)
	for range 4 {
		wg.Go(func() {
			for plate := range next {
				var answer struct {
					Bags []map[string]any `json:"bags"`
				}
				status, err := f.get(w.t.Context(), s.URL+"/v1/bags/"+plate, &answer)
				for try := 0; try < 3 && status == http.StatusServiceUnavailable; try++ {
					status, err = f.get(w.t.Context(), s.URL+"/v1/bags/"+plate, &answer)
				}
				switch {
				case status == http.StatusForbidden:
				case err != nil:
					f.fail("%s: %v", plate, err)
				case len(answer.Bags) > 0:
					mu.Lock()
					all[plate] = essence(answer.Bags)
					mu.Unlock()
				}
			}
		})
	}
	for _, plate := range plates {
		next <- plate
	}
	close(next)
	wg.Wait()
	return all
}

// missed returns the plates whose known state was not told.
func (f *follower) missed(known map[string]string) (missed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for plate, want := range known {
		var told []map[string]any
		if last := f.states[plate].Bags; last != nil {
			if err := json.Unmarshal(last, &told); err != nil {
				missed = append(missed, fmt.Sprintf("%s: %v", plate, err))
				continue
			}
		}
		if got := essence(told); got != want {
			missed = append(missed, fmt.Sprintf("%s\n  told  %s\n  known %s", plate, got, want))
		}
	}
	return missed
}

// essence returns the legs, their statuses and the events of bags: what every way to be told has.
func essence(bags []map[string]any) string {
	var b strings.Builder
	for _, bag := range bags {
		rush, _ := bag["rush"].(bool)
		fmt.Fprintf(&b, "[rush %v, tag %v", rush, bag["rush_plate"])
		legs, _ := bag["legs"].([]any)
		for _, l := range legs {
			leg, _ := l.(map[string]any)
			fmt.Fprintf(&b, "; %v%v/%v %v-%v %v", leg["airline"], leg["flight"], leg["date"], leg["from"], leg["to"], leg["status"])
		}
		events, _ := bag["events"].([]any)
		for _, e := range events {
			event, _ := e.(map[string]any)
			fmt.Fprintf(&b, " %v %v", event["code"], event["id"])
		}
		b.WriteString("]")
	}
	return b.String()
}
