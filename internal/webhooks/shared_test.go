package webhooks_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/budget"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/webhooks"
)

// largeFeed is a feed whose every batch is made from so many bytes.
type largeFeed struct {
	*feed
	bytes   int64
	reading atomic.Int64 // batches that hold their memory
	most    atomic.Int64 // of reading
}

func (f *largeFeed) Next(ctx context.Context, a changefeed.Asker, c changes.Cursor, limits changefeed.Limits) (changefeed.Batch, error) {
	if err := budget.Need(ctx, f.bytes); err != nil {
		return changefeed.Batch{}, err
	}
	defer f.reading.Add(-1)
	if n := f.reading.Add(1); n > f.most.Load() {
		f.most.Store(n)
	}
	runtime.Gosched()
	return f.feed.Next(ctx, a, c, limits)
}

// Batches are folded one after the other if there is memory for one, and all are posted.
func TestTheBatchesOfAllWebhooksTakeBoundedMemory(t *testing.T) {
	large := &largeFeed{bytes: 1 << 20}
	w := newWorld(t, nil, func(w *world, conf *webhooks.Config) {
		large.feed = w.feed
		conf.Feed, conf.FoldBytes = large, 1<<20
	})
	w.feed.tell(250)
	for range webhooks.MaxOfCustomer {
		w.sendFor(t, &webhooks.MapStore{Changed: make(chan struct{}), Definition: w.store.Definition})
	}
	until(t, "all batches are posted", func() bool { return len(w.receiver.attempts()) == 3*webhooks.MaxOfCustomer })
	if most := large.most.Load(); most != 1 {
		t.Errorf("%d batches were folded at once", most)
	}
}

// Receivers of one customer hang while large changes are posted. The others of that customer wait, those
// of another do not.
func TestLargeChangesForReceiversThatHangTakeBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hanging, most, taken atomic.Int64
		w := newWorld(t, nil, func(_ *world, conf *webhooks.Config) {
			conf.FoldBytes = 1 << 20 // each customer may take half
			conf.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != "/hanging" {
					taken.Add(1)
					return answer(200), nil
				}
				most.Store(max(most.Load(), hanging.Add(1)))
				defer hanging.Add(-1)
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
		})
		w.feed.size = 200 << 10
		w.feed.tell(1)
		begin := func(customer, key, path string) {
			store := &webhooks.MapStore{Changed: make(chan struct{}), Definition: w.store.Definition}
			store.Definition.Customer, store.Definition.Key, store.Definition.URL = customer, key, "https://receiver.example"+path
			w.sendFor(t, store)
		}
		for range 5 {
			begin("DEMO", "demo", "/hanging")
		}
		sleep(time.Second)
		begin("OTHER", "other", "/works")
		sleep(time.Second)
		if taken.Load() != 1 {
			t.Error("the other customer waits")
		}
		sleep(time.Hour)
		if n := most.Load(); n != 1 {
			t.Errorf("%d large changes were posted for one customer at once", n)
		}
		begin("DEMO", "demo", "/works")
		sleep(time.Hour)
		if taken.Load() != 2 {
			t.Error("the receiver that works has not got the change")
		}
	})
}

// Such a change takes all that the customer may have.
func TestAChangeThatIsLargerThanTheMemoryOfItsCustomerIsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, func(_ *world, conf *webhooks.Config) { conf.FoldBytes = 256 << 10 })
		w.feed.size = 200 << 10
		w.feed.tell(2)
		w.send(t)
		sleep(time.Minute)
		if n := len(w.receiver.attempts()); n != 2 {
			t.Errorf("%d attempts", n)
		}
	})
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Several webhooks lead to one host that speaks HTTP/2. Some of its receivers hang and do not read what
// is posted. The one that works must get its changes.
func TestReceiversThatHangHoldUpNoOtherOfTheirHost(t *testing.T) {
	var hanging, taken atomic.Int64
	over := make(chan struct{})
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/hanging") {
			hanging.Add(1)
			select {
			case <-over:
			case <-r.Context().Done():
			}
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			taken.Add(1)
		}
	}))
	receiver.EnableHTTP2 = true
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	t.Cleanup(func() { close(over) })
	guard := webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	client := guard.Client()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	w := newWorld(t, nil, func(_ *world, conf *webhooks.Config) { conf.Guard, conf.Client = guard, client })
	w.feed.size = 900
	w.feed.tell(100) // 92 KiB
	begin := func(path string) {
		store := &webhooks.MapStore{Changed: make(chan struct{}), Definition: w.store.Definition}
		store.Definition.URL = receiver.URL + path
		w.sendFor(t, store)
	}
	begin("/first") // so that there is a connection
	until(t, "the first is taken", func() bool { return taken.Load() == 1 })
	taken.Store(0)
	for range webhooks.MaxOfCustomer - 2 {
		begin("/hanging")
	}
	until(t, "they hang", func() bool { return hanging.Load() == webhooks.MaxOfCustomer-2 })
	begin("/works")
	until(t, "the one that works has its changes", func() bool { return taken.Load() == 1 })
}
