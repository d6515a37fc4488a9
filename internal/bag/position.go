package bag

import (
	"cmp"
	"math"
)

// Position is the position of a message in the log of record. It orders messages that were received
// in the same millisecond (rules §2). A message of POST /v1/messages has its position in the
// request instead. The zero Position is that of a message without a position, such as one that is
// replayed from a file.
type Position struct {
	Known     bool
	Partition int32 // of the raw topic; 0 without Kafka
	Offset    int64 // of the record; without Kafka a counter
}

// ofRequests is the partition of positions in requests. No topic has so many partitions.
const ofRequests = math.MaxUint16

// InRequest returns the position of a message of POST /v1/messages: its number in the request, from
// 0. It comes after every position in the log, and is the same if the request is sent again.
func InRequest(number int) Position {
	return Position{Known: true, Partition: ofRequests, Offset: int64(number)}
}

// Number returns the number of a position in a request. ok is false if p is not such a position.
func (p Position) Number() (number int, ok bool) {
	if !p.Known || p.Partition != ofRequests {
		return 0, false
	}
	return int(p.Offset), true
}

// Compare orders positions by partition, then offset. The zero Position comes last.
func (p Position) Compare(q Position) int {
	if p.Known != q.Known {
		if p.Known {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.Partition, q.Partition), cmp.Compare(p.Offset, q.Offset))
}
