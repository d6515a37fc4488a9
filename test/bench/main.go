// Command bench measures what bagtrail promises about its speed, each promise beside an honest minimal program that
// does the same work and nothing more. It starts the servers that it needs, runs ours and the reference of each line
// alternately, and prints one table: what, ours, reference, ratio, target, met.
//
// Figures depend on the machine and on what else it does; ratios much less. No figure makes it fail: it ends with an
// error only where something could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bagtrail/test/service"
)

// line is one promise, or several that are measured together.
type line struct {
	number int
	run    func(context.Context, *bench) ([]row, error)
}

// lines is the table, in its order.
var lines = []line{
	{1, parseLine},
	{2, kafkaLine},
	{3, postLine},
	{4, historyLine},
	{5, liveLine},
	{8, memoryLine},
	{9, growthLine},
	{10, largeLine},
	{11, rebuildLine},
	{13, processesLine},
	{14, dearestLine},
	{15, webhookLine},
	{16, airportLine},
	{17, streamLine},
	{18, costLine},
	{19, manyLine},
	{20, catchUpLine},
}

// settings are the flags.
type settings struct {
	quick   bool
	full    bool
	runs    int
	only    []int
	profile string // directory for profiles of ours; "" none
	soak    time.Duration
}

func main() {
	var s settings
	flag.BoolVar(&s.quick, "quick", false, "a tenth of the work, for a first look")
	flag.BoolVar(&s.full, "full", false, "line 9 up to 1,000,000 bags: 6 GiB of memory, and some minutes more")
	flag.IntVar(&s.runs, "runs", 5, "how often ours and the reference are run, alternately")
	flag.StringVar(&s.profile, "profile", "", "write CPU and heap profiles of ours into this `directory`")
	flag.DurationVar(&s.soak, "soak", 0, "instead of the lines, the load of lines 5 to 7 for so long, minute by minute")
	only := flag.String("lines", "", "measure these lines only, a comma `list`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, only string) error {
	for number := range strings.SplitSeq(only, ",") {
		if number == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || !slices.ContainsFunc(lines, func(l line) bool { return l.number == n }) {
			return fmt.Errorf("line %q: want a number of the table; line 5 measures 6, 7 and 12 too", number)
		}
		s.only = append(s.only, n)
	}
	b := &bench{settings: s, suite: &service.Suite{}}
	defer b.suite.End(false)
	fmt.Println(machine())
	if s.soak > 0 {
		return soak(ctx, b, s.soak)
	}
	var table []row
	var faults []error
	for _, l := range lines {
		if len(s.only) > 0 && !slices.Contains(s.only, l.number) {
			continue
		}
		b.number = l.number
		began := time.Now()
		rows, err := l.run(ctx, b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", l.number, err))
		}
		table = append(table, rows...)
		b.say("line %d took %v", l.number, time.Since(began).Round(time.Second/10))
	}
	fmt.Println()
	writeTable(os.Stdout, table)
	for _, server := range b.used {
		fmt.Println(server)
	}
	return errors.Join(faults...)
}
