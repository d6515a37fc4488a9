package collector_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"bagtrail/internal/collector"
)

const mib = 1 << 20

var kept []byte // what lives, beside the little that the test itself needs

func live(bytes int) {
	kept = nil
	runtime.GC()
	kept = make([]byte, bytes)
}

// goal is the size at which the heap is collected next, in MiB.
func goal() uint64 { return metric("/gc/heap/goal:bytes") / mib }

func metric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// reaches waits until some collections have made the goal what it is to be: the runtime tells of one a moment later.
func reaches(t *testing.T, least, most uint64) {
	t.Helper()
	for range 400 {
		runtime.GC()
		<-time.After(5 * time.Millisecond)
		if g := goal(); g >= least && g <= most {
			return
		}
	}
	t.Fatalf("the heap is collected at %d MiB, want %d to %d", goal(), least, most)
}

func TestASmallHeapIsCollectedAtTheFloor(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	live(22 * mib)
	reaches(t, 44, 50)
	stop := collector.Floor(60 * mib)
	reaches(t, 52, 64)
	live(80 * mib)
	reaches(t, 160, 170)
	live(10 * mib) // the floor would be many times what lives
	reaches(t, 30, 40)

	live(22 * mib)
	reaches(t, 52, 64)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		reaches(t, 44, 50)
	}
}

// Where there are both, thrift counts.
func TestThrift(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	live(22 * mib)
	reaches(t, 44, 50)
	first, second := collector.Thrift(), collector.Thrift()
	reaches(t, 30, 37)
	stop := collector.Floor(60 * mib)
	reaches(t, 30, 37)
	live(80 * mib)
	reaches(t, 112, 120)
	first()
	reaches(t, 112, 120)
	second()
	reaches(t, 160, 170)
	live(22 * mib)
	reaches(t, 52, 64)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	live(22 * mib)
	reaches(t, 44, 50)
}

func TestWhatTheEnvironmentSaysCounts(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	t.Setenv("GOGC", "70")
	stop := collector.Floor(math.MaxInt64)
	for range 3 {
		runtime.GC()
		<-time.After(5 * time.Millisecond)
	}
	if p := metric("/gc/gogc:percent"); p != 70 {
		t.Errorf("%d percent", p)
	}
	if err := stop(); err != nil || metric("/gc/gogc:percent") != 70 {
		t.Errorf("%v, %d percent", err, metric("/gc/gogc:percent"))
	}
	end := collector.Thrift()
	if p := metric("/gc/gogc:percent"); p != 40 {
		t.Errorf("%d percent with thrift", p)
	}
	end()
	debug.SetGCPercent(20) // somebody knows better
	end = collector.Thrift()
	if during := debug.SetGCPercent(20); during != 20 {
		t.Errorf("%d percent with thrift, want 20", during)
	}
	end()
}

// Who has switched collection off has it off.
func TestNothingIsCollectedWhereCollectionIsOff(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	stop, end := collector.Floor(60*mib), collector.Thrift()
	if during := debug.SetGCPercent(-1); during != -1 {
		t.Errorf("%d percent with floor and thrift", during)
	}
	end()
	if during := debug.SetGCPercent(-1); during != -1 {
		t.Errorf("%d percent with a floor", during)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
