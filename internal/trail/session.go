package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/parallel"
	"bagtrail/internal/smallmap"
)

// session holds everything that one question has read. Each plate and each container is read once.
type session struct {
	reader *Reader
	bags   smallmap.Map[bag.Plate, []*bag.Bag]
	links
	viewer       *bag.Viewer // of the asker: only bags whose founders it sees are joined; nil sees all
	at           end         // the airport of a list, and whether its legs begin or end there
	listing      bag.Flight  // the flight of a list; zero if whole bags are read
	tracing      bool        // also read the rush plates that name the plates, or are filed under their PNRs
	skipVersions bool        // read the messages of cached plates in the first round trip, not only their versions
	uncached     bool        // the plates that are read are not cached

	// Answers of the index. A key is set before its answer comes, so a session cannot be used after an
	// error.
	pnrs            smallmap.Map[string, []bag.Plate]
	rush            smallmap.Map[bag.Plate, []bag.Plate] // the plates of rush bags that name a plate
	rushPNRs        smallmap.Map[string, []bag.Plate]    // the plates of rush bags that are filed under a PNR
	trails          smallmap.Map[bag.Plate, *plateState] // their bags may not be made yet
	trailVersions   smallmap.Map[bag.Plate, uint64]
	stowage         smallmap.Map[bag.Container, []*bag.Message]
	stowageVersions smallmap.Map[bag.Container, uint64]
}

// links holds the links between the bags of a session. They depend on the viewer.
type links struct {
	days         smallmap.Map[bag.Plate, []*bag.Bag] // see byDay
	passengers   smallmap.Map[string, *passenger]    // by PNR
	reflights    smallmap.Map[*bag.Bag, []*bag.Bag]  // the rush bags of a bag that are joined so far
	joinedRush   smallmap.Set[*bag.Bag]              // the rush bags that are in reflights
	joinedPlates smallmap.Set[bag.Plate]             // the plates for which all rush bags that name them are in reflights
}

func (r *Reader) newSession() *session { return &session{reader: r, uncached: r.uncached} }

// ask reads what is wanted and returns it. It keeps the answers about plates, PNRs and containers in
// the session.
func (s *session) ask(ctx context.Context, w Wanted) (Found, error) {
	found, err := s.reader.index.Read(ctx, w)
	if err != nil {
		return Found{}, err
	}
	keep(&s.pnrs, w.PNRs, found.PNRs)
	keep(&s.rush, w.Originals, found.Originals)
	keep(&s.rushPNRs, w.RushPNRs, found.RushPNRs)
	keep(&s.trailVersions, w.PlateVersions, found.PlateVersions)
	keep(&s.stowageVersions, w.StowageVersions, found.StowageVersions)
	for i, c := range w.Stowage {
		s.stowageVersions.Set(c, found.Stowage[i].Version)
		if !s.recallStowage(c) {
			s.addStowage(c, found.Stowage[i])
		}
	}
	states := make([]*plateState, len(w.PlateMessages))
	err = eachPlate(len(states), func(i int) (err error) {
		states[i], err = s.stateOf(ctx, w.PlateMessages[i], found.PlateMessages[i])
		return err
	})
	if err != nil {
		return Found{}, err
	}
	keep(&s.trails, w.PlateMessages, states)
	return found, nil
}

// keep keeps the answers about keys, which are in the order of the keys.
func keep[K comparable, V any](in *smallmap.Map[K, V], keys []K, answers []V) {
	for i, key := range keys {
		in.Set(key, answers[i])
	}
}

// platesAWorker is the least number of plates for which another goroutine is started.
const platesAWorker = 32

// eachPlate is each with as many goroutines as suit n plates.
func eachPlate(n int, do func(i int) error) error {
	return each(n, parallel.Workers(n, platesAWorker), do)
}

// each calls do with each number below n, in the given number of goroutines. A goroutine ends at
// its first error.
func each(n, goroutines int, do func(i int) error) error {
	return parallel.Do(n, goroutines, func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			err = do(i)
		}
		return err
	})
}

