package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

const (
	fetchBytes      = 64 << 10         // of marks, some 1,500: a mark in memory is four times as large
	platesAtOnce    = 200              // that are folded and told together at most
	digestsOfOwner  = 20_000           // plates in a generation of its digests
	clockEvery      = time.Minute      // how often the index is written at least, so that it does not expire
	tickEvery       = time.Second      // between two calls of maintain
	tickLimit       = 30 * time.Second // of one call of it
	raiseEvery      = 10 * time.Second
	readAgainWait   = 500 * time.Millisecond
	longestYield    = 250 * time.Millisecond // between two folds, while a door is behind
	lagPoll         = 10 * time.Millisecond  // between two looks whether it still is
	departuresATurn = 2000                   // plates a second, by all owners together
)

// owner owns one partition of the topic of marks. It implements kafka.Handler. Of the marks that it
// gets, process reads the plates, folds their bags, writes them to the index, publishes them on the
// topic of changes, and writes the marks that follow, such as those of the originals of rush bags. To
// tell a change is to do all of this. Once a second maintain does what needs no mark.
//
// Handle comes from the consumer, which commits behind it. After a takeover, and if Redis has lost
// what was told, the owner reads the marks from next to consumed by itself, before the next Handle.
type owner struct {
	*Stage
	partition int
	log       *zap.Logger
	stop      context.CancelFunc
	ticks     sync.WaitGroup

	mu            sync.Mutex
	ready         bool  // it has taken over from the owner before, and has found no loss since
	consumed      int64 // the offset of the next mark that the consumer brings
	truncated     bool  // the topic has lost its end, and may have grown again since
	next          int64 // the offset of the next mark to tell: everything before it is told
	certainBefore int64 // marks before this offset are told even if nothing has changed, see forgetDigests
	epoch         Epoch
	portion       int // how many plates are told together: fewer after an error
	digests       *digests
	folded        time.Duration // how long the last fold took
	clocked       time.Time     // when the index was written last, which keeps it from expiring
	raised        time.Time     // when the floor was raised last
	departures    *departures
}

func (s *Stage) newOwner(partition int) *owner {
	return &owner{
		Stage: s, partition: partition, portion: platesAtOnce,
		log: s.conf.Logger.With(zap.Int("partition", partition)),
	}
}

// TakeOver implements kafka.Handler.
func (o *owner) TakeOver(_ context.Context, offset int64) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready, o.consumed = false, offset
	if o.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		o.stop = cancel
		o.ticks.Go(func() { o.tick(ctx) })
	}
	return offset, nil
}

// Release implements kafka.Handler.
func (o *owner) Release() {
	if o.stop != nil {
		o.stop()
		o.ticks.Wait()
	}
}

// Handle implements kafka.Handler.
func (o *owner) Handle(ctx context.Context, records []kafka.Record) (n int, err error) {
	defer func() {
		if err != nil {
			o.conf.Metrics.Retry("tell")
		}
	}()
	defer context.AfterFunc(ctx, o.stop)() // so that a call of maintain does not outlive the ownership
	o.mu.Lock()
	defer o.mu.Unlock()
	if first := records[0].Offset; first != o.consumed {
		o.truncated = o.truncated || first < o.consumed // the topic has lost its end
		o.ready, o.consumed = false, first              // else marks between were passed over, and are read again
	}
	if err := o.prepare(ctx); err != nil {
		return 0, err
	}
	n = o.portionOf(records)
	if err := o.process(ctx, records[:n]); err != nil {
		return 0, err // if Redis has lost what was told, the next attempt goes back to what it still has
	}
	o.consumed = records[n-1].Offset + 1
	return n, nil
}

// tick calls maintain again and again, until ctx ends.
func (o *owner) tick(ctx context.Context) {
	maintain := func() {
		if err := o.maintain(ctx); err != nil && ctx.Err() == nil {
			o.conf.Metrics.Retry("tell")
			o.log.Warn("the index of changes cannot be updated", zap.Error(err))
		}
	}
	maintain()
	pause.Every(ctx, tickEvery, maintain)
}

// maintain does what is due without any mark: it compares the index with what was told, keeps it
// from expiring, raises its floor, and marks the bags of flights that have departed. Each of these
// has a time limit, except a takeover.
func (o *owner) maintain(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.compare(ctx); err != nil {
		return err
	}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tickLimit)
	defer cancel()
	now := o.conf.Now()
	if now.Sub(o.clocked) >= clockEvery {
		if err := o.write(ctx, nil, o.next-1, now); err != nil && !errors.Is(err, errMore) {
			return err
		}
	}
	if now.Sub(o.raised) >= raiseEvery {
		if err := o.raiseFloor(ctx, now); err != nil {
			return err
		}
		o.raised = now
	}
	return o.markDepartures(ctx, now)
}

