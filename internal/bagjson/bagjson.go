// Package bagjson writes bags and events as the JSON of the interface (section 2): members in the
// order of its tables, absent ones left out, never null or "".
//
// Its functions append to a buffer and return it, like append. What they append depends on their
// arguments alone. They do not check rights: the caller passes only what may be context.
package bagjson

import (
	"strconv"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
)

// Places has the location of airports; *airport.Library implements it.
type Places interface {
	// Location returns the time zone of the airport, UTC if it is not known.
	Location(airport string) *time.Location
	// Position returns latitude and longitude in decimal degrees.
	Position(airport string) (latitude, longitude string, known bool)
}

// EventContext is what AppendEvent shows beside the event itself.
type EventContext struct {
	Unknown    bool            // the bag is unknown
	Reflighted *bag.Reflighted // the original of a REFLIGHTED event; nil for any other event
	Raw        bool            // show the message as sent
}

// AppendFlightBag appends the entry of a list of bags for a flight (2.1), in its wrapper.
func AppendFlightBag(dst []byte, b *bag.Bag, leg *bag.Leg) []byte {
	dst = append(dst, `{"bag":{"bagtag":`...)
	dst = strictjson.AppendString(dst, string(b.Plate))
	dst = appendRush(dst, b)
	dst = appendNames(dst, b)
	dst = appendMember(dst, "loading_status", leg.Status.String())
	dst = appendMember(dst, "seat_number", leg.Seat)
	dst = appendMember(dst, "pnr", b.PNR)
	return append(dst, `}}`...)
}

// AppendPassengerBag appends the entry of a list of bags for a passenger (2.2).
func AppendPassengerBag(dst []byte, b *bag.Bag, rushTag bag.Plate) []byte {
	dst = append(dst, `{"bagtag":`...)
	dst = strictjson.AppendString(dst, string(b.Plate))
	dst = appendNames(dst, b)
	dst = appendRush(dst, b)
	dst = appendMember(dst, "rushtag", string(rushTag))
	return append(dst, '}')
}

// AppendBag appends the common bag information of a history (2.3).
func AppendBag(dst []byte, b *bag.Bag) []byte {
	dst = append(dst, `{"bagtag":`...)
	dst = strictjson.AppendString(dst, string(b.Plate))
	dst = appendNames(dst, b)
	dst = appendNumber(dst, "no_of_checked_bags", b.Pieces)
	dst = appendNumber(dst, "total_weight_of_checkedin_bags", b.Weight)
	dst = appendMember(dst, "weight_indicator", b.WeightUnit)
	return append(dst, '}')
}

// AppendEvent appends an event of a history (2.3).
func AppendEvent(dst []byte, e *bag.Event, places Places, context EventContext) []byte {
	m := e.Message
	dst = append(dst, `{"airport":`...)
	dst = strictjson.AppendString(dst, m.Airport)
	dst = append(dst, `,"event_code":`...)
	dst = strictjson.AppendString(dst, e.Code)
	dst = append(dst, `,"event_desc":`...)
	dst = strictjson.AppendString(dst, e.Description)
	dst = append(dst, `,"local_date_time":"`...)
	dst = appendTime(dst, m.Happened.In(places.Location(m.Airport)))
	dst = append(dst, `","utc_date_time":"`...)
	dst = appendTime(dst, m.Happened.UTC())
	dst = append(dst, '"')
	return append(AppendEventDetails(dst, e, places, context), '}')
}

// AppendEventDetails appends the members of an event after its airport, code and times, each led by
// a comma.
func AppendEventDetails(dst []byte, e *bag.Event, places Places, context EventContext) []byte {
	m := e.Message
	if m.Compartment != m.Airport {
		dst = appendMember(dst, "aircraft_compartment", m.Compartment)
	}
	dst = appendFlightInfo(dst, m)
	if e.Sets.Loaded() {
		dst = appendFlight(dst, "flight_loading_info", m.Outbound, destinationFirst)
	}
	if m.Connection != nil {
		dst = appendFlight(dst, "connection_flight_info", *m.Connection, destinationFirst)
	}
	dst = appendReflighted(dst, context.Reflighted)
	dst = appendMember(dst, "frequent_flyer", m.FrequentFlyer)
	dst = appendMember(dst, "passenger_status", m.PassengerStatus)
	dst = appendMember(dst, "pnr", m.PNR)
	if context.Raw {
		dst = appendMember(dst, "raw_bim_msg", m.Raw)
	}
	dst = appendMember(dst, "read_location", m.Processing.ReadLocation)
	dst = appendMember(dst, "sent_location", m.Processing.SentLocation)
	dst = appendMember(dst, "stowage_device", m.Device)
	if context.Unknown {
		dst = append(dst, `,"unknown_bag_flag":"Y"`...)
	}
	dst = appendMember(dst, "bagtag_status", m.TagStatus)
	if latitude, longitude, known := places.Position(m.Airport); known {
		dst = appendMember(dst, "longitude", longitude)
		dst = appendMember(dst, "latitude", latitude)
	}
	return appendAirlineData(dst, m.AirlineData)
}

