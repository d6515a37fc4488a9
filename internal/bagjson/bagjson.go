// Package bagjson writes bags and events as the JSON of the interface (section 2): members in the
// order of its tables, absent ones left out, never null or "".
//
// Its functions append to a buffer and return it, like append. The result depends only on their
// arguments. They do not check rights: the caller passes only events that the asker may see.
package bagjson

import (
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
)

// EventContext holds the data that AppendEvent shows in addition to the event itself.
type EventContext struct {
	Unknown    bool            // the bag is unknown
	Reflighted *bag.Reflighted // the original of a REFLIGHTED event; nil for any other event
	Raw        bool            // show the message as sent
}

// AppendFlightBag appends the entry of a list of bags for a flight (2.1), in its wrapper.
func AppendFlightBag(dst []byte, b *bag.Bag, leg *bag.Leg) []byte {
	dst = strictjson.AppendText(append(dst, `{"bag":{`...), "bagtag", string(b.Plate))
	dst = appendRush(dst, b)
	dst = appendNames(dst, b)
	dst = strictjson.AppendMember(dst, "loading_status", leg.Status.String())
	dst = strictjson.AppendMember(dst, "seat_number", leg.Seat)
	dst = strictjson.AppendMember(dst, "pnr", b.PNR)
	return append(dst, `}}`...)
}

// AppendPassengerBag appends the entry of a list of bags for a passenger (2.2).
func AppendPassengerBag(dst []byte, b *bag.Bag, rushTag bag.Plate) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "bagtag", string(b.Plate))
	dst = appendNames(dst, b)
	dst = appendRush(dst, b)
	dst = strictjson.AppendMember(dst, "rushtag", string(rushTag))
	return append(dst, '}')
}

// AppendBag appends the common bag information of a history (2.3).
func AppendBag(dst []byte, b *bag.Bag) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "bagtag", string(b.Plate))
	dst = appendNames(dst, b)
	dst = strictjson.AppendNumber(dst, "no_of_checked_bags", b.Pieces)
	dst = strictjson.AppendNumber(dst, "total_weight_of_checkedin_bags", b.Weight)
	dst = strictjson.AppendMember(dst, "weight_indicator", b.WeightUnit)
	return append(dst, '}')
}

// AppendEvent appends an event of a history (2.3).
func AppendEvent(dst []byte, e *bag.Event, airports *airport.Library, context EventContext) []byte {
	m := e.Message
	dst = strictjson.AppendText(append(dst, '{'), "airport", m.Airport)
	dst = strictjson.AppendText(dst, "event_code", e.Code)
	dst = strictjson.AppendText(dst, "event_desc", e.Description)
	dst = strictjson.AppendTime(dst, "local_date_time", m.Happened.In(airports.TimeZone(m.Airport)), time.RFC3339)
	dst = strictjson.AppendTime(dst, "utc_date_time", m.Happened.UTC(), time.RFC3339)
	return append(AppendEventDetails(dst, e, airports, context), '}')
}

// AppendEventDetails appends the members of an event other than airport, code, description and
// times, each after a comma.
func AppendEventDetails(dst []byte, e *bag.Event, airports *airport.Library, context EventContext) []byte {
	m := e.Message
	if m.Compartment != m.Airport {
		dst = strictjson.AppendMember(dst, "aircraft_compartment", m.Compartment)
	}
	dst = appendFlightInfo(dst, m)
	if e.Sets.Loaded() {
		dst = appendFlight(dst, "flight_loading_info", m.Outbound, destinationFirst)
	}
	if m.Connection != nil {
		dst = appendFlight(dst, "connection_flight_info", *m.Connection, destinationFirst)
	}
	dst = appendReflighted(dst, context.Reflighted)
	dst = strictjson.AppendMember(dst, "frequent_flyer", m.FrequentFlyer)
	dst = strictjson.AppendMember(dst, "passenger_status", m.PassengerStatus)
	dst = strictjson.AppendMember(dst, "pnr", m.PNR)
	if context.Raw {
		dst = strictjson.AppendMember(dst, "raw_bim_msg", m.Raw)
	}
	dst = strictjson.AppendMember(dst, "read_location", m.Processing.ReadLocation)
	dst = strictjson.AppendMember(dst, "sent_location", m.Processing.SentLocation)
	dst = strictjson.AppendMember(dst, "stowage_device", m.Device)
	if context.Unknown {
		dst = append(dst, `,"unknown_bag_flag":"Y"`...)
	}
	dst = strictjson.AppendMember(dst, "bagtag_status", m.TagStatus)
	if latitude, longitude, known := airports.Coordinates(m.Airport); known {
		dst = strictjson.AppendMember(dst, "longitude", longitude)
		dst = strictjson.AppendMember(dst, "latitude", latitude)
	}
	return appendAirlineData(dst, m.AirlineData)
}

