// Package trail answers questions from the messages in the index: the bags of a flight, of a plate
// and of a passenger, the flights of an airport and day with their totals, and the plates of a
// surname or with given last digits. It joins bags with their rush bags, and with the positionings
// of their containers. It does not know how the index is stored.
package trail

import (
	"context"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/cache"
	"bagtrail/internal/smallmap"
)

// Index returns filed messages.
type Index interface {
	// Read returns everything that is wanted in one round trip. Missing entries are empty, and damaged
	// ones are left out.
	Read(ctx context.Context, w Wanted) (Found, error)
	// Lengths returns how many messages and reports were filed under each plate. It reads no message.
	Lengths(ctx context.Context, plates []bag.Plate) ([]int, error)
}

// Wanted says what to read.
type Wanted struct {
	Flights       []bag.Flight     // the plates that were filed under a flight
	Airports      []bag.AirportDay // the flights that were filed under an airport and a day
	Named         []bag.Named      // the plates that were filed under a flight with a surname; a few others may be among them
	PNRs          []string         // the plates that were filed under a PNR (capitals)
	Originals     []bag.Plate      // the plates of rush bags that name a plate as their original
	RushPNRs      []string         // the plates of rush bags that were filed under a PNR (capitals)
	Contents      []bag.Container  // the plates that a message says are in a container
	PlateMessages []bag.Plate      // the messages and reports that were filed under a plate
	Stowage       []bag.Container  // the positionings of a container

	// Only Held.Version is returned for these, which takes a tenth of the bytes.
	PlateVersions   []bag.Plate
	StowageVersions []bag.Container
}

// Size returns how many entries are wanted.
func (w *Wanted) Size() int {
	return len(w.Flights) + len(w.Airports) + len(w.Named) + len(w.PNRs) + len(w.Originals) + len(w.RushPNRs) + len(w.Contents) + len(w.PlateMessages) + len(w.Stowage) +
		len(w.PlateVersions) + len(w.StowageVersions)
}

// Found holds the answers, each in the order of Wanted.
type Found struct {
	Flights, Named, PNRs, Originals, RushPNRs, Contents [][]bag.Plate // ascending
	Airports                                            [][]bag.Flight
	PlateMessages, Stowage                              []Held
	PlateVersions, StowageVersions                      []uint64
}

// Held holds the messages that were filed under one plate, or for one container.
type Held struct {
	// Version depends only on the set of messages. It is never 0. Sets that differ have different
	// versions, so a caller that has the messages of a version need not read them again.
	Version uint64
	// Messages returns the messages, in any order. If whole is false, damaged messages are missing.
	// Then the result must not be cached: the version stays the same when a replay restores them.
	Messages func() (messages []bag.Stored, whole bool)
}

// Settings are the settings on which answers depend.
type Settings struct {
	// Window is the duplicate window of rules §3.
	Window time.Duration
	// Retention is how long the index keeps a bag after its last event. Only Lifetimes uses it.
	Retention time.Duration
	// Airports compares location codes.
	Airports *airport.Library
	// Departed reports whether a flight has left an airport, by the flight reference. If from is ""
	// and the flight has several legs, the leg that arrives at to counts. Departed may be nil.
	Departed func(f bag.Flight, from, to string, now time.Time) bool
	// Now is the clock.
	Now func() time.Time
}

// Reader answers the questions. It may be used by several goroutines at once.
type Reader struct {
	index    Index
	enricher *enricher.Enricher
	settings Settings

	// The states in the caches hold the versions of the messages from which they were made. They are
	// compared with those in the index.
	plates  *cache.Cache[bag.Plate, *plateState]
	stowage *cache.Cache[bag.Container, containerState]
	lists   *cache.Cache[bag.Flight, list]
	sight   bag.Sight // of the asker; nil sees everything

	uncached bool // the plates that are read are not cached
}

// New returns a Reader over the index.
func New(index Index, enricher *enricher.Enricher, settings Settings) *Reader {
	return &Reader{index: index, enricher: enricher, settings: settings,
		plates:  cache.New[bag.Plate, *plateState](cachedMessages),
		stowage: cache.New[bag.Container, containerState](cachedPositionings),
		lists:   cache.New[bag.Flight, list](cachedLists),
	}
}

// For returns the Reader for an asker with that sight; nil sees everything. Both share their caches.
func (r *Reader) For(s bag.Sight) *Reader {
	limited := *r
	limited.sight = s
	return &limited
}