// compare finds out whether Redis has lost what was told, and whether the epoch is still the same.
// While marks come, write finds out.
func (o *owner) compare(ctx context.Context) error {
	if !o.ready {
		return nil
	}
	p, known, err := o.conf.Index.Progress(ctx, o.epoch, o.partition)
	if err == nil && (!known || p.Told < o.next-1) {
		o.lose()
	}
	return err
}

// lose notes that Redis has lost what was told, or that another epoch has begun.
func (o *owner) lose() {
	o.log.Warn("the index of changes has lost what was told, or another epoch has begun: the owner takes over again",
		zap.Int64("epoch", o.epoch.Begun), zap.Int64("next", o.next))
	o.ready = false
}

// prepare makes the owner ready to tell the next mark that the consumer brings. After a takeover,
// and if Redis has lost what was told, it goes back to what is told, and tells the rest again.
func (o *owner) prepare(ctx context.Context) error {
	if o.ready {
		return nil
	}
	if err := o.begin(ctx); err != nil {
		return err
	}
	if err := o.readAgain(ctx); err != nil {
		return err
	}
	o.ready = true
	return nil
}

// begin takes the partition over from whoever owned it before, and sets next: at most to what the
// consumer brings next.
func (o *owner) begin(ctx context.Context) (err error) {
	if o.epoch, err = o.currentEpoch(ctx); err != nil {
		return err
	}
	p, known, err := o.conf.Index.Progress(ctx, o.epoch, o.partition)
	if err != nil {
		return err
	}
	built := int64(0)
	if !known {
		if p, built, err = o.rebuild(ctx); err != nil {
			return err
		}
	}
	// The bounds are read last, since the owner before may go on telling.
	first, end, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).Bounds(ctx)
	if err != nil {
		return err
	}
	if p.Told >= end || o.truncated && p.Told >= o.consumed {
		o.log.Error("the topic of marks is shorter than what was told: a new epoch begins, and every cursor is reset",
			zap.Int64("told", p.Told), zap.Int64("end", end))
		if o.epoch, err = o.newEpoch(ctx, o.epoch); err != nil {
			return err
		}
		p, known, built = Progress{Told: -1, Departed: p.Departed}, false, 0
	}
	o.truncated = false
	if o.consumed > end { // the consumer finds out later that the topic has lost its end, and begins again
		o.consumed = first
	}
	floor := int64(-1)
	if !known {
		if p.Told, floor, err = o.toldWithoutIndex(ctx, p); err != nil {
			return err
		}
	}
	o.next = max(first, min(o.consumed, p.Told+1))
	if told := max(p.Told, o.next-1); !known || told > p.Told { // more is told if the topic has deleted marks
		found, err := o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{After: AfterAny, AfterBuilt: built, Floor: floor, Told: told})
		if err != nil {
			return err
		}
		if found == ToldLess {
			return errIndexLost
		}
	}
	o.digests, o.certainBefore, o.clocked = newDigests(digestsOfOwner), end, time.Time{}
	if o.departures == nil { // else it knows how far it has come, and which plates wait
		now := o.conf.Now()
		o.departures = newDepartures(p.Departed, time.Unix(o.epoch.Begun, 0), now.Add(-o.conf.Retention), now)
	}
	return nil
}

// toldWithoutIndex returns how far the partition is told, and the floor of its index, after an index
// without progress was built again from the published changes p.
func (o *owner) toldWithoutIndex(ctx context.Context, p Progress) (told, floor int64, err error) {
	told, floor = p.Told, p.Floor
	now := o.conf.Now()
	age := now.Sub(time.Unix(o.epoch.Begun, 0)) // of the epoch
	if told < 0 {
		told, floor = o.consumed-1, o.consumed
		if age < clockSkew {
			return told, floor, nil // what is consumed was told in an epoch before, if at all
		}
	}
	// The topic of changes is kept for longer than the index: what it does not hold of the time since
	// then, and since the epoch began, was not told, such as marks of containers.
	kept, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).OffsetAt(ctx, now.Add(-min(o.conf.Retention, age+clockSkew)), floor)
	return told, min(floor, kept), err
}

