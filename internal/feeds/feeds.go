// Package feeds counts, for each feed, the messages of each hour of the last month, their delays
// and the codes of their faults. It finds the feeds that are silent. A feed is the messages about
// one airport that come in by one door.
//
// A Counter counts in memory and writes to Redis once a second, so that no message waits. Counts are
// for people who watch feeds: those of the last second are lost if a process is killed, and nothing
// restores the counts of an emptied Redis.
package feeds

import (
	"math"
	"slices"
	"time"
)

// Name names a feed.
type Name struct {
	Airport string // of .V; "" for messages whose airport cannot be read
	Door    string // the name of the door, such as "kafka"
}

// String returns airport and door with a slash between them. Feeds are listed in this order.
func (n Name) String() string { return n.Airport + "/" + n.Door }

// Counts counts the messages that a feed sent during some time.
type Counts struct {
	Accepted  int64
	Duplicate int64 // texts that repeat one of the last ten minutes
	Rejected  int64
	Delays    Delays
	Codes     map[string]int64 // by code, how many rejected messages have it
}

// Messages returns the number of messages.
func (c *Counts) Messages() int64 { return c.Accepted + c.Duplicate + c.Rejected }

// Code returns the most frequent code, or "" if no message was rejected.
func (c *Counts) Code() (most string) {
	for code, n := range c.Codes {
		if n > c.Codes[most] || n == c.Codes[most] && code < most {
			most = code
		}
	}
	return most
}

// Add adds the counts of another time.
func (c *Counts) Add(other *Counts) {
	c.Accepted += other.Accepted
	c.Duplicate += other.Duplicate
	c.Rejected += other.Rejected
	for i, n := range other.Delays {
		c.Delays[i] += n
	}
	for code, n := range other.Codes {
		c.addCode(code, n)
	}
}

func (c *Counts) addCode(code string, n int64) {
	if c.Codes == nil {
		c.Codes = map[string]int64{}
	}
	c.Codes[code] += n
}

// Delays counts the delays from happened to received. Class 0 is below a second. The upper bound of
// each further class is √2 times that of the class before it; the last class has none.
type Delays [37]int64

// bound returns the upper bound of a class.
func bound(class int) time.Duration {
	return time.Duration(math.Exp2(float64(class)/2) * float64(time.Second))
}

func (d *Delays) add(delay time.Duration) {
	class := 0
	for class < len(d)-1 && delay >= bound(class) {
		class++
	}
	d[class]++
}

// Quantile returns the delay that a share q of the messages does not exceed, as exactly as the
// classes allow. It returns false if no delay was counted.
func (d *Delays) Quantile(q float64) (delay time.Duration, ok bool) {
	total := int64(0)
	for _, n := range d {
		total += n
	}
	rank := q * float64(total)
	for class, n := range d {
		if n == 0 || rank > float64(n) {
			rank -= float64(n)
			continue
		}
		low := time.Duration(0)
		if class > 0 {
			low = bound(class - 1)
		}
		if class == len(d)-1 {
			return low, true
		}
		return low + time.Duration(rank/float64(n)*float64(bound(class)-low)), true
	}
	return 0, false
}

// Hour holds the counts of one hour.
type Hour struct {
	Start time.Time // UTC
	Counts
}

// Feed is the present state of a feed.
type Feed struct {
	Name
	First, Last time.Time     // when its first and its last message were received, UTC
	Gap         time.Duration // the usual time between two messages at this hour of the week; 0 if none usually come
	State       State
	Hours       []Hour // the hours that were asked for, in order, without empty ones
}

func earlier(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
func later(times ...time.Time) time.Time   { return slices.MaxFunc(times, time.Time.Compare) }
