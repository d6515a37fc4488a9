package trail

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/parallel"
	"bagtrail/internal/smallmap"
)

// session holds what one question has read: each plate and each container is read once.
type session struct {
	reader     *Reader
	bags       smallmap.Map[bag.Plate, []*bag.Bag]
	days       smallmap.Map[bag.Plate, []*bag.Bag] // the same in the order of their first flight dates
	passengers smallmap.Map[string, *passenger]    // by PNR
	reflights  map[*bag.Bag][]*bag.Bag             // the rush bags of a bag, as far as they are joined
	viewer     *bag.Viewer                         // of who asks for bags that lead to others; nil for who sees everything
	joined     map[*bag.Bag]bool                   // rush bags that are in reflights
	plates     map[bag.Plate]bool                  // of which all rush bags that name them are joined
	at         end                                 // of which legs a list is asked for
	listing    bag.Flight                          // whose list is made, of what is read anew; zero where whole bags are wanted
	hasty      bool                                // what may have changed is read at once, rather than first its version
	retention  retention                           // of the messages that are read

	// What the index has said.
	pnrs            smallmap.Map[string, []bag.Plate]
	rush            smallmap.Map[bag.Plate, []bag.Plate] // the rush bags that name a plate
	rushPNRs        smallmap.Map[string, []bag.Plate]    // the rush bags that were filed under a PNR
	trails          smallmap.Map[bag.Plate, *folded]     // bags may not be made yet
	trailVersions   smallmap.Map[bag.Plate, uint64]
	stowage         smallmap.Map[bag.Container, []*bag.Message]
	stowageVersions smallmap.Map[bag.Container, uint64]
}

func (r *Reader) newSession() *session { return &session{reader: r} }

// retention says of which plates the messages are remembered for later questions.
type retention uint8

const (
	retainAll      retention = iota
	retainRepeated           // plates that were asked for before
	retainNone
)

// ask reads what is wanted, and takes up what is found.
func (s *session) ask(ctx context.Context, w Wanted) (Found, error) {
	now, err := s.reader.index.Read(ctx, w)
	if err != nil {
		return Found{}, err
	}
	for i, pnr := range w.PNRs {
		s.pnrs.Set(pnr, now.PNRs[i])
	}
	for i, p := range w.Originals {
		s.rush.Set(p, now.Originals[i])
	}
	for i, pnr := range w.RushPNRs {
		s.rushPNRs.Set(pnr, now.RushPNRs[i])
	}
	for i, p := range w.TrailVersions {
		s.trailVersions.Set(p, now.TrailVersions[i])
	}
	for i, c := range w.StowageVersions {
		s.stowageVersions.Set(c, now.StowageVersions[i])
	}
	for i, c := range w.Stowage {
		s.stowageVersions.Set(c, now.Stowage[i].Version)
		if s.recallStowage(c) {
			continue
		}
		s.addStowage(c, now.Stowage[i])
	}
	made, err := s.newTrails(ctx, w.Trails, now.Trails)
	if err != nil {
		return Found{}, err
	}
	for i, f := range made {
		s.trails.Set(w.Trails[i], f)
	}
	return now, nil
}

// platesAWorker is how many plates are worth a goroutine of their own.
const platesAWorker = 32

// newTrails reads the messages of plates again.
func (s *session) newTrails(ctx context.Context, plates []bag.Plate, held []Held) ([]*folded, error) {
	if len(plates) == 0 {
		return nil, nil
	}
	made := make([]*folded, len(plates))
	workers := parallel.Workers(len(plates), platesAWorker)
	if workers == 1 {
		return made, s.readTrails(ctx, made, plates, held)
	}
	faults := make([]error, workers)
	parallel.Do(len(plates), workers, func(worker, from, to int) {
		faults[worker] = s.readTrails(ctx, made[from:to], plates[from:to], held[from:to])
	})
	return made, cmp.Or(faults...)
}

func (s *session) readTrails(ctx context.Context, made []*folded, plates []bag.Plate, held []Held) (err error) {
	for i := range made {
		if made[i], err = s.newTrail(ctx, plates[i], held[i]); err != nil {
			return err
		}
	}
	return nil
}

// messagesAtOnce is how many messages are read again before it is asked whether they are still wanted: a few milliseconds.
const messagesAtOnce = 512