// readAgain tells the marks that the consumer has passed already.
func (o *owner) readAgain(ctx context.Context) error {
	r := o.conf.Kafka.Reader(o.conf.Marks, o.partition, o.next)
	for at := o.next; at < o.consumed; {
		batch, err := r.Fetch(ctx, readAgainWait)
		if err != nil {
			return err
		}
		records := batch.Records
		for len(records) > 0 && records[0].Offset < o.consumed {
			n := 1
			for n < len(records) && records[n].Offset < o.consumed {
				n++
			}
			n = o.portionOf(records[:n])
			if err := o.process(ctx, records[:n]); err != nil {
				return err
			}
			records = records[n:]
		}
		if batch.Next == at {
			return fmt.Errorf("%s/%d: nothing comes at offset %d, before %d", o.conf.Marks, o.partition, at, o.consumed)
		}
		at = batch.Next
	}
	return nil
}

// marked is the marks of one plate in a batch.
type marked struct {
	plate    bag.Plate
	sequence int64 // of the last of them
	certain  bool  // one of them is certain
	steps    int   // the fewest
}

// forgetDigests forgets what was told. Marks before an offset are then told even if nothing has
// changed: readers may know other states, from an attempt that failed or from another owner.
func (o *owner) forgetDigests(before int64) {
	o.digests, o.certainBefore = newDigests(digestsOfOwner), max(o.certainBefore, before)
}

// process tells what records mark, some plates after the other, in the order of their sequences.
// Whatever it has done before an error may be done again.
func (o *owner) process(ctx context.Context, records []kafka.Record) (err error) {
	last := records[len(records)-1].Offset
	defer func() {
		if err != nil {
			o.forgetDigests(last + 1)
		}
	}()
	portion := o.portion
	o.portion = max(1, portion/2) // for another attempt: the messages of so many plates may take too long to read
	plates, follow, err := o.read(ctx, records)
	if err != nil {
		return err
	}
	for more, again, most := true, false, portion; more; {
		n, told, err := o.fold(ctx, plates[:min(most, len(plates))])
		if err != nil {
			return err
		}
		upTo, marks := last, follow
		if n < len(plates) {
			upTo, marks = plates[n-1].sequence, nil
		}
		switch err := o.writeAndPublish(ctx, told, marks, upTo, again); {
		case errors.Is(err, errMore):
			again = true
			continue
		case err != nil:
			return err
		}
		more, again = n < len(plates), false
		plates, most = plates[n:], min(2*n, portion)
	}
	o.portion = min(2*portion, platesAtOnce)
	return nil
}

// messagesAtOnce is how many messages are folded together, unless one plate has more. foldsAtOnce is
// how many such folds there are for every other core: while one is waiting for Redis, the other uses
// the processor. Both bound the memory of owners: a message has up to 64 KiB, and takes some three
// times as much while it is folded.
const (
	messagesAtOnce = 500
	foldsAtOnce    = 2
)

// together returns how many of the first plates, at least one, are folded together, and how many
// messages they have.
func together(lengths []int) (n int, messages int64) {
	for _, length := range lengths {
		if n > 0 && messages+int64(length) > messagesAtOnce {
			break
		}
		n++
		messages += int64(length)
	}
	return n, messages
}

func names(plates []marked) []bag.Plate {
	list := make([]bag.Plate, len(plates))
	for i, p := range plates {
		list[i] = p.plate
	}
	return list
}

// writeAndPublish writes changes to the index and to the topic, then the marks that follow. Then
// everything up to a sequence is told.
//
// It fails with errMore, before it publishes, if more was told already: another owner may have
// published newer states with the same sequences since these were folded. again says that they were
// folded again, so that they are at least as new.
func (o *owner) writeAndPublish(ctx context.Context, told []change, follow []Mark, upTo int64, again bool) error {
	now := o.conf.Now()
	entries := make([]Entry, len(told))
	for i := range told {
		entries[i] = told[i].entry
		follow = append(follow, told[i].follow...)
	}
	if err := o.write(ctx, entries, upTo, now); err != nil && (!again || !errors.Is(err, errMore)) {
		return err
	}
	if err := o.publish(ctx, told, now); err != nil {
		return err
	}
	if err := o.marker().Write(ctx, follow); err != nil {
		return err
	}
	for i := range told {
		if told[i].entry.Sequence >= o.certainBefore {
			o.digests.remember(told[i].entry.Plate, told[i].digest)
		} else {
			o.digests.forget(told[i].entry.Plate)
		}
	}
	o.next = max(o.next, upTo+1)
	return nil
}

