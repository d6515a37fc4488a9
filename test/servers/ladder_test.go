package servers_test

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"bagtrail/test/servers"
)

// rungs are the rungs of the ladder. Without their variables, the two upper ones need not exist
// even if real servers are required.
var rungs = []servers.Kind{servers.Given, servers.Container, servers.Local, servers.InProcess}

// onEveryRung runs a test on each rung alone, and skips the rungs that this machine does not have.
func onEveryRung(t *testing.T, given, image string, test func(t *testing.T, kind servers.Kind)) {
	for _, kind := range rungs {
		t.Run(string(kind), func(t *testing.T) {
			t.Setenv("BAGTRAIL_TEST_RUNG", string(kind))
			if kind == servers.InProcess || kind == servers.Given && os.Getenv(given) == "" || kind == servers.Container && os.Getenv(image) == "" {
				t.Setenv("BAGTRAIL_TEST_REQUIRE_REAL", "")
			}
			test(t, kind)
		})
	}
}

func TestRedisAnswersOnEveryRung(t *testing.T) {
	onEveryRung(t, "BAGTRAIL_TEST_REDIS", "BAGTRAIL_TEST_REDIS_IMAGE", func(t *testing.T, kind servers.Kind) {
		s := servers.Redis(t)
		wantKind(t, s, kind)
		u, err := url.Parse(s.URL)
		must(t, err)
		if got := redis(t, u.Host, "PING"); got != "PONG" {
			t.Errorf("PING was answered %q", got)
		}
	})
}

func TestKafkaKeepsARecordOnEveryRung(t *testing.T) {
	onEveryRung(t, "BAGTRAIL_TEST_KAFKA", "BAGTRAIL_TEST_KAFKA_IMAGE", func(t *testing.T, kind servers.Kind) {
		s := servers.Kafka(t)
		wantKind(t, s, kind)
		addr, _, _ := strings.Cut(s.URL, ",")
		topic := servers.Unique(t, "topic")
		produce(t, addr, topic, "BSM\r\nENDBSM")
		if got := fetch(t, addr, topic); got != "BSM\r\nENDBSM" {
			t.Errorf("fetched %q", got)
		}
	})
}

func TestTestsThatShareARedisDoNotShareADatabase(t *testing.T) {
	t.Setenv("BAGTRAIL_TEST_RUNG", string(servers.Given))
	given := "redis://" + servers.PrivateRedis(t).Addr
	t.Setenv("BAGTRAIL_TEST_REDIS", given)
	one, other := servers.Redis(t).URL, servers.Redis(t).URL
	if !strings.HasPrefix(one, given+"/") || !strings.HasPrefix(other, given+"/") || one == other {
		t.Errorf("got %s and %s, want two databases of the one server", one, other)
	}
}

// TestWithout is run by TestAMissingServerIsAFailureWhereRealOnesAreRequired.
func TestWithout(t *testing.T) {
	if os.Getenv("BAGTRAIL_TEST_RUNG") != "local" {
		t.Skip("is part of another test")
	}
	t.Run("Redis", func(t *testing.T) { servers.Redis(t) })
	t.Run("Kafka", func(t *testing.T) { servers.Kafka(t) })
	t.Run("PrivateRedis", func(t *testing.T) { servers.PrivateRedis(t) })
	t.Run("PrivateKafka", func(t *testing.T) { servers.PrivateKafka(t) })
}

func TestAMissingServerIsAFailureWhereRealOnesAreRequired(t *testing.T) {
	for required, want := range map[string]string{"1": "--- FAIL: TestWithout/", "": "--- SKIP: TestWithout/"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWithout$", "-test.v")
		cmd.Env = []string{"PATH=/nowhere", "BAGTRAIL_TEST_RUNG=local", "BAGTRAIL_TEST_REQUIRE_REAL=" + required}
		out, err := cmd.CombinedOutput()
		if failed := err != nil; failed != (required == "1") {
			t.Errorf("required %q: the run ended with %v", required, err)
		}
		if got := bytes.Count(out, []byte(want)); got != 4 {
			t.Errorf("required %q: %d of 4 tests say %q:\n%s", required, got, want, out)
		}
	}
}

func wantKind(t *testing.T, s servers.Server, kind servers.Kind) {
	t.Helper()
	if s.Kind != kind {
		t.Fatalf("got a server of kind %s, want %s", s.Kind, kind)
	}
}
