// Package browser_test uses the pages of the interface, the console and streams of changes in a real
// browser. It needs Chromium, Node.js and the npm packages playwright-core and axe-core; the streams
// also need nginx and redis-server. It is skipped unless BAGTRAIL_TEST_CHROMIUM is set.
// `.ci/run browser` installs everything, and sets this variable, BAGTRAIL_TEST_NODE_MODULES and
// BAGTRAIL_TEST_NGINX.
package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// script runs a file of tests for Node.js against a service.
func script(t *testing.T, file string, s *service.Service, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
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

// keys are the keys of the service: one that sees everything, and two that see one airport each.
func keys() string {
	return "keys:\n" + service.KeyEntry("everything", service.DevelopmentKey, `, airports: ["*"], customer: TEST`) +
		service.KeyEntry("one-bag", "a key that sees one bag", ", airports: [GVA], customer: TEST") +
		service.KeyEntry("no-bag", "a key that sees no bag", ", airports: [BRN], customer: TEST")
}

// traffic returns a flight reference and messages: of flights that leave ZRH and GVA at that time,
// LX500 with 40 bags, LX600 with one, LX800 with 800, and of LX400 with one bag, which left ZRH 40
// minutes before. Some of them come with a fault as well.
func traffic(leaves time.Time, zone *time.Location) (flights string, messages []string) {
	date := leaves.In(zone)
	day := strings.ToUpper(date.Format("02Jan"))
	var file strings.Builder
	file.WriteString("flights:\n")
	for _, f := range []struct {
		number, from string
		bags         int
		before       time.Duration
	}{{"400", "ZRH", 1, 40 * time.Minute}, {"500", "ZRH", 40, 0}, {"600", "GVA", 1, 0}, {"800", "ZRH", 800, 0}} {
		fmt.Fprintf(&file, "  - {airline: LX, flight: %q, origin: %s, destination: JFK, date: %s, departure: {scheduled: %s}, arrival: {scheduled: %s}}\n",
			f.number, f.from, date.Format(time.DateOnly), leaves.Add(-f.before).Format(time.RFC3339), leaves.Add(8*time.Hour).Format(time.RFC3339))
		for i := range f.bags {
			text := fmt.Sprintf("BSM\r\n.V/1L%s\r\n.F/LX%s/%s/JFK/Y\r\n.N/0724%s%03d001\r\n.S/Y/%dA/C\r\n.P/1MUELLER/ANNA\r\n.L/AB%s%s\r\nENDBSM\r\n",
				f.from, f.number, day, f.number, i, i%60+1, f.number[:1], fmt.Sprintf("%03d", i))
			messages = append(messages, text)
			if (f.number == "600" || f.number == "800") && i < 100 {
				messages = append(messages, strings.Replace(text, ".N/0724", ".N/O724", 1))
			}
		}
	}
	return file.String(), messages
}

func TestTheDocsWorkInABrowser(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	script(t, "docs.mjs", service.Start(t))
}

// TestTheConsoleWorksInABrowser looks at the screens and uses them, with one service and one
// browser.
func TestTheConsoleWorksInABrowser(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	leaves := time.Now().Add(30 * time.Minute).UTC()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	flights, messages := traffic(leaves, zone)
	s := service.Start(t, "BAGTRAIL_FLIGHTS_FILE="+service.WriteFile(t, "flights.yaml", flights), "BAGTRAIL_KEYS_FILE="+service.WriteFile(t, "keys.yaml", keys()))
	for part := range slices.Chunk(messages, 100) {
		var got service.Answer
		if !s.Until(time.Minute, func() bool {
			got = s.Do("POST", "/v1/messages?format=text", strings.NewReader(strings.Join(part, "")), "Content-Type", "text/plain")
			return got.Status == http.StatusOK
		}) {
			t.Fatalf("%d %.300s", got.Status, got.Body)
		}
	}
	date := leaves.In(zone)
	script(t, "console.mjs", s, "DATE="+date.Format(time.DateOnly), "DAY="+strings.ToUpper(date.Format("02Jan")))
}
