// Package enricher gives parsed messages their meaning: the missing year, the instants behind local
// times, single plates out of tag ranges, and from these what the index files and what the fold reads.
// It holds no state and asks no clock: a message and its received time always give the same result.
package enricher

import (
	"sync"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Airports is what the enricher must know of airports.
type Airports interface {
	parser.Reference
	// Instant returns the moment at which clocks at the airport show the second of the day. A local time
	// that exists twice or not at all is read with the offset before the change.
	Instant(airport string, day bag.Day, second int) time.Time
	// Local returns t in the time zone of the airport.
	Local(airport string, t time.Time) time.Time
}

// Enricher turns messages into filings and back into the messages that the fold reads.
// It may be used by several goroutines at once.
type Enricher struct {
	airports Airports
	airlines *airline.Library
	parsed   sync.Pool // of *parser.Message: memory for one parse, used again and again
}

// New returns an Enricher that knows the airports, and the airlines of the compiled library and of these pairs.
func New(airports Airports, pairs ...airline.Pair) *Enricher {
	return &Enricher{airports: airports, airlines: airline.New(pairs...), parsed: sync.Pool{New: func() any { return new(parser.Message) }}}
}

// minuteEnd is what lies between a read time without seconds and the end of its minute, where its event stands (rules
// §2, order).
const minuteEnd = time.Minute - time.Millisecond

// moment is what a message says about its own time.
type moment struct {
	received time.Time
	happened time.Time
	order    time.Time // see bag.Message
	read     time.Time // zero unless .J gives date and time
	localDay bag.Day   // of happened, at the .V airport
	segments segments  // of the message
}

// reference returns the day from which dates take their year, and the day of .J where it has one.
func reference(m *parser.Message, received time.Time) (ref bag.Day, read bag.Day, hasRead bool) {
	ref = bag.DayOf(received.UTC())
	if m.Processing.Date.IsZero() {
		return ref, 0, false
	}
	day, ok := Resolve(m.Processing.Date, ref)
	if !ok {
		return ref, 0, false
	}
	return day, day, true
}

func (e *Enricher) moment(m *parser.Message, received time.Time) moment {
	at := moment{received: received, happened: received, order: received}
	ref, readDay, hasRead := reference(m, received)
	at.segments = segments{e.airlines, ref}
	if hasRead && m.Processing.HasTime {
		if m.Processing.UTC {
			at.read = time.Unix(int64(readDay)*86400+int64(m.Processing.Seconds), 0).UTC()
		} else {
			at.read = e.airports.Instant(m.Version.Airport, readDay, m.Processing.Seconds).UTC()
		}
		if m.Kind == parser.BPM && !at.read.After(received) {
			at.happened, at.order = at.read, at.read
			if !m.Processing.HasSeconds {
				at.order = at.read.Add(min(minuteEnd, received.Sub(at.read)))
			}
		}
	}
	at.localDay = bag.DayOf(e.airports.Local(m.Version.Airport, at.happened))
	return at
}

// segments makes the flight elements of a message whole.
type segments struct {
	airlines  *airline.Library
	reference bag.Day // from which dates take their year
}

// of makes a flight element whole. A flight whose date exists in no year is no flight.
func (s segments) of(f parser.Flight) bag.Segment {
	if !f.Present() {
		return bag.Segment{}
	}
	day, ok := Resolve(f.Date, s.reference)
	if !ok {
		return bag.Segment{}
	}
	return s.on(f, day)
}

// connection makes the connection flight of a .U whole; its date and destination may be absent.
func (s segments) connection(f parser.Flight) *bag.Segment {
	if !f.Present() {
		return nil
	}
	made := s.on(f, 0)
	if day, ok := Resolve(f.Date, s.reference); ok {
		made.Day = day
	}
	return &made
}

// on returns a flight element with its day.
func (s segments) on(f parser.Flight, day bag.Day) bag.Segment {
	flight := bag.Flight{Airline: s.airlines.Code(f.Airline), Number: f.Number, Day: day}
	return bag.Segment{Flight: flight, Carrier: f.Airline, Airport: f.Airport}
}
