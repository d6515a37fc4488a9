package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/trail"
)

// Record is a change as a record of the topic of changes holds it.
type Record struct {
	ID       string          `json:"id"`
	Plate    bag.Plate       `json:"plate"`
	Epoch    int64           `json:"epoch"`
	Sequence int64           `json:"sequence"`
	Bags     json.RawMessage `json:"bags,omitempty"` // as a key without limits sees them, at the time of the record; absent if they are too large for a record
	PNRs     []string        `json:"pnrs"`           // every one that a message of the plate holds, in capitals
	Airlines []string        `json:"airlines"`       // of every flight that a message names
	Airports []string        `json:"airports"`       // of these flights, and of the events
	Flights  []string        `json:"flights"`        // these flights, as FlightName returns them; nil in a record of an earlier version
	Time     time.Time       `json:"-"`              // by which the bags were folded
}

// cloudEvent is the envelope of a record: CloudEvents 1.0 in structured mode.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	Type            string    `json:"type"`
	Source          string    `json:"source"`
	ID              string    `json:"id"`
	Subject         string    `json:"subject"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            *Record   `json:"data"`
}

// ContentType is the content type of a record's value, which its only header holds.
const ContentType = "application/cloudevents+json"

// ParseRecord reads the value of a record of the topic of changes.
func ParseRecord(value []byte) (*Record, error) {
	var event cloudEvent
	if err := json.Unmarshal(value, &event); err != nil {
		return nil, fmt.Errorf("read a change: %w", err)
	}
	if event.Data == nil || !event.Data.Plate.Valid() {
		return nil, fmt.Errorf("read a change: it names no plate")
	}
	event.Data.Time = event.Time
	return event.Data, nil
}

// publish publishes changes in the order of their sequences.
func (o *owner) publish(ctx context.Context, told []change, now time.Time) error {
	if len(told) == 0 {
		return nil
	}
	records := make([]kafka.Record, len(told))
	for i := range told {
		record, err := o.document(&told[i], now)
		if err != nil {
			return err
		}
		records[i] = record
	}
	err := o.conf.Kafka.Produce(ctx, o.conf.Changes, records)
	if errors.Is(err, kafka.ErrTooLarge) {
		err = o.publishEach(ctx, told, records, now)
	}
	if err != nil {
		return fmt.Errorf("publish changes: %w", err)
	}
	return nil
}

// publishEach publishes changes one by one. One that is larger than the broker takes is published
// without its bags, which those who read it get from the index. If it is too large even then, it is
// left out, so that it does not hold up the partition for ever.
func (o *owner) publishEach(ctx context.Context, told []change, records []kafka.Record, now time.Time) error {
	for i := range records {
		err := o.conf.Kafka.Produce(ctx, o.conf.Changes, records[i:i+1])
		if errors.Is(err, kafka.ErrTooLarge) {
			o.log.Warn("a change is too large for the topic of changes, and is published without its bags",
				zap.ByteString("plate", records[i].Key), zap.Int("bytes", len(records[i].Value)))
			told[i].state = nil
			if records[i], err = o.document(&told[i], now); err != nil {
				return err
			}
			err = o.conf.Kafka.Produce(ctx, o.conf.Changes, records[i:i+1])
		}
		if errors.Is(err, kafka.ErrTooLarge) {
			o.log.Error("a change is too large for the topic of changes even without its bags, and is told by the index alone",
				zap.ByteString("plate", records[i].Key), zap.Int("bytes", len(records[i].Value)))
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// document returns the record of a change, a CloudEvent.
func (o *owner) document(c *change, now time.Time) (kafka.Record, error) {
	id := Position{o.epoch.Begun, c.entry.Sequence}.ID(c.entry.Plate)
	value, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", Type: "bagtrail.bag.changed", Source: "/bagtrail", ID: id,
		Subject: string(c.entry.Plate), Time: now.UTC(), DataContentType: "application/json",
		Data: &Record{
			ID: id, Plate: c.entry.Plate, Epoch: o.epoch.Begun, Sequence: c.entry.Sequence,
			Bags: c.state, PNRs: c.pnrs, Airlines: c.entry.Airlines, Airports: c.entry.Airports,
			Flights: c.flights,
		},
	})
	return kafka.Record{
		Key: []byte(c.entry.Plate), Value: value, Time: now,
		Headers: []kafka.Header{{Key: "content-type", Value: []byte(ContentType)}},
	}, err
}

// FlightName returns a flight as records name it: airline, number and day, such as LX/14/2026-03-14.
func FlightName(f bag.Flight) string { return f.Airline + "/" + f.Number + "/" + f.Day.String() }

// summarise sets what filters need to know of the bags of a plate: every flight that their messages
// name, living or not, with its airline and airports, the airports of the events, and the PNRs.
func (c *change) summarise(bags []trail.Traced) {
	e := &c.entry
	var flights []bag.Flight
	fly := func(f bag.Flight) {
		if !f.IsZero() && !slices.Contains(flights, f) {
			flights = append(flights, f)
		}
	}
	for _, t := range bags {
		b := t.Bag
		for i := range b.Events {
			m := b.Events[i].Message
			e.Airports = append(e.Airports, m.Airport, m.Inbound.Airport, m.Outbound.Airport)
			for f := range m.Flights() {
				fly(f)
			}
			for _, s := range m.Onward {
				e.Airports = append(e.Airports, s.Airport)
			}
			c.pnrs = append(c.pnrs, strings.ToUpper(m.PNR))
		}
		for _, l := range b.Legs {
			fly(l.Flight)
			e.Airports = append(e.Airports, l.From, l.To)
		}
	}
	for _, f := range flights {
		e.Airlines = append(e.Airlines, f.Airline)
		c.flights = append(c.flights, FlightName(f))
	}
	e.Airlines, e.Airports = distinct(e.Airlines), distinct(e.Airports)
	c.pnrs, c.flights = distinct(c.pnrs), distinct(c.flights)
}

// distinct sorts a list, and leaves out repetitions and "".
func distinct(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	return append([]string{}, list...) // never null in JSON
}
