package webhooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/secret"
	"bagtrail/internal/webhooks"
)

// feed is a list of changes in one partition. The sequence of a change is its place in the list.
type feed struct {
	news    chan struct{} // is closed when something is told
	mu      sync.Mutex
	times   []time.Time // when each change was told
	stale   int         // so many of the first ones match no filter any more
	silent  int         // so many of the last ones match no filter
	size    int         // bytes of a document
	useless string      // why cursors cannot be followed
	keys    []string    // of those who asked

	meanwhile func() // if not nil: is called when a cursor from now on is asked for
}

func (f *feed) tell(n int) { f.add(n, 0) }

// passOver tells changes that match no filter.
func (f *feed) passOver(n int) { f.add(n, n) }

func (f *feed) add(n, silent int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times, f.silent = append(f.times, slices.Repeat([]time.Time{time.Now()}, n)...), silent
	close(f.news)
	f.news = make(chan struct{})
}

// reset takes back all changes but the first ones.
func (f *feed) reset(told int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = f.times[:told]
}

func (f *feed) cursor(a changefeed.Asker, at int) changes.Cursor {
	return changes.Cursor{Epoch: 1, Sequences: []int64{int64(at) - 1}, Filter: a.Filter.Digest()}
}

func (f *feed) Now(_ context.Context, a changefeed.Asker) (changes.Cursor, error) {
	if f.meanwhile != nil {
		f.meanwhile()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor(a, len(f.times)), nil
}

func (f *feed) Since(_ context.Context, a changefeed.Asker, since time.Time) (changes.Cursor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, _ := slices.BinarySearchFunc(f.times, since, time.Time.Compare)
	return f.cursor(a, at), nil
}

func (f *feed) Next(_ context.Context, a changefeed.Asker, c changes.Cursor, limits changefeed.Limits) (changefeed.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, a.Key.Name)
	switch {
	case f.useless != "":
		reason := f.useless
		f.useless = ""
		return changefeed.Batch{}, &changes.ResetError{Reason: reason}
	case c.Filter != a.Filter.Digest():
		return changefeed.Batch{}, changes.ErrFilter
	}
	first := int(c.Sequences[0]) + 1
	end := min(len(f.times), first+limits.Changes)
	b := changefeed.Batch{Cursor: f.cursor(a, end), More: end < len(f.times)}
	size := 0
	for i := max(first, f.stale); i < min(end, len(f.times)-f.silent); i++ {
		plate := bag.Plate(fmt.Sprintf("%010d", i))
		document := fmt.Sprintf(`{"plate":"%s","pad":"%s"}`, plate, bytes.Repeat([]byte("x"), f.size))
		if size += len(document); len(b.Changes) > 0 && size > limits.Bytes {
			b.Cursor, b.More = f.cursor(a, i), true
			break
		}
		b.Changes = append(b.Changes, changefeed.Change{ID: string(plate), Candidate: changes.Candidate{Plate: plate}, Document: []byte(document)})
	}
	return b, nil
}

func (f *feed) News(changefeed.Asker) (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.news, func() {}
}

// keys holds keys by name.
type keys struct {
	mu   sync.Mutex
	list map[string]*apikey.Key
}

func (k *keys) Named(name string, now time.Time) (*apikey.Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.list[name]
	return key, key != nil && key.State(now) == "active"
}

func (k *keys) set(key apikey.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list[key.Name] = &key
}

func (k *keys) remove(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.list, name)
}

// deliveries keeps deliveries in memory.
type deliveries struct {
	mu   sync.Mutex
	list []string
}

func (d *deliveries) Add(_ context.Context, _ string, delivery []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.Insert(d.list, 0, string(delivery))
	return nil
}

func (d *deliveries) List(context.Context, string) ([]string, error) { return d.list, nil }

// receiver answers deliveries in this process. Its answers depend on the test.
type receiver struct {
	answer func(n int, plates []string) *http.Response // n counts the attempts, from 0; nil: 200
	mu     sync.Mutex
	got    []attempt
}

// attempt is one delivery.
type attempt struct {
	at     time.Time
	header http.Header
	body   []byte
	kind   string
	reason string
	plates []string
}

