package kafka_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/kafka"
)

func TestEveryFaultOfTheConfigurationIsReportedBeforeAnythingStarts(t *testing.T) {
	good := func() kafka.Config {
		return kafka.Config{Brokers: []string{"a:9092"}, Topics: []string{"r", "x", "e"}}
	}
	if _, err := kafka.Open(good()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*kafka.Config){
		"no broker":                           func(c *kafka.Config) { c.Brokers = nil },
		`"a" is not host:port`:                func(c *kafka.Config) { c.Brokers = []string{"b:1", "a"} },
		`":9092" is not host:port`:            func(c *kafka.Config) { c.Brokers = []string{":9092"} },
		`"a:65536" is not host:port`:          func(c *kafka.Config) { c.Brokers = []string{"a:65536"} },
		`topic "" is not a name`:              func(c *kafka.Config) { c.Topics[0] = "" },
		`topic "a b" is not a name`:           func(c *kafka.Config) { c.Topics[1] = "a b" },
		`topic ".." is not a name`:            func(c *kafka.Config) { c.Topics[2] = ".." },
		`topic "r" is named twice`:            func(c *kafka.Config) { c.Topics[2] = "r" },
		`mechanism "GSSAPI" is not`:           func(c *kafka.Config) { c.SASL = kafka.SASL{"GSSAPI", "u", "p"} },
		"SASL needs a mechanism, a user name": func(c *kafka.Config) { c.SASL.Mechanism = "PLAIN" },
		"time limit -1s is not between":       func(c *kafka.Config) { c.Timing.Session = -time.Second },
	} {
		conf := good()
		change(&conf)
		if _, err := kafka.Open(conf); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	bad := kafka.Config{Topics: []string{"", "a b"}, SASL: kafka.SASL{Mechanism: "PLAIN", Password: "secret"}}
	_, err := kafka.Open(bad)
	if got := strings.Count(err.Error(), "\n"); got < 3 {
		t.Errorf("only %d of the faults in: %v", got+1, err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("the password is in the error")
	}
}

func TestOpenConnectsToNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := kafka.Open(kafka.Config{Brokers: []string{addr}}); err != nil {
		t.Error(err)
	}
}