func appendFlightInfo(dst []byte, m *bag.Message) []byte {
	return strictjson.AppendGroup(dst, "flight_info", "{}", func(dst []byte) []byte {
		dst = appendFlight(dst, "inbound", m.Inbound, inbound)
		dst = appendOnward(dst, m.Onward)
		return appendFlight(dst, "outbound", m.Outbound, destinationSecond)
	})
}

func appendOnward(dst []byte, flights []bag.Segment) []byte {
	return strictjson.AppendGroup(dst, "onward", "[]", func(dst []byte) []byte {
		for _, f := range flights {
			dst = appendFlightObject(strictjson.AppendComma(dst), f, destinationSecond)
		}
		return dst
	})
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
	return appendFlightObject(strictjson.AppendName(dst, name), s, order)
}

// appendFlightObject appends a flight, which must not be zero.
func appendFlightObject(dst []byte, s bag.Segment, order flightOrder) []byte {
	dst = append(dst, '{')
	if order == destinationFirst {
		dst = strictjson.AppendMember(dst, "dest_airport", s.Airport)
	}
	dst = appendDay(dst, s.Day)
	if order == destinationSecond {
		dst = strictjson.AppendMember(dst, "dest_airport", s.Airport)
	}
	dst = strictjson.AppendMember(dst, "flight", s.Number)
	dst = strictjson.AppendMember(dst, "airline", s.Carrier)
	if order == inbound {
		dst = strictjson.AppendMember(dst, "orig_airport", s.Airport)
	}
	return append(dst, '}')
}

func appendReflighted(dst []byte, r *bag.Reflighted) []byte {
	if r == nil {
		return dst
	}
	dst = strictjson.AppendText(append(dst, `,"reflighted_info":{`...), "bagtag", string(r.Plate))
	if !r.Flight.IsZero() {
		dst = strictjson.AppendMember(append(dst, `,"flights":{`...), "airline", r.Carrier)
		dst = strictjson.AppendMember(dst, "flight", r.Flight.Number)
		dst = append(appendDay(dst, r.Flight.Day), '}')
	}
	return append(dst, '}')
}

func appendAirlineData(dst []byte, data []string) []byte {
	return strictjson.AppendGroup(dst, "airline_data_set", "[]", func(dst []byte) []byte {
		for _, line := range data {
			dst = append(strictjson.AppendComma(dst), '{')
			dst = append(strictjson.AppendText(dst, "airline_data", line), '}')
		}
		return dst
	})
}

func appendRush(dst []byte, b *bag.Bag) []byte {
	if b.Rush {
		return append(dst, `,"rush_bag_indicator":"Y"`...)
	}
	return append(dst, `,"rush_bag_indicator":"N"`...)
}

func appendNames(dst []byte, b *bag.Bag) []byte {
	dst = strictjson.AppendMember(dst, "passenger_first_name", b.GivenName)
	return strictjson.AppendMember(dst, "passenger_last_name", b.Surname)
}

func appendDay(dst []byte, day bag.Day) []byte {
	if day == 0 { // the date of a connection may be absent
		return dst
	}
	dst = append(strictjson.AppendName(dst, "date"), '"')
	dst = day.Append(dst)
	return append(dst, '"')
}
