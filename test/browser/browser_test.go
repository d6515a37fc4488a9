// Package browser_test uses the pages of the interface, the console and streams of changes in a real
// browser. It needs Chromium, Node.js and the npm packages playwright-core and axe-core; the streams
// also need nginx and redis-server. It is skipped unless BAGTRAIL_TEST_CHROMIUM is set.
// `.ci/run browser` installs everything, and sets this variable, BAGTRAIL_TEST_NODE_MODULES and
// BAGTRAIL_TEST_NGINX.
package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// script runs a file of tests for Node.js against a service.
func script(t *testing.T, file string, s *service.Service, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test-reporter=spec", file)
	cmd.Env = append(os.Environ(), "SERVICE_URL="+s.URL, "SERVICE_KEY="+service.DevelopmentKey,
		"CHROMIUM="+os.Getenv("BAGTRAIL_TEST_CHROMIUM"), "NODE_MODULES="+os.Getenv("BAGTRAIL_TEST_NODE_MODULES"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("node: %v", err)
	}
}

func needBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("BAGTRAIL_TEST_CHROMIUM") == "" {
		t.Skip(".ci/run browser runs it")
	}
}

func TestTheDocsWorkInABrowser(t *testing.T) {
	needBrowser(t)
	script(t, "docs.mjs", service.Start(t))
}

// TestTheConsoleWorksInABrowser sends the bags of two flights that leave ZRH in half an hour: LX500
// with 40 and LX800 with 800.
func TestTheConsoleWorksInABrowser(t *testing.T) {
	needBrowser(t)
	leaves := time.Now().Add(30 * time.Minute).UTC()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	date := leaves.In(zone)
	var file, messages strings.Builder
	file.WriteString("flights:\n")
	for number, bags := range map[string]int{"500": 40, "800": 800} {
		fmt.Fprintf(&file, "  - {airline: LX, flight: %q, origin: ZRH, destination: JFK, date: %s, departure: {scheduled: %s}, arrival: {scheduled: %s}}\n",
			number, date.Format(time.DateOnly), leaves.Format(time.RFC3339), leaves.Add(8*time.Hour).Format(time.RFC3339))
		for i := range bags {
			fmt.Fprintf(&messages, "BSM\r\n.V/1LZRH\r\n.F/LX%s/%s/JFK/Y\r\n.N/0724%s%03d001\r\n.S/Y/%dA/C\r\n.P/1MUELLER/ANNA\r\n.L/AB%s%s\r\nENDBSM\r\n",
				number, strings.ToUpper(date.Format("02Jan")), number, i, i%60+1, number[:1], fmt.Sprintf("%03d", i))
		}
	}
	flights := filepath.Join(t.TempDir(), "flights.yaml")
	if err := os.WriteFile(flights, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := service.Start(t, "BAGTRAIL_FLIGHTS_FILE="+flights)
	if got := s.Do("POST", "/v1/messages?format=text", strings.NewReader(messages.String()), "Content-Type", "text/plain"); got.Status != 200 || !strings.Contains(got.Body, `"rejected":0,"unauthorised":0,`) {
		t.Fatalf("%d %.300s", got.Status, got.Body)
	}
	script(t, "console.mjs", s, "DATE="+date.Format(time.DateOnly), "DAY="+strings.ToUpper(date.Format("02Jan")))
}
