package servers

import (
	"context"
	"errors"
	"os/exec"
	"testing"

	"bagtrail/test/servers/program"
)

// PrivateRedis starts a Redis for this test alone. The test may kill, stop, continue and restart
// it. Settings are lines of redis.conf.
func PrivateRedis(t testing.TB, settings ...string) *program.Process {
	t.Helper()
	needRedis(t)
	p, err := program.NewRedis(home(t), settings...)
	start(t, p, err)
	return p
}

// PrivateCluster starts three masters with a replica each for this test alone.
func PrivateCluster(t testing.TB, settings ...string) *program.Cluster {
	t.Helper()
	needRedis(t)
	c, err := program.NewCluster(home(t), settings...)
	start(t, c, err)
	return c
}

// PrivateKafka starts a Kafka for this test alone. Settings are lines of
// server.properties.
func PrivateKafka(t testing.TB, version Version, settings ...string) *program.Process {
	t.Helper()
	needKafka(t, version)
	p, err := program.NewKafka(Context(t), home(t), string(version), settings...)
	start(t, p, err)
	return p
}

// SecuredRedis starts a Redis that also has a TLS port.
func SecuredRedis(t testing.TB, settings ...string) *program.Secured {
	t.Helper()
	needRedis(t)
	s, err := program.NewSecuredRedis(home(t), settings...)
	start(t, s, err)
	return s
}

// SecuredKafka starts a Kafka that also has SASL and TLS ports.
func SecuredKafka(t testing.TB, version Version, settings ...string) *program.Secured {
	t.Helper()
	needKafka(t, version)
	s, err := program.NewSecuredKafka(Context(t), home(t), string(version), settings...)
	start(t, s, err)
	return s
}

// KafkaTool runs a command-line tool of Kafka (program.KafkaTool) and returns what it prints.
func KafkaTool(t testing.TB, version Version, addr, class string, args ...string) string {
	t.Helper()
	needKafka(t, version)
	out, err := program.KafkaTool(Context(t), string(version), addr, class, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func localRedis(t testing.TB) (Server, error) {
	if err := redisHere(); err != nil {
		return Server{}, errors.Join(errAbsent, err)
	}
	addr := PrivateRedis(t).Addr
	return Server{Addrs: []string{addr}, URL: "redis://" + addr}, nil
}

func localKafka(t testing.TB, version Version) (Server, error) {
	if err := kafkaHere(version); err != nil {
		return Server{}, errors.Join(errAbsent, err)
	}
	addr := PrivateKafka(t, version).Addr
	return Server{Addrs: []string{addr}, URL: addr}, nil
}

func needRedis(t testing.TB) {
	t.Helper()
	if err := redisHere(); err != nil {
		missing(t, "Redis", err.Error())
	}
}

func needKafka(t testing.TB, version Version) {
	t.Helper()
	if err := kafkaHere(version); err != nil {
		missing(t, "Kafka", err.Error())
	}
}

func redisHere() error {
	_, err := exec.LookPath(program.RedisServer)
	return err
}

func kafkaHere(version Version) error {
	_, noJava := exec.LookPath("java")
	_, noJars := program.KafkaLibs(string(version))
	return errors.Join(noJava, noJars)
}

func home(t testing.TB) program.Home {
	t.Helper()
	return program.Home{Dir: t.TempDir()}
}

// start starts servers that end with the test.
func start(t testing.TB, s interface {
	Start(context.Context) error
	Close() error
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(Context(t)); err != nil {
		t.Fatal(err)
	}
}