// messagesAtOnce is how many messages are parsed between two checks of the context. They take a few
// milliseconds.
const messagesAtOnce = 512

// stateOf returns the state of a plate. It parses the messages, unless the cached state is current,
// and makes the bags if the positionings of their containers are there. For a list it then keeps
// only the entry of the list, so that a large list takes little memory.
func (s *session) stateOf(ctx context.Context, plate bag.Plate, held Held) (*plateState, error) {
	if before, have := s.reader.plates.Get(plate); have && before.version == held.Version {
		return before, nil
	}
	stored, whole := held.Messages()
	if !whole {
		held.Version = 0 // no version in the index is 0, so a cached state is never current
	}
	messages := make([]*bag.Message, 0, len(stored))
	for some := range slices.Chunk(stored, messagesAtOnce) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		messages = append(messages, s.reader.enricher.Messages(plate, some)...)
	}
	state := &plateState{version: held.Version, messages: messages, containers: bag.Containers(messages), transient: s.uncached}
	if slices.ContainsFunc(state.containers, func(c bag.Container) bool { return !s.stowage.Has(c) }) {
		return state, nil
	}
	state, err := s.fold(ctx, plate, state)
	if err != nil {
		return nil, err
	}
	if s.listing.IsZero() {
		return state, nil
	}
	list := listEntry(ctx, s.listing, plate, state)
	return &plateState{version: state.version, transient: true, containers: list.containers, positioned: state.positioned, listed: &list}, nil
}

// addStowage adds the positionings of a container to the session and to the cache.
func (s *session) addStowage(c bag.Container, held Held) {
	stored, whole := held.Messages()
	if !whole {
		held.Version = 0 // no version in the index is 0, so a cached state is never current
		s.stowageVersions.Set(c, 0)
	}
	messages := s.reader.enricher.Positionings(c, stored)
	s.stowage.Set(c, messages)
	s.reader.stowage.Put(cloneContainers([]bag.Container{c})[0], containerState{held.Version, messages}, 1+weightOf(messages))
}

// recallStowage takes the positionings of a container from the cache. It returns false if the session
// does not know their version, or the cache does not have that version.
func (s *session) recallStowage(c bag.Container) bool {
	before, have := s.reader.stowage.Get(c)
	if version, known := s.stowageVersions.Get(c); !have || !known || before.version != version {
		return false
	}
	s.stowage.Set(c, before.messages)
	return true
}

// load makes the bags of the plates that are not loaded yet. The first round trip also reads extra.
// Each session has its own copies of the bags, since it changes them.
func (s *session) load(ctx context.Context, plates []bag.Plate, extra Wanted) error {
	var missing []bag.Plate
	for _, p := range plates {
		if !s.bags.Has(p) {
			p = bag.Plate(strings.Clone(string(p))) // caches may keep it longer than the message or request that named it
			s.bags.Set(p, nil)
			missing = append(missing, p)
		}
	}
	found, err := s.read(ctx, missing, extra)
	if err != nil {
		return err
	}
	for i, plate := range missing {
		s.reader.remember(plate, found[i])
		s.add(plate, found[i])
	}
	return nil
}

// add adds the bags of a plate to the session. It copies the bags of a cached state.
func (s *session) add(plate bag.Plate, state *plateState) {
	own := state.bags
	if !state.transient {
		own = slices.Clone(own) // other sessions may use the same bags
	}
	bags := make([]*bag.Bag, len(own))
	for i := range own {
		s.reader.delayDeparted(&own[i])
		bags[i] = &own[i]
	}
	s.bags.Set(plate, bags)
}

// maxCachedOfPlate is how many messages a cached plate has at most.
const maxCachedOfPlate = cachedMessages / 10

// remember caches the state of a plate.
func (r *Reader) remember(plate bag.Plate, state *plateState) {
	if !state.transient && len(state.messages) <= maxCachedOfPlate {
		r.plates.Put(plate, state, weightOf(state.messages))
	}
}

