package browser_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"bagtrail/test/service"
)

var images = flag.String("images", "", "make the pictures of the README in this directory")

// TestScreenshots makes the pictures of a demo whose clock stands still, so that the same program
// makes the same pictures.
func TestScreenshots(t *testing.T) {
	needBrowser(t)
	if *images == "" {
		t.Skip("make screenshots runs it")
	}
	dir, err := filepath.Abs(*images)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := service.StartReplaced(t, []string{"serve", "--demo"}, "internal/command/service.go", "clock: time.Now,",
		"clock: func() time.Time { return time.Date(2026, time.November, 22, 11, 32, 0, 0, time.UTC) },")
	script(t, "screenshots.mjs", s, "IMAGES="+dir, "DATE=2026-11-22")
}
