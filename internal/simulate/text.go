package simulate

import (
	"math/rand/v2"
	"time"
)

// writer writes messages. What is drawn here changes no truth: names of belts, scanners, agents.
type writer struct {
	*rand.Rand
	buf []byte
	end string // of a line
}

var (
	places    = []string{"BELT", "PIER", "SORT", "SCAN", "CART", "GATE", "CHUTE", "LATERAL", "BHS", "MAKEUP", "TERM", "DOCK"}
	months    = [...]string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	levels    = []string{"HBSLEVEL1", "HBSLEVEL2", "EDS", "MANUAL", ""}
	remarks   = []string{"SHORT CONNECTION AT DESTINATION", "HEAVY BAG 32KG MAX", "FRAGILE CHECK FOIDS", "SPECIAL HANDLING ON ARRIVAL", "DELIVER AT AIRCRAFT SIDE"}
	exception = []string{"PRIO", "PRIO", "VIP", "CREW"}
)

// source writes a BSM of the journey.
func (w *writer) source(j *journey, s step) {
	trip := j.trips[s.trip]
	f := trip[s.leg]
	w.line("BSM")
	status := byte('C')
	switch s.kind {
	case changed:
		w.line("CHG")
	case boarded:
		w.line("CHG")
		status = 'B'
	case deleted:
		w.line("DEL")
		status = 'N'
	}
	indicator := byte('L')
	if s.leg > 0 {
		indicator = 'T'
	}
	w.version(indicator, f.from)
	w.flight('F', f, f.to, j.who.class)
	if s.leg > 0 {
		w.flight('I', trip[s.leg-1], trip[s.leg-1].from, j.who.class)
	}
	for _, onward := range trip[s.leg+1:] {
		w.flight('O', onward, onward.to, j.who.class)
	}
	w.tag("", j.plate)
	w.element('D').add(pick(w.Rand, places)).char('/').number(1+w.IntN(99), 1).char('/').char("KAC"[w.IntN(3)]).stop()
	w.person(j, status)
	if j.original != nil {
		w.rush(j)
	}
	w.line("ENDBSM")
}

// processed writes a BPM of the journey.
func (w *writer) processed(j *journey, s step) {
	f := j.trips[s.trip][s.leg]
	at, indicator := f.from, byte('L')
	if s.kind == arrived || s.kind == claimed {
		at = f.to
	}
	if s.leg > 0 {
		indicator = 'T'
	}
	w.line("BPM")
	w.version(indicator, at)
	w.reading("SSHRRRRGHR"[s.kind-sorted], time.UnixMilli(s.moment), at)
	w.flight('F', f, f.to, j.who.class)
	switch s.kind {
	case screened:
		w.screening(s.code)
	case stowed:
		w.element('U').device(f, j.container(f))
		w.stowed(j.who.class, f, j.trips[s.trip][s.leg:])
	case aboard:
		w.element('U')
		if f.containers > 0 {
			w.device(f, j.container(f))
		}
		w.char('/').hold(f).stop()
	}
	w.tag([...]string{taken: "OFF", onHand: "OND", positioned: ""}[s.kind], j.plate)
	if s.named {
		w.person(j, 'C')
	}
	w.element('H').add(at.code).add(pick(w.Rand, places)).number(1+w.IntN(9), 1).stop()
	w.line("ENDBPM")
}

// positioned writes the BPM by which a container is loaded into the aircraft.
func (w *writer) positioned(f flight, container int) {
	w.line("BPM")
	w.version('L', f.from)
	w.reading('R', f.positioning(container), f.from)
	w.flight('F', f, f.to, 0)
	w.element('U').device(f, container).char('/').hold(f).stop()
	w.line("ENDBPM")
}

// rush writes that the bag is a rush bag, and which one it was.
func (w *writer) rush(j *journey) {
	if j.link != byTag {
		w.line(".E/RUSH")
	}
	if j.link == byRemark {
		w.element('R').add("EXPEDITE TAG ").add(j.original.plate).stop()
		return
	}
	w.element('M').add(j.original.plate).add("/T/").number(w.IntN(1000), 3).stop()
}

// screening writes the result that makes the event.
func (w *writer) screening(c code) {
	w.element('X').add([]string{"SEL", "NON", ""}[w.IntN(3)])
	switch c {
	case passed:
		w.add("/CLR")
	case failed:
		w.add("/REJ")
	default:
		w.add("/UCL")
	}
	w.add("///").add(pick(w.Rand, places)).number(w.IntN(40), 2)
	if level := pick(w.Rand, levels); level != "" {
		w.add("/").add(level)
	}
	w.stop()
}

