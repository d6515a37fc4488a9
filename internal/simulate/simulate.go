// Package simulate makes the message feed of an airline group. It simulates whole journeys of bags
// over a timetable of flights, from check-in to arrival, with ordinary mishaps. For each bag it
// also returns the truth: the answers that the service must give.
//
// The same Options give the same bytes. The truth comes from the plan of the journey, not from
// reading the messages, so that tests can compare it with the answers. It holds if messages keep
// their Received time. Memory does not grow with the number of bags: only the bags on their way are
// in memory, about 30,000.
package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options are the options of a feed.
type Options struct {
	Seed   uint64
	Start  time.Time // time of the first check-in
	Bags   int       // number of bags that are checked in; rush bags are not counted
	Faults Faults

	// Interval is the time from one check-in to the next. 0 means one second, which gives a flight
	// about 300 bags.
	Interval time.Duration
}

// longestJourney is longer than any journey: three flights of the greatest length, a day between
// each two, rebooked once, with the last message received hours late.
const longestJourney = 7 * 24 * time.Hour

// StartBefore returns a start with which every message is received before now, since servers accept
// no messages from the future.
func (o Options) StartBefore(now time.Time) time.Time {
	return now.Add(-longestJourney - time.Duration(o.Bags)*o.interval()).UTC().Truncate(time.Second)
}

func (o Options) interval() time.Duration { return cmp.Or(o.Interval, time.Second) }

// Message is one message of the feed.
type Message struct {
	Text     string
	Received time.Time // UTC, whole milliseconds
	Plate    string    // the plate that it names; "" if it is about a container
	Code     string    // the code with which it must be rejected, such as SVCPRB015; "" if it must be accepted
}

// Validate returns every fault of the options.
func (o Options) Validate() error {
	var all []error
	if o.Bags < 0 {
		all = append(all, fmt.Errorf("%d bags: want 0 or more", o.Bags))
	}
	if o.Start.Year() < 1971 || o.Start.Year() > 2199 {
		all = append(all, fmt.Errorf("start in %d: want a year from 1971 to 2199", o.Start.Year()))
	}
	if o.Interval < 0 {
		all = append(all, fmt.Errorf("interval %v: want 0 or more", o.Interval))
	}
	return errors.Join(append(all, o.Faults.validate())...)
}
