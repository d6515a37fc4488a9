package bagstore

import "time"

// retention says when stored data expires, in seconds. An expiry is a whole number of granules
// since 1970, so that the messages of a bag share few expiries. Data expires at most a granule
// late.
type retention struct {
	keep    int64 // how long a message is kept after its received time
	granule int64
	grace   int64 // see until
}

// endOfTime is the latest expiry, the end of the year 9999. Redis refuses much later expiries,
// which a feed with a wrong clock could cause.
const endOfTime = 253402300799

func newRetention(keep time.Duration) retention {
	seconds := max(1, int64((keep+time.Second-1)/time.Second))
	return retention{
		keep:    seconds,
		granule: max(1, seconds/360),
		grace:   max(1, seconds/180),
	}
}

// until returns the second at which a message expires. A message may be older than the retention
// when it is filed, because a log is replayed. It is kept for the time grace, since later messages
// of its bag may follow.
func (r retention) until(received, now time.Time) int64 {
	return r.round(max(received.Unix()+r.keep, now.Unix()+r.grace))
}

// round returns the end of the granule that holds a second, but at most endOfTime.
func (r retention) round(second int64) int64 {
	return min((second/r.granule+1)*r.granule, endOfTime)
}