// person writes what the message knows of the passenger.
func (w *writer) person(j *journey, status byte) {
	p := &j.who
	w.element('S').add("Y/").number(p.row, 1).char("ABCDEK"[p.seat]).char('/').char(status).char('/').number(p.sequence, 3)
	w.char('/').number(p.sequence, 4).add("//N/A").stop()
	w.element('W').add("K/1/").number(p.kilos, 1).stop()
	w.element('P').char('1').add(p.surname).char('/').add(p.given).stop()
	w.element('L').add(p.pnr).stop()
	if p.flyer != "" {
		w.element('Y').add(p.flyer).stop()
	}
	if w.IntN(6) == 0 {
		w.element('E').add(pick(w.Rand, exception)).stop()
	}
	if w.IntN(3) == 0 {
		w.element('R').add(pick(w.Rand, remarks)).stop()
	}
	switch w.IntN(4) {
	case 0:
		w.element('T').add("BTP").number(w.IntN(100000), 5).stop()
	case 1:
		w.element('Q').number(w.IntN(400), 3).stop()
	}
}

// version writes .V of an airport.
func (w *writer) version(indicator byte, a *airport) {
	w.element('V').char('1').char(indicator).add(a.code)
	if w.IntN(6) == 0 {
		w.add("//").number(w.IntN(100000), 5)
	}
	w.stop()
}

// reading writes .J with a read time: in local time, or in UTC, and always so where clocks are changed within hours.
func (w *writer) reading(process byte, at time.Time, a *airport) {
	w.element('J').char(process).char('/').number(w.IntN(9000), 4).char('/').number(w.IntN(900000), 6).char('/')
	at = at.UTC()
	mark := byte('Z')
	if local := at.In(a.zone); w.IntN(3) > 0 && sameOffset(local, at.Add(-3*time.Hour).In(a.zone)) && sameOffset(local, at.Add(3*time.Hour).In(a.zone)) {
		at, mark = local, 'L'
	}
	w.date(at).char('/')
	hour, minute, second := at.Clock()
	w.number(hour, 2).number(minute, 2)
	if second > 0 {
		w.number(second, 2)
	}
	w.char(mark).char('/').add(a.code).add(pick(w.Rand, places)).number(w.IntN(60), 1)
	if w.IntN(2) == 0 {
		w.char('/').add(pick(w.Rand, places)).number(w.IntN(200), 1)
	}
	w.stop()
}

func sameOffset(a, b time.Time) bool {
	_, x := a.Zone()
	_, y := b.Zone()
	return x == y
}

// flight writes .F .I .O: the flight, its date, and the airport at its other end.
func (w *writer) flight(letter byte, f flight, end *airport, class byte) {
	w.element(letter).designator(f).char('/').date(f.date()).char('/').add(end.code)
	if class != 0 {
		w.char('/').char(class)
	}
	w.stop()
}

// designator writes airline and number, with zeros where that airline pads.
func (w *writer) designator(f flight) *writer {
	w.add(f.line.code)
	if f.line.pads {
		w.add("0000"[len(f.number):])
	}
	return w.add(f.number)
}

// device writes the name of a container of f.
func (w *writer) device(f flight, container int) *writer {
	kinds := [...]string{"AKE", "AKH", "PMC", "AKE"}
	_, month, day := f.leaves.Date()
	return w.add(kinds[container%len(kinds)]).number((day*31+int(month))%100, 2).number(container, 2).add(f.line.code)
}

// stowed writes the rest of .U for a container: where it goes and what follows.
func (w *writer) stowed(class byte, f flight, rest []flight) {
	w.add("//B/").char(class).char('/').add(f.to.code).add("/N")
	if len(rest) > 1 {
		next := rest[1]
		w.char('/').designator(next).char('/').date(next.date()).char('/').add(next.to.code)
	}
	w.stop()
}

// hold writes a compartment.
func (w *writer) hold(f flight) *writer {
	if f.containers == 0 {
		return w.number(1+w.IntN(5), 1)
	}
	return w.number(1+w.IntN(4), 1).number(1+w.IntN(4), 1).char("LRP"[w.IntN(3)])
}

// tag writes .N, or .B where there is a status.
func (w *writer) tag(status, plate string) {
	if status == "" {
		w.element('N').add(plate).add("001").stop()
		return
	}
	w.element('B').add(status).char('/').add(plate).add("001").stop()
}

func (w *writer) element(letter byte) *writer {
	w.buf = append(w.buf, '.', letter, '/')
	return w
}

func (w *writer) date(t time.Time) *writer {
	_, month, day := t.Date()
	return w.number(day, 2).add(months[month-1])
}

func (w *writer) number(n, digits int) *writer {
	w.buf = appendNumber(w.buf, n, digits)
	return w
}

func (w *writer) add(s string) *writer {
	w.buf = append(w.buf, s...)
	return w
}

func (w *writer) char(c byte) *writer {
	w.buf = append(w.buf, c)
	return w
}

func (w *writer) line(s string) { w.add(s).stop() }
func (w *writer) stop()         { w.add(w.end) }
