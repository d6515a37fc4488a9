package command_test

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// selector is a metric as an alert names it, with what it demands of the labels.
var selector = regexp.MustCompile(`(bagtrail_[a-z_]+)(?:\{([^}]*)\})?`)

func TestWhatAlertsLookAtIsThereBeforeAnythingHasHappened(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, []string{"serve"})
	s.untilReady()
	s.until("the partitions are assigned", func() bool { return strings.Contains(s.metrics(), `bagtrail_kafka_lag_seconds{partition="11"}`) })
	if _, body := s.readiness(); !strings.Contains(body, `{"name":"partitions","ready":true}`) || !strings.Contains(body, `{"name":"data directory","ready":true}`) {
		t.Errorf("/readyz: %s", body)
	}
	series := strings.Split(s.metrics(), "\n")
	checked := 0
	for line := range strings.SplitSeq(string(rules), "\n") {
		if _, expr, found := strings.Cut(line, "expr: "); found {
			for _, m := range selector.FindAllStringSubmatch(expr, -1) {
				s.wantZero(series, m[1], m[2])
				checked++
			}
		}
	}
	if checked < 6 {
		t.Errorf("%d metrics in the alerts; are they still written as expr: …?", checked)
	}
}

// wantZero fails unless there are series of the metric with these labels, and counters among them are 0.
func (s *service) wantZero(series []string, name, labels string) {
	s.t.Helper()
	found := false
	for _, line := range series {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") || !strings.Contains(line, labels) {
			continue
		}
		found = true
		if isCounter := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count"); isCounter && !strings.HasSuffix(line, " 0") {
			s.t.Errorf("a process that has just started shows %s", line)
		}
	}
	if !found {
		s.t.Errorf("a process that has just started does not show %s{%s}", name, labels)
	}
}

func (s *service) metrics() string {
	resp, err := http.Get("http://" + s.ops + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(body)
}
