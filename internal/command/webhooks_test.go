package command_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bagtrail/test/loopback"
)

// A message is posted, and comes out at a receiver that verifies its signature.
func TestAWebhookTellsAReceiverWhatHappensToABag(t *testing.T) {
	s := serve(t, "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8")
	address := loopback.Address(t)
	var made struct{ ID, Secret string }
	s.until("the webhook is made", func() bool { // the index of changes is built first
		status, answer := s.ask(http.MethodPost, "/v1/webhooks", `{"url": "http://`+address+`/", "filter": {"airline": "LX"}}`)
		return status == http.StatusCreated && json.Unmarshal([]byte(answer), &made) == nil
	})
	r := start(t, []string{"webhook-receiver", "--addr", address, "--signing-secret", made.Secret})
	r.until("it listens", func() bool { return strings.Contains(r.stderr.String(), "webhook receiver") })
	s.post(bsmOfToday(), http.StatusOK, "")
	s.until("the change is received", func() bool {
		return strings.Contains(r.stdout.String(), `{"type":"bags.changed","timestamp":"`) && strings.Contains(r.stdout.String(), `"EXPECTED"`)
	})
	if status, answer := s.ask(http.MethodPost, "/v1/webhooks/"+made.ID+"/test", ""); status != http.StatusOK || !strings.Contains(answer, `"status":204`) {
		t.Errorf("test: %d %s", status, answer)
	}
	status, answer := s.ask(http.MethodGet, "/v1/webhooks/"+made.ID+"/deliveries", "")
	if status != http.StatusOK || !strings.Contains(answer, `"type":"bags.test"`) || !strings.Contains(answer, `"type":"bags.changed"`) {
		t.Errorf("deliveries: %d %s", status, answer)
	}
	log := s.stderr.String()
	s.down()
	if _, err := os.Stat(filepath.Join(s.variable("BAGTRAIL_DATA_DIR"), "secret")); err != nil { // from which that of the webhook is derived
		t.Error(err)
	}
	s.up([]string{"serve"})
	s.untilReady()
	s.post(strings.Replace(bsmOfToday(), "0724123456", "0724123457", 1), http.StatusOK, "")
	s.until("the change is received after a restart", func() bool { return strings.Contains(r.stdout.String(), "0724123457") })
	if log += s.stderr.String(); strings.Contains(log, made.Secret) || strings.Contains(log, address+"/") {
		t.Error("the log holds the secret or the URL of a webhook")
	}
}
