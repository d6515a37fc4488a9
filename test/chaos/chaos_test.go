// Package chaos_test breaks what bagtrail runs on, while messages stream in, and then asks for everything.
//
// Services are processes of the program itself on a real Kafka and a real Redis; processes and servers are killed, frozen
// and restarted. Every test ends alike: what Kafka holds at the end is filed, undisturbed, into a second index, and the
// service must answer every plate, flight and passenger byte for byte as that one does; what was rejected is on the
// rejects topic; and no POST that was answered 200 is missing.
//
// The tests print their figures, and need real servers: they run with BAGTRAIL_TEST_REQUIRE_REAL=1 alone, at a size that
// takes minutes, and at full size with -full.
package chaos_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	full     = flag.Bool("full", false, "full size: hours, where the default is minutes")
	messages = flag.Int("messages", 0, "messages that stream in while the service is killed")
	kills    = flag.Int("kills", 0, "how often the service is killed")
	deaths   = flag.Int("deaths", 0, "how often each server is killed")
	postRate = flag.Int("post-rate", 0, "POSTs a second, beside the stream")
	seed     = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
)

// sizes are how much the tests do.
type sizes struct {
	messages int           // of the stream, where the service is killed
	kills    int           // of the service
	deaths   int           // of each server
	postRate int           // POSTs a second
	rate     int           // messages a second of the stream, where its length follows from something else
	shuffle  time.Duration // of processes that join and leave
	replayed int           // messages in the log that is replayed
	checkIn  time.Duration // from one bag of the stream to the next, in its own time: the longer, the more journeys are complete
}

func size() sizes {
	s := sizes{messages: 50_000, kills: 10, deaths: 2, postRate: 40, rate: 1000, shuffle: 24 * time.Second, replayed: 20_000, checkIn: 10 * time.Second}
	if *full {
		s = sizes{messages: 1_000_000, kills: 100, deaths: 10, postRate: 220, rate: 3000, shuffle: 3 * time.Minute, replayed: 500_000, checkIn: time.Second}
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

// allAcked and allMissing count the POSTs of all tests that were answered 200, and those of them that no answer showed.
var allAcked, allMissing int

func TestMain(m *testing.M) {
	code := m.Run()
	if allAcked > 0 {
		fmt.Printf("all tests together: %d POSTs were answered 200, %d of them are missing in the answers\n", allAcked, allMissing)
	}
	os.Exit(code)
}

// needsReal skips a test where nobody asked for real servers.
func needsReal(t *testing.T) {
	t.Helper()
	if os.Getenv("BAGTRAIL_TEST_REQUIRE_REAL") != "1" {
		t.Skip("runs on real servers only: BAGTRAIL_TEST_REQUIRE_REAL=1, or make chaos")
	}
}
