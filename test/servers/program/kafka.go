package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/createtopics"

	"bagtrail/test/loopback"
)

// The versions of Apache Kafka that tests use. .ci/servers downloads their jars.
const (
	Kafka4  = "4.1.0"
	Kafka39 = "3.9.1"
)

// KafkaLibs returns the folder with the jars of one version, below .cache/kafka of this module.
func KafkaLibs(version string) (string, error) {
	_, source, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("this program does not know its sources")
	}
	libs := filepath.Join(filepath.Dir(source), "../../../.cache/kafka", version)
	if _, err := os.Stat(filepath.Join(libs, "kafka-tools-"+version+".jar")); err != nil {
		return "", fmt.Errorf("kafka %s: %w", version, err)
	}
	return libs, nil
}

// kafkaSettings are the settings of every Kafka: one node for everything, no delays for tests, no
// automatic creation of topics.
var kafkaSettings = []string{
	"process.roles=broker,controller",
	"node.id=1",
	"controller.listener.names=CONTROLLER",
	"auto.create.topics.enable=false",
	"offsets.topic.replication.factor=1",
	"offsets.topic.num.partitions=5",
	"transaction.state.log.replication.factor=1",
	"transaction.state.log.min.isr=1",
	"group.initial.rebalance.delay.ms=0",
	"broker.heartbeat.interval.ms=500", // a killed broker may come back
	"broker.session.timeout.ms=3000",   // once its last session has ended
}

// NewKafka prepares a Kafka of the version with one broker, and formats its data folder; Start runs
// it. settings are lines of server.properties. They come last, so they override all others.
func NewKafka(ctx context.Context, home Home, version string, settings ...string) (*Process, error) {
	addresses, err := loopback.Addresses(2)
	if err != nil {
		return nil, err
	}
	return newKafka(ctx, home, version, addresses[0], addresses[1], nil, settings)
}

// newKafka is NewKafka for given addresses of broker and controller. format are more arguments of the
// tool that formats the data folder.
func newKafka(ctx context.Context, home Home, version, addr, controller string, format, settings []string) (*Process, error) {
	libs, err := KafkaLibs(version)
	if err != nil {
		return nil, err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("kafka %s: %w", version, err)
	}
	conf := filepath.Join(home.Dir, "server.properties")
	text := KafkaProperties(addr, addr, controller, filepath.Join(home.Dir, "data"), settings)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return nil, err
	}
	classes := filepath.Join(libs, "*")
	args := append([]string{QuickJava, "-cp", classes,
		"kafka.tools.StorageTool", "format", "-t", KafkaClusterID, "-c", conf}, format...)
	if out, err := exec.CommandContext(ctx, java, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("format kafka's storage: %w\n%s", err, out)
	}
	return &Process{
		Name: "kafka " + version, Addr: addr, home: home,
		argv: []string{java, "-Xmx1g", QuickJava, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
			"-cp", classes, "kafka.Kafka", conf},
		ready: func(ctx context.Context) error { return KafkaReady(ctx, addr) },
	}, nil
}

// QuickJava turns off Java's optimizing compiler. A broker that was just started would otherwise
// spend a core on compiling during the test or measurement.
const QuickJava = "-XX:TieredStopAtLevel=1"

// KafkaProperties returns a server.properties: the broker listens on one address and advertises
// another, and its controller has one of its own.
func KafkaProperties(listen, advertised, controller, data string, settings []string) string {
	lines := append([]string{
		"listeners=PLAINTEXT://" + listen + ",CONTROLLER://" + controller,
		"advertised.listeners=PLAINTEXT://" + advertised,
		"controller.quorum.voters=1@" + controller,
		"log.dirs=" + data,
	}, kafkaSettings...)
	return strings.Join(append(lines, settings...), "\n") + "\n"
}

// KafkaClusterID is the cluster id with which every Kafka is formatted.
const KafkaClusterID = "YmFndHJhaWwtdGVzdC1rZg"

// KafkaReady returns nil once the broker could create a topic, and an error until then. A broker
// answers other requests earlier. No topic is created.
func KafkaReady(ctx context.Context, addr string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	// kafka.Client would wait for the topic to appear.
	conn := protocol.NewConn(c, "bagtrail-test")
	conn.SetVersions(map[protocol.ApiKey]int16{protocol.CreateTopics: 2})
	reply, err := conn.RoundTrip(&createtopics.Request{
		ValidateOnly: true,
		TimeoutMs:    int32(time.Second / time.Millisecond),
		Topics:       []createtopics.RequestTopic{{Name: "bagtrail-test-ready", NumPartitions: 1, ReplicationFactor: 1}},
	})
	if err != nil {
		return err
	}
	if code := reply.(*createtopics.Response).Topics[0].ErrorCode; code != 0 {
		return kafka.Error(code)
	}
	return nil
}
