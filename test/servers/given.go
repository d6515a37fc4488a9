package servers

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/test/servers/program"
)

func given(variable string) (string, error) {
	value := os.Getenv(variable)
	if value == "" {
		return "", fmt.Errorf("%w: %s is not set", errAbsent, variable)
	}
	return value, nil
}

// givenRedis gives each test the next database of the server. Database 0 holds the counter.
func givenRedis(t testing.TB) (Server, error) {
	value, err := given("BAGTRAIL_TEST_REDIS")
	if err != nil {
		return Server{}, err
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "redis" || strings.Trim(u.Path, "/") != "" {
		return Server{}, fmt.Errorf("BAGTRAIL_TEST_REDIS=%q: want redis://host:port", value)
	}
	ctx := Context(t)
	database, err := leaseDatabase(ctx, u)
	if err != nil {
		return Server{}, fmt.Errorf("BAGTRAIL_TEST_REDIS=%q: %w", value, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		if err := flush(ctx, u, database); err != nil {
			t.Errorf("empty database %d of %s: %v", database, u.Host, err)
		}
	})
	addr := u.Host
	named := *u
	named.Path = "/" + strconv.FormatInt(database, 10)
	return Server{Addrs: []string{addr}, URL: named.String()}, nil
}

func leaseDatabase(ctx context.Context, u *url.URL) (int64, error) {
	c, err := dial(ctx, u, u.Host)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	config, err := c.ConfigGet(ctx, "databases").Result()
	if err != nil {
		return 0, err
	}
	total, err := strconv.ParseInt(config["databases"], 10, 64)
	if err != nil || total < 2 {
		return 0, fmt.Errorf("has %q databases, want 2 or more", config["databases"])
	}
	count, err := c.Incr(ctx, "bagtrail-test-databases-given-out").Result()
	if err != nil {
		return 0, err
	}
	database := 1 + count%(total-1)
	return database, flush(ctx, u, database)
}

func flush(ctx context.Context, u *url.URL, database int64) error {
	c, err := dial(ctx, u, u.Host)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.Do(ctx, "SELECT", database).Err(); err != nil {
		return err
	}
	return c.FlushDB(ctx).Err()
}

// dial connects to addr with the user and password of u.
func dial(ctx context.Context, u *url.URL, addr string) (*goredis.Client, error) {
	c, err := program.DialRedis(ctx, addr)
	if err != nil {
		return nil, err
	}
	if password, ok := u.User.Password(); ok {
		if err := c.Do(ctx, "AUTH", cmp.Or(u.User.Username(), "default"), password).Err(); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

func givenCluster(t testing.TB) (Server, error) {
	value, err := given("BAGTRAIL_TEST_REDIS_CLUSTER")
	if err != nil {
		return Server{}, err
	}
	const scheme = "redis+cluster://"
	list, ok := strings.CutPrefix(value, scheme)
	if !ok || list == "" || strings.ContainsAny(list, "@/") {
		return Server{}, fmt.Errorf("BAGTRAIL_TEST_REDIS_CLUSTER=%q: want %shost:port,host:port,…", value, scheme)
	}
	ctx, addrs := Context(t), strings.Split(list, ",")
	if err := claim(ctx, t); err != nil {
		return Server{}, err
	}
	masters, err := program.Masters(ctx, addrs)
	if err != nil {
		return Server{}, err
	}
	for _, addr := range masters {
		if err := flush(ctx, &url.URL{Host: addr}, 0); err != nil {
			return Server{}, fmt.Errorf("empty %s: %w", addr, err)
		}
	}
	return Server{Addrs: addrs, URL: value}, nil
}

// claim waits until no other test on this machine uses a given cluster, and claims it until the
// test ends.
func claim(ctx context.Context, t testing.TB) error {
	name := fmt.Sprintf("bagtrail-test-cluster-%d.lock", os.Getuid())
	file, err := os.OpenFile(filepath.Join(os.TempDir(), name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = file.Close() }) // which releases the lock
	err = program.Await(ctx, func(context.Context) error {
		return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if err != nil {
		return fmt.Errorf("the cluster is in use by another test: %w", err)
	}
	return nil
}

func givenKafka(_ testing.TB, version Version) (Server, error) {
	variable := map[Version]string{Kafka4: "BAGTRAIL_TEST_KAFKA", Kafka39: "BAGTRAIL_TEST_KAFKA39"}[version]
	value, err := given(variable)
	if err != nil {
		return Server{}, err
	}
	return Server{Addrs: strings.Split(value, ","), URL: value}, nil
}
