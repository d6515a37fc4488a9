package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"bagtrail/test/service"
)

// bench is one run of the program.
type bench struct {
	settings
	number int            // of the line that is measured
	pairs  int            // of ours and a reference, so far
	used   []string       // servers, as they are shown under the table
	suite  *service.Suite // ends what the lines share
	redis  *redisServer
	broker *kafkaServer
}

// size returns n, the amount of work, or a tenth of it with -quick.
func (b *bench) size(n int) int {
	if b.quick {
		return max(1, n/10)
	}
	return n
}

// say writes a line of progress to stderr.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// series holds one figure, once for each run.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// pair holds the figures of ours and of the reference.
type pair struct {
	ours, reference series
	cpu             series // processor time of ours divided by that of the reference
}

// ratios returns ours divided by the reference, for each run.
func (p pair) ratios() series {
	all := make(series, len(p.ours))
	for i := range all {
		all[i] = p.ours[i] / p.reference[i]
	}
	return all
}

// ratio shows the median of the ratios, with the smallest and the largest.
func (p pair) ratio() string {
	all := p.ratios()
	return fmt.Sprintf("%.2f (%.2f–%.2f)", all.median(), slices.Min(all), slices.Max(all))
}

// ratioAndCPU adds the ratio of processor time, of this process and Redis together. Other load on the machine changes it
// less.
func (p pair) ratioAndCPU() string {
	return fmt.Sprintf("%s, CPU %.2f ×", p.ratio(), p.cpu.median())
}

// rates is the row of two rates. The median of their ratios has to be at least target, unless that is 0.
func (p pair) rates(number, what, ratio string, target float64) row {
	r := row{number, what, thousands(p.ours.median()), thousands(p.reference.median()), ratio, "reported", reported}
	if target > 0 {
		r.target, r.met = fmt.Sprintf("≥ %.1f ×", target), verdictOf(p.ratios().median() >= target)
	}
	return r
}

// alternate runs ours and the reference in turn; which is first changes from run to run. The first
// run of each is not counted.
func (b *bench) alternate(ours, reference func() (float64, error)) (pair, error) {
	var p pair
	var spent [2]time.Duration
	b.pairs++
	measure := func(run func() (float64, error), into *series, cpu *time.Duration) error {
		runtime.GC()
		before := b.processorTime()
		figure, err := run()
		*cpu = b.processorTime() - before
		*into = append(*into, figure)
		return err
	}
	for _, once := range []func() (float64, error){ours, reference} { // caches, connections, the heap
		if _, err := once(); err != nil {
			return p, err
		}
	}
	for i := range b.runs {
		first := func() error { return measure(b.profiled(ours), &p.ours, &spent[0]) }
		second := func() error { return measure(reference, &p.reference, &spent[1]) }
		if i%2 == 1 {
			first, second = second, first
		}
		if err := first(); err != nil {
			return p, err
		}
		if err := second(); err != nil {
			return p, err
		}
		p.cpu = append(p.cpu, float64(spent[0])/float64(spent[1]))
		b.say("line %d, run %d: ours %.4g, reference %.4g", b.number, i+1, p.ours[i], p.reference[i])
	}
	return p, nil
}

// profiled returns run with CPU and heap profiles written, if profiles are wanted. The files are
// numbered as the rows are measured.
func (b *bench) profiled(run func() (float64, error)) func() (float64, error) {
	if b.profile == "" {
		return run
	}
	return func() (float64, error) {
		file, err := os.Create(filepath.Join(b.profile, fmt.Sprintf("line%02d-%02d.pprof", b.number, b.pairs)))
		if err != nil {
			return 0, err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return 0, err
		}
		defer pprof.StopCPUProfile()
		figure, err := run()
		return figure, errors.Join(err, b.writeHeap())
	}
}

// apart returns the bench without profiles of this process, for rows in which ours runs in processes of its own.
func (b *bench) apart() *bench {
	other := *b
	other.profile = ""
	return &other
}

// writeHeap writes what has been allocated so far, by ours and the reference, beside the CPU profile.
func (b *bench) writeHeap() error {
	file, err := os.Create(filepath.Join(b.profile, fmt.Sprintf("line%02d-%02d.heap.pprof", b.number, b.pairs)))
	if err != nil {
		return err
	}
	defer file.Close()
	return pprof.Lookup("allocs").WriteTo(file, 0)
}

// processorTime returns the processor time of this process and Redis so far.
func (b *bench) processorTime() time.Duration {
	used := ownTime()
	if b.redis != nil && b.redis.real {
		used += b.redis.processorTime()
	}
	return used
}

// ownTime returns the processor time of this process so far.
func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machine describes where this runs.
func machine() string {
	cpu := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, model, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(model)
				break
			}
		}
	}
	load := "?"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%s · %s, %d cores · %s %s/%s · load %s at the start",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, load)
}
