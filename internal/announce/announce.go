// Package announce makes the CloudEvents by which others hear of events: what a message that was just filed says about
// each of its bags, with what the index knows at that moment.
//
// What later messages change is not announced again; the queries are the settled truth (rules §3). The same event has
// always the same id. A copy of a message gives either no event or, where that can be told without asking the index, one
// with the id of the first.
package announce

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/jsontext"
	"bagtrail/internal/trail"
)

// Event is one event of the bag with that plate.
type Event struct {
	ID          string // of the event, whatever is known about its bag
	Plate       bag.Plate
	Code        string
	Description string
	Happened    time.Time
	Data        []byte // JSON: {"bagtag": "…", "event": {…}}, the event in the form of a history
}

// Index is what an Announcer reads; trail.Index says what each method does.
type Index interface {
	Flight(ctx context.Context, f bag.Flight) (plates []bag.Plate, stowage trail.Held, err error)
	Trails(ctx context.Context, plates []bag.Plate, known func(i int, version uint64) bool) ([]trail.Held, error)
}

// Announcer makes events. It may be used by several goroutines at once.
type Announcer struct {
	Index    Index
	Enricher trail.Enricher
	Rules    bag.Rules
	Places   bagjson.Places
}

// platesAtOnce bounds one read of the index.
const platesAtOnce = 200

// Events returns the events of messages that the index has taken, in the order of the messages and their plates. It
// fails where the index cannot be read.
func (a Announcer) Events(ctx context.Context, filings []bag.Filing) ([]Event, error) {
	r := round{Announcer: a, folded: map[bag.Plate][]bag.Bag{}, positioned: map[bag.Flight]positioned{}}
	mentions := r.mentions(filings)
	if err := r.read(ctx, mentions); err != nil {
		return nil, fmt.Errorf("read what to announce: %w", err)
	}
	var events []Event
	for _, m := range mentions {
		bags := r.folded[m.plate]
		if m.clear {
			bags = a.Rules.Fold(m.plate, m.messages, nil)
		}
		events = a.announce(events, m.filing, m.plate, bags, !m.clear)
	}
	for i := range filings {
		for _, flight := range filings[i].Stowage {
			p, err := r.position(ctx, flight)
			if err != nil {
				return nil, fmt.Errorf("read what to announce: %w", err)
			}
			for _, plate := range p.plates {
				events = a.announce(events, &filings[i], plate, p.bags[plate], true)
			}
		}
	}
	return events, nil
}

// round is what one call has read, each thing once.
type round struct {
	Announcer
	folded     map[bag.Plate][]bag.Bag
	positioned map[bag.Flight]positioned
}

// positioned is the bags that are filed under a flight, with the containers on it.
type positioned struct {
	plates []bag.Plate
	bags   map[bag.Plate][]bag.Bag
}

// mention is one plate in one message.
type mention struct {
	filing   *bag.Filing
	plate    bag.Plate
	messages []*bag.Message // the message, as far as it concerns the plate
	clear    bool           // its events need nothing of the index
}

// mentions returns every plate in every message.
func (r *round) mentions(filings []bag.Filing) []mention {
	var all []mention
	for i := range filings {
		f := &filings[i]
		stored := []bag.Stored{{Kind: f.Kind, Raw: f.Raw, Received: f.Received}}
		for _, entry := range f.Entries {
			messages := r.Enricher.Messages(entry.Plate, stored)
			all = append(all, mention{f, entry.Plate, messages, !slices.ContainsFunc(messages, unclear)})
		}
	}
	return all
}

// unclear reports whether the event of a message depends on others: a BSM has a predecessor, and a copy is told by the
// time of the one before. A BPM with a read time, which is most of the traffic, says all by itself.
func unclear(m *bag.Message) bool { return m.Kind != bag.BPM || m.Read.IsZero() }

// read folds the bags of the plates that are mentioned in unclear messages.
func (r *round) read(ctx context.Context, mentions []mention) error {
	var plates []bag.Plate
	for _, m := range mentions {
		if _, have := r.folded[m.plate]; !m.clear && !have {
			r.folded[m.plate] = nil
			plates = append(plates, m.plate)
		}
	}
	return r.fold(ctx, r.folded, plates, nil)
}

