package blackbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"bagtrail/test/service"
)

// A request that meets a defect is answered 500, with an id that the log explains. The answer says
// nothing of the request's content, and the service goes on (interface 7.2).
func TestDefectIs500AndOthersGoOn(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.StartReplaced(t, []string{"serve"}, "internal/web/web.go", "	c.operation = &here.Operation\n",
		`	c.operation = &here.Operation
	if passenger := c.Request.Header.Get("X-Passenger"); passenger != "" {
		panic("no seat for " + passenger)
	}
`, "BAGTRAIL_KAFKA_BROKERS=off")
	const passenger = "SOMEBODY"
	internal := failure("SVCSRV008", "Internal error, please quote the X-Request-Id of this answer")
	for operation, target := range map[string]string{
		"bagsforflight": flightTarget, "history": historyTarget, "bagsforpassenger": passengerTarget, "delayedbags": "", "processbim": "",
	} {
		method, body := http.MethodGet, ""
		switch operation {
		case "delayedbags":
			method, body = http.MethodPost, goodReport
		case "processbim":
			method, body = http.MethodPost, bim(bsmOn("0724100031", today()))
		}
		ask := func(header ...string) service.Answer {
			return s.Do(method, prefixes[operation]+target, strings.NewReader(body), append(header, "Content-Type", "application/json")...)
		}
		got := ask("X-Passenger", passenger, "X-Request-Id", "defect-"+operation)
		expect(t, operation, got, http.StatusInternalServerError, internal)
		if id := got.Header.Get("X-Request-Id"); id != "defect-"+operation {
			t.Errorf("%s: request id %q", operation, id)
		}
		if got = ask(); got.Status != http.StatusOK {
			t.Errorf("%s without the defect: %d %s", operation, got.Status, got.Body)
		}
		explained := false
		for line := range strings.Lines(s.Log()) {
			var entry struct {
				Level, Stack, Error string
				RequestID           string `json:"request_id"`
			}
			if err := json.Unmarshal([]byte(line), &entry); err == nil && entry.RequestID == "defect-"+operation {
				explained = entry.Level == "error" && strings.Contains(entry.Stack, "panic")
			}
		}
		if !explained {
			t.Errorf("the log explains nothing of %s", operation)
		}
	}
	if strings.Contains(s.Log(), passenger) {
		t.Error("the log names the passenger")
	}
}
