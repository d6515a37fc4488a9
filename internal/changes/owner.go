package changes

import (
	"bytes"
	"context"
	"encoding/binary"
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
	fetchBytes      = 64 << 10               // of a fetch of marks, about 1,500: a mark in memory is four times as large
	platesAtOnce    = 200                    // how many plates are folded and told together at most
	digestsOfOwner  = 20_000                 // plates in a generation of the digests
	clockEvery      = time.Minute            // how often the index is written at least, so that it does not expire
	tickEvery       = time.Second            // time between two calls of maintain
	tickLimit       = 30 * time.Second       // time limit of a call of maintain, after the takeover
	raiseEvery      = 10 * time.Second       // how often the floor is raised
	markAgainWait   = 500 * time.Millisecond // how long a fetch of markAgain waits for records
	maxMarkedAgain  = 100_000                // how many marks markAgain reads at most
	longestYield    = 250 * time.Millisecond // longest pause between two folds while a door is behind
	lagPoll         = 10 * time.Millisecond  // how often to check whether the door is still behind
	departuresATurn = 2000                   // marks of departures a second, by all owners together
)

// owner owns one partition of the topic of marks. It implements kafka.Handler. For each batch of
// marks process folds the bags of the marked plates, writes the changed plates to the index,
// publishes them to the topic of changes, and writes the marks that follow, such as those of the
// originals of rush bags. To tell a change means all of this. Once a second, maintain does the work
// that needs no mark.
//
// The consumer calls Handle, and commits after it. If Redis has lost changes that were told, the owner
// marks their plates again before the next Handle.
type owner struct {
	*Stage
	partition int
	log       *zap.Logger
	stop      context.CancelFunc
	ticks     sync.WaitGroup

	mu            sync.Mutex
	ready         bool  // the takeover is complete, and no loss was found since
	consumed      int64 // the offset of the next mark from the consumer
	truncated     bool  // the topic has lost its end, and may have grown again since
	next          int64 // the offset of the next mark to tell: everything before it is told
	certainBefore int64 // marks before this offset are told even if nothing has changed, see forgetDigests
	epoch         Epoch
	portion       int // how many plates are told together; fewer after an error
	digests       *digests
	folded        time.Duration // how long the last fold took
	clock         time.Time     // by which bags were folded last
	clocked       time.Time     // when the index was written last; a write postpones its expiry
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
func (o *owner) TakeOver(_ context.Context, offset int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready, o.consumed = false, offset
	if o.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		o.stop = cancel
		o.ticks.Go(func() { o.tick(ctx) })
	}
	return nil
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
		o.ready, o.consumed = false, first              // if first > o.consumed, the owner marks again what is between them
	}
	if err := o.prepare(ctx); err != nil {
		return 0, err
	}
	n = o.portionOf(records)
	if err := o.process(ctx, records[:n]); err != nil {
		return 0, err // if Redis has lost changes, the next attempt marks them again
	}
	o.consumed = records[n-1].Offset + 1
	return n, nil
}

// tick calls maintain every second, until ctx ends.
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

// maintain does the work that needs no mark. It checks that the index still has everything that was
// told, keeps the index from expiring, raises its floor, and marks the bags of flights that have
// departed. What follows the check and the takeover, if one is due, has one time limit for all of it.
// A floor needs the partition of the owner; departures are marked in other partitions too, and do not
// wait for it.
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
	o.watchClock(now)
	if now.Sub(o.clocked) >= clockEvery {
		if err := o.write(ctx, nil, o.next-1, now); err != nil && !errors.Is(err, errMore) {
			return err
		}
	}
	var unraised error
	if now.Sub(o.raised) >= raiseEvery {
		if unraised = o.raiseFloor(ctx, now); unraised == nil {
			o.raised = now
		}
	}
	return errors.Join(unraised, o.markDepartures(ctx, now))
}

// compare checks that Redis has not lost changes that were told, and that the epoch is still the
// same. While marks come, write checks the same.
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

// lose notes that Redis has lost changes that were told, or that another epoch has begun.
func (o *owner) lose() {
	o.log.Warn("the index of changes has lost what was told, or another epoch has begun: the owner takes over again",
		zap.Int64("epoch", o.epoch.Begun), zap.Int64("next", o.next))
	o.ready = false
}