// newTrail reads the messages of a plate again, unless they are those that are remembered, and makes its bags where all that
// this takes is there: then what a list does not show is given up at once, so that a large one takes little memory.
func (s *session) newTrail(ctx context.Context, plate bag.Plate, held Held) (*folded, error) {
	if before, have := s.reader.folded.get(plate); have && before.version == held.Version {
		return before, nil
	}
	stored, whole := held.Messages()
	if !whole {
		held.Version = 0 // so that it is never taken for what is held
	}
	messages := make([]*bag.Message, 0, len(stored))
	for some := range slices.Chunk(stored, messagesAtOnce) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		messages = append(messages, s.reader.enricher.Messages(plate, some)...)
	}
	f := newFolded(held.Version, messages)
	f.transient = s.retention == retainNone || s.retention == retainRepeated && !s.reader.askedLately(plate)
	if slices.ContainsFunc(f.containers, func(c bag.Container) bool { return !s.stowage.Has(c) }) {
		return f, nil
	}
	f, err := s.fold(ctx, plate, f)
	if err != nil {
		return nil, err
	}
	if s.listing.IsZero() {
		return f, nil
	}
	list := shown(ctx, s.listing, plate, f)
	return &folded{version: f.version, transient: true, containers: list.containers, positioned: f.positioned, listed: &list}, nil
}

// addStowage takes up what was read of a container.
func (s *session) addStowage(c bag.Container, held Held) {
	stored, whole := held.Messages()
	if !whole {
		held.Version = 0 // so that it is never taken for what is held
		s.stowageVersions.Set(c, 0)
	}
	messages := s.reader.enricher.Stowage(c, stored)
	s.stowage.Set(c, messages)
	weight := 1
	for _, m := range messages {
		weight += 1 + len(m.Raw)/1024 // most are short; a text of 64 KiB weighs as much as what it takes
	}
	s.reader.stowage.put(apart([]bag.Container{c})[0], stowed{held.Version, messages}, weight)
}

// recallStowage takes up what is remembered of a container at the version that it has, if that is known.
func (s *session) recallStowage(c bag.Container) bool {
	before, have := s.reader.stowage.get(c)
	if version, known := s.stowageVersions.Get(c); !have || !known || before.version != version {
		return false
	}
	s.stowage.Set(c, before.messages)
	return true
}

// load makes the bags of the plates that are not loaded yet, and reads what else is wanted with the first round trip. Each
// question has copies of its own, since it joins them with other plates.
func (s *session) load(ctx context.Context, plates []bag.Plate, also Wanted) error {
	var missing []bag.Plate
	for _, p := range plates {
		if !s.bags.Has(p) {
			s.bags.Set(p, nil)
			missing = append(missing, p)
		}
	}
	found, err := s.read(ctx, missing, also)
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
	own := f.bags
	if !f.transient {
		own = slices.Clone(own) // others may have them as well
	}
	bags := make([]*bag.Bag, len(own))
	for i := range own {
		s.reader.depart(&own[i])
		bags[i] = &own[i]
	}
	s.bags.Set(plate, bags)
}

// askedLately reports whether a plate was read lately to show a history, which it is from now on. What is asked for once is
// not worth being remembered.
func (r *Reader) askedLately(plate bag.Plate) bool {
	_, asked := r.lately.get(plate)
	if !asked {
		r.lately.put(plate, struct{}{}, 1)
	}
	return asked
}

// mostRemembered is how many messages a plate has at most that is remembered.
const mostRemembered = cachedMessages / 10

