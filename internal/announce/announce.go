// Package announce makes the CloudEvents of messages that were just filed: for each bag of a
// message its event, with everything that the index knows at that time.
//
// An event is not announced again when later messages change it; the queries are always right
// (rules §3). Equal events have equal ids. A copy of a message makes no event, or, if that can be
// told without the index, one with the id of the first.
package announce

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// Event is an event of the bags with one plate.
type Event struct {
	ID          string // of the event; does not depend on what is known about the bag
	Plate       bag.Plate
	Code        string
	Description string
	Document    []byte // CloudEvents 1.0, in JSON
	data        int    // offset in Document at which its data begin
}

// Data returns the event as a history shows it, in JSON: {"bagtag": "…", "event": {…}}. It shares
// memory with Document.
func (e Event) Data() []byte { return slices.Clip(e.Document[e.data : len(e.Document)-1]) }

// Announcer makes events. It is safe for concurrent use.
type Announcer struct {
	Index    trail.Index
	Enricher trail.Enricher
	Rules    bag.Rules
	Places   bagjson.Places
}

// Limits of one read of the index and of one call of tell. With them the memory does not depend on
// the number of bags that a message names.
const (
	platesAtOnce  = 200
	storedAtOnce  = 4 << 20 // estimated bytes of stored messages
	eventsAtOnce  = 500
	writtenAtOnce = 1 << 20 // bytes of documents
)

// mostStored is how many estimated bytes of stored messages are read for the events of one message.
// The events of further bags are made from the message alone, without the index.
const mostStored = 4 << 20

// Events returns the events of filed messages: first those of messages that name their bags, in the
// order of the messages and their plates; then those of container positionings, plate by plate. So
// the events of one plate are in the order of the messages of either kind. It returns an error if
// the index cannot be read.
func (a Announcer) Events(ctx context.Context, filings []bag.Filing) (all []Event, err error) {
	err = a.Tell(ctx, filings, func(some []Event) error {
		all = append(all, some...)
		return nil
	})
	return all, err
}

// Tell calls tell with the events that Events returns, some at a time. It returns the first error
// of tell or of the index.
func (a Announcer) Tell(ctx context.Context, filings []bag.Filing, tell func([]Event) error) error {
	made := announcements{places: a.Places, tell: tell}
	if err := a.addNamed(ctx, &made, filings); err != nil {
		return fmt.Errorf("read what to announce: %w", err)
	}
	if err := a.addPositioned(ctx, &made, filings); err != nil {
		return fmt.Errorf("read what to announce: %w", err)
	}
	return made.flush()
}

// mention is one plate in one message.
type mention struct {
	filing   int // its index
	plate    bag.Plate
	messages []*bag.Message // the message, with the groups that concern the plate
	clear    bool           // its events need nothing from the index
	weight   int            // estimated bytes to read from the index for its events
}

// addNamed adds the events of messages that name their bags.
func (a Announcer) addNamed(ctx context.Context, made *announcements, filings []bag.Filing) error {
	var mentions []mention
	for i := range filings {
		for _, entry := range filings[i].Entries {
			mentions = append(mentions, mention{filing: i, plate: entry.Plate})
		}
	}
	spent := make([]int, len(filings)) // bytes of mostStored that are used, by filing
	for some := range slices.Chunk(mentions, platesAtOnce) {
		a.read(filings, some)
		if err := a.weigh(ctx, filings, some, spent); err != nil {
			return err
		}
		for len(some) > 0 {
			n := portion(len(some), func(i int) int { return some[i].weight })
			if err := a.tell(ctx, made, filings, some[:n]); err != nil {
				return err
			}
			some = some[n:]
		}
	}
	return nil
}

// read parses the messages of mentions.
func (a Announcer) read(filings []bag.Filing, mentions []mention) {
	stored := make([]bag.Stored, 1)
	for i := range mentions {
		m := &mentions[i]
		f := &filings[m.filing]
		stored[0] = bag.Stored{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}
		m.messages = a.Enricher.Messages(m.plate, stored)
		m.clear = !slices.ContainsFunc(m.messages, isUnclear)
	}
}

// isUnclear reports whether the event of a message depends on others: a BSM has a predecessor, and
// copies are recognised by the time of the last one. A BPM with a read time, as most are, depends
// on no other.
func isUnclear(m *bag.Message) bool { return !m.IsTimed() }