// prepare makes the owner ready to tell the next mark from the consumer. If Redis has lost changes that
// were told, it marks their plates again.
func (o *owner) prepare(ctx context.Context) error {
	if o.ready {
		return nil
	}
	lostEnd, err := o.begin(ctx)
	if err != nil {
		return err
	}
	if err := o.markAgain(ctx, lostEnd); err != nil {
		return err
	}
	o.ready = true
	return nil
}

// begin takes the partition over from the owner before, and sets next to the offset after what the
// index tells, at most to consumed. Marks from next up to, but not including, lostEnd were told, and
// the index has lost them.
func (o *owner) begin(ctx context.Context) (lostEnd int64, err error) {
	if o.epoch, err = o.currentEpoch(ctx); err != nil {
		return 0, err
	}
	p, err := o.predecessor(ctx)
	if err != nil {
		return 0, err
	}
	// The bounds are read last, since the owner before may still tell changes.
	first, end, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).Bounds(ctx)
	if err != nil {
		return 0, err
	}
	if why := o.whyNewEpoch(p, end); why != "" {
		o.log.Error(why+": a new epoch begins, and every cursor is reset",
			zap.Int64("told", p.Told), zap.Int64("published", p.published), zap.Int64("consumed", o.consumed), zap.Int64("end", end))
		if o.epoch, err = o.newEpoch(ctx, o.epoch); err != nil {
			return 0, err
		}
		p = predecessor{Progress: Progress{Told: -1, Departed: p.Departed}, published: -1}
	}
	o.truncated = false
	o.use(o.epoch)
	if o.consumed > end { // the consumer will find out later that the topic has lost its end, and will begin again
		o.consumed = first
	}
	floor := int64(-1)
	if !p.known {
		if p.Told, floor, err = o.toldWithoutIndex(ctx, p.Progress); err != nil {
			return 0, err
		}
	}
	o.next = max(first, min(o.consumed, p.Told+1))
	if told := max(p.Told, o.next-1); !p.known || told > p.Told { // marks that the topic has deleted count as told
		found, err := o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{After: AfterAny, AfterBuilt: p.built, Floor: floor, Told: told})
		if err != nil {
			return 0, err
		}
		if found == ToldLess {
			return 0, errIndexLost
		}
	}
	o.digests, o.certainBefore, o.clocked = newDigests(digestsOfOwner), end, time.Time{}
	if o.departures == nil { // otherwise the owner continues with its own
		now := o.conf.Now()
		o.departures = newDepartures(p.Departed, time.Unix(o.epoch.Begun, 0), now.Add(-o.conf.Retention), now)
	}
	if lostEnd = min(o.toldEnd(p), end); lostEnd <= p.Told+1 {
		lostEnd = o.next
	}
	return lostEnd, nil
}

// predecessor is what the owner before has told in the epoch.
type predecessor struct {
	Progress        // by the index, or by the changes from which the index was built again
	known     bool  // the index has the progress
	built     int64 // the offset in the topic of changes up to which the index was built again
	published int64 // the highest sequence at the end of the topic of changes; -1 if there is none
}

// predecessor looks for what the owner before has told. If the index has lost it, predecessor builds the
// index again.
func (o *owner) predecessor(ctx context.Context) (p predecessor, err error) {
	if p.Progress, p.known, err = o.conf.Index.Progress(ctx, o.epoch, o.partition); err != nil {
		return p, err
	}
	var newest time.Time
	if p.published, newest, err = o.lastPublished(ctx); err != nil || p.known {
		return p, err
	}
	p.Progress = Progress{Told: -1, Floor: -1, Departed: newest}
	if p.published >= 0 {
		p.built, err = o.rebuild(ctx, &p.Progress)
	}
	return p, err
}

// toldEnd returns the offset up to which marks were told, by what is committed and by the topic of
// changes.
func (o *owner) toldEnd(p predecessor) int64 { return max(o.consumed, p.published+1) }

