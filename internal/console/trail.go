package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// trail is a picture of the way of a bag: a lane for the bag and one for each rush bag, over a
// common time axis. Horizontal positions are in percent, vertical positions in rem.
type trail struct {
	Label  string
	Height string
	Lines  []trailLine
	Dots   []trailDot
	Texts  []trailText
}

type trailLine struct{ Class, X1, X2, Y1, Y2 string }
type trailDot struct{ Class, X, Y, R, Title string }
type trailText struct{ Class, X, Y, Anchor, Text string }

// Measures of the picture.
const (
	firstLane    = 4.4              // rem
	laneHeight   = 5.0              // rem
	underLanes   = 3.6              // rem, from the last lane to the axis
	underAxis    = 2.8              // rem, from the axis to the bottom
	longGap      = 4 * time.Hour    // a gap between two moments that is longer than this is cut
	cutGap       = 40 * time.Minute // the length to which such a gap is cut
	usualFlight  = 90 * time.Minute // length of a flight if no arrival is known
	leftEdge     = 4.0              // percent
	axisWidth    = 92.0             // percent
	tickDistance = 8.0              // percent between labels of the axis
)

// hop is a leg with the times at which it is drawn.
type hop struct {
	legDoc
	departs, arrives time.Time
}

// picture draws the bags of a rush chain, in its order. It returns nil if they have no events and
// no legs.
func (v *visit) picture(bags []bagDoc) *trail {
	var lanes [][]hop
	var moments []time.Time
	for _, b := range bags {
		hops := hopsOf(b)
		lanes = append(lanes, hops)
		for _, e := range b.Events {
			moments = append(moments, e.Happened)
		}
		for _, h := range hops {
			moments = append(moments, h.departs, h.arrives)
		}
	}
	if len(moments) == 0 {
		return nil
	}
	a := newAxis(moments)
	axisY := firstLane + laneHeight*float64(len(bags)-1) + underLanes
	t := &trail{Label: label(bags), Height: rem(axisY + underAxis)}
	for i, b := range bags {
		y := firstLane + laneHeight*float64(i)
		if i > 0 {
			t.elbow(a, bags[i-1], lanes[i-1], firstMoment(b, lanes[i]), y)
		}
		t.lane(a, v.now, b, lanes[i], y)
	}
	t.axis(a, v, bags, axisY)
	return t
}

// hopsOf returns the living legs of a bag in the order of their departures. Times that the flight
// reference does not know are estimated from the events.
func hopsOf(b bagDoc) (hops []hop) {
	var last time.Time
	for _, e := range b.Events {
		if e.Happened.After(last) {
			last = e.Happened
		}
	}
	for _, l := range b.Legs {
		if !l.Living {
			continue
		}
		h := hop{legDoc: l, departs: l.Departure.Best(), arrives: l.Arrival.Best()}
		if h.departs.IsZero() && statusOf(l.Status).Class == "air" {
			h.departs = l.StatusSince
		}
		if h.departs.IsZero() {
			h.departs = last.Add(usualFlight / 3)
			if n := len(hops); n > 0 && hops[n-1].arrives.After(last) {
				h.departs = hops[n-1].arrives.Add(usualFlight / 3)
			}
		}
		for i := range b.Events {
			if e := &b.Events[i]; h.arrives.IsZero() && e.Airport == l.To && e.Happened.After(h.departs) {
				h.arrives = e.Happened
			}
		}
		if !h.arrives.After(h.departs) {
			h.arrives = h.departs.Add(usualFlight)
		}
		hops = append(hops, h)
	}
	slices.SortStableFunc(hops, func(a, b hop) int { return a.departs.Compare(b.departs) })
	return hops
}

// firstMoment returns when a lane begins.
func firstMoment(b bagDoc, hops []hop) (first time.Time) {
	for _, e := range b.Events {
		if first.IsZero() || e.Happened.Before(first) {
			first = e.Happened
		}
	}
	if first.IsZero() && len(hops) > 0 {
		first = hops[0].departs
	}
	return first
}

// elbow draws the line from the moment at which a bag was left behind to its rush bag, one lane
// below.
func (t *trail) elbow(a *axis, before bagDoc, hops []hop, begins time.Time, y float64) {
	from := begins
	if i := slices.IndexFunc(hops, func(h hop) bool { return h.Status == delayed }); i >= 0 {
		from = hops[i].departs
	} else if n := len(before.Events); n > 0 {
		from = before.Events[n-1].Happened
	}
	t.line("elb", a.at(from), a.at(from), y-laneHeight, y)
	t.line("elb", a.at(from), a.at(begins), y, y)
}