func appendFlightInfo(dst []byte, m *bag.Message) []byte {
	start := len(dst)
	dst = append(dst, `,"flight_info":`...)
	body := len(dst)
	dst = appendFlight(dst, "inbound", m.Inbound, inbound)
	dst = appendOnward(dst, m.Onward)
	dst = appendFlight(dst, "outbound", m.Outbound, destinationSecond)
	return closeObject(dst, start, body)
}

func appendOnward(dst []byte, flights []bag.Segment) []byte {
	start := len(dst)
	dst = append(dst, `,"onward":`...)
	body := len(dst)
	for _, f := range flights {
		if !f.IsZero() {
			dst = append(dst, ',')
			dst = appendFlightObject(dst, f, destinationSecond)
		}
	}
	return closeList(dst, start, body)
}

// flightOrder is the order of the members of a flight in one of the tables of the interface.
type flightOrder uint8

const (
	inbound           flightOrder = iota // date, flight, airline, orig_airport
	destinationSecond                    // date, dest_airport, flight, airline
	destinationFirst                     // dest_airport, date, flight, airline
)

func appendFlight(dst []byte, name string, s bag.Segment, order flightOrder) []byte {
	if s.IsZero() {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return appendFlightObject(dst, s, order)
}

// appendFlightObject appends a flight, which must not be zero.
func appendFlightObject(dst []byte, s bag.Segment, order flightOrder) []byte {
	body := len(dst)
	if order == destinationFirst {
		dst = appendMember(dst, "dest_airport", s.Airport)
	}
	dst = appendDay(dst, s.Day)
	if order == destinationSecond {
		dst = appendMember(dst, "dest_airport", s.Airport)
	}
	dst = appendMember(dst, "flight", s.Number)
	dst = appendMember(dst, "airline", s.Carrier)
	if order == inbound {
		dst = appendMember(dst, "orig_airport", s.Airport)
	}
	return closeObject(dst, body, body)
}

func appendReflighted(dst []byte, r *bag.Reflighted) []byte {
	if r == nil {
		return dst
	}
	dst = append(dst, `,"reflighted_info":{"bagtag":`...)
	dst = strictjson.AppendString(dst, string(r.Plate))
	if !r.Flight.IsZero() {
		dst = append(dst, `,"flights":`...)
		body := len(dst)
		dst = appendMember(dst, "airline", r.Carrier)
		dst = appendMember(dst, "flight", r.Flight.Number)
		dst = appendDay(dst, r.Flight.Day)
		dst = closeObject(dst, body, body)
	}
	return append(dst, '}')
}

func appendAirlineData(dst []byte, data []string) []byte {
	start := len(dst)
	dst = append(dst, `,"airline_data_set":`...)
	body := len(dst)
	for _, line := range data {
		if line == "" {
			continue
		}
		dst = append(dst, `,{"airline_data":`...)
		dst = strictjson.AppendString(dst, line)
		dst = append(dst, '}')
	}
	return closeList(dst, start, body)
}

func appendRush(dst []byte, b *bag.Bag) []byte {
	if b.Rush {
		return append(dst, `,"rush_bag_indicator":"Y"`...)
	}
	return append(dst, `,"rush_bag_indicator":"N"`...)
}

func appendNames(dst []byte, b *bag.Bag) []byte {
	dst = appendMember(dst, "passenger_first_name", b.GivenName)
	return appendMember(dst, "passenger_last_name", b.Surname)
}

// appendMember appends a comma and a member, or nothing if the value is "".
func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strictjson.AppendString(dst, value)
}

func appendNumber(dst []byte, name string, value int) []byte {
	if value < 0 {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strconv.AppendInt(dst, int64(value), 10)
}

// appendTime appends a time in its zone, as time.RFC3339 writes it.
func appendTime(dst []byte, t time.Time) []byte {
	_, offset := t.Zone()
	day := bag.DayOf(t)
	dst = append(day.Append(dst), 'T')
	second := int(t.Unix() + int64(offset) - 86400*int64(day))
	dst = append(appendTwo(dst, second/3600), ':')
	dst = append(appendTwo(dst, second/60%60), ':')
	dst = appendTwo(dst, second%60)
	if offset == 0 {
		return append(dst, 'Z')
	}
	sign, minutes := byte('+'), offset/60
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	dst = append(appendTwo(append(dst, sign), minutes/60), ':')
	return appendTwo(dst, minutes%60)
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

func appendDay(dst []byte, day bag.Day) []byte {
	if day == 0 { // the date of a connection may be absent
		return dst
	}
	dst = append(dst, `,"date":"`...)
	dst = day.Append(dst)
	return append(dst, '"')
}

// closeObject ends the object whose members begin at body, each after a comma. If there are none,
// it removes everything from start on.
func closeObject(dst []byte, start, body int) []byte {
	if len(dst) == body {
		return dst[:start]
	}
	dst[body] = '{'
	return append(dst, '}')
}

// closeList ends a list like closeObject.
func closeList(dst []byte, start, body int) []byte {
	if len(dst) == body {
		return dst[:start]
	}
	dst[body] = '['
	return append(dst, ']')
}
