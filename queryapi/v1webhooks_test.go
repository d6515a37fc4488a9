package queryapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/internal/webhooks"
	"bagtrail/queryapi"
)

func TestEveryFaultOfAWebhookIsTold(t *testing.T) {
	client, err := kafka.Open(kafka.Config{Brokers: []string{"127.0.0.1:1"}}) // must not be asked
	if err != nil {
		t.Fatal(err)
	}
	hooks := queryapi.Webhooks{
		Queries: queryapi.Queries{Airports: airport.New(), ChangesRetention: 72 * time.Hour, Clock: time.Now},
		Service: webhooks.New(webhooks.Config{Kafka: client, Topic: "bag.webhooks", Group: "g", Logger: zap.NewNop()}),
	}
	s := web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, hooks.Operations(), nil)
	for _, tc := range []struct{ method, target, body, want string }{
		{"POST", "", `{}`, "/url missing"},
		{"POST", "", `{"url":"http://example.com/"}`, "/url malformed"},
		{"POST", "", `{"url":"https://127.0.0.1/"}`, "/url malformed"},
		{"POST", "", `{"url":"https://user@example.com/"}`, "/url malformed"},
		{"POST", "", `{"url":"https://example.com/hook "}`, "/url malformed"},
		{"POST", "", `{"url":"https://example.com/\u00a0hook"}`, "/url malformed"},
		{"POST", "", `{"url":"https://example.com/` + strings.Repeat("x", 2000) + `"}`, "/url malformed"},
		{"POST", "", `{"url":"https://example.com/","url":"https://example.com/","secret":"x"}`, "/url repeated, /secret unknown"},
		{"POST", "", `{"url":["https://example.com/","https://example.com/"]}`, "/url malformed"},
		{"POST", "", `{"url":"https://example.com/","description":"` + strings.Repeat("ü", 201) + `","paused":true}`, "/paused unknown, /description malformed"},
		{"POST", "?x=1", `{"url":"https://example.com/","filter":{}}`, "x unknown"},
		{"POST", "", `{"url":"https://example.com/","filter":"LX"}`, "/filter malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":[]}`, "/filter malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":{"airline":"lx","airport":"QQQ","limit":5,"plate":["1"],"pnr":"ABC123"}}`,
			"/filter/limit unknown, /filter/airline malformed, /filter/airport no_such, /filter/date missing, /filter/plate/0 malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":{"plate":[]}}`, "/filter/plate malformed"},
		{"PATCH", "/wh_1", `{"filter":{"airline":"LX","plate":[]}}`, "/filter/plate malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":{"flight":"ZRH/X/LX/1/2026-03-14"}}`, "/filter/flight malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":"{}"}`, "/filter malformed"},
		{"POST", "", `{"url":"https://example.com/","filter":{"plate":"0724100001","airport":["ZRH"]}}`, "/filter/plate malformed, /filter/airport malformed"},
		{"PATCH", "/wh_1", `{"paused":"yes"}`, "/paused malformed"},
		{"PATCH", "/wh_1", `{"paused":"true"}`, "/paused malformed"},
		{"PATCH", "/wh_1", `{"paused":null,"key":"x"}`, "/key unknown, /paused malformed"},
		{"POST", "/wh_1/rewind", `{}`, "/since missing"},
		{"POST", "/wh_1/rewind", `{"since":"yesterday"}`, "/since malformed"},
		{"POST", "/wh_1/rewind", `{"since":"2020-01-01T00:00:00Z"}`, "/since malformed"},
		{"GET", "?limit=1", "", "limit unknown"},
		{"GET", "/wh_1?fields=raw", "", "fields unknown"},
	} {
		w := ask(t.Context(), s, tc.method, "/v1/webhooks"+tc.target, tc.body, "api_key", "demo", "Content-Type", "application/json")
		if got := faultsV1(t, w); got != tc.want {
			t.Errorf("%s %s %.200s: %s, want %s", tc.method, tc.target, tc.body, got, tc.want)
		}
		if strings.Contains(w.Body.String(), `"got":""`) {
			t.Errorf("%s %s %.200s: the answer does not tell what was sent: %s", tc.method, tc.target, tc.body, w.Body)
		}
	}
}

// noSender lets webhooks be made, but not posted: it knows no key.
type noSender struct{ webhooks.Feed }

func (noSender) Now(context.Context, changefeed.Asker) (changes.Cursor, error) {
	return changes.Cursor{}, nil
}

func (noSender) Named(string, time.Time) (*apikey.Key, bool) { return nil, false }

// hookSite returns a site with the webhooks of a topic, which is read until the test ends.
func hookSite(t *testing.T, client *kafka.Client) *web.Site {
	t.Helper()
	hooks := queryapi.Webhooks{Queries: queryapi.Queries{Airports: airport.New(), Clock: time.Now}, Service: webhooks.New(webhooks.Config{
		Kafka: client, Topic: "bag.webhooks", Group: "g", Feed: noSender{}, Keys: noSender{}, Logger: zap.NewNop(), Now: time.Now,
		NewID: func() string { return "wh_1" },
	})}
	ended := make(chan error, 1)
	go func() { ended <- hooks.Service.Read(t.Context()) }()
	t.Cleanup(func() {
		if <-ended != nil {
			t.Error("the webhooks end with an error")
		}
	})
	return web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, hooks.Operations(), nil)
}

// So a key is replaced by another one of its customer.
func TestAChangeBindsAWebhookToTheKeyThatMakesIt(t *testing.T) {
	s := hookSite(t, newBroker(t, "bag.webhooks"))
	for _, tc := range []struct{ key, method, target, body, want string }{
		{"lx", "POST", "", `{"url":"https://example.com/"}`, `201 "lx" /v1/webhooks/wh_1`},
		{"concealing", "PATCH", "/wh_1", `{}`, `200 "concealing"`},
		{"lx", "GET", "/wh_1", "", `200 "concealing"`},
		{"demo", "PATCH", "/wh_1", `{}`, `404`}, // of another customer
	} {
		w := ask(t.Context(), s, tc.method, "/v1/webhooks"+tc.target, tc.body, "api_key", tc.key, "Content-Type", "application/json")
		_, rest, _ := strings.Cut(w.Body.String(), `"key":`)
		key, _, _ := strings.Cut(rest, ",")
		if got := strings.TrimSpace(fmt.Sprint(w.Code, " ", key, " ", w.Header().Get("Location"))); got != tc.want {
			t.Errorf("%s %s by %s: %s, want %s: %s", tc.method, tc.target, tc.key, got, tc.want, w.Body)
		}
	}
}

// A rewind ends the state failing, and a resumption the state paused, before the owner writes that.
func TestAWebhookTellsItsStateAndWhy(t *testing.T) {
	at := time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)
	failing := &webhooks.Failing{Since: at, Next: at.Add(time.Hour), Reason: "status 500"}
	pause := &webhooks.Pause{Since: at, Reason: "status 410", Resumed: 1}
	const paused, active = `"state":"paused","reason":"status 410","since":"2026-03-14T08:00:00.000Z"}`, `"state":"active"}`
	client := newBroker(t, "bag.webhooks")
	s := hookSite(t, client)
	for name, tc := range map[string]struct {
		webhooks.Definition
		at   webhooks.Position
		want string
	}{
		"new":                        {want: active},
		"failing":                    {at: webhooks.Position{Failing: failing}, want: `"state":"failing","reason":"status 500","since":"2026-03-14T08:00:00.000Z","next_attempt":"2026-03-14T09:00:00.000Z"}`},
		"failing before a rewind":    {webhooks.Definition{Started: 1}, webhooks.Position{Failing: failing}, active},
		"paused":                     {webhooks.Definition{Resumed: 1}, webhooks.Position{Pause: pause}, paused},
		"paused before a resumption": {webhooks.Definition{Resumed: 2}, webhooks.Position{Pause: pause}, active},
		"paused by both":             {webhooks.Definition{Resumed: 1, Paused: true}, webhooks.Position{Pause: pause}, paused},
		"paused by the customer":     {webhooks.Definition{Paused: true}, webhooks.Position{Failing: failing}, `"state":"paused","reason":"the customer has paused it"}`},
	} {
		tc.ID, tc.Customer = "wh_1", "DEMO"
		err := client.Produce(t.Context(), "bag.webhooks", []kafka.Record{
			{Key: []byte("wh_1"), Value: strictjson.Encode(tc.Definition)}, {Key: []byte("wh_1/at"), Value: strictjson.Encode(tc.at)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if w := askV1(s, "demo", "/v1/webhooks/wh_1", ""); w.Code != http.StatusOK || !strings.HasSuffix(w.Body.String(), tc.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
