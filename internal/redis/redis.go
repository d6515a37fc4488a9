// Package redis connects to Redis: one server, a cluster, a master that sentinels name, or a server
// inside this process. It has no keys. Each store, such as bagstore and requeststore, has keys of
// its own and shares one Client with the others. Stores import go-redis as goredis, for its
// commands and their arguments. [Client] has the rules of a store, and an example.
//
// Package redistest starts servers for the tests of stores.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Config says where Redis is.
type Config struct {
	URL string           // see ParseURL; "" for a Redis inside this process
	Now func() time.Time // the clock by which keys expire in a Redis inside this process

	// Tick is the interval at which the clock of a Redis inside this process advances: a second to
	// a minute, a minute if it is 0. So keys may expire up to a tick late; those that expire after
	// a duration, up to a tick early. At each tick Redis scans all keys.
	Tick time.Duration
}

// Client is the connection to Redis that the stores of a process share. All its commands go to
// masters, never to replicas. It is safe for concurrent use.
//
// A store uses commands on one key, or on keys of one slot, so that it works on a cluster. It makes
// every write repeatable, since an error does not tell whether the write was done:
//
//	// The keys. Each begins with the prefix of the installation.
//	//
//	//	key     type  holds                  expires
//	//	y:<id>  hash  the fields of a thing  a day after it was written
//	func (s *Store) key(id string) string { return s.redis.Prefix() + "y:" + id }
//
//	func (s *Store) Save(ctx context.Context, id, name string) error {
//		err := s.redis.Write(ctx, func(p goredis.Pipeliner) {
//			p.HSet(ctx, s.key(id), "name", name)
//			p.Expire(ctx, s.key(id), 24*time.Hour)
//		})
//		return redis.Unavailable("thingstore: save", err)
//	}
type Client struct {
	prefix    string
	reads     goredis.UniversalClient
	writes    goredis.UniversalClient
	connects  atomic.Uint64
	identity  identity
	inProcess *inProcess // nil if Redis is a server
}

// Open returns a client. The client connects at its first use; Check and Ready report whether that
// succeeds. An error of Open holds every fault of the URL, and never a password.
func Open(c Config) (*Client, error) {
	client := &Client{identity: identity{process: rand.Text()}}
	address := Address{UniversalOptions: goredis.UniversalOptions{Addrs: []string{"in-process"}}}
	var err error
	if c.URL == "" {
		client.inProcess, err = startInProcess(c.Now, c.Tick)
	} else {
		address, err = ParseURL(c.URL)
	}
	if err != nil {
		return nil, err
	}
	client.prefix = address.Prefix
	client.connect(address)
	return client, nil
}

// Prefix returns the prefix of every key of this installation: "" unless the URL names a prefix.
func (c *Client) Prefix() string { return c.prefix }

// InProcess reports whether Redis runs inside this process and ends with it.
func (c *Client) InProcess() bool { return c.inProcess != nil }

// Cluster reports whether Redis is a cluster.
func (c *Client) Cluster() bool {
	_, cluster := c.writes.(*goredis.ClusterClient)
	return cluster
}

// Ready returns nil if Redis answers now, on every master of a cluster. Otherwise it returns
// an error that wraps ErrUnavailable, within a second.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadLimit(1))
	defer cancel()
	return Unavailable("redis: ping", eachMaster(ctx, c.reads, ping))
}

// ping returns nil if a server answers queries. A server that cannot save its data refuses PING as it
// refuses writes, but it answers queries.
func ping(ctx context.Context, server goredis.UniversalClient) error {
	err := server.Ping(ctx).Err()
	if goredis.HasErrorPrefix(err, "MISCONF") {
		return nil
	}
	return err
}

// Close closes all connections, and stops a Redis inside this process, whose data is lost. Close
// the stores first.
func (c *Client) Close() error {
	err := errors.Join(c.reads.Close(), c.writes.Close())
	if c.inProcess != nil {
		c.inProcess.close()
	}
	if err != nil {
		return fmt.Errorf("redis: close: %w", err)
	}
	return nil
}

// ReadClient returns the client for single reading commands. It waits at most 250 ms for a free
// connection, so that a slow Redis becomes an error and not a queue. After an error it tries once
// more on another connection. The caller bounds the time of a call, as a rule with ReadLimit.
func (c *Client) ReadClient() goredis.UniversalClient { return c.reads }

// WriteClient returns the client for single writing commands, for Watch, and for pipelines that Write
// does not suit. It waits up to ten seconds for a reply, and sends no command twice.
func (c *Client) WriteClient() goredis.UniversalClient { return c.writes }

// ReadLimit returns how long the given number of reading commands may take together, including a
// second try on another connection: 0.8 s, and 0.1 ms for each command, so that a busy server can
// still answer a query for thousands of keys.
func ReadLimit(commands int) time.Duration {
	return 800*time.Millisecond + time.Duration(commands)*100*time.Microsecond
}

// Read sends the reading commands that add puts into a pipeline, in one round trip. Each command
// must have a single key. The masters of a cluster get their commands at the same time. After a nil
// error every command has its reply; Redis may have refused some, so check the error of each
// (goredis.Nil, see WrongType). After any other error no reply is valid. Read takes at most
// ReadLimit.
func (c *Client) Read(ctx context.Context, add func(p goredis.Pipeliner)) error {
	return replied(c.read(ctx, add))
}

// ReadWithin is Read with the time limit of ctx alone.
func (c *Client) ReadWithin(ctx context.Context, add func(p goredis.Pipeliner)) error {
	p := c.reads.Pipeline()
	add(p)
	return replied(p.Exec(ctx))
}

// ReadAll is Read for commands that Redis has no reason to refuse: it returns the first error of any
// of them.
func (c *Client) ReadAll(ctx context.Context, add func(p goredis.Pipeliner)) error {
	_, err := c.read(ctx, add)
	return err
}

// read sends the commands of Read.
func (c *Client) read(ctx context.Context, add func(p goredis.Pipeliner)) ([]goredis.Cmder, error) {
	p := c.reads.Pipeline()
	add(p)
	ctx, cancel := context.WithTimeout(ctx, ReadLimit(p.Len()))
	defer cancel()
	return p.Exec(ctx)
}

// replied returns the error of a pipeline, or nil if every command has its reply.
func replied(cmds []goredis.Cmder, err error) error {
	// If Redis has refused a command, the command has the error, and the pipeline has it too. If Redis
	// has refused the connection, no command has the error.
	if _, refused := errors.AsType[goredis.Error](err); refused && slices.ContainsFunc(cmds, func(cmd goredis.Cmder) bool { return cmd.Err() != nil }) {
		return nil
	}
	return err
}

// Write sends the writing commands that add puts into a pipeline, in one round trip, and returns
// the first error of any of them. Each command must have a single key. The masters of a cluster get
// their commands at the same time. After an error it is not known which commands were executed.
func (c *Client) Write(ctx context.Context, add func(p goredis.Pipeliner)) error {
	p := c.writes.Pipeline()
	add(p)
	_, err := p.Exec(ctx)
	return err
}

// EachMaster calls f with a client for writing: that of the server, or, at the same time, that of
// each master of a cluster.
func (c *Client) EachMaster(ctx context.Context, f func(ctx context.Context, master goredis.UniversalClient) error) error {
	return eachMaster(ctx, c.writes, f)
}

// eachMaster implements EachMaster for either client.
func eachMaster(ctx context.Context, client goredis.UniversalClient, f func(context.Context, goredis.UniversalClient) error) error {
	if cluster, ok := client.(*goredis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, master *goredis.Client) error { return f(ctx, master) })
	}
	return f(ctx, client)
}
