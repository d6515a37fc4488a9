package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// Record is the content of a record of the topic of changes.
type Record struct {
	Entry
	ID      string
	Epoch   int64
	Bags    []byte    // a JSON array of the bags, as a key without limits sees them; nil if they are too large for a record
	PNRs    []string  // of every message of the plate, in capitals; nil if they are too large for a record
	Flights []string  // every flight that a message of the plate names, as FlightName returns it; nil if they are too large, or in a record of an earlier version
	Time    time.Time // by which the bags were folded
}

// ContentType is the content type of a record's value, which its only header holds.
const ContentType = "application/cloudevents+json"

// ParseRecord reads the value of a record of the topic of changes. Bags shares the memory of value.
func ParseRecord(value []byte) (*Record, error) {
	var r Record
	var faults []error
	number := func(m strictjson.Member) int64 {
		n, err := strconv.ParseInt(string(m.Value), 10, 64)
		faults = append(faults, err)
		return n
	}
	err := strictjson.Walk(value, func(depth int, m strictjson.Member) {
		switch depth {
		case 0: // of the envelope, a CloudEvent
			if string(m.Name) == `"time"` {
				faults = append(faults, r.Time.UnmarshalJSON(m.Value))
			}
		case 1: // of its data, the only object in the envelope
			switch string(m.Name) {
			case `"id"`:
				r.ID, _ = strictjson.Unquote(m.Value)
			case `"plate"`:
				plate, _ := strictjson.Unquote(m.Value)
				r.Plate = bag.Plate(plate)
			case `"epoch"`:
				r.Epoch = number(m)
			case `"sequence"`:
				r.Sequence = number(m)
			case `"bags"`:
				r.Bags = m.Value
			case `"pnrs"`:
				r.PNRs = texts(m.Value)
			case `"airlines"`:
				r.Airlines = texts(m.Value)
			case `"airports"`:
				r.Airports = texts(m.Value)
			case `"flights"`:
				r.Flights = texts(m.Value)
			}
		}
	})
	if !r.Plate.Valid() {
		faults = append(faults, errors.New("it names no plate"))
	}
	if r.Epoch < 0 || r.Epoch > maxEpoch || r.Sequence < 0 || r.Sequence > maxSequence {
		faults = append(faults, errors.New("it has a position that no owner writes"))
	}
	if err = cmp.Or(err, errors.Join(faults...)); err != nil {
		return nil, fmt.Errorf("read a change: %w", err)
	}
	return &r, nil
}

// texts returns the strings of a JSON array, or nil if array is not a JSON array.
func texts(array []byte) (list []string) {
	err := strictjson.Elements(array, func(value []byte) {
		text, _ := strictjson.Unquote(value)
		list = append(list, text)
	})
	if err == nil && list == nil {
		list = []string{}
	}
	return list
}

// publish publishes changes in the order of their sequences, in the partition of the owner: readers
// take it for the partition of the sequences, however many partitions the topic has.
func (o *owner) publish(ctx context.Context, told []change, now time.Time) error {
	if len(told) == 0 {
		return nil
	}
	records := make([]kafka.Record, len(told))
	for i := range told {
		told[i].Time = now
		records[i] = told[i].document()
	}
	err := o.conf.Kafka.ProduceTo(ctx, o.conf.Changes, o.partition, records)
	if errors.Is(err, kafka.ErrTooLarge) {
		err = o.publishEach(ctx, told, records)
	}
	if err != nil {
		return fmt.Errorf("publish changes: %w", err)
	}
	return nil
}

