package changes

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
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
	longestYield = 250 * time.Millisecond // longest pause between two folds while a door is behind
	lagPoll      = 10 * time.Millisecond  // how often to check whether the door is still behind
)

// marked stands for all marks of a plate in a batch. It is certain if one of them is, and has the
// fewest steps of all.
type marked struct {
	Mark
	sequence int64 // of the last one
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
	for refolded := false; ; {
		n, told, err := o.fold(ctx, plates)
		if err != nil {
			return err
		}
		all := n == len(plates)
		upTo, marks := last, follow
		if !all {
			upTo, marks = plates[n-1].sequence, nil
		}
		more, err := o.writeAndPublish(ctx, told, marks, upTo, refolded)
		switch {
		case err != nil:
			return err
		case more: // another owner may have told newer states: the same plates are folded once more
			refolded = true
		case all:
			o.portion = min(2*portion, platesAtOnce)
			return nil
		default:
			plates, refolded = plates[n:], false
		}
	}
}

// messagesAtOnce is the largest number of messages that are folded together, unless one plate has
// more. foldsAtOnce is the number of such folds for every two cores: while one waits for Redis, the
// other uses the processor. Both bound the memory of owners: a message has up to 64 KiB, and takes
// about three times as much while it is folded, unless several passengers share a plate.
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
		list[i] = p.Plate
	}
	return list
}

// writeAndPublish writes changes to the index and to the topic, and then the marks that follow.
// After that, everything up to the sequence upTo is told.
//
// If more was told already, another owner may have published newer states with the same sequences
// since these were folded. Then writeAndPublish publishes nothing and returns more, and the caller
// folds the plates again. refolded is true if the caller has done so: then the states are new
// enough.
func (o *owner) writeAndPublish(ctx context.Context, told []change, follow []Mark, upTo int64, refolded bool) (more bool, err error) {
	now := o.conf.Now()
	entries := make([]Entry, len(told))
	for i := range told {
		entries[i] = told[i].Entry
		follow = append(follow, told[i].follow...)
	}
	if more, err = o.write(ctx, entries, upTo, -1, now); err != nil || more && !refolded {
		return more, err
	}
	if err := o.publish(ctx, told, now); err != nil {
		return false, err
	}
	if err := o.marker().Write(ctx, follow); err != nil {
		return false, err
	}
	for i := range told {
		if told[i].Sequence >= o.rememberFrom {
			*o.digests.lastOf(told[i].Plate) = told[i].digest
		}
	}
	o.next = max(o.next, upTo+1)
	return false, nil
}

// read returns the plates that records mark, in the order of their last marks, and the marks that
// follow. These are the marks of the plates in marked containers, and of plates that belong to
// another partition, because the number of partitions has changed, or another program wrote the
// marks. The sequences of a plate come from one partition.
func (o *owner) read(ctx context.Context, records []kafka.Record) (plates []marked, follow []Mark, err error) {
	last := make(map[bag.Plate]marked)
	containers := make(map[bag.Container]bool) // the values report whether one of the marks is certain
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
		if before, have := last[m.Plate]; have {
			m.Certain = m.Certain || before.Certain
			m.Steps = min(m.Steps, before.Steps)
		}
		last[m.Plate] = marked{m, r.Offset}
	}
	if follow, err = o.contents(ctx, containers); err != nil {
		return nil, nil, err
	}
	foreign := false
	for _, p := range last {
		if kafka.PartitionOf([]byte(p.Plate), o.epoch.Partitions) == o.partition {
			plates = append(plates, p)
			continue
		}
		follow, foreign = append(follow, p.Mark), true
	}
	slices.SortFunc(plates, func(a, b marked) int { return cmp.Compare(a.sequence, b.sequence) })
	if foreign { // while the epoch has another number of partitions, these marks would come back for ever
		err = o.comparePartitions(ctx)
	}
	return plates, follow, err
}