// remember keeps what was made of a plate.
func (r *Reader) remember(plate bag.Plate, f *folded) {
	if !f.transient && len(f.messages) <= mostRemembered {
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

// read makes the bags of plates. It takes one round trip where the bags are remembered and nothing has changed, or where it
// is remembered in which containers they are; two where that has to be learned from their messages first; and one more
// where something has changed that was remembered.
func (s *session) read(ctx context.Context, plates []bag.Plate, also Wanted) ([]*folded, error) {
	found := make([]*folded, len(plates))
	for {
		n := needs{session: s, Wanted: also}
		also = Wanted{}
		var ready []int // to be folded
		for i, plate := range plates {
			if found[i] == nil {
				var folds bool
				if found[i], folds = n.of(plate); folds {
					ready = append(ready, i)
				}
			}
		}
		if err := s.foldAll(ctx, plates, found, ready); err != nil {
			return nil, err
		}
		if n.Size() == 0 {
			return found, nil
		}
		if _, err := s.ask(ctx, n.Wanted); err != nil {
			return nil, err
		}
	}
}

// foldAll makes the bags of those plates that are ready.
func (s *session) foldAll(ctx context.Context, plates []bag.Plate, found []*folded, ready []int) error {
	workers := parallel.Workers(len(ready), platesAWorker)
	if workers == 1 {
		return s.foldSome(ctx, plates, found, ready)
	}
	faults := make([]error, workers)
	parallel.Do(len(ready), workers, func(worker, from, to int) {
		faults[worker] = s.foldSome(ctx, plates, found, ready[from:to])
	})
	return cmp.Or(faults...)
}

func (s *session) foldSome(ctx context.Context, plates []bag.Plate, found []*folded, ready []int) error {
	for _, i := range ready {
		made, err := s.fold(ctx, plates[i], found[i])
		if err != nil {
			return err
		}
		found[i] = made
	}
	return nil
}

// needs is what a question has to read next.
type needs struct {
	*session
	Wanted
	containers smallmap.Map[bag.Container, struct{}] // of these positionings or versions are wanted
}

// of returns what was made of a plate, and whether it is to be folded now that all is there for that; else it wants what is
// missing, and returns nil.
func (n *needs) of(plate bag.Plate) (f *folded, folds bool) {
	f, have := n.trails.Get(plate)
	if !have {
		if f = n.remembered(plate); f == nil {
			return nil, false
		}
	}
	if !n.listing.IsZero() {
		n.rushBags(plate, f)
	}
	if f.listed != nil || f.bags != nil && n.unchanged(f) {
		return f, false
	}
	ready := true
	for _, c := range f.containers {
		ready = n.have(c) && ready
	}
	if !ready {
		return nil, false
	}
	return f, true
}

// rushBags wants to know under which rush plates the bags of a plate may have been re-flighted.
func (n *needs) rushBags(plate bag.Plate, f *folded) {
	if f.listed != nil {
		n.rushBagsOf(f.listed)
		return
	}
	n.rushPlatesOf(plate)
	for _, m := range f.messages {
		n.rushPlatesUnder(m.PNR)
	}
}

// rushBagsOf is rushBags for what a list shows.
func (n *needs) rushBagsOf(o *onFlight) {
	if !o.open(n.at) {
		return
	}
	n.rushPlatesOf(o.plate)
	for i := range o.bags {
		for _, pnr := range o.bags[i].PNRs {
			n.rushPlatesUnder(pnr)
		}
	}
}

func (n *needs) rushPlatesOf(original bag.Plate) {
	if !n.rush.Has(original) {
		n.rush.Set(original, nil)
		n.Originals = append(n.Originals, original)
	}
}

func (n *needs) rushPlatesUnder(pnr string) {
	if pnr = strings.ToUpper(pnr); pnr != "" && !n.rushPNRs.Has(pnr) {
		n.rushPNRs.Set(pnr, nil)
		n.RushPNRs = append(n.RushPNRs, pnr)
	}
}

// remembered returns what is remembered of a plate where it is still that. Else it wants the messages of the plate, or first
// the versions of all that the bags were made of.
func (n *needs) remembered(plate bag.Plate) *folded {
	before, have := n.reader.folded.get(plate)
	version, known := n.trailVersions.Get(plate)
	switch {
	case have && known && before.version == version:
		n.trails.Set(plate, before)
		return before
	case have && !known && !n.hasty:
		n.TrailVersions = append(n.TrailVersions, plate)
		for _, c := range before.containers {
			if !n.stowageVersions.Has(c) && n.first(c) {
				n.StowageVersions = append(n.StowageVersions, c)
			}
		}
	default:
		n.Trails = append(n.Trails, plate)
		if have {
			for _, c := range before.containers {
				n.have(c)
			}
		}
	}
	return nil
}

// unchanged reports whether the containers are as they were when the bags were made.
func (n *needs) unchanged(f *folded) bool {
	for _, c := range f.containers {
		if !n.stowageVersions.Has(c) {
			return false
		}
	}
	return f.positioned == versionOf(f.containers, &n.stowageVersions)
}

// have reports whether the positionings of a container are there, or wants them.
func (n *needs) have(c bag.Container) bool {
	if n.stowage.Has(c) || n.recallStowage(c) {
		return true
	}
	if n.first(c) {
		n.Stowage = append(n.Stowage, c)
	}
	return false
}

// first reports whether something of a container is wanted for the first time.
func (n *needs) first(c bag.Container) bool {
	if n.containers.Has(c) {
		return false
	}
	n.containers.Set(c, struct{}{})
	return true
}

// fold makes the bags of a plate. The positionings of its containers are there.
func (s *session) fold(ctx context.Context, plate bag.Plate, f *folded) (*folded, error) {
	var positionings []*bag.Message
	for _, c := range f.containers {
		positionings = append(positionings, s.stowage.Value(c)...)
	}
	bags, err := s.reader.rules().Fold(ctx, plate, f.messages, positionings)
	if err != nil {
		return nil, err
	}
	made := *f
	made.bags, made.positioned = bags, versionOf(f.containers, &s.stowageVersions)
	return &made, nil
}

// versionOf returns the version of the positionings of containers, from that of each.
func versionOf(containers []bag.Container, versions *smallmap.Map[bag.Container, uint64]) uint64 {
	version := uint64(len(containers))
	for _, c := range containers {
		version = version*0x9e3779b97f4a7c15 + versions.Value(c)
	}
	return version
}

// ofPlates returns the bags of plates that are loaded, in the order of lists.
func (s *session) ofPlates(plates []bag.Plate) []*bag.Bag {
	all := make([]*bag.Bag, 0, len(plates))
	for _, p := range slices.Sorted(slices.Values(plates)) {
		all = append(all, s.bags.Value(p)...)
	}
	return all
}

// ofPNR returns the bags that are found by a PNR. What is wanted to know of them, whether they were re-flighted, is read with
// them.
func (s *session) ofPNR(ctx context.Context, pnr string) (*passenger, error) {
	pnr = strings.ToUpper(pnr)
	if found, have := s.passengers.Get(pnr); have {
		return found, nil
	}
	if err := s.loadPNRs(ctx, []string{pnr}); err != nil {
		return nil, err
	}
	found := s.newPassenger(pnr, s.ofPlates(s.pnrs.Value(pnr)))
	s.passengers.Set(pnr, found)
	return found, nil
}

// loadPNRs loads the plates that are filed under PNRs, in capitals, and which rush bags name them. It takes as many round trips for
// many PNRs as for one.
func (s *session) loadPNRs(ctx context.Context, pnrs []string) error {
	var missing []string
	for _, pnr := range pnrs {
		if !s.pnrs.Has(pnr) {
			missing = append(missing, pnr)
		}
	}
	if len(missing) > 0 {
		if _, err := s.ask(ctx, Wanted{PNRs: missing}); err != nil {
			return err
		}
	}
	var plates []bag.Plate
	for _, pnr := range pnrs {
		plates = append(plates, s.pnrs.Value(pnr)...)
	}
	plates = smallmap.Distinct(plates)
	return s.load(ctx, plates, Wanted{Originals: s.unasked(plates)})
}

// unasked returns those plates of which it is not known yet which rush bags name them.
func (s *session) unasked(plates []bag.Plate) []bag.Plate {
	var missing []bag.Plate
	for _, p := range plates {
		if !s.rush.Has(p) {
			missing = append(missing, p)
		}
	}
	return missing
}

// loadRush loads the rush bags that name the plates, those that name these, and so on: in few round trips for each step of
// the longest chain, however many plates there are.
func (s *session) loadRush(ctx context.Context, plates []bag.Plate) error {
	for seen := make(map[bag.Plate]struct{}); len(plates) > 0; {
		if missing := s.unasked(plates); len(missing) > 0 {
			if _, err := s.ask(ctx, Wanted{Originals: missing}); err != nil {
				return err
			}
		}
		var next []bag.Plate
		for _, p := range plates {
			if _, done := seen[p]; !done {
				seen[p] = struct{}{}
				next = append(next, s.rush.Value(p)...)
			}
		}
		if err := s.load(ctx, next, Wanted{Originals: s.unasked(next)}); err != nil {
			return err
		}
		plates = next
	}
	return nil
}
