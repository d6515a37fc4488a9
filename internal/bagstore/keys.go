package bagstore

import (
	"strings"

	"bagtrail/internal/bag"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule. Every command
// has a single key, so keys may be on different nodes. All writes may be repeated or reordered:
// HSET of a field that is named by its content, ZADD with GT, and EXPIREAT that only postpones.
//
//	key                        type   holds                                     expires
//	b:0220123456               hash   identity → message, each that names the   when its newest message is past
//	                                  plate                                     retention
//	f:LX100A:2026-11-21        zset   plates that a message names with the      with its last member
//	                                  flight
//	a:ZRH:D:2026-11-21         zset   flights of the day, such as LX100A, that a with its last member
//	                                  message says depart from the airport; with
//	                                  A for D, that arrive there
//	n:LX100A:2026-11-21        set    number for each plate and surname that a  with the flight's key
//	                                  message names with the flight
//	p:ABC123                   zset   plates that a message names with the PNR  with its last member
//	r:0220123456               zset   rush plates that re-flight this one       with its last member
//	r:ABC123                   zset   rush plates that a message names with     with its last member
//	                                  the PNR
//	u:LX100A:2026-11-21:AKE1   zset   plates that a message says are in the     with its last member
//	                                  stowage device, for the flight
//	c:LX100A:2026-11-21:AKE1   hash   identity → message, each that positions   when its newest message is past
//	                                  the stowage device, for the flight        retention, or a bag in it is
//	x:{b:0220123456}           hash   damage that was found under the key in    when that key would have
//	                                  the braces: field → value, or member → "" expired
//	x:{b:0220123456}:key       any    the value of that key, which had a wrong  the same
//	                                  type
//	count                      string how many positions processes have taken   never
//	                                  for messages, if there is no log
//	sweep                      string "sweeping", or "held" by a replay; while  when the next sweep is due
//	                                  it exists, no process begins a sweep
//
// The score of a member is the second at which the entry expires: received time plus retention of
// the newest message that made the entry. After that second the member is ignored. Package codec
// writes identities and messages. The members of a set of names are integers, so that Redis stores
// each in 8 bytes while a flight has few (see nameNumber).
//
// A flight has one index for departing and arriving, since the living legs of a bag are known only
// when all its messages are read. All expiries are rounded up to a granule (see retention), so that
// one serves many messages. The Sweeper extends the expiries of the keys that a living bag needs
// for longer.
const (
	plateKind     = 'b'
	flightKind    = 'f'
	airportKind   = 'a'
	nameKind      = 'n'
	passengerKind = 'p'
	rushKind      = 'r'
	contentsKind  = 'u'
	stowageKind   = 'c'
	damagedKind   = 'x'
	wholeKey      = ":key" // follows the name of a damaged key
	countKey      = "count"
	sweepKey      = "sweep"
)

// sweptKinds are the kinds of the keys that a Sweeper looks for.
const sweptKinds = "bfanpruc"

// keys makes the names of keys. Its value is the prefix of the installation.
type keys string

func (k keys) plate(p bag.Plate) string       { return k.of(plateKind, string(p)) }
func (k keys) rush(original bag.Plate) string { return k.of(rushKind, string(original)) }
func (k keys) rushPNR(pnr string) string      { return k.of(rushKind, pnr) }
func (k keys) passenger(pnr string) string    { return k.of(passengerKind, pnr) }
func (k keys) flight(f bag.Flight) string     { return k.of(flightKind, flightName(f)) }
func (k keys) airport(a bag.AirportDay) string {
	side := ":D:"
	if a.Arriving {
		side = ":A:"
	}
	return k.of(airportKind, a.Airport+side+a.Day.String())
}
func (k keys) names(f bag.Flight) string        { return k.of(nameKind, flightName(f)) }
func (k keys) contents(c bag.Container) string  { return k.of(contentsKind, containerName(c)) }
func (k keys) stowage(c bag.Container) string   { return k.of(stowageKind, containerName(c)) }
func (k keys) count() string                    { return string(k) + countKey }
func (k keys) sweep() string                    { return string(k) + sweepKey }
func (k keys) of(kind byte, name string) string { return string(k) + string(rune(kind)) + ":" + name }

func flightName(f bag.Flight) string { return f.Airline + f.Number + ":" + f.Day.String() }

func containerName(c bag.Container) string { return flightName(c.Flight) + ":" + c.Device }

// split returns the kind of a key and the part of the key after the kind. The kind is 0 for a key
// of another installation.
func (k keys) split(key string) (kind byte, rest string) {
	if len(key) < len(k)+2 || key[:len(k)] != string(k) || key[len(k)+1] != ':' {
		return 0, ""
	}
	return key[len(k)], key[len(k)+2:]
}

// aside returns the key to which damage under a key is moved. Both keys are in one slot of a
// cluster, so one transaction can move the damage. If the damaged key itself has a tag in braces,
// that tag selects the slot. In a cluster, a key without a tag but with a closing brace has no such
// key.
func (k keys) aside(key string) string {
	own := key[len(k):]
	if _, rest, opened := strings.Cut(own, "{"); opened && strings.Index(rest, "}") > 0 {
		return k.of(damagedKind, own)
	}
	return k.of(damagedKind, "{"+key+"}")
}

// typeOf returns the Redis type that a key must have.
func (k keys) typeOf(key string) string {
	switch kind, _ := k.split(key); kind {
	case plateKind, stowageKind:
		return "hash"
	case nameKind:
		return "set"
	}
	return "zset"
}