// weightOf returns the weight of messages in a cache: 1 for each message, and 1 for each whole KiB
// of its text as sent and of its canonical text.
func weightOf(messages []*bag.Message) int {
	weight := len(messages)
	for _, m := range messages {
		weight += (len(m.Raw) + len(m.Text)) / 1024
	}
	return weight
}

// delayDeparted calls Bag.DelayDeparted with the flight reference and the clock: legs that are Not
// Loaded become Delayed if their flight has departed.
func (r *Reader) delayDeparted(b *bag.Bag) {
	if departed := r.settings.Departed; departed != nil {
		now := r.settings.Now()
		b.DelayDeparted(func(f bag.Flight, from, to string) bool { return departed(f, from, to, now) })
	}
}

// fold makes the bags of a plate. The positionings of its containers must be in the session.
func (s *session) fold(ctx context.Context, plate bag.Plate, state *plateState) (*plateState, error) {
	var positionings []*bag.Message
	for _, c := range state.containers {
		positionings = append(positionings, s.stowage.Value(c)...)
	}
	bags, err := s.reader.rules().Fold(ctx, plate, state.messages, positionings)
	if err != nil {
		return nil, err
	}
	folded := *state
	folded.bags, folded.positioned = bags, versionOf(state.containers, &s.stowageVersions)
	return &folded, nil
}

// versionOf returns a hash of the versions of the positionings of containers, in the order of the
// containers.
func versionOf(containers []bag.Container, versions *smallmap.Map[bag.Container, uint64]) uint64 {
	version := uint64(len(containers))
	for _, c := range containers {
		version = version*0x9e3779b97f4a7c15 + versions.Value(c)
	}
	return version
}

// ofPlates returns the bags of loaded plates, each once, in the order of lists.
func (s *session) ofPlates(plates []bag.Plate) []*bag.Bag {
	all := make([]*bag.Bag, 0, len(plates))
	for _, p := range merged(plates) {
		all = append(all, s.bags.Value(p)...)
	}
	return all
}

// ofPNR returns the bags that are found by a PNR. It also reads which rush bags name their plates.
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

// loadPNRs loads the plates that are filed under PNRs, which are in capitals. With them it reads which
// rush bags name these plates. It takes as many round trips for many PNRs as for one.
func (s *session) loadPNRs(ctx context.Context, pnrs []string) error {
	if missing := slices.DeleteFunc(slices.Clone(pnrs), s.pnrs.Has); len(missing) > 0 {
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

// unasked returns the plates for which the session has not yet asked which rush bags name them.
func (s *session) unasked(plates []bag.Plate) []bag.Plate {
	return slices.DeleteFunc(slices.Clone(plates), s.rush.Has)
}

// loadRush loads the rush bags that name the plates, and returns the plates of these rush bags. At
// the same time it reads which rush bags name the returned plates.
func (s *session) loadRush(ctx context.Context, plates []bag.Plate) ([]bag.Plate, error) {
	if missing := s.unasked(plates); len(missing) > 0 {
		if _, err := s.ask(ctx, Wanted{Originals: missing}); err != nil {
			return nil, err
		}
	}
	var rush []bag.Plate
	for _, p := range plates {
		rush = append(rush, s.rush.Value(p)...)
	}
	return rush, s.load(ctx, rush, Wanted{Originals: s.unasked(rush)})
}

// loadChains loads the rush bags that name the plates, then the rush bags that name these, and so
// on. The number of round trips depends on the longest chain, not on the number of plates.
func (s *session) loadChains(ctx context.Context, plates []bag.Plate) (err error) {
	for seen := make(map[bag.Plate]bool); len(plates) > 0 && err == nil; {
		for _, p := range plates {
			seen[p] = true
		}
		plates, err = s.loadRush(ctx, plates)
		plates = slices.DeleteFunc(plates, func(p bag.Plate) bool { return seen[p] })
	}
	return err
}
