// Package enricher completes parsed messages: it finds the year of each date, the instant of each
// local time and the single plates of tag ranges. The results are a bag.Filing for the index, and
// the messages (bag.Message) for the fold. It has no state and no clock: a message and its received
// time always give the same result.
package enricher

import (
	"sync"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Enricher turns parsed messages into filings, and stored texts into messages for bag.Rules.Fold.
// It may be used by several goroutines at once.
type Enricher struct {
	airports *airport.Library
	airlines *airline.Library
	parsed   sync.Pool // of *parser.Message
}

// New returns an Enricher that uses airports, and the compiled library of airlines with these
// pairs.
func New(airports *airport.Library, pairs ...airline.Pair) *Enricher {
	return &Enricher{airports: airports, airlines: airline.New(pairs...), parsed: sync.Pool{New: func() any { return new(parser.Message) }}}
}

// minuteEnd is the time from a read time without seconds to the end of its minute, which orders its
// event (rules §2, order).
const minuteEnd = time.Minute - time.Millisecond

// reference returns the reference day of a message, from which its dates get their year (rules §1):
// the date in .J, or the UTC date of receipt if .J has no valid date. isRead reports whether day is
// the date in .J.
func reference(m *parser.Message, received time.Time) (day bag.Day, isRead bool) {
	day = bag.DayOf(received.UTC())
	if read, ok := Resolve(m.Processing.Date, day); ok {
		return read, true
	}
	return day, false
}

// Happened returns the time at which a message happened (rules §2): the read time of a BPM, unless
// that is after the received time, else the received time. isRead reports whether the message is a
// BPM with a read time.
func (e *Enricher) Happened(m *parser.Message, received time.Time) (at time.Time, isRead bool) {
	timed, _ := e.timed(m, received)
	return timed.Happened, m.Kind.IsProcessing() && !timed.Read.IsZero()
}

// timed returns a bag.Message that has only the times of m, and the reference day of m. received is
// the received time of m.
func (e *Enricher) timed(m *parser.Message, received time.Time) (made bag.Message, day bag.Day) {
	made.Received, made.Happened, made.Order = received, received, received
	day, isRead := reference(m, received)
	if isRead && m.Processing.HasTime {
		if m.Processing.UTC {
			made.Read = time.Unix(int64(day)*86400+int64(m.Processing.Seconds), 0).UTC()
		} else {
			made.Read = e.airports.Instant(m.Version.Airport, day, m.Processing.Seconds)
		}
		if m.Kind.IsProcessing() && !made.Read.After(received) {
			made.Happened, made.Order = made.Read, made.Read
			if !m.Processing.HasSeconds {
				made.Order = made.Read.Add(min(minuteEnd, received.Sub(made.Read)))
			}
		}
	}
	made.LocalDay = bag.DayOf(e.airports.Local(m.Version.Airport, made.Happened))
	return made, day
}

// segment returns a flight element with its year, and with the code by which airlines are compared.
// If the date exists in no year, it returns the zero Segment.
func (e *Enricher) segment(f parser.Flight, reference bag.Day) bag.Segment {
	if f.Present() {
		if day, ok := Resolve(f.Date, reference); ok {
			return e.on(f, day)
		}
	}
	return bag.Segment{}
}

// connection returns the connection flight of a .U, or nil if there is none. Its day is 0 and its
// airport is "" if they are absent.
func (e *Enricher) connection(f parser.Flight, reference bag.Day) *bag.Segment {
	if !f.Present() {
		return nil
	}
	day, _ := Resolve(f.Date, reference) // 0 without a date
	made := e.on(f, day)
	return &made
}

// on returns a flight element as a segment with this day.
func (e *Enricher) on(f parser.Flight, day bag.Day) bag.Segment {
	flight := bag.Flight{Airline: e.airlines.Code(f.Airline), Number: f.Number, Day: day}
	return bag.Segment{Flight: flight, Carrier: f.Airline, Airport: f.Airport}
}