// weigh estimates how much must be read from the index for mentions, and marks those as clear for
// which it is too much.
func (a Announcer) weigh(ctx context.Context, filings []bag.Filing, mentions []mention, spent []int) error {
	var plates []bag.Plate
	for _, m := range mentions {
		if !m.clear {
			plates = append(plates, m.plate)
		}
	}
	if len(plates) == 0 {
		return nil
	}
	now, err := a.Index.Read(ctx, trail.Wanted{TrailVersions: plates})
	if err != nil {
		return err
	}
	for i := range mentions {
		m := &mentions[i]
		if m.clear {
			continue
		}
		held, f := now.TrailLengths[0], &filings[m.filing]
		now.TrailLengths = now.TrailLengths[1:]
		spent[m.filing] += held * max(len(f.Raw), usualLength)
		if len(f.Entries) > 1 && (spent[m.filing] > mostStored || held > mostOfABag) {
			m.clear = true
			continue
		}
		m.weight = weightOf(held, len(f.Raw))
	}
	return nil
}

const (
	usualLength = 1 << 10 // least bytes of a parsed message
	longest     = 64 << 10
	mostOfABag  = 100 // messages
)

// weightOf estimates the bytes of that many messages of a bag. Each counts like a known one, unless
// there are more than any bag has: then each counts as the longest.
func weightOf(messages, length int) int {
	if messages > mostOfABag {
		length = longest
	}
	return messages * max(length, usualLength)
}

// portion returns how many of n bags are read at once, at least one.
func portion(n int, weight func(i int) int) int {
	sum := 0
	for i := range n {
		if sum += weight(i); sum > storedAtOnce && i > 0 {
			return i
		}
	}
	return n
}

// tell adds the events of mentions. It reads the bags of unclear ones.
func (a Announcer) tell(ctx context.Context, made *announcements, filings []bag.Filing, mentions []mention) error {
	folded := make(map[bag.Plate][]bag.Bag)
	var plates []bag.Plate
	for _, m := range mentions {
		if _, have := folded[m.plate]; !m.clear && !have {
			folded[m.plate] = nil
			plates = append(plates, m.plate)
		}
	}
	if len(plates) > 0 {
		now, err := a.Index.Read(ctx, trail.Wanted{Trails: plates})
		if err != nil {
			return err
		}
		for i, plate := range plates {
			messages := a.messages(plate, now.Trails[i])
			if folded[plate], err = a.Rules.FoldEvents(ctx, plate, messages, nil); err != nil {
				return err
			}
		}
	}
	for _, m := range mentions {
		bags := folded[m.plate]
		if m.clear {
			var err error
			if bags, err = a.Rules.FoldEvents(ctx, m.plate, m.messages, nil); err != nil {
				return err
			}
		}
		if err := made.addMessage(&filings[m.filing], m.plate, bags, !m.clear); err != nil {
			return err
		}
	}
	return nil
}

// messages parses the stored messages of a plate.
func (a Announcer) messages(plate bag.Plate, held trail.Held) []*bag.Message {
	stored, _ := held.Messages()
	return a.Enricher.Messages(plate, stored)
}

