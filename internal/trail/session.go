package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
)

// session holds what one question has loaded: each plate and each flight is loaded once.
type session struct {
	reader     *Reader
	bags       map[bag.Plate][]*bag.Bag
	stowage    map[bag.Flight]Held       // container positionings
	placed     map[device][]*bag.Message // of these, what was read again
	passengers map[string][]*bag.Bag     // by PNR
	rush       map[bag.Plate][]bag.Plate // the rush bags that name a plate
	originals  map[*bag.Bag]*bag.Bag     // of rush bags; nil where there is none
}

// device is a stowage device on a flight.
type device struct {
	flight bag.Flight
	name   string
}

func (r *Reader) newSession() *session {
	return &session{
		reader:     r,
		bags:       make(map[bag.Plate][]*bag.Bag),
		stowage:    make(map[bag.Flight]Held),
		placed:     make(map[device][]*bag.Message),
		passengers: make(map[string][]*bag.Bag),
		rush:       make(map[bag.Plate][]bag.Plate),
		originals:  make(map[*bag.Bag]*bag.Bag),
	}
}

// load folds the bags of the plates that are not loaded yet, in at most two round trips. Each question has copies of its
// own, since it joins them with other plates.
func (s *session) load(ctx context.Context, plates []bag.Plate) error {
	var missing []bag.Plate
	for _, p := range plates {
		if _, have := s.bags[p]; !have {
			s.bags[p] = nil
			missing = append(missing, p)
		}
	}
	found, err := s.read(ctx, missing)
	if err != nil {
		return err
	}
	for i, plate := range missing {
		s.reader.remember(plate, found[i])
		s.add(plate, found[i])
	}
	return nil
}

// add takes up the bags of a plate.
func (s *session) add(plate bag.Plate, f *folded) {
	copies := slices.Clone(f.bags)
	bags := make([]*bag.Bag, len(copies))
	for i := range copies {
		s.reader.depart(&copies[i])
		bags[i] = &copies[i]
	}
	s.bags[plate] = bags
}

// again loads a plate that is remembered, in one round trip, unless something has changed.
func (s *session) again(ctx context.Context, plate bag.Plate) error {
	before, have := s.reader.folded.get(plate)
	if !have {
		return nil
	}
	now, err := s.reader.index.Versions(ctx, Before{Plates: []bag.Plate{plate}, Flights: before.flights})
	if err != nil {
		return err
	}
	positioned := versionOf(before.flights, func(i int) uint64 { return now.OfFlights[i] })
	if now.OfPlates[0] == before.version && positioned == before.positioned {
		s.add(plate, before)
	}
	return nil
}

// remember keeps what was made of a plate. A plate with more messages than a tenth of what can be kept is not.
func (r *Reader) remember(plate bag.Plate, f *folded) {
	if f.version != 0 && len(f.messages) <= cachedMessages/10 {
		r.folded.put(plate, f, len(f.messages))
	}
}

// depart makes legs Delayed whose flight has departed by now.
func (r *Reader) depart(b *bag.Bag) {
	if departed := r.settings.Departed; departed != nil {
		now := r.settings.Now()
		b.Depart(func(f bag.Flight, from string) bool { return departed(f, from, now) })
	}
}

// read folds the bags of plates, in at most two round trips.
func (s *session) read(ctx context.Context, plates []bag.Plate) ([]*folded, error) {
	if len(plates) == 0 {
		return nil, nil
	}
	found := make([]*folded, len(plates))
	trails, err := s.reader.index.Trails(ctx, plates, func(i int, version uint64) bool {
		before, have := s.reader.folded.get(plates[i])
		if have = have && before.version == version; have {
			found[i] = before
		}
		return have
	})
	if err != nil {
		return nil, err
	}
	flights := make(map[bag.Flight]struct{})
	for i, t := range trails {
		if found[i] == nil {
			found[i] = newFolded(t.Version, s.reader.enricher.Messages(plates[i], t.Messages))
		}
		for _, f := range found[i].flights {
			flights[f] = struct{}{}
		}
	}
	if err := s.loadStowage(ctx, flights); err != nil {
		return nil, err
	}
	for i, plate := range plates {
		found[i] = s.fold(plate, found[i])
	}
	return found, nil
}

