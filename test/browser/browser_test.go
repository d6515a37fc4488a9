// Package browser_test uses the pages of the interface in a real browser. It needs Chromium,
// Node.js and the npm package playwright-core. It is skipped unless BAGTRAIL_TEST_CHROMIUM and
// BAGTRAIL_TEST_NODE_MODULES name them; `.ci/run browser` installs them and sets both.
package browser_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"bagtrail/test/service"
)

func TestTheDocsWorkInABrowser(t *testing.T) {
	chromium, modules := os.Getenv("BAGTRAIL_TEST_CHROMIUM"), os.Getenv("BAGTRAIL_TEST_NODE_MODULES")
	if chromium == "" {
		t.Skip(".ci/run browser runs it")
	}
	s := service.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", "docs.mjs")
	cmd.Env = append(os.Environ(), "SERVICE_URL="+s.URL, "SERVICE_KEY="+service.DevelopmentKey, "CHROMIUM="+chromium, "NODE_MODULES="+modules)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("node: %v", err)
	}
}