// whyNewEpoch returns why the sequences of the epoch cannot go on, or "" if they can. end is the end of
// the topic of marks.
func (o *owner) whyNewEpoch(p predecessor, end int64) string {
	told := max(p.Told, p.published)
	switch {
	case told >= end || o.truncated && told >= o.consumed:
		return "the topic of marks is shorter than what was told"
	case p.known && min(o.toldEnd(p), end)-(p.Told+1) > maxMarkedAgain:
		return "the index of changes has lost more than can be told again soon"
	}
	return ""
}

// toldWithoutIndex returns the sequence up to which the partition is told, and the floor of its
// index, after an index that was lost was built again. p is the progress that rebuild has found.
func (o *owner) toldWithoutIndex(ctx context.Context, p Progress) (told, floor int64, err error) {
	told, floor = p.Told, p.Floor
	now := o.conf.Now()
	age := now.Sub(time.Unix(o.epoch.Begun, 0)) // of the epoch
	if told < 0 {
		told, floor = o.consumed-1, o.consumed
		if age < clockSkew {
			return told, floor, nil // consumed marks were told in the epoch before, if at all
		}
	}
	// The topic of changes is kept for longer than the index. So the index that was built from it is
	// complete for all marks within the retention and the epoch. Marks without a change there, such as
	// marks of containers, had none to tell.
	kept, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).OffsetAt(ctx, now.Add(-min(o.conf.Retention, age+clockSkew)), floor)
	return told, min(floor, kept), err
}

// markAgain marks for certain the plates that the marks from next up to lostEnd have marked, and moves
// next there. Redis has lost these changes after they were told. They are told again with new
// sequences: a reader may have passed the old ones without a change, if it read the index after the
// loss, and the topic of changes before it. Marks of containers are written again as they were, since
// each plate in a container got a mark of its own.
func (o *owner) markAgain(ctx context.Context, lostEnd int64) error {
	if o.next < lostEnd {
		// Nothing is marked while Redis refuses writes, or each attempt would mark it once more.
		if err := o.write(ctx, nil, o.next-1, o.conf.Now()); err != nil && !errors.Is(err, errMore) {
			return err
		}
	}
	r := o.conf.Kafka.Reader(o.conf.Marks, o.partition, o.next)
	for o.next < lostEnd {
		batch, err := r.Fetch(ctx, markAgainWait)
		if err != nil {
			return err
		}
		if batch.Next == o.next {
			return fmt.Errorf("%s/%d: nothing comes at offset %d, before %d", o.conf.Marks, o.partition, o.next, lostEnd)
		}
		var marks []Mark
		for i := range batch.Records {
			r := &batch.Records[i]
			m, err := parseMark(string(r.Key), string(r.Value))
			if err == nil && r.Offset < lostEnd { // the consumer logs what is no mark
				m.Certain = m.Certain || m.Plate != ""
				marks = append(marks, m)
			}
		}
		if err := o.marker().Write(ctx, smallmap.Distinct(marks)); err != nil {
			return err
		}
		if err := o.write(ctx, nil, min(batch.Next, lostEnd)-1, o.conf.Now()); err != nil && !errors.Is(err, errMore) {
			return err
		}
		o.next = min(batch.Next, lostEnd)
	}
	return nil
}

// marked is a plate with its marks in a batch.
type marked struct {
	plate    bag.Plate
	sequence int64 // of its last mark
	certain  bool  // one of its marks is certain
	steps    int   // the fewest of all its marks
}

// forgetDigests forgets all digests. Marks before an offset are then told even if nothing has
// changed, since readers may know other states, from an attempt that failed or from another owner.
func (o *owner) forgetDigests(before int64) {
	o.digests, o.certainBefore = newDigests(digestsOfOwner), max(o.certainBefore, before)
}

// watchClock notes the time by which bags are folded. If the clock was set back, it forgets all
// digests: some bags were folded as departed that had not, and readers, whose clocks were right, were
// told something else.
func (o *owner) watchClock(now time.Time) {
	now = now.Round(0) // the monotonic reading does not go back
	if now.Before(o.clock) {
		o.forgetDigests(0)
	}
	o.clock = now
}