// OfPlates returns the bags of plates, in the order of lists. Rush bags are joined with their
// originals, and re-flighted bags with their rush bags; the legs of re-flighted bags are Delayed.
// OfPlates reads all bags under the PNRs of the bags. So it also finds a rush bag whose rush message
// names no PNR, which TracePlates does not find. It takes about as many round trips for many plates
// as for one.
func (r *Reader) OfPlates(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error) {
	s := r.newSession()
	s.viewer = bag.NewViewer(ctx, r.sight)
	if err := s.load(ctx, plates, Wanted{Originals: plates}); err != nil {
		return nil, err
	}
	bags := s.ofPlates(plates)
	if err := s.loadRelated(ctx, plates, bags); err != nil {
		return nil, err
	}
	for _, b := range bags {
		if err := s.joinOriginals(ctx, b); err != nil {
			return nil, err
		}
		if _, err := s.leaveBehind(ctx, b); err != nil {
			return nil, err
		}
	}
	return bags, s.joinRushTags(ctx, bags)
}

// loadRelated loads what is joined with the bags of plates: the originals that they name, the bags
// under their PNRs, and the chains of their rush bags.
func (s *session) loadRelated(ctx context.Context, plates []bag.Plate, bags []*bag.Bag) error {
	var named []bag.Plate
	var pnrs []string
	for _, b := range bags {
		named, pnrs = append(named, b.Originals...), append(pnrs, b.PNRs...)
	}
	pnrs = smallmap.Distinct(pnrs)
	if err := s.load(ctx, named, Wanted{PNRs: pnrs}); err != nil {
		return err
	}
	if err := s.loadPNRs(ctx, pnrs); err != nil {
		return err
	}
	return s.loadChains(ctx, plates)
}

// History returns the bags of a plate as OfPlates does, but it does not look for rush bags of the
// bags: it sets no RushTag, and makes no leg Delayed because of a rush bag.
func (r *Reader) History(ctx context.Context, plate bag.Plate) ([]*bag.Bag, error) {
	s := r.newSession()
	s.viewer = bag.NewViewer(ctx, r.sight)
	if err := s.load(ctx, []bag.Plate{plate}, Wanted{}); err != nil {
		return nil, err
	}
	bags := s.bags.Value(plate)
	for _, b := range bags {
		if err := s.joinOriginals(ctx, b); err != nil {
			return nil, err
		}
	}
	return bags, nil
}

// OfPassenger returns the bags that are found by the PNR, compared without case, and have a living
// leg that departs on the day, in the order of lists. It sets their RushTag.
func (r *Reader) OfPassenger(ctx context.Context, pnr string, day bag.Day) ([]*bag.Bag, error) {
	s := r.newSession()
	s.viewer = bag.NewViewer(ctx, r.sight)
	all, err := s.ofPNR(ctx, pnr)
	if err != nil {
		return nil, err
	}
	// Load the chains of all of them, since a bag that departs on another day may be the rush bag of
	// one that departs on this day.
	if err := s.loadChains(ctx, platesOf(all.bags)); err != nil {
		return nil, err
	}
	found := all.departingOn(day)
	return found, s.joinRushTags(ctx, found)
}

// Lifetimes returns for each stored message of a plate the time until which it must be kept: its
// own retention, or that of the last bag to which it belongs if this ends later. A copy is kept as
// long as the message that it repeats.
func (r *Reader) Lifetimes(plate bag.Plate, messages []bag.Stored) []time.Time {
	read := r.enricher.Messages(plate, messages)
	until := make(map[string]time.Time)                               // by canonical text: the latest end of a bag with that text
	bags, _ := r.rules().Fold(context.Background(), plate, read, nil) // fails only if the context ends
	for _, b := range bags {
		end := b.LastEvent().Add(r.settings.Retention)
		for _, e := range b.Events {
			if text := e.Message.Text; end.After(until[text]) {
				until[text] = end
			}
		}
	}
	texts := make(map[string]string) // canonical texts, by the text as sent
	for _, m := range read {
		texts[m.Raw] = m.Text
	}
	ends := make([]time.Time, len(messages))
	for i, stored := range messages {
		ends[i] = stored.Received.Add(r.settings.Retention)
		if end := until[texts[stored.Raw]]; end.After(ends[i]) {
			ends[i] = end
		}
	}
	return ends
}

func (r *Reader) rules() bag.Rules {
	return bag.Rules{Window: r.settings.Window, Places: r.settings.Airports}
}