// lane draws a bag: its stays at airports, its legs, and its events. A leg on which the bag is
// loaded is drawn as flown from its departure on.
func (t *trail) lane(a *axis, now time.Time, b bagDoc, hops []hop, y float64) {
	begins := firstMoment(b, hops)
	t.text("b", max(a.at(begins), leftEdge), y-2.4, "start", b.Plate)
	for _, h := range hops {
		if h.departs.After(begins) {
			t.line("stay", a.at(begins), a.at(h.departs), y, y)
		}
		begins = h.arrives
	}
	for _, e := range b.Events {
		if e.Happened.After(begins) {
			t.line("stay", a.at(begins), a.at(e.Happened), y, y)
			begins = e.Happened
		}
	}
	for _, h := range hops {
		s := statusOf(h.Status)
		class := map[string]string{"air": "rail", "del": "miss"}[s.Class]
		if class == "rail" && h.departs.After(now) {
			class = "plan"
		}
		from, to := a.at(h.departs), a.at(h.arrives)
		t.line(cmp.Or(class, "plan"), from, to, y, y)
		station := "stn"
		if class != "rail" {
			station = "stn todo"
		}
		t.dot(station, from, y, 0.55, "")
		t.text("b", from, y-1.1, "middle", h.From)
		t.dot(station, to, y, 0.55, "")
		t.text("b", to, y-1.1, "middle", h.To)
		t.text("b", (from+to)/2, y+1.8, "middle", h.Airline+h.Flight)
		if h.Status != "" {
			t.text("b lb-"+s.Class, (from+to)/2, y+3, "middle", s.Word)
		}
	}
	for _, e := range b.Events {
		t.dot("ev "+e.Mark(), a.at(e.Happened), y, 0.36, e.Local.Format("15:04 ")+e.Airport+" "+e.Word())
	}
}

// axis draws the time axis with local times, UTC below them, and a line at the current time.
func (t *trail) axis(a *axis, v *visit, bags []bagDoc, y float64) {
	t.line("ax", 0, 100, y, y)
	zone := func(at time.Time) string {
		airport, since := "", time.Time{}
		for _, b := range bags {
			for _, e := range b.Events {
				if airport == "" || !e.Happened.After(at) && e.Happened.After(since) {
					airport, since = e.Airport, e.Happened
				}
			}
		}
		return airport
	}
	last := -tickDistance
	for i, step := range a.steps[1:] {
		before := a.steps[i]
		if step.cut {
			t.text("b", (step.x+before.x)/2, y+0.3, "middle", "//")
			continue
		}
		for at := before.at.Truncate(time.Hour); !at.After(step.at); at = at.Add(time.Hour) {
			if x := a.at(at); !at.Before(before.at) && x-last >= tickDistance {
				last = x
				t.line("ax", x, x, y, y+0.4)
				t.text("", x, y+1.4, "middle", at.In(v.airports.TimeZone(zone(at))).Format("15:04"))
				t.text("", x, y+2.5, "middle", at.UTC().Format("15Z"))
			}
		}
	}
	if begin, end := a.steps[0].at, a.steps[len(a.steps)-1].at; v.now.After(begin) && v.now.Before(end) {
		t.line("nowl", a.at(v.now), a.at(v.now), 1.6, y)
		t.text("b", a.at(v.now), 1.2, "middle", "Now")
	}
}

func (t *trail) line(class string, x1, x2, y1, y2 float64) {
	t.Lines = append(t.Lines, trailLine{class, percent(x1), percent(x2), rem(y1), rem(y2)})
}

func (t *trail) dot(class string, x, y, r float64, title string) {
	t.Dots = append(t.Dots, trailDot{class, percent(x), rem(y), rem(r), title})
}

func (t *trail) text(class string, x, y float64, anchor, text string) {
	t.Texts = append(t.Texts, trailText{class, percent(x), rem(y), anchor, text})
}

func percent(x float64) string { return fmt.Sprintf("%.2f%%", x) }
func rem(y float64) string     { return fmt.Sprintf("%.2frem", y) }

// label returns a description of the picture.
func label(bags []bagDoc) string {
	var all []string
	for _, b := range bags {
		for _, l := range b.Legs {
			if l.Living {
				all = append(all, fmt.Sprintf("%s %s%s %s to %s, %s", b.Plate, l.Airline, l.Flight, l.From, l.To, statusOf(l.Status).Word))
			}
		}
	}
	return "Trail: " + strings.Join(all, "; ")
}

// axis maps times to positions, in percent. Long gaps are cut.
type axis struct{ steps []axisStep }

type axisStep struct {
	at  time.Time
	x   float64
	cut bool // the gap before it is cut
}

func newAxis(moments []time.Time) *axis {
	slices.SortFunc(moments, time.Time.Compare)
	a := &axis{}
	long, last := 0.0, moments[0]
	for _, at := range moments {
		gap := at.Sub(last)
		cut := gap > longGap
		if cut {
			gap = cutGap
		}
		long, last = long+gap.Minutes(), at
		a.steps = append(a.steps, axisStep{at, long, cut})
	}
	for i := range a.steps {
		a.steps[i].x = leftEdge + axisWidth*a.steps[i].x/max(long, 1)
	}
	return a
}

// at returns the position of a time.
func (a *axis) at(t time.Time) float64 {
	i, found := slices.BinarySearchFunc(a.steps, t, func(s axisStep, t time.Time) int { return s.at.Compare(t) })
	switch {
	case found || i == 0:
		return a.steps[i].x
	case i == len(a.steps):
		return a.steps[i-1].x
	}
	before, after := a.steps[i-1], a.steps[i]
	return before.x + (after.x-before.x)*float64(t.Sub(before.at))/float64(after.at.Sub(before.at))
}
