package redis

import (
	"context"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// connect makes the clients that ReadClient and WriteClient return.
func (c *Client) connect(a Address) {
	reading := c.options(a.UniversalOptions)
	reading.MaxRetries = 1
	reading.PoolSize, reading.PoolTimeout = 32, 250*time.Millisecond
	reading.ReadTimeout, reading.WriteTimeout = 5*time.Second, 5*time.Second // callers give up earlier, unless they have 42,000 commands: see ReadLimit
	reading.ReadBufferSize, reading.WriteBufferSize = 64<<10, 16<<10

	writing := c.options(a.UniversalOptions)
	writing.MaxRetries = -1 // none; 0 would be three
	writing.PoolSize, writing.PoolTimeout = 16, 5*time.Second
	writing.ReadTimeout, writing.WriteTimeout = 10*time.Second, 10*time.Second
	writing.ReadBufferSize, writing.WriteBufferSize = 16<<10, 128<<10
	writing.OnConnect = func(context.Context, *goredis.Conn) error {
		c.connects.Add(1)
		return nil
	}
	if c.inProcess != nil { // pipes in memory have no deadlines, and -2 sets none
		reading.ReadTimeout, reading.WriteTimeout = -2, -2
		writing.ReadTimeout, writing.WriteTimeout = -2, -2
	}
	c.reads, c.writes = newClient(reading), newClient(writing)
	if a.IsClusterMode { // the client of a cluster repeats commands, whatever MaxRetries is
		c.writes.AddHook(sendingOnce{})
	}
}

// sendingOnce is a hook for the client of a cluster: the client never sends a command again that may
// have been executed. It still follows the redirections of the nodes.
type sendingOnce struct{}

// sentOnce is a command that is not sent again.
type sentOnce struct{ goredis.Cmder }

// NoRetry implements goredis.Cmder.
func (sentOnce) NoRetry() bool { return true }

// DialHook implements goredis.Hook.
func (sendingOnce) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements goredis.Hook.
func (sendingOnce) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error { return next(ctx, sentOnce{cmd}) }
}

// ProcessPipelineHook implements goredis.Hook.
func (sendingOnce) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		once := make([]goredis.Cmder, len(cmds))
		for i, cmd := range cmds {
			once[i] = sentOnce{cmd}
		}
		return next(ctx, once)
	}
}

// newClient makes a client. The client of a cluster reads the list of masters every second. By
// default it reads the list only after a redirection, or once a minute, and a dead master redirects
// nobody.
func newClient(o *goredis.UniversalOptions) goredis.UniversalClient {
	if !o.IsClusterMode {
		return goredis.NewUniversalClient(o)
	}
	cluster := o.Cluster()
	cluster.ClusterStateReloadInterval = time.Second
	client := goredis.NewClusterClient(cluster)
	client.OnNewNode(func(node *goredis.Client) { node.AddHook(askedBriefly{}) })
	return client
}

// mastersLimit is the time limit for asking one node for the list of masters. Connecting takes up
// to half of it.
const mastersLimit = time.Second

// askedBriefly is a hook for the nodes of a cluster: if one hangs, the client soon asks another one
// for the list of masters. It asks one node after the other, and would otherwise wait for each as
// long as for any reply.
type askedBriefly struct{}

// DialHook implements goredis.Hook.
func (askedBriefly) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements goredis.Hook.
func (askedBriefly) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if cmd.Name() == "cluster" {
			limited, cancel := context.WithTimeout(ctx, mastersLimit)
			defer cancel()
			ctx = limited
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements goredis.Hook.
func (askedBriefly) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

// options adds the options that both clients share to those of an address.
func (c *Client) options(o goredis.UniversalOptions) *goredis.UniversalOptions {
	o.Protocol, o.DisableIdentity, o.ContextTimeoutEnabled = 2, true, true
	o.MinRetryBackoff, o.MaxRetryBackoff = 8*time.Millisecond, 64*time.Millisecond
	o.DialTimeout, o.DialerRetries, o.DialerRetryTimeout = 500*time.Millisecond, 1, 50*time.Millisecond
	o.ConnMaxIdleTime = -1
	o.PipelinePoolSize = -1 // nearly all commands are pipelined: one pool is enough
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if c.inProcess != nil {
		o.Dialer = func(context.Context, string, string) (net.Conn, error) { return c.inProcess.dial(), nil }
	}
	return &o
}
