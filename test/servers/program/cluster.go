package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bagtrail/test/loopback"
)

const (
	masters = 3
	slots   = 16384
)

// clusterSettings make a failover take two or three seconds.
var clusterSettings = []string{
	"databases 1", // a cluster has only one
	"cluster-enabled yes",
	"cluster-node-timeout 1500",
	"cluster-replica-validity-factor 0",
	"cluster-allow-replica-migration no",
	"repl-diskless-sync-delay 0",
	"repl-ping-replica-period 1",
}

// Cluster is a Redis Cluster of three masters with a replica each. A master and its replica change
// roles when the master dies.
type Cluster struct {
	nodes []*Process // in an order that stays
	buses []int      // ports of the nodes' cluster buses
}

// NewCluster prepares a cluster; settings as for NewRedis, for every node.
func NewCluster(home Home, settings ...string) (*Cluster, error) {
	ports, err := loopback.Ports(4 * masters)
	if err != nil {
		return nil, err
	}
	c := &Cluster{buses: ports[2*masters:]}
	for i, bus := range c.buses {
		dir := filepath.Join(home.Dir, "node"+strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		own := append([]string{fmt.Sprintf("cluster-port %d", bus)}, clusterSettings...)
		node, err := redis(Home{Dir: dir, Outlive: home.Outlive}, ports[i], append(own, settings...))
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, node)
	}
	return c, nil
}

// URL returns the cluster as a BAGTRAIL_REDIS_URL.
func (c *Cluster) URL() string {
	var addrs []string
	for _, n := range c.nodes {
		addrs = append(addrs, n.Addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Start runs all nodes, which are empty, joins them, and returns when the cluster is complete. The
// first three become masters with a third of the slots each, the others their replicas.
func (c *Cluster) Start(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := n.Start(ctx); err != nil {
			return err
		}
	}
	if err := c.introduce(ctx); err != nil {
		return fmt.Errorf("join cluster: %w", err)
	}
	for i, replica := range c.nodes[masters:] {
		if err := follow(ctx, replica.Addr, c.nodes[i].Addr); err != nil {
			return fmt.Errorf("join cluster: %w", err)
		}
	}
	return c.AwaitWhole(ctx)
}

// Close kills all nodes.
func (c *Cluster) Close() {
	for _, n := range c.nodes {
		n.Close()
	}
}

// introduce assigns the slots to the masters and makes the first node meet the others.
func (c *Cluster) introduce(ctx context.Context) error {
	for i, n := range c.nodes {
		if i < masters {
			first, last := slots*i/masters, slots*(i+1)/masters-1
			if _, err := ask(ctx, n.Addr, "CLUSTER", "ADDSLOTSRANGE", first, last); err != nil {
				return err
			}
		}
		if _, err := ask(ctx, n.Addr, "CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		host, port, _ := strings.Cut(n.Addr, ":")
		if _, err := ask(ctx, c.nodes[0].Addr, "CLUSTER", "MEET", host, port, c.buses[i]); err != nil {
			return err
		}
	}
	return nil
}

// follow makes a node the replica of a master. The node refuses until it has heard of the master.
func follow(ctx context.Context, replica, master string) error {
	id, err := ask(ctx, master, "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	return Await(ctx, func(ctx context.Context) error {
		_, err := ask(ctx, replica, "CLUSTER", "REPLICATE", id)
		return err
	})
}

// Master returns a master whose replica is in sync, so that it may be killed or stopped.
func (c *Cluster) Master(ctx context.Context) (*Process, error) {
	for _, n := range c.nodes {
		if role, err := roleOf(ctx, n.Addr); err == nil && role.master && len(role.replicas) > 0 {
			return n, nil
		}
	}
	return nil, errors.New("no master has a replica")
}

// Replica returns the connected replica of a master.
func (c *Cluster) Replica(ctx context.Context, master *Process) (*Process, error) {
	of, err := roleOf(ctx, master.Addr)
	if err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if slices.Contains(of.replicas, n.Addr) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s has no replica", master.Addr)
}

// AwaitFailover returns when the nodes other than lost agree on a master for every slot, none of
// which is lost.
func (c *Cluster) AwaitFailover(ctx context.Context, lost *Process) error {
	return Await(ctx, func(ctx context.Context) error {
		for _, n := range c.nodes {
			if n == lost {
				continue
			}
			if err := healthy(ctx, n.Addr); err != nil {
				return err
			}
			if err := without(ctx, n.Addr, lost.Addr); err != nil {
				return err
			}
		}
		return nil
	})
}

// without checks that for one node the lost one serves no slot.
func without(ctx context.Context, addr, lost string) error {
	reply, err := ask(ctx, addr, "CLUSTER", "NODES")
	if err != nil {
		return err
	}
	for line := range strings.Lines(reply.(string)) {
		// id address@bus flags master ping pong epoch link slots…
		f := strings.Fields(line)
		if strings.HasPrefix(f[1], lost+"@") && len(f) > 8 {
			return fmt.Errorf("%s: %s still serves slots", addr, lost)
		}
	}
	return nil
}

// AwaitWhole returns when all nodes run, agree that all slots are served, and each master has its
// replica.
func (c *Cluster) AwaitWhole(ctx context.Context) error {
	return Await(ctx, func(ctx context.Context) error {
		count := 0
		for _, n := range c.nodes {
			role, err := roleOf(ctx, n.Addr)
			switch {
			case err != nil:
				return err
			case role.master && len(role.replicas) != 1:
				return fmt.Errorf("%s has %d replicas", n.Addr, len(role.replicas))
			case !role.master && !role.connected:
				return fmt.Errorf("%s has not its master's data yet", n.Addr)
			case role.master:
				count++
			}
			if err := healthy(ctx, n.Addr); err != nil {
				return err
			}
		}
		if count != masters {
			return fmt.Errorf("%d of %d masters", count, masters)
		}
		return nil
	})
}

type role struct {
	master    bool
	replicas  []string // addresses of the connected replicas, of a master
	connected bool     // whether it is in sync, of a replica
}

func roleOf(ctx context.Context, addr string) (role, error) {
	reply, err := ask(ctx, addr, "ROLE")
	if err != nil {
		return role{}, err
	}
	fields := reply.([]any)
	if fields[0] == "master" {
		found := role{master: true}
		for _, replica := range fields[2].([]any) {
			r := replica.([]any) // host, port, offset
			found.replicas = append(found.replicas, r[0].(string)+":"+r[1].(string))
		}
		return found, nil
	}
	return role{connected: fields[0] == "slave" && fields[3] == "connected"}, nil
}

// healthy checks that one node knows every node and a running master for every slot.
func healthy(ctx context.Context, addr string) error {
	reply, err := ask(ctx, addr, "CLUSTER", "INFO")
	if err != nil {
		return err
	}
	info := reply.(string)
	for _, want := range []string{
		"cluster_state:ok", "cluster_slots_ok:" + strconv.Itoa(slots),
		"cluster_known_nodes:" + strconv.Itoa(2*masters), "cluster_size:" + strconv.Itoa(masters),
	} {
		if !strings.Contains(info, want+"\r\n") {
			return fmt.Errorf("%s: not yet %s", addr, want)
		}
	}
	return nil
}
