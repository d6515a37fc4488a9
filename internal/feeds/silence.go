package feeds

import "time"

// State says whether a feed sends as it usually does.
type State string

// The states.
const (
	New     State = "new"     // it has been known for less than a week
	Flowing State = "flowing" // it sends, or usually does not send at this time
	Silent  State = "silent"  // it has sent nothing for much longer than usual
)

// States are all states.
var States = [...]State{New, Flowing, Silent}

const (
	week       = 7 * 24 * time.Hour
	weeksKnown = 4 // how many weeks a usual gap is averaged over

	// A feed is silent if nothing came for more than silentGaps usual gaps, and for more than 5
	// minutes: a usual gap counts as leastGap if it is shorter.
	silentGaps = 10
	leastGap   = 5 * time.Minute / silentGaps

	// lookBack bounds the time since the last message that stateOf counts.
	lookBack = week
)

// usualGap returns the usual time between two messages in an hour: the average over the same hour of
// the last weeks in which the feed was known; 0 if no message came then. It returns false if there
// is no such week.
func usualGap(hour, first time.Time, messages map[time.Time]int64) (gap time.Duration, known bool) {
	var hours time.Duration
	sum := int64(0)
	before := hour
	for range weeksKnown {
		before = before.Add(-week)
		if before.Before(first) {
			break
		}
		hours += time.Hour
		sum += messages[before]
	}
	if sum == 0 {
		return 0, hours > 0
	}
	return hours / time.Duration(sum), true
}

// stateOf returns the state of a feed, and its usual gap at this hour of the week. messages has the
// number of messages for the beginning of each hour.
//
// It counts the usual gaps since the last message, in each hour by the usual gap of that hour. So a
// feed that pauses at night is not silent at the first minute of the morning.
func stateOf(first, last, now time.Time, messages map[time.Time]int64) (State, time.Duration) {
	gap, known := usualGap(now.Truncate(time.Hour), first, messages)
	if !known {
		return New, 0
	}
	missed := 0.0 // usual gaps in which nothing came
	for from := later(last, now.Add(-lookBack)); from.Before(now); {
		hour := from.Truncate(time.Hour)
		to := earlier(hour.Add(time.Hour), now)
		if usual, _ := usualGap(hour, first, messages); usual > 0 {
			missed += float64(to.Sub(from)) / float64(max(usual, leastGap))
		}
		from = to
	}
	if missed > silentGaps {
		return Silent, gap
	}
	return Flowing, gap
}