// fold makes the bags of a plate, or takes them over where they have been made of the same messages.
func (s *session) fold(plate bag.Plate, f *folded) *folded {
	positioned := versionOf(f.flights, func(i int) uint64 { return s.stowage[f.flights[i]].Version })
	if f.bags != nil && f.positioned == positioned {
		return f
	}
	var positionings []*bag.Message
	for _, flight := range f.flights {
		for _, name := range f.devices {
			positionings = append(positionings, s.positionings(device{flight, name})...)
		}
	}
	made := *f
	made.bags, made.positioned = s.reader.rules().Fold(plate, f.messages, positionings), positioned
	return &made
}

// positionings returns the container positionings of a stowage device. A flight has many of which a bag's containers have few,
// so the others are not read again.
func (s *session) positionings(d device) []*bag.Message {
	messages, have := s.placed[d]
	if !have {
		messages = s.reader.enricher.Stowage(d.flight, s.stowage[d.flight].Messages, d.name)
		s.placed[d] = messages
	}
	return messages
}

// versionOf returns the version of the container positionings on flights, from that of each.
func versionOf(flights []bag.Flight, each func(i int) uint64) uint64 {
	version := uint64(len(flights))
	for i := range flights {
		version = version*0x9e3779b97f4a7c15 + each(i)
	}
	return version
}

func (s *session) loadStowage(ctx context.Context, flights map[bag.Flight]struct{}) error {
	var missing []bag.Flight
	for f := range flights {
		if _, have := s.stowage[f]; !have {
			missing = append(missing, f)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	held, err := s.reader.index.Stowage(ctx, missing, func(i int, version uint64) bool { return s.recallStowage(missing[i], version) })
	if err != nil {
		return err
	}
	for i, f := range missing {
		if _, known := s.stowage[f]; !known {
			s.addStowage(f, held[i])
		}
	}
	return nil
}

// recallStowage takes up what is remembered of a flight at that version, if it is.
func (s *session) recallStowage(f bag.Flight, version uint64) bool {
	before, have := s.reader.stowage.get(f)
	if !have || before.Version != version {
		return false
	}
	s.stowage[f] = before
	return true
}

// addStowage takes up what was read of a flight.
func (s *session) addStowage(f bag.Flight, held Held) {
	s.stowage[f] = held
	if held.Version != 0 {
		s.reader.stowage.put(f, held, 1+len(held.Messages))
	}
}

// ofPlates returns the bags of plates that are loaded, in the order of lists.
func (s *session) ofPlates(plates []bag.Plate) []*bag.Bag {
	all := make([]*bag.Bag, 0, len(plates))
	for _, p := range slices.Sorted(slices.Values(plates)) {
		all = append(all, s.bags[p]...)
	}
	return all
}

// ofPNR returns the bags whose PNR it is, in the order of lists. Callers must not change the slice.
func (s *session) ofPNR(ctx context.Context, pnr string) ([]*bag.Bag, error) {
	pnr = strings.ToUpper(pnr)
	if found, have := s.passengers[pnr]; have {
		return found, nil
	}
	plates, err := s.reader.index.Passenger(ctx, pnr)
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx, plates); err != nil {
		return nil, err
	}
	var found []*bag.Bag
	for _, b := range s.ofPlates(plates) {
		if strings.ToUpper(b.PNR) == pnr {
			found = append(found, b)
		}
	}
	s.passengers[pnr] = found
	return found, nil
}

// loadRush loads the rush bags that name the plates, those that name these, and so on: in at most three round trips for
// each step of the longest chain, however many plates there are.
func (s *session) loadRush(ctx context.Context, plates []bag.Plate) error {
	for {
		var missing []bag.Plate
		for _, p := range plates {
			if _, have := s.rush[p]; !have {
				s.rush[p] = nil
				missing = append(missing, p)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		rush, err := s.reader.index.Rush(ctx, missing)
		if err != nil {
			return err
		}
		plates = nil
		for i, p := range missing {
			s.rush[p] = rush[i]
			plates = append(plates, rush[i]...)
		}
		if err := s.load(ctx, plates); err != nil {
			return err
		}
	}
}
