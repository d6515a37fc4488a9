package servers

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/twmb/franz-go/pkg/kfake"
)

func inProcessRedis(t testing.TB) (Server, error) {
	addr := miniredis.RunT(t).Addr()
	return Server{Addrs: []string{addr}, URL: "redis://" + addr}, nil
}

// inProcessCluster returns one node that serves all slots.
func inProcessCluster(t testing.TB) (Server, error) {
	return clusterOf([]string{miniredis.RunT(t).Addr()}), nil
}

func inProcessKafka(t testing.TB) (Server, error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		return Server{}, err
	}
	t.Cleanup(c.Close)
	addr := c.ListenAddrs()[0]
	return Server{Addrs: []string{addr}, URL: addr}, nil
}
