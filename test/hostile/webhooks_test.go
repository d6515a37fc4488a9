package hostile_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/test/service"
)

// inbox receives the deliveries of all webhooks. The path of a webhook is the name of its key.
type inbox struct {
	mu  sync.Mutex
	got map[string]map[string][]any // by key and plate: the bags that were told last
}

// ServeHTTP implements http.Handler.
func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	delivery, _ := decoded(string(body)).(map[string]any)
	data, _ := json.Marshal(delivery["data"]) // what was read as JSON can be written
	i.mu.Lock()
	defer i.mu.Unlock()
	name := r.URL.Path[1:]
	if i.got[name] == nil {
		i.got[name] = map[string][]any{}
	}
	maps.Copy(i.got[name], told(service.Answer{Body: string(data)}))
}

// told returns what the webhook of a key was told.
func (i *inbox) told(name string) map[string][]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := map[string][]any{} // never nil
	maps.Copy(all, i.got[name])
	return all
}

func (i *inbox) clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.got = map[string]map[string][]any{}
}

// A webhook is told each plate of which its key sees a bag, with these bags as the key sees them, and
// nothing of other plates. A key without the right uses no webhook, and none uses that of another
// customer.
func TestWebhooksAreToldWhatTheirKeysSee(t *testing.T) {
	keys := scopes()
	s := service.Start(t, "BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_KEYS_FILE="+keyFile(t, keys), "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8")
	in := &inbox{}
	in.clear()
	receiver := httptest.NewServer(in)
	defer receiver.Close()
	ask := func(key, method, path, body string) service.Answer {
		t.Helper()
		return s.Do(method, "/v1/webhooks"+path, strings.NewReader(body), "api_key", key, "Content-Type", jsonType)
	}
	create := func(key, name string) (id string) {
		t.Helper()
		s.Until(patience, func() bool { // the index of changes is built first
			got := ask(key, http.MethodPost, "", `{"url":"`+receiver.URL+"/"+name+`"}`)
			made, _ := decoded(got.Body).(map[string]any)
			id, _ = made["id"].(string)
			return got.Status == http.StatusCreated
		})
		return id
	}
	others := create(service.DevelopmentKey, "all")
	var some []scope
	ids := map[string]string{}
	for i, k := range keys {
		if !covers(k.operations, "webhooks") || !k.customer {
			usesNoWebhook(t, ask, k, others, http.StatusForbidden)
			continue
		}
		if len(some) == 0 {
			usesNoWebhook(t, ask, k, others, http.StatusNotFound)
		}
		if i%8 == i/8%8 { // of each list of airlines one of airports
			some = append(some, k)
			ids[k.name] = create("key-of-"+k.name, k.name)
		}
	}
	sendWorld(t, s)
	m := newMatrix()
	for _, b := range m.world {
		m.v1[b] = m.bagV1(t, s, b)
	}
	if !s.Until(patience, func() bool { return len(in.told("all")) == len(platesOf(m.world)) }) {
		t.Fatalf("%d plates are told", len(in.told("all")))
	}
	in.clear()
	since := `{"since":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`
	for _, k := range some {
		if got := ask("key-of-"+k.name, http.MethodPost, "/"+ids[k.name]+"/rewind", since); got.Status != http.StatusOK {
			t.Fatalf("rewind: %d %s", got.Status, got.Body)
		}
	}
	for _, k := range some {
		want := map[string][]any{}
		for _, b := range m.world {
			if k.bag(b) {
				want[b.plate] = append(want[b.plate], withoutTexts(m.shownV1(k, b)))
			}
		}
		if everything(k.airlines) && everything(k.airports) { // it is told of plates without bags too
			for plate := range platesOf(m.world) {
				want[plate] = append([]any{}, want[plate]...)
			}
		}
		if !s.Until(patience, func() bool { return reflect.DeepEqual(in.told(k.name), want) }) {
			t.Errorf("key %+v: its webhook is told\n%v, want\n%v", k, in.told(k.name), want)
		}
	}
	t.Logf("%d webhooks of limited keys", len(some))
}

// usesNoWebhook asks every operation for a webhook of another customer.
func usesNoWebhook(t *testing.T, ask func(key, method, path, body string) service.Answer, k scope, id string, status int) {
	t.Helper()
	now := `{"since":"` + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) + `"}`
	for _, op := range []struct{ method, path, body string }{
		{http.MethodPost, "", `{"url":"http://127.0.0.1/"}`}, {http.MethodGet, "", ""},
		{http.MethodGet, "/" + id, ""}, {http.MethodPatch, "/" + id, `{"paused":true}`}, {http.MethodPost, "/" + id + "/test", ""},
		{http.MethodPost, "/" + id + "/rewind", now}, {http.MethodGet, "/" + id + "/deliveries", ""},
		{http.MethodPost, "/" + id + "/secret", ""}, {http.MethodDelete, "/" + id, ""},
	} {
		if op.path == "" && status == http.StatusNotFound {
			continue // it has webhooks of its own
		}
		if got := ask("key-of-"+k.name, op.method, op.path, op.body); got.Status != status {
			t.Errorf("key %+v: %s %s: %d %s", k, op.method, op.path, got.Status, got.Body)
		}
	}
}

func platesOf(world []*luggage) map[string]bool {
	plates := map[string]bool{}
	for _, b := range world {
		plates[b.plate] = true
	}
	return plates
}
