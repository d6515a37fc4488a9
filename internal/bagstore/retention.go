package bagstore

import "time"

// retention says when what is stored expires. The moment is always a whole number of granules since 1970, so that the
// many messages of a bag share few of them; nothing is kept for more than a granule longer than it has to be.
type retention struct {
	keep    int64 // seconds
	granule int64 // seconds
	grace   int64 // seconds
}

// endOfTime is the latest expiry, the end of the year 9999: a feed with a broken clock must not make Redis refuse.
const endOfTime = 253402300799

func newRetention(keep time.Duration) retention {
	seconds := max(1, int64((keep+time.Second-1)/time.Second))
	return retention{
		keep:    seconds,
		granule: max(1, seconds/360),
		grace:   max(1, seconds/180),
	}
}

// until returns the second at which a message expires that was received at the given time.
//
// A message that is past retention when it is filed, because a log is replayed, is kept for a grace: it may belong to
// a bag whose later messages come behind it.
func (r retention) until(received, now time.Time) int64 {
	return r.round(max(received.Unix()+r.keep, now.Unix()+r.grace))
}

// round returns the end of the granule of a second.
func (r retention) round(second int64) int64 {
	return min((second/r.granule+1)*r.granule, endOfTime)
}
