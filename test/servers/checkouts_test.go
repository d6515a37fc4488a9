package servers_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers"
)

// checkout is a copy of the files that .ci/servers needs. It shares only downloads with this
// checkout.
type checkout struct {
	t   *testing.T
	dir string
}

func newCheckout(t *testing.T) checkout {
	t.Helper()
	c, root := checkout{t, t.TempDir()}, filepath.Join("..", "..")
	for _, part := range []string{".ci", "test/servers", "test/selfsigned", "test/loopback"} {
		must(t, os.CopyFS(filepath.Join(c.dir, part), os.DirFS(filepath.Join(root, part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, file))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(c.dir, file), data, 0o600))
	}
	jars, err := filepath.Abs(filepath.Join(root, ".cache", "kafka"))
	must(t, err)
	must(t, os.Mkdir(filepath.Join(c.dir, ".cache"), 0o700))
	must(t, os.Symlink(jars, filepath.Join(c.dir, ".cache", "kafka")))
	return c
}

// servers runs .ci/servers in the checkout.
func (c checkout) servers(ctx context.Context, args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(c.dir, ".ci", "servers"), args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "DOCKER_HOST=") })
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Errorf(".ci/servers %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// bridge returns the name of the bridge of the checkout's containers.
func (c checkout) bridge() string {
	c.t.Helper()
	name, err := os.ReadFile(filepath.Join(c.dir, ".cache", "servers", "docker", "bridge"))
	must(c.t, err)
	return strings.TrimSpace(string(name))
}

func TestTheServersOfOneCheckoutTakeNothingFromThoseOfAnother(t *testing.T) {
	if os.Getenv("BAGTRAIL_TEST_REQUIRE_REAL") != "1" {
		t.Skip("starts two Docker engines: with BAGTRAIL_TEST_REQUIRE_REAL=1 alone")
	}
	if _, err := exec.LookPath("dockerd"); err != nil || os.Getuid() != 0 {
		t.Skip("there is no Docker engine to start here")
	}
	var both [2]checkout
	for i := range both {
		c := newCheckout(t)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c.servers(ctx, "down")
		})
		c.servers(servers.Context(t), "up", "docker")
		if _, err := os.Stat(filepath.Join(c.dir, ".cache", "servers", "docker")); err != nil {
			t.Skipf("no Docker engine of its own: %v", err)
		}
		both[i] = c
	}
	gone, left := both[0].bridge(), both[1].bridge()
	both[0].servers(servers.Context(t), "down")
	if _, err := net.InterfaceByName(left); err != nil {
		t.Errorf("the bridge of the other checkout: %v", err)
	}
	if _, err := net.InterfaceByName(gone); err == nil {
		t.Errorf("the bridge %s is left behind", gone)
	}
}
