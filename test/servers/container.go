package servers

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"bagtrail/test/loopback"
	"bagtrail/test/servers/program"
)

// image is a container image: the variable that names it, and a public one that is used if the
// variable is not set. It must have a shell, and redis-server, or java and /opt/kafka/libs, as the
// public one does.
type image struct{ variable, public string }

var (
	redisImage = image{"BAGTRAIL_TEST_REDIS_IMAGE", "redis:7.0"}
	kafkaImage = image{"BAGTRAIL_TEST_KAFKA_IMAGE", "apache/kafka:" + program.Kafka4}
)

// here returns the name of the image. testcontainers downloads a named image that the engine does
// not have.
func (i image) here(ctx context.Context) (string, error) {
	const enough = 5 * time.Second // timeout for an engine's answer
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	if name := os.Getenv(i.variable); name != "" {
		return name, nil
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", fmt.Errorf("%w: a Docker engine: %w", errAbsent, err)
	}
	defer func() { _ = provider.Close() }()
	if _, err := provider.Client().ImageInspect(ctx, i.public); err != nil {
		return "", fmt.Errorf("%w: image %s, and %s is not set: %w", errAbsent, i.public, i.variable, err)
	}
	return i.public, nil
}

// run starts a container with a shell script, and ends it with the test. The ports are the same
// inside and outside, where they are bound to loopback.
func (i image) run(ctx context.Context, t testing.TB, ports []int, env map[string]string, script string) error {
	name, err := i.here(ctx)
	if err != nil {
		return err
	}
	exposed := make([]string, len(ports))
	bound := network.PortMap{}
	for j, port := range ports {
		exposed[j] = fmt.Sprintf("%d/tcp", port)
		bound[network.MustParsePort(exposed[j])] = []network.PortBinding{{
			HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: strconv.Itoa(port),
		}}
	}
	c, err := testcontainers.Run(ctx, name,
		testcontainers.WithEntrypoint("sh", "-c", script),
		testcontainers.WithEnv(env),
		testcontainers.WithExposedPorts(exposed...),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) { h.PortBindings = bound }),
		testcontainers.CustomizeRequest(testcontainers.GenericContainerRequest{Logger: log.TestLogger(t)}),
	)
	testcontainers.CleanupContainer(t, c, testcontainers.StopTimeout(0))
	return err
}

// inContainer are settings with which a Redis accepts connections from outside its container.
var inContainer = []string{"bind 0.0.0.0", "protected-mode no"}

func containerRedis(t testing.TB) (Server, error) {
	ctx := Context(t)
	ports, err := loopback.Ports(1)
	if err != nil {
		return Server{}, err
	}
	env := map[string]string{"CONF": program.RedisConf(ports[0], "/tmp", inContainer)}
	if err := redisImage.run(ctx, t, ports, env, `printf '%s' "$CONF" | exec redis-server -`); err != nil {
		return Server{}, err
	}
	addr := loopback.Join(ports[0])
	err = program.Await(ctx, func(ctx context.Context) error { return program.RedisReady(ctx, addr) })
	return Server{URL: "redis://" + addr}, err
}

func containerKafka(t testing.TB) (Server, error) {
	ctx := Context(t)
	ports, err := loopback.Ports(1)
	if err != nil {
		return Server{}, err
	}
	addr := loopback.Join(ports[0])
	listen := fmt.Sprintf("0.0.0.0:%d", ports[0])
	const controller = "127.0.0.1:9093" // in the container only
	env := map[string]string{"CONF": program.KafkaProperties(listen, addr, controller, "/tmp/kafka-data", nil)}
	const script = `set -e
printf '%s' "$CONF" >/tmp/server.properties
java ` + program.QuickJava + ` -cp '/opt/kafka/libs/*' kafka.tools.StorageTool format -t ` + program.KafkaClusterID + ` -c /tmp/server.properties
exec java -Xmx1g ` + program.QuickJava + ` -cp '/opt/kafka/libs/*' kafka.Kafka /tmp/server.properties`
	if err := kafkaImage.run(ctx, t, ports, env, script); err != nil {
		return Server{}, err
	}
	err = program.Await(ctx, func(ctx context.Context) error { return program.KafkaReady(ctx, addr) })
	return Server{URL: addr}, err
}
