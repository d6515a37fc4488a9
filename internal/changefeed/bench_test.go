package changefeed_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/flightref"
)

const (
	platesOfBench = 2000
	pageOfBench   = 1000
)

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkCatchUp reports what it takes of the processors to tell a change in pages of 1,000, from
// the stored texts of a bag with 15 events to its document.
func BenchmarkCatchUp(b *testing.B) {
	w := newWorldOf(b, 12, flightref.None())
	asker := changefeed.Asker{Key: key("*", "*"), Filter: changefeed.Filter{Airline: "LX"}, Fields: bagdoc.Events}
	first := w.fileFifteen(b, asker, platesOfBench)
	b.ReportAllocs()
	before, told := processorTime(b), 0
	for b.Loop() {
		for cursor, more := first, true; more; {
			var err error
			cursor, more, err = w.feed.Each(b.Context(), asker, cursor, changefeed.Limits{Changes: pageOfBench, Bytes: 4 << 20},
				func(changefeed.Change) error { told++; return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(told), "cpu-ns/change")
}

// fileFifteen files bags with 15 messages each, and returns a cursor from before them.
func (w *world) fileFifteen(b *testing.B, asker changefeed.Asker, plates int) changes.Cursor {
	b.Helper()
	first, err := w.feed.Now(b.Context(), asker)
	if err != nil {
		b.Fatal(err)
	}
	for step := range 15 {
		w.received = w.received.Add(time.Minute)
		w.now.Store(w.received.Unix())
		texts := make([]string, plates)
		for i := range texts {
			plate, flight := fmt.Sprintf("0724%06d", i), fmt.Sprint("LX", 1+i%100)
			if step == 0 {
				texts[i] = bsm(plate, flight, "MUELLER", fmt.Sprintf("ABC%03d", i%1000))
				continue
			}
			texts[i] = strings.Join([]string{
				"BPM", ".V/1LZRH", fmt.Sprintf(".J/%c/AGENT/SCAN%02d/14MAR/06%02dL/BELT%02d", "SGHR"[step%4], step, step, step),
				".F/" + flight + "/14MAR/JFK/Y", ".N/" + plate + "001", ".S/Y/12A/C/012//N/A", "ENDBPM",
			}, " ")
		}
		w.file(w.received, texts...)
	}
	w.settle()
	return first
}
