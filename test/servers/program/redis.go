package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"bagtrail/test/loopback"
)

// RedisServer is the name of the program on PATH.
const RedisServer = "redis-server"

// redisSettings are the settings of every Redis: an append-only file and no snapshots, so that data
// survives kill -9; the listpack limit that the store recommends; and a database for each test.
var redisSettings = []string{
	`save ""`,
	"appendonly yes",
	"appendfsync everysec",
	"hash-max-listpack-value 1024",
	"databases 1024",
	"set-proc-title no", // so that the command line still names the server
}

// NewRedis prepares a Redis. Settings are lines of redis.conf, and override redisSettings. With those of
// a sentinel it is one.
func NewRedis(home Home, settings ...string) (*Process, error) {
	ports, err := loopback.Ports(1)
	if err != nil {
		return nil, err
	}
	return redis(home, ports[0], settings)
}

func redis(home Home, port int, settings []string) (*Process, error) {
	path, err := exec.LookPath(RedisServer)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	conf := filepath.Join(home.Dir, "redis.conf")
	if err := os.WriteFile(conf, []byte(RedisConf(port, home.Dir, settings)), 0o600); err != nil {
		return nil, err
	}
	addr, argv := loopback.Join(port), []string{path, conf}
	if slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "sentinel ") }) {
		argv = append(argv, "--sentinel")
	}
	return &Process{
		Name: "redis", Addr: addr, home: home,
		argv:  argv,
		ready: func(ctx context.Context) error { return RedisReady(ctx, addr) },
	}, nil
}

// RedisConf returns a redis.conf for a server on loopback.
func RedisConf(port int, dir string, settings []string) string {
	lines := []string{"bind 127.0.0.1", fmt.Sprintf("port %d", port), fmt.Sprintf("dir %q", dir)}
	lines = append(append(lines, redisSettings...), settings...)
	return strings.Join(lines, "\n") + "\n"
}

// RedisReady fails while the server loads its data.
func RedisReady(ctx context.Context, addr string) error {
	_, err := ask(ctx, addr, "PING")
	return err
}
