package bagstore

import (
	"strings"

	"bagtrail/internal/bag"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule. Only single-key commands are used,
// so no two keys need to live on one node, and every write may be repeated or come in any order:
// HSET of a field that is named by its content, ZADD with GT, EXPIREAT that only ever postpones.
//
//	key                        type   holds                                     expires
//	b:0220123456               hash   identity → message, each that names the   when its newest message is past
//	                                  plate                                     retention
//	f:LX100A:2026-11-21        zset   plates that a message names with the      with its last member
//	                                  flight
//	p:ABC123                   zset   plates that a message names with the PNR  with its last member
//	r:0220123456               zset   rush plates that re-fly this one          with its last member
//	r:ABC123                   zset   rush plates that a message names with     with its last member
//	                                  the PNR
//	u:LX100A:2026-11-21:AKE1   zset   plates that a message says are in the     with its last member
//	                                  stowage device, for the flight
//	c:LX100A:2026-11-21:AKE1   hash   identity → message, each that positions   when its newest message is past
//	                                  the stowage device, for the flight        retention, or a bag in it is
//	d:{b:0220123456}           hash   what was damaged under the key in the     with that key, as it
//	                                  braces: field → value, or member → ""     was then
//	d:{b:0220123456}:key       any    what stood in the place of that key and   the same
//	                                  is of a wrong type
//	count                      string how many positions processes have taken   never
//	                                  for messages, where there is no log
//	sweep                      string "sweeping", or "held" by a replay; while  when the next sweep is due
//	                                  it is there, no process begins a sweep
//
// The score of a member is the second at which the entry ends: received time and retention of the newest message that
// made it. A member past it counts as gone. Identities and messages are written by package codec.
//
// A flight has one index for departing and arriving: which legs of a bag live is known only when all its messages
// are read. All expiries are rounded up to a granule (see retention), so that one serves many messages. What lives
// longer than its own expiry, because its bag does, is extended by the Sweeper.
const (
	plateKind     = 'b'
	flightKind    = 'f'
	passengerKind = 'p'
	rushKind      = 'r'
	contentsKind  = 'u'
	stowageKind   = 'c'
	damagedKind   = 'd'
	wholeKey      = ":key" // behind the name of a damaged key
	countKey      = "count"
	sweepKey      = "sweep"
)

// keys spells keys; it is the prefix.
type keys string

func (k keys) plate(dst []byte, p bag.Plate) []byte { return append(k.kind(dst, plateKind), p...) }

func (k keys) rush(dst []byte, original bag.Plate) []byte {
	return append(k.kind(dst, rushKind), original...)
}

func (k keys) rushPNR(dst []byte, pnr string) []byte {
	return append(k.kind(dst, rushKind), pnr...)
}

func (k keys) passenger(dst []byte, pnr string) []byte {
	return append(k.kind(dst, passengerKind), pnr...)
}

func (k keys) flight(dst []byte, f bag.Flight) []byte {
	return spell(k.kind(dst, flightKind), f)
}

func (k keys) contents(dst []byte, c bag.Container) []byte {
	return spellContainer(k.kind(dst, contentsKind), c)
}

func (k keys) stowage(dst []byte, c bag.Container) []byte {
	return spellContainer(k.kind(dst, stowageKind), c)
}

func (k keys) kind(dst []byte, kind byte) []byte {
	return append(append(dst, k...), kind, ':')
}

func spell(dst []byte, f bag.Flight) []byte {
	return f.Day.Append(append(append(append(dst, f.Airline...), f.Number...), ':'))
}

func spellContainer(dst []byte, c bag.Container) []byte {
	return append(append(spell(dst, c.Flight), ':'), c.Device...)
}

// split returns the kind of a key and what is behind it, or 0 for a key of another installation.
func (k keys) split(key string) (kind byte, rest string) {
	if len(key) < len(k)+2 || key[:len(k)] != string(k) || key[len(k)+1] != ':' {
		return 0, ""
	}
	return key[len(k)], key[len(k)+2:]
}

// aside returns where what is damaged under a key is put: in the same slot of a cluster, so that it can be moved at once. A key
// that holds braces of its own may have the slot that these name.
func (k keys) aside(key string) string {
	to := string(k.kind(nil, damagedKind))
	if strings.Contains(key[len(k):], "{") {
		return to + key[len(k):]
	}
	return to + "{" + key + "}"
}

// typeOf returns the type that Redis has for a key.
func (k keys) typeOf(key string) string {
	if kind, _ := k.split(key); kind == plateKind || kind == stowageKind {
		return "hash"
	}
	return "zset"
}
