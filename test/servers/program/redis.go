package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bagtrail/test/loopback"
)

// RedisServer is the name under which the program is looked for on PATH.
const RedisServer = "redis-server"

// redisSettings are those of every Redis: what survives kill -9 (an append-only
// file, no snapshots), the listpack limit that the store recommends, and enough
// databases for each test to have one.
var redisSettings = []string{
	`save ""`,
	"appendonly yes",
	"appendfsync everysec",
	"hash-max-listpack-value 1024",
	"databases 1024",
	"set-proc-title no", // the command line goes on to say which server this is
}

// NewRedis prepares a Redis. Settings are lines of redis.conf, and win over the
// ones that every Redis has here.
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
	addr := loopback.Join(port)
	return &Process{
		Name: "redis", Addr: addr, home: home,
		argv:  []string{path, conf},
		ready: func(ctx context.Context) error { return RedisReady(ctx, addr) },
	}, nil
}

// RedisConf is the text of a redis.conf for a server on loopback.
func RedisConf(port int, dir string, settings []string) string {
	lines := []string{"bind 127.0.0.1", fmt.Sprintf("port %d", port), fmt.Sprintf("dir %q", dir)}
	lines = append(append(lines, redisSettings...), settings...)
	return strings.Join(lines, "\n") + "\n"
}

// RedisReady fails while the server reads its data back in.
func RedisReady(ctx context.Context, addr string) error {
	_, err := ask(ctx, addr, "PING")
	return err
}
