package bagstore

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
)

// A name number consists of the hash of a surname, and a plate. The set of names of a flight holds
// name numbers. If a set has at most 512 of them, Redis stores each in 8 bytes.
const (
	plateBits = 34
	platesEnd = 10_000_000_000 // less than 2^34
)

// nameNumber returns the name number of a surname, which is folded, and a plate.
func nameNumber(surname string, plate bag.Plate) string {
	n, _ := strconv.ParseUint(string(plate), 10, plateBits)
	return strconv.FormatUint(hashName(surname)<<plateBits|n, 10)
}

// hashName returns a hash of 29 bits, so that a name number is positive. It is the same in every
// process.
func hashName(surname string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(surname))
	return h.Sum64() >> (64 - 29)
}

// named returns the plates of the wanted surname of each reply, in ascending order. A plate may
// belong to another surname with the same hash.
func (r *Reader) named(replies []*goredis.StringSliceCmd, wanted []bag.Named) [][]bag.Plate {
	all := make([][]bag.Plate, len(replies))
	for i, reply := range replies {
		hash := hashName(wanted[i].Surname)
		for _, member := range reply.Val() {
			switch n, err := strconv.ParseUint(member, 10, 63); {
			case err != nil || n%(1<<plateBits) >= platesEnd:
				r.store.report(damage{key: keyOf(reply), kind: badMember, member: member})
			case n>>plateBits == hash:
				all[i] = append(all[i], bag.Plate(fmt.Sprintf("%010d", n%(1<<plateBits))))
			}
		}
		slices.Sort(all[i])
	}
	return all
}
