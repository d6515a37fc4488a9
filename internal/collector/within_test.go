package collector_test

import (
	"runtime/debug"
	"testing"

	"bagtrail/internal/collector"
)

func TestAProgramThatStreamsKeepsWithinItsBytesUntilItIsStopped(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	stop := collector.Within(1 << 30)
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("limit %d", got)
	}
	stop()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("afterwards %d, before %d", got, before)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	defer collector.Within(1 << 20)()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the environment is overruled: %d", got)
	}
}
