package servers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/test/servers/inprocess"
)

func inProcessRedis(t testing.TB) (Server, error) {
	redis, err := inprocess.StartRedis("127.0.0.1:0")
	if err != nil {
		return Server{}, err
	}
	t.Cleanup(redis.Close)
	return Server{URL: "redis://" + redis.Addr()}, nil
}

func inProcessKafka(t testing.TB) (Server, error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		return Server{}, err
	}
	t.Cleanup(c.Close)
	return Server{URL: c.ListenAddrs()[0]}, nil
}
