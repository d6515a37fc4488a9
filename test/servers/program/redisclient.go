package program

import (
	"context"
	"net"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// DialRedis connects to host:port, and returns a client of that connection; see NewRedisClient.
func DialRedis(ctx context.Context, addr string) (*goredis.Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return NewRedisClient(conn), nil
}

// NewRedisClient returns a client that has this connection alone, so that AUTH and SELECT hold for all
// that it sends. It sends nothing twice, and waits as long as the context of a command allows.
func NewRedisClient(conn net.Conn) *goredis.Client {
	return goredis.NewClient(&goredis.Options{
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		Protocol: 2, DisableIdentity: true, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		ReadTimeout: -1, WriteTimeout: -1, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// ask sends one command over a new connection, and returns its reply: a string, an int64 or a []any.
func ask(ctx context.Context, addr string, command ...any) (any, error) {
	c, err := DialRedis(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return c.Do(ctx, command...).Result()
}
