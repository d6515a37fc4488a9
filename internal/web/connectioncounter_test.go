package web_test

import (
	"net"
	"net/http"
	"runtime/metrics"
	"testing"
	"time"
)

func TestManyConnectionsHaveMemoryCollectedSooner(t *testing.T) {
	address, stop := serve(t, http.NotFoundHandler())
	usual := heapGrowth()
	var open []net.Conn
	for range 600 {
		open = append(open, dial(t, address))
	}
	until(t, "the heap may still grow as usual", func() bool { return heapGrowth() == 40 })
	for _, c := range open {
		_ = c.Close()
	}
	until(t, "the heap may not grow as usual again", func() bool { return heapGrowth() == usual })
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// heapGrowth returns the percentage by which the heap may grow before a collection.
func heapGrowth() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func until(t *testing.T, otherwise string, condition func() bool) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}