// fold folds the bags of plates into bags, with container positionings.
func (r *round) fold(ctx context.Context, bags map[bag.Plate][]bag.Bag, plates []bag.Plate, stowage []*bag.Message) error {
	for some := range slices.Chunk(plates, platesAtOnce) {
		trails, err := r.Index.Trails(ctx, some, nil)
		if err != nil {
			return err
		}
		for i, plate := range some {
			bags[plate] = r.Rules.Fold(plate, r.Enricher.Messages(plate, trails[i].Messages), stowage)
		}
	}
	return nil
}

// position reads the bags of a flight on which containers are positioned.
func (r *round) position(ctx context.Context, flight bag.Flight) (positioned, error) {
	p, have := r.positioned[flight]
	if have {
		return p, nil
	}
	plates, stowage, err := r.Index.Flight(ctx, flight)
	if err != nil {
		return p, err
	}
	p = positioned{plates, make(map[bag.Plate][]bag.Bag, len(plates))}
	if err := r.fold(ctx, p.bags, plates, r.Enricher.Stowage(flight, stowage.Messages)); err != nil {
		return p, err
	}
	r.positioned[flight] = p
	return p, nil
}

// announce adds the events that a message makes of the bags of a plate: one a group, though the message may belong to
// several bags. whole tells that all messages of the bags are known.
func (a Announcer) announce(events []Event, f *bag.Filing, plate bag.Plate, bags []bag.Bag, whole bool) []Event {
	var groups []int
	for i := range bags {
		for j := range bags[i].Events {
			e := &bags[i].Events[j]
			m := e.Message
			if !m.Received.Equal(f.Received) || m.Raw != f.Raw || slices.Contains(groups, m.Group) {
				continue
			}
			groups = append(groups, m.Group)
			shown := bagjson.Shown{Unknown: whole && bags[i].Unknown}
			if e.Code == reflighted && bags[i].Original != "" {
				shown.Reflighted = &bag.Reflighted{Plate: bags[i].Original}
			}
			events = append(events, Event{identity(plate, m), plate, e.Code, e.Description, m.Happened, a.data(plate, e, shown)})
		}
	}
	return events
}

// reflighted is the code of the event whose message names the bag that is re-flighted.
const reflighted = "REFLIGHTED"

// identity names an event by what tells it from others (rules §3, duplicates): plate, text, group, and the moment at which
// the message was read or, where it does not say, received. The code is no part of it, since that may depend on what
// else is known.
func identity(plate bag.Plate, m *bag.Message) string {
	moment := m.Received
	if !unclear(m) {
		moment = m.Read
	}
	text := make([]byte, 0, 64+len(m.Text))
	text = append(text, plate...)
	text = binary.BigEndian.AppendUint64(text, uint64(moment.UnixMilli()))
	text = binary.BigEndian.AppendUint64(text, uint64(m.Group))
	sum := sha256.Sum256(append(text, m.Text...))
	return hex.EncodeToString(sum[:16])
}

// data returns the event of a bag in the form of a history.
func (a Announcer) data(plate bag.Plate, e *bag.Event, shown bagjson.Shown) []byte {
	data := jsontext.AppendString([]byte(`{"bagtag":`), string(plate))
	data = append(data, `,"event":`...)
	data = bagjson.AppendEvent(data, e, a.Places, shown)
	return append(data, '}')
}

// Document returns the event as CloudEvents 1.0, in JSON.
func (e Event) Document() []byte {
	doc := jsontext.AppendString([]byte(`{"specversion":"1.0","source":"/bagtrail","id":`), e.ID)
	doc = append(doc, `,"type":`...)
	doc = jsontext.AppendString(doc, "bagtrail.event."+e.Code)
	doc = append(doc, `,"subject":`...)
	doc = jsontext.AppendString(doc, string(e.Plate))
	doc = append(doc, `,"time":"`...)
	doc = e.Happened.UTC().AppendFormat(doc, time.RFC3339Nano)
	doc = append(doc, `","datacontenttype":"application/json","data":`...)
	doc = append(doc, e.Data...)
	return append(doc, '}')
}
