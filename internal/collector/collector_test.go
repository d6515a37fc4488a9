package collector_test

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"bagtrail/internal/collector"
)

// percent returns GOGC.
func percent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestThriftHoldsUntilTheLastCallerEndsIt(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for range 2 {
		first, second := collector.Thrift(), collector.Thrift()
		if p := percent(); p != 40 {
			t.Errorf("%d percent with thrift, want 40", p)
		}
		first()
		if p := percent(); p != 40 {
			t.Errorf("%d percent before the last end, want 40", p)
		}
		second()
		if p := percent(); p != 100 {
			t.Errorf("%d percent afterwards, want 100", p)
		}
	}
}

func TestThriftChangesNothingIfCollectionIsSoonerAlreadyOrOff(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, usual := range []int{20, -1} {
		debug.SetGCPercent(usual)
		end := collector.Thrift()
		if during := debug.SetGCPercent(usual); during != usual {
			t.Errorf("%d percent with thrift, want %d", during, usual)
		}
		end()
		if after := debug.SetGCPercent(usual); after != usual {
			t.Errorf("%d percent afterwards, want %d", after, usual)
		}
	}
}
