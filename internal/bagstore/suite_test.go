package bagstore_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/bagstore/bagstoretest"
	"bagtrail/internal/redis/redistest"
)

func TestSuiteOnMiniredis(t *testing.T) {
	server := miniredis.RunT(t)
	server.SetTime(time.Now()) // its clock stands still between ticks: each costs it a look at all keys
	server.ClockTTL(true)
	tick := time.NewTicker(500 * time.Millisecond)
	over := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				server.SetTime(time.Now())
			}
		}
	})
	t.Cleanup(func() {
		tick.Stop()
		close(over)
		ticking.Wait()
	})
	bagstoretest.Run(t, "redis://"+server.Addr())
}

// The Redis is that of BAGTRAIL_TEST_REDIS, if it is set, or one that is started for the test.
func TestSuiteOnRedis(t *testing.T) {
	if url := os.Getenv("BAGTRAIL_TEST_REDIS"); url != "" {
		bagstoretest.Run(t, url)
		return
	}
	server := redistest.StartServer(t)
	bagstoretest.Run(t, server.URL(""))
}

func TestSuiteOnACluster(t *testing.T) {
	bagstoretest.Run(t, redistest.StartCluster(t))
}
