package servers

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
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
	named := *u
	named.Path = "/" + strconv.FormatInt(database, 10)
	return Server{URL: named.String()}, nil
}

func leaseDatabase(ctx context.Context, u *url.URL) (int64, error) {
	c, err := dial(ctx, u)
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
	c, err := dial(ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.Do(ctx, "SELECT", database).Err(); err != nil {
		return err
	}
	return c.FlushDB(ctx).Err()
}

// dial connects to the server of u with its user and password.
func dial(ctx context.Context, u *url.URL) (*goredis.Client, error) {
	c, err := program.DialRedis(ctx, u.Host)
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

func givenKafka(testing.TB) (Server, error) {
	value, err := given("BAGTRAIL_TEST_KAFKA")
	return Server{URL: value}, err
}
