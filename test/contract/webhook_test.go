package contract_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// delivery is what a receiver gets, and the secrets that must verify it.
type delivery struct {
	Secrets []string          `json:"secrets"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// A test and a change are verified by the published libraries, before and after a change of secret.
func TestDeliveriesAreVerifiedByTheLibrariesOfStandardWebhooks(t *testing.T) {
	python, modules := setting(t, "BAGTRAIL_TEST_PYTHON"), setting(t, "BAGTRAIL_TEST_CLIENT_MODULES")
	s := service.Start(t, "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8")
	came := make(chan delivery, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d := delivery{Headers: map[string]string{}, Body: string(body)}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			d.Headers[name] = r.Header.Get(name)
		}
		came <- d
	}))
	defer receiver.Close()
	var made struct{ ID, Secret string }
	ask := func(path, body string) (status int) {
		got, err := s.TryDo(http.MethodPost, "/v1/webhooks"+path, strings.NewReader(body),
			"api_key", service.DevelopmentKey, "Content-Type", "application/json")
		if err != nil || json.Unmarshal([]byte(got.Body), &made) != nil {
			t.Fatal(err, got.Body)
		}
		return got.Status
	}
	s.Until(30*time.Second, func() bool { return ask("", `{"url":"`+receiver.URL+`/"}`) == http.StatusCreated })
	id, first := made.ID, made.Secret
	ask("/"+id+"/test", "")
	before := <-came
	ask("/"+id+"/secret", "")
	second := made.Secret
	ask("/"+id+"/test", "")
	after := <-came
	s.Process("BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\n.P/1MUELLER/ANNAMRS\n.L/ABC123\nENDBSM")
	changed := <-came
	if !strings.Contains(changed.Body, `"bags.changed"`) || !strings.Contains(changed.Body, "ANNA") {
		t.Errorf("the delivery of a change: %s", changed.Body)
	}
	before.Secrets, after.Secrets, changed.Secrets = []string{first}, []string{second, first}, []string{second, first}

	text, err := json.Marshal([]delivery{before, after, changed})
	if err != nil {
		t.Fatal(err)
	}
	file := service.WriteFile(t, "deliveries.json", string(text))
	run(t, ".", nil, python, here(t, "webhook.py"), file)
	run(t, ".", []string{"NODE_MODULES=" + modules}, "node", here(t, "webhook.mjs"), file)
}
