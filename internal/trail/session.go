package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
)

// session holds what one question has loaded: each plate and each flight is loaded once.
type session struct {
	reader  *Reader
	bags    map[bag.Plate][]*bag.Bag
	stowage map[bag.Container][]*bag.Message // their positionings
	// versions that the question has learned
	plateVersions     map[bag.Plate]uint64
	containerVersions map[bag.Container]uint64

	passengers map[string][]*bag.Bag     // by PNR
	rush       map[bag.Plate][]bag.Plate // the rush bags that name a plate
	originals  map[*bag.Bag]*bag.Bag     // of rush bags; nil where there is none
}

func (r *Reader) newSession() *session {
	return &session{
		reader:            r,
		bags:              make(map[bag.Plate][]*bag.Bag),
		stowage:           make(map[bag.Container][]*bag.Message),
		plateVersions:     make(map[bag.Plate]uint64),
		containerVersions: make(map[bag.Container]uint64),
		passengers:        make(map[string][]*bag.Bag),
		rush:              make(map[bag.Plate][]bag.Plate),
		originals:         make(map[*bag.Bag]*bag.Bag),
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
	now, err := s.reader.index.Versions(ctx, Before{Plates: []bag.Plate{plate}, Containers: before.containers})
	if err != nil {
		return err
	}
	s.learn(Before{[]bag.Plate{plate}, before.containers}, now)
	positioned := versionOf(before.containers, s.containerVersions)
	if now.OfPlates[0] == before.version && positioned == before.positioned {
		s.add(plate, before)
	}
	return nil
}

// learn takes up the versions that the index has named.
func (s *session) learn(before Before, now Versions) {
	for i, p := range before.Plates {
		s.plateVersions[p] = now.OfPlates[i]
	}
	for i, c := range before.Containers {
		s.containerVersions[c] = now.OfContainers[i]
	}
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
	found, err := s.trails(ctx, plates)
	if err != nil {
		return nil, err
	}
	var containers []bag.Container
	for _, f := range found {
		containers = append(containers, f.containers...)
	}
	if err := s.loadStowage(ctx, containers); err != nil {
		return nil, err
	}
	for i, plate := range plates {
		found[i] = s.fold(plate, found[i])
	}
	return found, nil
}

// trails reads the messages of plates, in at most one round trip: none is needed for those that have not changed since they
// were remembered, where the question has learned that already.
func (s *session) trails(ctx context.Context, plates []bag.Plate) ([]*folded, error) {
	found := make([]*folded, len(plates))
	var missing []bag.Plate
	var at []int // where in plates they stand
	for i, p := range plates {
		if version, asked := s.plateVersions[p]; asked {
			found[i] = s.recall(p, version)
		}
		if found[i] == nil {
			missing, at = append(missing, p), append(at, i)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	trails, err := s.reader.index.Trails(ctx, missing, func(i int, version uint64) bool {
		found[at[i]] = s.recall(missing[i], version)
		return found[at[i]] != nil
	})
	if err != nil {
		return nil, err
	}
	for i, t := range trails {
		if found[at[i]] == nil {
			found[at[i]] = newFolded(t.Version, s.reader.enricher.Messages(missing[i], t.Messages))
		}
	}
	return found, nil
}

// recall returns what is remembered of a plate at that version, or nil.
func (s *session) recall(plate bag.Plate, version uint64) *folded {
	if before, have := s.reader.folded.get(plate); have && before.version == version {
		return before
	}
	return nil
}

// fold makes the bags of a plate, or takes them over where they have been made of the same messages.
func (s *session) fold(plate bag.Plate, f *folded) *folded {
	positioned := versionOf(f.containers, s.containerVersions)
	if f.bags != nil && f.positioned == positioned {
		return f
	}
	var positionings []*bag.Message
	for _, c := range f.containers {
		positionings = append(positionings, s.stowage[c]...)
	}
	made := *f
	made.bags, made.positioned = s.reader.rules().Fold(plate, f.messages, positionings), positioned
	return &made
}

// versionOf returns the version of the positionings of containers, from that of each.
func versionOf(containers []bag.Container, versions map[bag.Container]uint64) uint64 {
	version := uint64(len(containers))
	for _, c := range containers {
		version = version*0x9e3779b97f4a7c15 + versions[c]
	}
	return version
}

// loadStowage loads the positionings of containers that are not loaded yet, in at most one round trip: none is needed
// for those that have not changed since they were remembered, where the question has learned that already.
func (s *session) loadStowage(ctx context.Context, containers []bag.Container) error {
	var missing []bag.Container
	for _, c := range containers {
		if _, have := s.stowage[c]; have {
			continue
		}
		s.stowage[c] = nil
		if version, asked := s.containerVersions[c]; !asked || !s.recallStowage(c, version) {
			missing = append(missing, c)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	recalled := make([]bool, len(missing))
	held, err := s.reader.index.Stowage(ctx, missing, func(i int, version uint64) bool {
		recalled[i] = s.recallStowage(missing[i], version)
		return recalled[i]
	})
	if err != nil {
		return err
	}
	for i, c := range missing {
		s.containerVersions[c] = held[i].Version
		if !recalled[i] {
			s.addStowage(c, held[i])
		}
	}
	return nil
}

// recallStowage takes up what is remembered of a container at that version, if it is.
func (s *session) recallStowage(c bag.Container, version uint64) bool {
	before, have := s.reader.stowage.get(c)
	if !have || before.version != version {
		return false
	}
	s.stowage[c] = before.messages
	return true
}

// addStowage takes up what was read of a container.
func (s *session) addStowage(c bag.Container, held Held) {
	messages := s.reader.enricher.Stowage(c, held.Messages)
	s.stowage[c] = messages
	if held.Version != 0 {
		together(&c.Flight.Airline, &c.Flight.Number, &c.Device) // what is remembered must not hold the texts of a bag
		s.reader.stowage.put(c, stowed{held.Version, messages}, 1+len(messages))
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