// read returns the plates that records mark, in the order of their last marks, and the marks that
// follow: of the plates in marked containers, and of plates whose marks belong into another partition,
// because the number of partitions has changed, or somebody else wrote them. The sequences of a plate
// come from one partition.
func (o *owner) read(ctx context.Context, records []kafka.Record) (plates []marked, follow []Mark, err error) {
	at := make(map[bag.Plate]int)
	containers := make(map[bag.Container]bool) // whether certain
	for i := range records {
		r := &records[i]
		m, err := parseMark(string(r.Key), string(r.Value))
		if err != nil {
			o.log.Error("a record of the topic of marks cannot be parsed, and is skipped", zap.Int64("offset", r.Offset))
			continue
		}
		if m.Plate == "" {
			containers[m.Container] = containers[m.Container] || m.Certain
			continue
		}
		next := marked{m.Plate, r.Offset, m.Certain, m.Steps}
		if j, have := at[m.Plate]; have {
			next.certain = next.certain || plates[j].certain
			next.steps = min(next.steps, plates[j].steps)
			plates[j].plate = ""
		}
		at[m.Plate] = len(plates)
		plates = append(plates, next)
	}
	if follow, err = o.contents(ctx, containers); err != nil {
		return nil, nil, err
	}
	own, foreign := plates[:0], false
	for _, p := range plates {
		switch {
		case p.plate == "": // a later mark stands for it
		case kafka.PartitionOf([]byte(p.plate), o.epoch.Partitions) == o.partition:
			own = append(own, p)
		default:
			follow, foreign = append(follow, Mark{Plate: p.plate, Certain: p.certain, Steps: p.steps}), true
		}
	}
	if foreign { // as long as the epoch has another number of partitions, they would only come back
		err = o.comparePartitions(ctx)
	}
	return own, follow, err
}

// comparePartitions fails with errIndexLost if the topic of marks has not as many partitions as the epoch.
func (o *owner) comparePartitions(ctx context.Context) error {
	partitions, err := o.conf.Kafka.Partitions(ctx, o.conf.Marks)
	if err == nil && len(partitions) != o.epoch.Partitions {
		o.lose()
		err = errIndexLost
	}
	return err
}

// contents returns the marks of the plates in containers.
func (o *owner) contents(ctx context.Context, containers map[bag.Container]bool) ([]Mark, error) {
	if len(containers) == 0 {
		return nil, nil
	}
	list := slices.Collect(maps.Keys(containers))
	contents, err := o.conf.Bags.InContainers(ctx, list)
	if err != nil {
		return nil, err
	}
	var marks []Mark
	for i, plates := range contents {
		for _, p := range plates {
			marks = append(marks, Mark{Plate: p, Certain: containers[list[i]]})
		}
	}
	return marks, nil
}

// change is what is told of a plate.
type change struct {
	entry   Entry
	pnrs    []string
	flights []string
	state   []byte // the bags, as a JSON array
	digest  uint64
	follow  []Mark // of the originals of its rush bags, and of former ones
}

// yieldToDoor waits twice as long as the fold before took, while a door is behind, but at most
// longestYield, so that changes are still told. Folding takes most of a processor, which a door needs
// to catch up, and what is marked again meanwhile is folded once.
func (o *owner) yieldToDoor(ctx context.Context) {
	for end := time.Now().Add(min(2*o.folded, longestYield)); o.behind() && time.Now().Before(end) && ctx.Err() == nil; {
		_ = pause.For(ctx, min(lagPoll, time.Until(end)))
	}
}

// makeRoom waits until there is room to fold the first n of plates, at least one, and returns how much
// it has taken. Plates with very many messages take as much as there is for two folds. So does every
// fold while a door is behind, and rests before it.
func (o *owner) makeRoom(ctx context.Context, plates []marked) (n int, taken int64, err error) {
	for {
		// The lengths are read again after any wait: plates may have grown meanwhile.
		lengths, err := o.conf.Bags.Lengths(ctx, names(plates))
		if err != nil {
			o.room.Release(taken)
			return 0, 0, err
		}
		n, need := together(lengths)
		behind := o.behind()
		if most := int64(foldsAtOnce * messagesAtOnce); behind || need > most {
			need = most
		}
		if need <= taken {
			return n, taken, nil
		}
		if taken == 0 && !behind && o.room.TryAcquire(need) {
			return n, need, nil
		}
		o.room.Release(taken)
		if err := o.room.Acquire(ctx, need); err != nil {
			return 0, 0, err
		}
		taken = need
		o.yieldToDoor(ctx)
	}
}

