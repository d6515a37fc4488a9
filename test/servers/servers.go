// Package servers gives tests a Kafka and a Redis, as real as this machine has them.
//
// Redis and Kafka try the rungs of a ladder and use the first one that this machine has:
//
//  1. Given: a server at the address in BAGTRAIL_TEST_REDIS or
//     BAGTRAIL_TEST_KAFKA. .ci/servers starts them and prints these.
//  2. Container: an image in a Docker engine: the one that
//     BAGTRAIL_TEST_REDIS_IMAGE or BAGTRAIL_TEST_KAFKA_IMAGE names, else a
//     public one if it is there already; nothing is downloaded unasked.
//  3. Local: redis-server on PATH, Java and the jars of Kafka (program.KafkaLibs).
//  4. InProcess: Go code in the test's own process that speaks the protocol.
//
// BAGTRAIL_TEST_RUNG (given, container, local, in-process) allows one rung
// only. With BAGTRAIL_TEST_REQUIRE_REAL=1, as in CI, a test that would end up
// without a real server fails.
//
// Servers are given to tests empty: the databases of a given server are deleted, so never point
// these variables at data that matters. Topics are not deleted; Unique makes names for them. Tests
// that kill, freeze or fill a server use one of their own, which is always real: PrivateRedis,
// PrivateCluster, PrivateKafka and so on.
//
// Everything listens on loopback only, and ends with the test, also if the test's process is
// killed. Containers are then ended by the reaper of testcontainers.
package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Kind is the kind of a server: a rung of the ladder.
type Kind string

// The rungs of the ladder, from the top.
const (
	Given     Kind = "given"
	Container Kind = "container"
	Local     Kind = "local"
	InProcess Kind = "in-process"
)

// Server is a server that a test may use until it ends.
type Server struct {
	Kind Kind
	URL  string // of a Redis, as in BAGTRAIL_REDIS_URL; of a Kafka, its addresses separated by commas
}

// Redis returns a Redis with an empty database for this test alone.
func Redis(t testing.TB) Server {
	t.Helper()
	return climb(t, "Redis", []rung{
		{Given, givenRedis},
		{Container, containerRedis},
		{Local, localRedis},
		{InProcess, inProcessRedis},
	})
}

// Kafka returns a broker. Topics must be created. Other tests may use it at the same time.
func Kafka(t testing.TB) Server {
	t.Helper()
	return climb(t, "Kafka", []rung{
		{Given, givenKafka},
		{Container, containerKafka},
		{Local, localKafka},
		{InProcess, inProcessKafka},
	})
}

// Unique returns a name for a topic, a group or a key prefix that no other test uses and no other
// run of this test.
func Unique(t testing.TB, prefix string) string {
	t.Helper()
	test := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, t.Name())
	return fmt.Sprintf("%s-%.80s-%x", prefix, test, time.Now().UnixNano())
}

// limit is the timeout for starting or recovering a server.
const limit = 2 * time.Minute

// Context returns the context of the test with that timeout.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// rung is a way to get a server. It returns errAbsent if this machine does not have it, and any
// other error if it fails.
type rung struct {
	kind Kind
	try  func(testing.TB) (Server, error)
}

var errAbsent = errors.New("not here")

func climb(t testing.TB, what string, ladder []rung) Server {
	t.Helper()
	only := Kind(os.Getenv("BAGTRAIL_TEST_RUNG"))
	var absent []string
	for _, r := range ladder {
		if only != "" && r.kind != only || r.kind == InProcess && requireReal() {
			continue
		}
		s, err := r.try(t)
		if errors.Is(err, errAbsent) {
			absent = append(absent, fmt.Sprintf("%s: %v", r.kind, err))
			continue
		}
		if err != nil {
			t.Fatalf("%s, %s: %v", what, r.kind, err)
		}
		s.Kind = r.kind
		t.Logf("%s: %s, at %s", what, s.Kind, s.URL)
		return s
	}
	missing(t, what, strings.Join(absent, "\n"))
	return Server{}
}

// missing ends a test that cannot have its server.
func missing(t testing.TB, what, why string) {
	t.Helper()
	if requireReal() {
		t.Fatalf("BAGTRAIL_TEST_REQUIRE_REAL is set, and there is no real %s:\n%s", what, why)
	}
	t.Skipf("no %s:\n%s", what, why)
}

func requireReal() bool { return os.Getenv("BAGTRAIL_TEST_REQUIRE_REAL") == "1" }
