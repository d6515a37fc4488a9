package command_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// selector is a metric as an alert or a panel names it, with what it demands of the labels.
var selector = regexp.MustCompile(`(bagtrail_[a-z_]+)(?:\{([^}]*)\})?`)

func TestWhatAlertsAndPanelsLookAtIsThereBeforeAnythingHasHappened(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	for _, consumer := range []string{"kafka", "changes"} {
		last := `bagtrail_` + consumer + `_lag_seconds{partition="11"}`
		s.until("the partitions are assigned", func() bool { return strings.Contains(s.metrics(), last) })
	}
	if _, body := s.readiness(); !strings.Contains(body, `{"name":"partitions","ready":true}`) || !strings.Contains(body, `{"name":"data directory","ready":true}`) {
		t.Errorf("/readyz: %s", body)
	}
	series := strings.Split(s.metrics(), "\n")
	for _, expr := range panels(t) {
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			shown := func(line string) bool { return strings.HasPrefix(line, m[1]+"{") || strings.HasPrefix(line, m[1]+" ") }
			if !slices.ContainsFunc(series, shown) {
				t.Errorf("a panel shows %s, which a process that has just started does not have", m[1])
			}
		}
	}
	for _, rule := range strings.Split(string(rules), "- alert: ")[1:] {
		_, expr, _ := strings.Cut(rule, "expr: ")
		expr, _, _ = strings.Cut(expr, "labels: ")
		metrics := selector.FindAllStringSubmatch(expr, -1)
		for _, m := range metrics {
			if strings.Contains(m[2], "!=") { // any other label will do
				m[2] = ""
			}
			if m[1] != "bagtrail_feed_silent" { // a gauge that has no series until a feed is silent, see TestASilentFeedIsLoggedOnceAndCounted
				s.wantZero(series, m[1], m[2])
			}
		}
		if len(metrics) == 0 {
			t.Errorf("no metric is found in the alert %.30s", rule)
		}
	}
}

// panels returns the expressions of the panels of the dashboard.
func panels(t *testing.T) (exprs []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/bagtrail.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	if len(exprs) < 10 {
		t.Fatalf("the dashboard shows %q", exprs)
	}
	return exprs
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