// fold folds the first n of plates, at least one if there is one, and returns what is to be told of
// them. What folds to the same as last time is left out, unless its mark is certain or was there at
// the takeover.
func (o *owner) fold(ctx context.Context, plates []marked) (n int, told []change, err error) {
	if len(plates) == 0 {
		return 0, nil, nil
	}
	n, room, err := o.makeRoom(ctx, plates)
	if err != nil {
		return 0, nil, err
	}
	defer o.room.Release(room)
	began := time.Now()
	defer func() { o.folded = time.Since(began) }()
	plates = plates[:n]
	traced, err := o.conf.Bags.Trace(ctx, names(plates), o.conf.Now())
	if err != nil {
		return 0, nil, err
	}
	bags := make(map[bag.Plate][]trail.Traced, len(plates))
	for _, t := range traced {
		bags[t.Bag.Plate] = append(bags[t.Bag.Plate], t)
	}
	var text []byte // memory for a state
	for _, p := range plates {
		var c change
		c, text = o.change(p, bags[p.plate], text[:0])
		if p.certain || p.sequence < o.certainBefore || !o.digests.remembers(p.plate, c.digest) {
			told = append(told, c)
		}
	}
	return len(plates), told, nil
}

// portionOf returns how many of the records, at least one, are told together: those of so many plates
// as are told at once. Of many marks of few plates, as a message on many bags makes them again and
// again, only the last of each counts.
func (o *owner) portionOf(records []kafka.Record) int {
	keys := make(map[string]struct{}, min(len(records), o.portion))
	for i := range records {
		if keys[string(records[i].Key)] = struct{}{}; len(keys) > o.portion {
			return i
		}
	}
	return len(records)
}

// change returns what there is to tell of a plate. It writes the state into text first, and returns
// that memory.
func (o *owner) change(p marked, bags []trail.Traced, text []byte) (change, []byte) {
	text = append(text, '[')
	for _, b := range bags {
		text = o.conf.Append(strictjson.AppendComma(text), b)
	}
	text = append(text, ']')
	c := change{entry: Entry{Plate: p.plate, Sequence: p.sequence}, state: bytes.Clone(text)}
	c.summarise(bags)
	c.digest = o.digests.of(c.state)
	if p.steps < maxSteps {
		for _, plate := range originals(bags) {
			if plate != p.plate {
				c.follow = append(c.follow, Mark{Plate: plate, Certain: p.certain, Steps: p.steps + 1})
			}
		}
	}
	return c, text
}

// originals returns the plates of the originals of rush bags, and those that only earlier messages
// name as originals.
func originals(bags []trail.Traced) (plates []bag.Plate) {
	for _, t := range bags {
		for _, original := range t.Bag.Reflighted {
			if original.Bag != nil {
				plates = append(plates, original.Plate)
			}
		}
		for i := range t.Bag.Events {
			e := &t.Bag.Events[i]
			if named := e.Message.Original; e.Code == bag.EventReflighted && named != "" && !slices.Contains(t.Bag.Originals, named) {
				plates = append(plates, named)
			}
		}
	}
	return smallmap.Distinct(plates)
}

// write writes to the index. It fails with errIndexLost if the index has lost what was told, and then
// nothing is written; and with errMore after it has written, if more was told already.
func (o *owner) write(ctx context.Context, entries []Entry, told int64, now time.Time) error {
	found, err := o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{
		After: o.next - 1, Told: told, Floor: -1, Clock: now, Departed: o.departures.markedUntil(), Entries: entries,
	})
	if err != nil {
		return err
	}
	if found == ToldLess {
		o.lose()
		return errIndexLost
	}
	o.clocked = now
	if found == ToldMore {
		o.forgetDigests(told + 1)
		return errMore
	}
	return nil
}

// raiseFloor gives up the changes that are older than the index keeps them.
func (o *owner) raiseFloor(ctx context.Context, now time.Time) error {
	floor, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).OffsetAt(ctx, now.Add(-o.conf.Retention), o.next)
	if err != nil {
		return err
	}
	return o.conf.Index.RaiseFloor(ctx, o.epoch, o.partition, min(floor, o.next)) // marks may have waited for longer
}
