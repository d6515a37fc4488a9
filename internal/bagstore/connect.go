package bagstore

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// readLimit is how long a read may take, a second try on a new connection included. A caller who has less time says so
// in the context. What asks for thousands of keys has a little more, so that a busy server can still answer it.
func readLimit(commands int) time.Duration {
	return 800*time.Millisecond + time.Duration(commands)*100*time.Microsecond
}

// connect makes the two clients. The reading one gives up soon, so that a slow Redis becomes an error and not a queue;
// the writing one waits, and never sends anything twice on its own.
func (s *Store) connect(a Address) {
	reading := s.options(a)
	reading.MaxRetries = 1
	reading.PoolSize, reading.PoolTimeout = 32, 250*time.Millisecond
	reading.ReadTimeout, reading.WriteTimeout = 5*time.Second, 5*time.Second // readLimit ends it before
	reading.ReadBufferSize, reading.WriteBufferSize = 64<<10, 16<<10

	writing := s.options(a)
	writing.MaxRetries = -1
	writing.PoolSize, writing.PoolTimeout = 16, 5*time.Second
	writing.ReadTimeout, writing.WriteTimeout = 10*time.Second, 10*time.Second
	writing.ReadBufferSize, writing.WriteBufferSize = 16<<10, 128<<10
	// A new connection may lead to a server that lacks what the one before it had taken.
	writing.OnConnect = func(context.Context, *redis.Conn) error {
		s.settled.forget()
		return nil
	}
	if s.embedded != nil { // its connections know no deadlines, and need none
		reading.ReadTimeout, reading.WriteTimeout = -2, -2
		writing.ReadTimeout, writing.WriteTimeout = -2, -2
	}
	s.reading, s.writing = client(reading), client(writing)
}

// client makes a client. One of a cluster asks every second who the masters are: the death of one shows in connections
// that fail, after which the library would ask nobody for a minute.
func client(o *redis.UniversalOptions) redis.UniversalClient {
	if !o.IsClusterMode {
		return redis.NewUniversalClient(o)
	}
	cluster := o.Cluster()
	cluster.ClusterStateReloadInterval = time.Second
	return redis.NewClusterClient(cluster)
}

// options are those that both clients share.
func (s *Store) options(a Address) *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs:                 a.Hosts,
		IsClusterMode:         a.Cluster,
		MasterName:            a.Master,
		Username:              a.User,
		Password:              a.Password,
		SentinelUsername:      a.SentinelUser,
		SentinelPassword:      a.SentinelPassword,
		DB:                    a.Database,
		TLSConfig:             a.TLS,
		Protocol:              2,
		DisableIdentity:       true,
		ContextTimeoutEnabled: true,
		MinRetryBackoff:       8 * time.Millisecond,
		MaxRetryBackoff:       64 * time.Millisecond,
		DialTimeout:           500 * time.Millisecond,
		DialerRetries:         1,
		DialerRetryTimeout:    50 * time.Millisecond,
		ConnMaxIdleTime:       -1,
		PipelinePoolSize:      -1, // nearly all commands are pipelined: one pool is enough
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
	if s.embedded != nil {
		o.Dialer = func(context.Context, string, string) (net.Conn, error) { return s.embedded.dial(), nil }
	}
	return o
}

// ClientLog gives the lines that the client library would print to log instead: lost connections, new masters. While a
// server is away the library says so at each attempt, so of each kind of line there is one a minute; more is how many of
// its kind were left out since the one before. It holds for the whole process; a program calls it once, before anything
// else. Lines hold addresses, never keys or values.
func ClientLog(log func(line string, more int), now func() time.Time) {
	redis.SetLogger(&clientLog{log: log, now: now, kinds: make(map[string]*clientLines)})
}

// clientLogPause is how long a kind of line is silent after it was logged.
const clientLogPause = time.Minute

type clientLog struct {
	log func(line string, more int)
	now func() time.Time

	mu    sync.Mutex
	kinds map[string]*clientLines // by their format, of which the library has some dozens
}

// clientLines are the lines of one kind.
type clientLines struct {
	logged time.Time // the last one that was
	more   int       // left out since
}

// Printf implements the logger of the library.
func (c *clientLog) Printf(_ context.Context, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines, known := c.kinds[format]
	if !known {
		lines = new(clientLines)
		c.kinds[format] = lines
	}
	now := c.now()
	if now.Sub(lines.logged) < clientLogPause {
		lines.more++
		return
	}
	c.log(strings.TrimPrefix(fmt.Sprintf(format, args...), "redis: "), lines.more)
	*lines = clientLines{logged: now}
}