// addPositioned adds the events of container positionings.
func (a Announcer) addPositioned(ctx context.Context, made *announcements, filings []bag.Filing) error {
	containers, by := positionings(filings)
	if len(containers) == 0 {
		return nil
	}
	now, err := a.Index.Read(ctx, trail.Wanted{Contents: containers})
	if err != nil {
		return err
	}
	plates, concern := inContainers(containers, now.Contents)
	stowage := make(map[bag.Container][]*bag.Message)
	for len(plates) > 0 {
		part := plates[:min(platesAtOnce, len(plates))]
		held, err := a.Index.Read(ctx, trail.Wanted{TrailVersions: part})
		if err != nil {
			return err
		}
		part = part[:portion(len(part), func(i int) int { return weightOf(held.TrailLengths[i], usualLength) })]
		plates = plates[len(part):]
		trails, err := a.readContents(ctx, part, concern, stowage)
		if err != nil {
			return err
		}
		for i, plate := range part {
			var positionings []*bag.Message
			var from []int // indices of filings
			for _, c := range concern[plate] {
				positionings = append(positionings, stowage[c]...)
				from = append(from, by[c]...)
			}
			bags, err := a.Rules.FoldEvents(ctx, plate, a.messages(plate, trails[i]), positionings)
			if err != nil {
				return err
			}
			slices.Sort(from)
			for _, f := range slices.Compact(from) {
				if err := made.addMessage(&filings[f], plate, bags, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readContents returns what is held of plates, and adds the messages of their containers to stowage
// unless they are there.
func (a Announcer) readContents(ctx context.Context, plates []bag.Plate, concern map[bag.Plate][]bag.Container,
	stowage map[bag.Container][]*bag.Message) ([]trail.Held, error) {
	w := trail.Wanted{Trails: plates}
	for _, plate := range plates {
		for _, c := range concern[plate] {
			if _, known := stowage[c]; !known {
				stowage[c] = nil
				w.Stowage = append(w.Stowage, c)
			}
		}
	}
	found, err := a.Index.Read(ctx, w)
	if err != nil {
		return nil, err
	}
	for i, c := range w.Stowage {
		stored, _ := found.Stowage[i].Messages()
		stowage[c] = a.Enricher.Stowage(c, stored)
	}
	return found.Trails, nil
}

// positionings returns the containers that messages position, each once, and the indices of these
// messages for each of them.
func positionings(filings []bag.Filing) (containers []bag.Container, by map[bag.Container][]int) {
	by = make(map[bag.Container][]int)
	for i := range filings {
		for _, c := range filings[i].Stowage {
			if by[c] == nil {
				containers = append(containers, c)
			}
			by[c] = append(by[c], i)
		}
	}
	return containers, by
}

// inContainers returns the plates in containers, each once, and the containers of each plate.
func inContainers(containers []bag.Container, contents [][]bag.Plate) (plates []bag.Plate, concern map[bag.Plate][]bag.Container) {
	concern = make(map[bag.Plate][]bag.Container)
	for i, c := range containers {
		for _, plate := range contents[i] {
			if concern[plate] == nil {
				plates = append(plates, plate)
			}
			concern[plate] = append(concern[plate], c)
		}
	}
	return plates, concern
}

// announcements collects events and passes them on.
type announcements struct {
	places  bagjson.Places
	tell    func([]Event) error
	events  []Event
	written int    // bytes of their documents
	buffer  []byte // memory for the next documents
}

// flush passes the collected events on.
func (a *announcements) flush() error {
	if len(a.events) == 0 {
		return nil
	}
	some := a.events
	a.events, a.written = nil, 0
	return a.tell(some)
}

// addMessage adds the events of a message for the bags of a plate: one for each group, even if the
// message belongs to several bags. whole reports that all messages of the bags are known.
func (a *announcements) addMessage(f *bag.Filing, plate bag.Plate, bags []bag.Bag, whole bool) error {
	var groups []int32
	for i := range bags {
		for j := range bags[i].Events {
			e := &bags[i].Events[j]
			m := e.Message
			if !m.Received.Equal(f.Received) || m.Position != f.Position || m.Raw != f.Raw || slices.Contains(groups, m.Group) {
				continue
			}
			groups = append(groups, m.Group)
			shown := bagjson.EventContext{Unknown: whole && bags[i].Unknown}
			if e.Code == bag.EventReflighted && m.Original != "" {
				shown.Reflighted = &bag.Reflighted{Plate: m.Original}
			}
			a.add(plate, e, shown)
			if len(a.events) >= eventsAtOnce || a.written >= writtenAtOnce {
				if err := a.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// The memory of documents, in bytes. They are written one after the other.
const (
	sheet = 16 << 10
	most  = 2 << 10 // nearly all documents are shorter
)

// add adds an event of a bag.
func (a *announcements) add(plate bag.Plate, e *bag.Event, shown bagjson.EventContext) {
	if cap(a.buffer) < most {
		a.buffer = make([]byte, 0, sheet)
	}
	made := Event{ID: bag.EventID(plate, e.Message), Plate: plate, Code: e.Code, Description: e.Description}
	doc := append(a.buffer, `{"specversion":"1.0","source":"/bagtrail","id":`...)
	doc = strictjson.AppendString(doc, made.ID)
	doc = append(doc, `,"type":`...)
	doc = strictjson.AppendString(doc, "bagtrail.event."+e.Code)
	doc = append(doc, `,"subject":`...)
	doc = strictjson.AppendString(doc, string(plate))
	doc = append(doc, `,"time":"`...)
	doc = e.Message.Happened.UTC().AppendFormat(doc, time.RFC3339Nano)
	doc = append(doc, `","datacontenttype":"application/json","data":`...)
	made.data = len(doc)
	doc = append(doc, `{"bagtag":`...)
	doc = strictjson.AppendString(doc, string(plate))
	doc = append(doc, `,"event":`...)
	doc = bagjson.AppendEvent(doc, e, a.places, shown)
	doc = append(doc, "}}"...)
	made.Document, a.buffer = doc[:len(doc):len(doc)], doc[len(doc):]
	a.events, a.written = append(a.events, made), a.written+len(made.Document)
}
