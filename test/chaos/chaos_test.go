// Package chaos_test breaks the servers and processes of bagtrail while messages stream in, and
// then asks for everything. Services are processes of the program on a real Kafka and a real
// Redis. Processes and servers are killed, frozen and restarted. At the end of every test except
// the one of the documented rights, the content of Kafka is filed into a second index without
// disturbance. The service must answer every plate, flight and passenger with the same bytes;
// every rejected message must be on the rejects topic; no POST that was answered 200 may be
// missing; and whoever follows the changes, by the delta query, by the stream, by a webhook or by
// the topic, with a key that sees everything or with a limited one, must have been told the state
// of every plate that the key sees.
//
// The tests print their figures. They need real servers and run only with
// BAGTRAIL_TEST_REQUIRE_REAL=1, at a size that takes minutes, or at full size with -full.
package chaos_test

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

var (
	full     = flag.Bool("full", false, "full size: hours, where the default is minutes")
	messages = flag.Int("messages", 0, "messages that stream in while the service is killed")
	kills    = flag.Int("kills", 0, "how often ingest or api is killed")
	deaths   = flag.Int("deaths", 0, "how often serve and each server are killed")
	postRate = flag.Int("post-rate", 0, "POSTs a second, beside the stream")
	seed     = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
)

// sizes are the sizes of the tests.
type sizes struct {
	messages int           // of the stream during which the service is killed
	kills    int           // of ingest and api together
	deaths   int           // of serve, and of each server
	postRate int           // POSTs per second
	rate     int           // messages per second of the stream, if something else decides on its length
	still    time.Duration // how long an owner stands still
	shuffle  time.Duration // how long processes join and leave
	replayed int           // messages in the log that is replayed
	checkIn  time.Duration // from one bag of the stream to the next, in simulated time: the longer, the more journeys are complete
}

func size() sizes {
	s := sizes{messages: 20_000, kills: 4, deaths: 2, postRate: 40, rate: 1000, still: 10 * time.Second, shuffle: 16 * time.Second, replayed: 20_000, checkIn: 10 * time.Second}
	if *full {
		s = sizes{messages: 1_000_000, kills: 100, deaths: 10, postRate: 220, rate: 3000, still: 30 * time.Second, shuffle: 3 * time.Minute, replayed: 500_000, checkIn: time.Second}
	}
	for _, given := range []struct{ to, from *int }{
		{&s.messages, messages}, {&s.kills, kills}, {&s.deaths, deaths}, {&s.postRate, postRate},
	} {
		if *given.from > 0 {
			*given.to = *given.from
		}
	}
	return s
}

// allAcked and allMissing count the POSTs of all tests that were answered 200, and those of them
// that are missing.
var allAcked, allMissing atomic.Int64

func TestMain(m *testing.M) {
	code := m.Run()
	if n := allAcked.Load(); n > 0 {
		fmt.Printf("all tests together: %d POSTs were answered 200, %d of them are missing in the answers\n", n, allMissing.Load())
	}
	os.Exit(code)
}

// needsReal skips a test unless real servers are required. The tests mostly wait, and each has topics
// and a Redis of its own: below full size, some of them run at a time.
func needsReal(t *testing.T) {
	t.Helper()
	needsRealAlone(t)
	if !*full {
		t.Parallel()
	}
}

// needsRealAlone is needsReal for a test beside which no other may run, since it measures pauses.
func needsRealAlone(t *testing.T) {
	t.Helper()
	if os.Getenv("BAGTRAIL_TEST_REQUIRE_REAL") != "1" {
		t.Skip("runs on real servers only: BAGTRAIL_TEST_REQUIRE_REAL=1, or make chaos")
	}
}