// process tells the changes of the plates that records mark, some plates at a time, in the order of
// their sequences. After an error all of it may be repeated.
func (o *owner) process(ctx context.Context, records []kafka.Record) (err error) {
	last := records[len(records)-1].Offset
	defer func() {
		if err != nil {
			o.forgetDigests(last + 1)
		}
	}()
	portion := o.portion
	o.portion = max(1, portion/2) // for the next attempt if this one fails: reading the messages of so many plates may take too long
	plates, follow, err := o.read(ctx, records)
	if err != nil {
		return err
	}
	for more, refolded, limit := true, false, portion; more; {
		n, told, err := o.fold(ctx, plates[:min(limit, len(plates))])
		if err != nil {
			return err
		}
		upTo, marks := last, follow
		if n < len(plates) {
			upTo, marks = plates[n-1].sequence, nil
		}
		switch err := o.writeAndPublish(ctx, told, marks, upTo, refolded); {
		case errors.Is(err, errMore):
			refolded = true
			continue
		case err != nil:
			return err
		}
		more, refolded = n < len(plates), false
		plates, limit = plates[n:], min(2*n, portion)
	}
	o.portion = min(2*portion, platesAtOnce)
	return nil
}

// messagesAtOnce is how many messages are folded together, unless one plate has more. foldsAtOnce
// is how many such folds run for every two cores: while one waits for Redis, the other uses the
// processor. Both bound the memory of owners: a message has up to 64 KiB, and takes about three
// times as much while it is folded.
const (
	messagesAtOnce = 500
	foldsAtOnce    = 2
)

// together returns how many of the first plates to fold together, at least one, and how many
// messages they have. lengths are the numbers of messages of the plates.
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

// writeAndPublish writes changes to the index and to the topic, and then the marks that follow.
// After that, everything up to the sequence upTo is told.
//
// If more was told already, another owner may have published newer states with the same sequences
// since these were folded. Then writeAndPublish fails with errMore before it publishes, and the
// caller folds the plates again. refolded says that the caller has done so: then the states are new
// enough.
func (o *owner) writeAndPublish(ctx context.Context, told []change, follow []Mark, upTo int64, refolded bool) error {
	now := o.conf.Now()
	entries := make([]Entry, len(told))
	for i := range told {
		entries[i] = told[i].entry
		follow = append(follow, told[i].follow...)
	}
	if err := o.write(ctx, entries, upTo, now); err != nil && (!refolded || !errors.Is(err, errMore)) {
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
// follow. These are the marks of the plates in marked containers, and of plates that belong to
// another partition, because the number of partitions has changed, or another program wrote the
// marks. The sequences of a plate come from one partition.
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
		latest := marked{m.Plate, r.Offset, m.Certain, m.Steps}
		if j, have := at[m.Plate]; have {
			latest.certain = latest.certain || plates[j].certain
			latest.steps = min(latest.steps, plates[j].steps)
			plates[j].plate = ""
		}
		at[m.Plate] = len(plates)
		plates = append(plates, latest)
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
	if foreign { // while the epoch has another number of partitions, these marks would come back for ever
		err = o.comparePartitions(ctx)
	}
	return own, follow, err
}

// comparePartitions fails with errIndexLost if the topic of marks has another number of partitions
// than the epoch.
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

// change is a change of a plate that is to be told.
type change struct {
	entry   Entry
	pnrs    []string
	flights []string
	state   []byte // the bags, as a JSON array
	bare    bool   // it is published without PNRs and flights
	digest  uint64
	follow  []Mark // of the originals of its rush bags, and of earlier originals
}

// yieldToDoor waits while a door is behind, for twice the time that the last fold took, and at most
// longestYield, so that changes are still told. Folding takes most of a processor, which the door
// needs to catch up. A plate that is marked again meanwhile is folded only once.
func (o *owner) yieldToDoor(ctx context.Context) {
	for end := time.Now().Add(min(2*o.folded, longestYield)); o.behind() && time.Now().Before(end) && ctx.Err() == nil; {
		_ = pause.For(ctx, min(lagPoll, time.Until(end)))
	}
}

// makeRoom waits until there is room to fold the first n of plates, at least one, and returns how
// much room it has taken. A fold of very many messages takes the room of two folds. While a door is
// behind, every fold takes that much, and makeRoom also waits as yieldToDoor says.
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

// fold folds the bags of the first n of plates, at least one if there is one, and returns the
// changes to tell. A plate whose bags fold to the same state as last time is left out, unless its
// mark is certain or was written before the takeover.
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
	now := o.conf.Now()
	o.watchClock(now)
	traced, err := o.conf.Bags.Trace(ctx, names(plates), now)
	if err != nil {
		return 0, nil, err
	}
	bags := make(map[bag.Plate][]trail.Traced, len(plates))
	for _, t := range traced {
		bags[t.Bag.Plate] = append(bags[t.Bag.Plate], t)
	}
	var text []byte // a buffer for states
	for _, p := range plates {
		if p.steps > 0 && len(bags[p.plate]) == 0 {
			continue // a rush bag names a plate without messages, which nobody sees
		}
		var c change
		c, text = o.change(p, bags[p.plate], text[:0])
		if p.certain || p.sequence < o.certainBefore || !o.digests.remembers(p.plate, c.digest) {
			told = append(told, c)
		}
	}
	return len(plates), told, nil
}

