package servers

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"bagtrail/test/servers/program"
)

// PrivateRedis starts a Redis for this test alone. The test may kill, stop, continue and restart
// it. Settings are lines of redis.conf.
func PrivateRedis(t testing.TB, settings ...string) *program.Process {
	t.Helper()
	need(t, "Redis", redisHere)
	p, err := program.NewRedis(home(t), settings...)
	start(t, p, err)
	return p
}

// PrivateCluster starts three masters with a replica each for this test alone.
func PrivateCluster(t testing.TB, settings ...string) *program.Cluster {
	t.Helper()
	need(t, "Redis", redisHere)
	c, err := program.NewCluster(home(t), settings...)
	start(t, c, err)
	return c
}

// PrivateKafka starts a Kafka for this test alone. Settings are lines of
// server.properties.
func PrivateKafka(t testing.TB, settings ...string) *program.Process {
	t.Helper()
	need(t, "Kafka", kafkaHere)
	p, err := program.NewKafka(Context(t), home(t), program.Kafka4, settings...)
	start(t, p, err)
	return p
}

// SecuredRedis starts a Redis that also has a TLS port.
func SecuredRedis(t testing.TB, settings ...string) *program.Secured {
	t.Helper()
	need(t, "Redis", redisHere)
	s, err := program.NewSecuredRedis(home(t), settings...)
	start(t, s, err)
	return s
}

// SecuredKafka starts a Kafka that also has a SASL port.
func SecuredKafka(t testing.TB, settings ...string) *program.Secured {
	t.Helper()
	need(t, "Kafka", kafkaHere)
	s, err := program.NewSecuredKafka(Context(t), home(t), settings...)
	start(t, s, err)
	return s
}

// KafkaTool runs one of Kafka's command-line tools against the broker and returns its output. class
// is its class below org.apache.kafka.tools. Some tools print an error and still exit with 0.
func KafkaTool(t testing.TB, addr, class string, args ...string) string {
	t.Helper()
	need(t, "Kafka", kafkaHere)
	libs, _ := program.KafkaLibs(program.Kafka4)
	args = append([]string{program.QuickJava, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", filepath.Join(libs, "*"),
		"org.apache.kafka.tools." + class, "--bootstrap-server", addr}, args...)
	out, err := exec.CommandContext(Context(t), "java", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", class, err, out)
	}
	return string(out)
}

func localRedis(t testing.TB) (Server, error) {
	if err := redisHere(); err != nil {
		return Server{}, errors.Join(errAbsent, err)
	}
	return Server{URL: "redis://" + PrivateRedis(t).Addr}, nil
}

func localKafka(t testing.TB) (Server, error) {
	if err := kafkaHere(); err != nil {
		return Server{}, errors.Join(errAbsent, err)
	}
	return Server{URL: PrivateKafka(t).Addr}, nil
}

// need ends a test whose machine does not have a server.
func need(t testing.TB, what string, here func() error) {
	t.Helper()
	if err := here(); err != nil {
		missing(t, what, err.Error())
	}
}

func redisHere() error {
	_, err := exec.LookPath(program.RedisServer)
	return err
}

func kafkaHere() error {
	_, noJava := exec.LookPath("java")
	_, noJars := program.KafkaLibs(program.Kafka4)
	return errors.Join(noJava, noJars)
}

func home(t testing.TB) program.Home {
	t.Helper()
	return program.Home{Dir: t.TempDir()}
}

// start starts servers that end with the test.
func start(t testing.TB, s interface {
	Start(context.Context) error
	Close()
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Start(Context(t)); err != nil {
		t.Fatal(err)
	}
}
