package bag

import "cmp"

// Position is the place of a message in the log of record. It orders messages that were received in
// the same millisecond (rules §2). The zero Position is that of a message that is not in the log,
// such as one replayed from a file.
type Position struct {
	Known     bool
	Partition int32 // of the raw topic; 0 without Kafka
	Offset    int64 // of the record; without Kafka a counter
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