func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var read struct {
		Type string
		Data struct {
			Reason  string
			Changes []struct{ Plate string }
		}
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	a := attempt{at: time.Now(), header: request.Header, body: body, kind: read.Type, reason: read.Data.Reason}
	for _, c := range read.Data.Changes {
		a.plates = append(a.plates, c.Plate)
	}
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, a)
	answering := r.answer
	r.mu.Unlock()
	if answering != nil {
		if response := answering(n, a.plates); response != nil {
			if response.StatusCode == 0 {
				<-request.Context().Done()
				return nil, request.Context().Err()
			}
			return response, nil
		}
	}
	return answer(200), nil
}

// recover lets the receiver answer 200 from now on.
func (r *receiver) recover() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = nil
}

// attempts returns what came so far.
func (r *receiver) attempts() []attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// answer returns an answer with a status; 0 is none at all.
func answer(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader([]byte("as you say")))}
}

// world is a webhook service over a feed and a receiver.
type world struct {
	*webhooks.Service
	feed       *feed
	keys       *keys
	receiver   *receiver
	deliveries *deliveries
	store      *webhooks.MapStore
}

const topic = "bag.webhooks"

var installation = secret.Secret("0123456789abcdef0123456789abcdef")

// kafkaOfNobody is a client that reaches no broker.
func kafkaOfNobody(t *testing.T) *kafka.Client {
	t.Helper()
	client, err := kafka.Open(kafka.Config{Brokers: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newWorld returns a world whose clock is that of the bubble of the test. If client is nil, its own
// client reaches no broker. change alters the configuration.
func newWorld(t *testing.T, client *kafka.Client, change ...func(*world, *webhooks.Config)) *world {
	t.Helper()
	if client == nil {
		client = kafkaOfNobody(t)
	}
	all := apikey.Scope{All: true}
	w := &world{
		feed: &feed{news: make(chan struct{})},
		keys: &keys{list: map[string]*apikey.Key{}}, receiver: &receiver{}, deliveries: &deliveries{},
	}
	w.keys.set(apikey.Key{Name: "demo", Customer: "DEMO", Airlines: all, Airports: all, Operations: all})
	w.keys.set(apikey.Key{Name: "other", Customer: "OTHER", Airlines: all, Airports: all, Operations: all})
	w.Service = w.service(client, change...)
	now := time.Now()
	w.store = &webhooks.MapStore{Changed: make(chan struct{}), Definition: webhooks.Definition{
		ID: "wh_1", Customer: "DEMO", Key: "demo", URL: "https://receiver.example/", Created: now, Changed: now,
		Secret: 1, Started: 1, Start: w.feed.cursor(changefeed.Asker{}, 0).String(),
	}}
	return w
}

// service returns a service, as one process has it.
func (w *world) service(client *kafka.Client, change ...func(*world, *webhooks.Config)) *webhooks.Service {
	ids := 0
	conf := webhooks.Config{
		Kafka: client, Topic: topic, Group: "bagtrail-webhooks", Feed: w.feed, Keys: w.keys, Secret: installation,
		Deliveries: w.deliveries, Client: &http.Client{Transport: w.receiver}, Count: func(string) {}, Logger: zap.NewNop(), Now: time.Now,
		Random: func() float64 { return 0.5 },
		NewID:  func() string { ids++; return "wh_" + strconv.Itoa(ids) },
	}
	for _, c := range change {
		c(w, &conf)
	}
	return webhooks.New(conf)
}

// guarded lets a service post to real addresses, as far as these are public or in the networks.
func guarded(networks ...string) func(*world, *webhooks.Config) {
	return func(_ *world, conf *webhooks.Config) {
		conf.Client = nil
		for _, n := range networks {
			conf.Guard.Allowed = append(conf.Guard.Allowed, netip.MustParsePrefix(n))
		}
	}
}

func (w *world) asker(t *testing.T, name string) changefeed.Asker {
	t.Helper()
	key, ok := w.keys.Named(name, time.Now())
	if !ok {
		t.Fatalf("no key %s", name)
	}
	return changefeed.Asker{Key: key}
}
