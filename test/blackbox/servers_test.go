package blackbox_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// serversVariable names real servers for the service that tests share, separated by a comma: redis
// or cluster, and kafka-4 or kafka-3.9. They are started for it and end with it. Without the
// variable, every server runs inside the service.
const serversVariable = "BAGTRAIL_TEST_BLACKBOX_SERVERS"

// servers starts them. It returns the settings of a service on them and the address of Kafka, or ""
// if that runs inside the service.
func servers(t service.T) (settings []string, broker string) {
	t.Helper()
	for name := range strings.SplitSeq(os.Getenv(serversVariable), ",") {
		switch name {
		case "":
		case "redis":
			redis, err := program.NewRedis(program.Home{Dir: t.TempDir()})
			runServer(t, redis, err)
			settings = append(settings, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr)
		case "cluster":
			cluster, err := program.NewCluster(program.Home{Dir: t.TempDir()})
			runServer(t, cluster, err)
			settings = append(settings, "BAGTRAIL_REDIS_URL="+cluster.URL())
		case "kafka-4":
			broker = kafkaOf(t, program.Kafka4)
		case "kafka-3.9":
			broker = kafkaOf(t, program.Kafka39)
		default:
			t.Fatalf("%s: what is %q?", serversVariable, name)
		}
	}
	if broker != "" {
		settings = append(settings, "BAGTRAIL_KAFKA_BROKERS="+broker)
	}
	return settings, broker
}

func kafkaOf(t service.T, version string) string {
	t.Helper()
	broker, err := program.NewKafka(context.Background(), program.Home{Dir: t.TempDir()}, version,
		"log.message.timestamp.after.max.ms=9223372036854775807") // some tests use received times in the future
	runServer(t, broker, err)
	return broker.Addr
}

// runServer runs a server until the tests are over.
func runServer(t service.T, server interface {
	Start(context.Context) error
	Close()
}, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err == nil {
		t.Cleanup(server.Close)
		err = server.Start(ctx)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("a real server for the tests: %w", err))
	}
}

// ownServers skips a test that uses nothing of the shared service, if that uses real servers: then
// the test is the same as without them, where it also runs.
func ownServers(t *testing.T) {
	t.Helper()
	if os.Getenv(serversVariable) != "" {
		t.Skip("the same without real servers")
	}
}