// publishEach publishes changes one by one. It publishes a change that is too large for the broker
// without its bags, and if the record is still too large, without PNRs and flights too; readers of
// the topic then ask the service for the bags. A change that is too large even then is left out, so
// that it does not stop the partition for ever.
func (o *owner) publishEach(ctx context.Context, told []change, records []kafka.Record) error {
	for i := range records {
		r := &told[i].Record
		err := o.conf.Kafka.ProduceTo(ctx, o.conf.Changes, o.partition, records[i:i+1])
		for without := "its bags"; errors.Is(err, kafka.ErrTooLarge) && r.PNRs != nil; without = "its bags, PNRs and flights" {
			o.log.Warn("a change is too large for the topic of changes: publishing it without "+without,
				zap.Error(err), zap.Int64("sequence", r.Sequence), zap.Int("bytes", len(records[i].Value)))
			if r.Bags == nil {
				r.PNRs, r.Flights = nil, nil
			}
			r.Bags = nil
			records[i] = r.document()
			err = o.conf.Kafka.ProduceTo(ctx, o.conf.Changes, o.partition, records[i:i+1])
		}
		if errors.Is(err, kafka.ErrTooLarge) {
			o.log.Error("a change is too large for the topic of changes even without its bags and flights, and is told by the index alone",
				zap.Int64("sequence", r.Sequence), zap.Int("bytes", len(records[i].Value)))
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contentType is the only header of a record, since SDKs of CloudEvents misread others.
var contentType = []kafka.Header{{Key: "content-type", Value: []byte(ContentType)}}

// document returns the record as it is published: CloudEvents 1.0 in structured mode.
func (r *Record) document() kafka.Record {
	plate := string(r.Plate)
	dst := make([]byte, 0, 1024+len(r.Bags))
	dst = append(dst, `{"specversion":"1.0","type":"bagtrail.bag.changed","source":"/bagtrail"`...)
	dst = strictjson.AppendText(dst, "id", r.ID)
	dst = strictjson.AppendText(dst, "subject", plate)
	dst = strictjson.AppendText(dst, "time", r.Time.UTC().Format(time.RFC3339Nano))
	dst = append(strictjson.AppendText(dst, "datacontenttype", "application/json"), `,"data":{`...)
	dst = strictjson.AppendText(dst, "id", r.ID)
	dst = strictjson.AppendText(dst, "plate", plate)
	dst = strictjson.AppendNumber(dst, "epoch", r.Epoch)
	dst = strictjson.AppendNumber(dst, "sequence", r.Sequence)
	if r.Bags != nil {
		dst = append(strictjson.AppendName(dst, "bags"), r.Bags...)
	}
	if r.PNRs != nil {
		dst = strictjson.AppendTexts(dst, "pnrs", r.PNRs)
	}
	dst = strictjson.AppendTexts(dst, "airlines", r.Airlines)
	dst = strictjson.AppendTexts(dst, "airports", r.Airports)
	if r.Flights != nil {
		dst = strictjson.AppendTexts(dst, "flights", r.Flights)
	}
	return kafka.Record{Key: []byte(plate), Value: append(dst, "}}"...), Time: r.Time, Headers: contentType}
}

// FlightName returns a flight as records name it: airline, number and day, such as LX/14/2026-03-14.
func FlightName(f bag.Flight) string { return f.Airline + "/" + f.Number + "/" + f.Day.String() }

// summarise sets the fields that filters use: every flight that the messages of the plate name,
// even if it is not a living leg, with its airline and airports, the airports of the events, and
// the PNRs.
func (r *Record) summarise(bags []trail.Traced) {
	airlines, airports, pnrs, names := textSet{}, textSet{}, textSet{}, textSet{}
	var flights smallmap.Set[bag.Flight]
	addFlight := func(f bag.Flight) {
		if !f.IsZero() && flights.Add(f) {
			airlines.add(f.Airline)
			names.add(FlightName(f))
		}
	}
	for _, t := range bags {
		for i := range t.Bag.Events {
			m := t.Bag.Events[i].Message
			airports.add(m.Airport, m.Inbound.Airport, m.Outbound.Airport)
			for i := range m.Onward {
				airports.add(m.Onward[i].Airport)
			}
			for f := range m.Flights() {
				addFlight(f)
			}
			pnrs.add(strings.ToUpper(m.PNR))
		}
		for i := range t.Bag.Legs {
			l := &t.Bag.Legs[i]
			addFlight(l.Flight)
			airports.add(l.From, l.To)
		}
	}
	r.Airlines, r.Airports, r.PNRs, r.Flights = airlines.sorted(), airports.sorted(), pnrs.sorted(), names.sorted()
}

// textSet is a set of texts.
type textSet map[string]bool

func (s textSet) add(texts ...string) {
	for _, text := range texts {
		s[text] = true
	}
}

// sorted returns the texts except "" in order. The result is never nil: nil says that the texts
// are too large.
func (s textSet) sorted() []string {
	delete(s, "")
	return append([]string{}, slices.Sorted(maps.Keys(s))...)
}