// comparePartitions fails with ErrIndexLost if the topic of marks has another number of partitions
// than the epoch.
func (o *owner) comparePartitions(ctx context.Context) error {
	partitions, err := o.conf.Kafka.Partitions(ctx, o.conf.Marks)
	if err == nil && len(partitions) != o.epoch.Partitions {
		o.lose()
		err = ErrIndexLost
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

// change is a change of a plate that the owner must tell.
type change struct {
	Record
	digest uint64
	follow []Mark // the marks of the originals of its rush bags, and of earlier originals
}

// yieldToDoor waits while a door is behind, for twice the time that the last fold took, and at most
// longestYield, so that changes are still told. Folding takes most of a processor, which the door
// needs to catch up. A plate that is marked again meanwhile is folded only once.
func (o *owner) yieldToDoor(ctx context.Context) {
	for end := time.Now().Add(min(2*o.folded, longestYield)); o.conf.Behind() && time.Now().Before(end) && ctx.Err() == nil; {
		_ = pause.For(ctx, min(lagPoll, time.Until(end)))
	}
}

// makeRoom waits until there is room to fold the first n of plates, at least one, and returns how
// much room it has taken. A fold of very many messages takes the room of two folds. While a door is
// behind, every fold takes that much, and makeRoom first waits as yieldToDoor says.
func (o *owner) makeRoom(ctx context.Context, plates []marked) (n int, taken int64, err error) {
	const most = foldsAtOnce * messagesAtOnce
	if o.conf.Behind() {
		if err := o.room.Acquire(ctx, most); err != nil {
			return 0, 0, err
		}
		taken = most
		o.yieldToDoor(ctx)
	}
	for {
		// The lengths are read again after any wait: plates may have grown meanwhile.
		lengths, err := o.conf.Bags.Lengths(ctx, names(plates))
		if err != nil {
			o.room.Release(taken)
			return 0, 0, err
		}
		n, need := together(lengths)
		if need = min(need, most); need <= taken {
			return n, taken, nil
		}
		if taken == 0 && o.room.TryAcquire(need) {
			return n, need, nil
		}
		o.room.Release(taken)
		if err := o.room.Acquire(ctx, need); err != nil {
			return 0, 0, err
		}
		taken, plates = need, plates[:n]
	}
}

// fold folds the bags of the first n of plates, at least one if there is one, and returns the
// changes to tell. It leaves out a plate whose bags fold to the same state as last time, unless its
// mark is certain. States from before the takeover are not remembered.
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
	for _, p := range plates {
		if p.Steps > 0 && len(bags[p.Plate]) == 0 {
			continue // a rush bag names a plate without messages, which nobody sees
		}
		c := o.change(p, bags[p.Plate])
		if p.Certain || *o.digests.lastOf(p.Plate) != c.digest {
			told = append(told, c)
		}
	}
	return len(plates), told, nil
}

// change returns the change of a plate, without its time.
func (o *owner) change(p marked, bags []trail.Traced) change {
	state := append(make([]byte, 0, 2<<10), '[')
	for _, b := range bags {
		state = o.conf.Append(strictjson.AppendComma(state), b)
	}
	state = append(state, ']')
	c := change{Record: Record{Entry: Entry{Plate: p.Plate, Sequence: p.sequence}, Epoch: o.epoch.Begun, Bags: state}}
	c.ID = Position{c.Epoch, c.Sequence}.ID(c.Plate)
	c.summarise(bags)
	c.digest = o.digests.of(p.Plate, appendSources(state, bags))
	if p.Steps < maxSteps {
		for _, plate := range originals(bags) {
			if plate != p.Plate {
				// The mark is certain: a limited key may now see more or less of the rush bag, and
				// so of the original, although the original has not changed for the owner, who sees
				// everything.
				c.follow = append(c.follow, Mark{Plate: plate, Certain: true, Steps: p.Steps + 1})
			}
		}
	}
	return c
}

// appendSources appends the received time and the offset of the message of each event, for the
// digest of a state. The state alone is not enough: an event may come from another copy of its
// message and keep its id, so that the state is the same; and the state leaves out the oldest
// events of a bag with many events, which may be all that a limited key sees.
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

// originals returns the plates of the originals of rush bags, and the plates that only earlier
// messages name as originals. A bag of such a plate may not be an original any more, which changes
// it too.
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
