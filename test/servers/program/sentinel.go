package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bagtrail/test/loopback"
)

// SentinelMaster is the name of the master for sentinels.
const SentinelMaster = "bagtrail"

// Sentinels is a Redis with a replica and three sentinels. They promote the replica when two of
// them miss the master.
type Sentinels struct {
	Redis     []*Process // the first master, then its replica
	Sentinels []*Process
}

// NewSentinels prepares the servers. The settings are for the two Redis servers, as in NewRedis.
func NewSentinels(home Home, settings ...string) (*Sentinels, error) {
	const redises, watchers = 2, 3
	ports, err := loopback.Ports(redises + watchers)
	if err != nil {
		return nil, err
	}
	s := &Sentinels{}
	for i, port := range ports {
		own := Home{Dir: filepath.Join(home.Dir, fmt.Sprint(port)), Outlive: home.Outlive}
		if err := os.MkdirAll(own.Dir, 0o700); err != nil {
			return nil, err
		}
		if i >= redises {
			p, err := sentinel(own, port, ports[0])
			if err != nil {
				return nil, err
			}
			s.Sentinels = append(s.Sentinels, p)
			continue
		}
		all := append([]string{"repl-diskless-sync-delay 0", "repl-ping-replica-period 1"}, settings...)
		if i > 0 {
			all = append(all, fmt.Sprintf("replicaof 127.0.0.1 %d", ports[0]))
		}
		p, err := redis(own, port, all)
		if err != nil {
			return nil, err
		}
		s.Redis = append(s.Redis, p)
	}
	return s, nil
}

func sentinel(home Home, port, master int) (*Process, error) {
	path, err := exec.LookPath(RedisServer)
	if err != nil {
		return nil, fmt.Errorf("sentinel: %w", err)
	}
	lines := []string{
		"bind 127.0.0.1", fmt.Sprintf("port %d", port), fmt.Sprintf("dir %q", home.Dir),
		"set-proc-title no",
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", SentinelMaster, master),
		"sentinel down-after-milliseconds " + SentinelMaster + " 1000",
		"sentinel failover-timeout " + SentinelMaster + " 3000",
	}
	conf := filepath.Join(home.Dir, "sentinel.conf")
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	addr := loopback.Join(port)
	return &Process{
		Name: "sentinel", Addr: addr, home: home,
		argv:  []string{path, conf, "--sentinel"},
		ready: func(ctx context.Context) error { return RedisReady(ctx, addr) },
	}, nil
}

// Addrs returns the addresses of the sentinels.
func (s *Sentinels) Addrs() []string {
	var addrs []string
	for _, p := range s.Sentinels {
		addrs = append(addrs, p.Addr)
	}
	return addrs
}

// URL returns the watched Redis as a BAGTRAIL_REDIS_URL.
func (s *Sentinels) URL() string {
	return "redis+sentinel://" + strings.Join(s.Addrs(), ",") + "/" + SentinelMaster
}

// Start runs all servers, and returns when every sentinel could lead a failover.
func (s *Sentinels) Start(ctx context.Context) error {
	for _, p := range s.Redis {
		if err := p.Start(ctx); err != nil {
			return err
		}
	}
	// A sentinel asks a master for its replicas once, and then not for a while.
	if err := Await(ctx, func(ctx context.Context) error { return hasReplica(ctx, s.Redis[0].Addr) }); err != nil {
		return err
	}
	for _, p := range s.Sentinels {
		if err := p.Start(ctx); err != nil {
			return err
		}
	}
	return s.AwaitWhole(ctx)
}

// Close kills all servers.
func (s *Sentinels) Close() error {
	var errs []error
	for _, p := range append(append([]*Process{}, s.Sentinels...), s.Redis...) {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Master returns the server that the sentinels name as master.
func (s *Sentinels) Master(ctx context.Context) (*Process, error) {
	reply, err := ask(ctx, s.Addrs()[0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", SentinelMaster)
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("%s:%s", reply.([]any)...)
	for _, p := range s.Redis {
		if p.Addr == at {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the sentinels name %s as master", at)
}

// AwaitFailover returns when the sentinels name a master other than lost.
func (s *Sentinels) AwaitFailover(ctx context.Context, lost *Process) error {
	return Await(ctx, func(ctx context.Context) error {
		switch now, err := s.Master(ctx); {
		case err != nil:
			return err
		case now == lost:
			return fmt.Errorf("%s is still the master", lost.Addr)
		default:
			role, err := roleOf(ctx, now.Addr)
			if err == nil && !role.master {
				err = fmt.Errorf("%s is not yet a master", now.Addr)
			}
			return err
		}
	})
}

// AwaitWhole returns when both Redis servers run, one as the replica of the other, and each
// sentinel knows the other sentinels and the replica.
func (s *Sentinels) AwaitWhole(ctx context.Context) error {
	return Await(ctx, func(ctx context.Context) error {
		master, err := s.Master(ctx)
		if err != nil {
			return err
		}
		if err := hasReplica(ctx, master.Addr); err != nil {
			return err
		}
		for _, addr := range s.Addrs() {
			reply, err := ask(ctx, addr, "SENTINEL", "CKQUORUM", SentinelMaster)
			if err != nil {
				return err
			}
			if state := fmt.Sprint(reply); !strings.HasPrefix(state, "OK 3 ") {
				return fmt.Errorf("sentinel %s: %s", addr, state)
			}
			replicas, err := ask(ctx, addr, "SENTINEL", "REPLICAS", SentinelMaster)
			if err != nil {
				return err
			}
			if len(replicas.([]any)) != 1 {
				return fmt.Errorf("sentinel %s knows %d replicas", addr, len(replicas.([]any)))
			}
		}
		return nil
	})
}

func hasReplica(ctx context.Context, addr string) error {
	role, err := roleOf(ctx, addr)
	if err == nil && len(role.replicas) != 1 {
		err = fmt.Errorf("%s has %d replicas", addr, len(role.replicas))
	}
	return err
}
