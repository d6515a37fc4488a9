// Package servers gives tests the Kafka and the Redis that they ask for, as
// real as this machine has them.
//
// Redis, RedisCluster and Kafka climb down a ladder and take the first rung
// that holds:
//
//  1. Given: a server at the address in BAGTRAIL_TEST_REDIS,
//     BAGTRAIL_TEST_REDIS_CLUSTER, BAGTRAIL_TEST_KAFKA or
//     BAGTRAIL_TEST_KAFKA39. .ci/servers starts them all and prints these.
//  2. Container: an image in a Docker engine: the one that
//     BAGTRAIL_TEST_REDIS_IMAGE, BAGTRAIL_TEST_KAFKA_IMAGE or
//     BAGTRAIL_TEST_KAFKA39_IMAGE names, else a public one if it is there
//     already; nothing is downloaded unasked.
//  3. Local: redis-server on PATH, Java and the jars of Kafka (program.KafkaLibs).
//  4. InProcess: Go code in the test's own process that speaks the protocol.
//
// BAGTRAIL_TEST_RUNG (given, container, local, in-process) allows one rung
// only. With BAGTRAIL_TEST_REQUIRE_REAL=1, as in CI, a test that would end up
// without a real server fails.
//
// What a test gets is empty, for the databases of a given server are emptied:
// point these variables at nothing that holds anything dear. Topics are not
// removed; Unique makes names for them. Tests that kill, freeze or fill a server
// take one of their own: PrivateRedis, PrivateCluster, PrivateKafka and so on,
// which are always real.
//
// Everything listens on loopback only and is gone when the test is over, and
// also when the test's process is killed; containers then with the reaper of
// testcontainers.
package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers/program"
)

// Kind says what a server is.
type Kind string

// The rungs of the ladder, from the top.
const (
	Given     Kind = "given"
	Container Kind = "container"
	Local     Kind = "local"
	InProcess Kind = "in-process"
)

// Version is one of Kafka's.
type Version string

// The versions that tests may ask for.
const (
	Kafka4  Version = program.Kafka4
	Kafka39 Version = program.Kafka39
)

// Server is what a test may use until it ends.
type Server struct {
	Kind  Kind
	Addrs []string // host:port: of a Redis, of all nodes of its cluster, of the Kafka brokers
	URL   string   // of a Redis, as BAGTRAIL_REDIS_URL takes it; of a Kafka, its addresses with commas between
}

// Real tells whether the server is the product itself.
func (s Server) Real() bool { return s.Kind != InProcess }

// Redis gives a test one Redis alone, with an empty database of its own.
func Redis(t testing.TB) Server {
	t.Helper()
	return climb(t, "Redis", []rung{
		{Given, givenRedis},
		{Container, containerRedis},
		{Local, localRedis},
		{InProcess, inProcessRedis},
	})
}

// RedisCluster gives a test an empty cluster for itself. A given cluster is
// given to one test at a time: do not ask for a second before the first test
// is over. In-process it has only one node, so no slot ever moves.
func RedisCluster(t testing.TB) Server {
	t.Helper()
	return climb(t, "Redis Cluster", []rung{
		{Given, givenCluster},
		{Container, containerCluster},
		{Local, localCluster},
		{InProcess, inProcessCluster},
	})
}

// Kafka gives a test a broker of the version; the one in-process is of no
// version. Topics have to be created. Others may use it at the same time.
func Kafka(t testing.TB, version Version) Server {
	t.Helper()
	return climb(t, "Kafka "+string(version), []rung{
		{Given, func(t testing.TB) (Server, error) { return givenKafka(t, version) }},
		{Container, func(t testing.TB) (Server, error) { return containerKafka(t, version) }},
		{Local, func(t testing.TB) (Server, error) { return localKafka(t, version) }},
		{InProcess, inProcessKafka},
	})
}

// Unique makes a name for a topic, a group or a key prefix that no other test
// uses, nor this test the next time.
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

// limit is what anything about a server may take.
const limit = 2 * time.Minute

// Context is that of the test with a time limit for what a server may take to
// start or to recover.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// A rung returns errAbsent when it is not there to stand on, and another error
// when it breaks.
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
		t.Logf("%s: %s, at %s", what, s.Kind, strings.Join(s.Addrs, ","))
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