// portionOf returns how many of the first records are told together: as many as have o.portion
// different keys. Marks may repeat few keys, since each message on a group of bags marks all of
// them; read then takes only the last mark of each plate.
func (o *owner) portionOf(records []kafka.Record) int {
	keys := make(map[string]struct{}, min(len(records), o.portion))
	for i := range records {
		if keys[string(records[i].Key)] = struct{}{}; len(keys) > o.portion {
			return i
		}
	}
	return len(records)
}

// change returns the change of a plate. It uses text as a buffer, and returns the buffer.
func (o *owner) change(p marked, bags []trail.Traced, text []byte) (change, []byte) {
	text = append(text, '[')
	for _, b := range bags {
		text = o.conf.Append(strictjson.AppendComma(text), b)
	}
	text = append(text, ']')
	c := change{entry: Entry{Plate: p.plate, Sequence: p.sequence}, state: bytes.Clone(text)}
	c.summarise(bags)
	text = appendSources(text, bags)
	c.digest = o.digests.of(text)
	if p.steps < maxSteps {
		for _, plate := range originals(bags) {
			if plate != p.plate {
				// Certain, since a limited key may see more or less of the rush bag, and so of the original,
				// though the original is the same for the owner, who sees everything.
				c.follow = append(c.follow, Mark{Plate: plate, Certain: true, Steps: p.steps + 1})
			}
		}
	}
	return c, text
}

// appendSources appends what tells the messages of all events apart. An event may come from another
// copy of its message though its id, and so the state, is the same; and the state does not have the
// oldest events of a bag with many, which may be all that a limited key sees.
func appendSources(dst []byte, bags []trail.Traced) []byte {
	for _, b := range bags {
		for i := range b.Bag.Events {
			m := b.Bag.Events[i].Message
			dst = binary.BigEndian.AppendUint64(dst, uint64(m.Received.UnixMilli()))
			dst = binary.BigEndian.AppendUint64(dst, uint64(m.Position.Offset))
		}
	}
	return dst
}

// originals returns the plates that rush bags name as their originals or are found to re-flight, and
// those that only earlier messages name. The bag of such a plate may not fit any more, and is told
// that too.
func originals(bags []trail.Traced) (plates []bag.Plate) {
	for _, t := range bags {
		for _, original := range t.Bag.Reflighted {
			if original.Plate != "" {
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

// write writes to the index. If the index has lost changes that were told, it writes nothing and
// fails with errIndexLost. If more was told already, it writes, and then fails with errMore.
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

// raiseFloor raises the floor above the changes that are older than the retention.
func (o *owner) raiseFloor(ctx context.Context, now time.Time) error {
	floor, err := o.conf.Kafka.Reader(o.conf.Marks, o.partition, 0).OffsetAt(ctx, now.Add(-o.conf.Retention), o.next)
	if err != nil {
		return err
	}
	return o.conf.Index.RaiseFloor(ctx, o.epoch, o.partition, min(floor, o.next)) // marks that wait may be older than the retention
}
