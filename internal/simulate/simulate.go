// Package simulate makes the feed of an airline group: whole journeys of bags over a timetable of flights, from
// check-in to arrival, with all that goes wrong on the way, and says what the truth about every bag is.
//
// What it makes is a function of Options alone: the same options give the same bytes. The truth comes from what was
// decided about a bag, not from reading its messages, so that it can be held against a service that reads them. It
// holds for messages that keep their Received time on their way. Memory does not grow with the number of bags: it holds
// those that are under way, some thirty thousand.
package simulate

import (
	"errors"
	"fmt"
	"time"
)

// Options say what is made.
type Options struct {
	Seed   uint64
	Start  time.Time // when the first bag is checked in
	Bags   int       // how many are checked in; rush bags come on top
	Faults Faults

	// Interval is the time from one check-in to the next; 0 is one second, with which a flight has some 300 bags.
	Interval time.Duration
}

// longestJourney is a time within which every journey is over: three flights, each as long as any, caught a day after the one
// before, booked anew once, and its last message received hours too late.
const longestJourney = 7 * 24 * time.Hour

// StartBefore returns a start with which every message is received before now: servers take no messages from the future.
func (o Options) StartBefore(now time.Time) time.Time {
	return now.Add(-longestJourney - time.Duration(o.Bags)*o.interval()).UTC().Truncate(time.Second)
}

// interval is the time from one check-in to the next.
func (o Options) interval() time.Duration {
	if o.Interval == 0 {
		return time.Second
	}
	return o.Interval
}

// Message is one message of the feed.
type Message struct {
	Text     string
	Received time.Time // UTC, whole milliseconds
	Plate    string    // the plate that it names; "" where it positions a container
	Code     string    // the one code, such as SVCPRB017, for which it is to be rejected; "" where it is to be accepted
}

// validate reports all that is wrong with the options.
func (o Options) validate() error {
	var all []error
	if o.Bags < 0 {
		all = append(all, fmt.Errorf("%d bags: want 0 or more", o.Bags))
	}
	if o.Start.Year() < 1971 || o.Start.Year() > 2199 {
		all = append(all, fmt.Errorf("start in %d: want a year from 1971 to 2199", o.Start.Year()))
	}
	if o.Interval < 0 {
		all = append(all, fmt.Errorf("interval %v: want a positive one", o.Interval))
	}
	return errors.Join(append(all, o.Faults.validate())...)
}
