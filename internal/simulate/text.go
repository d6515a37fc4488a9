package simulate

import (
	"math/rand/v2"
	"time"
)

// writer writes the texts of messages. The random numbers that it draws never change the truth:
// they are names of belts, scanners and agents.
type writer struct {
	*rand.Rand
	buf     []byte
	lineEnd string
}

var (
	places     = []string{"BELT", "PIER", "SORT", "SCAN", "CART", "GATE", "CHUTE", "LATERAL", "BHS", "MAKEUP", "TERM", "DOCK"}
	months     = [...]string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	levels     = []string{"HBSLEVEL1", "HBSLEVEL2", "EDS", "MANUAL", ""}
	remarks    = []string{"SHORT CONNECTION AT DESTINATION", "HEAVY BAG 32KG MAX", "FRAGILE CHECK FOIDS", "SPECIAL HANDLING ON ARRIVAL", "DELIVER AT AIRCRAFT SIDE"}
	exceptions = []string{"PRIO", "PRIO", "VIP", "CREW"}
)

// reset starts a text with the line ends of an airline, or with other line ends.
func (w *writer) reset(carrier *airline, otherEnds bool) {
	w.buf = w.buf[:0]
	w.lineEnd = carrier.lineEnd
	if otherEnds {
		w.lineEnd = map[string]string{"\n": "\r\n", "\r\n": "\n"}[carrier.lineEnd]
	}
}

func (w *writer) bsm(j *journey, s step) {
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
	w.flight('F', f, f.to, j.passenger.class)
	if s.leg > 0 {
		w.flight('I', trip[s.leg-1], trip[s.leg-1].from, j.passenger.class)
	}
	for _, onward := range trip[s.leg+1:] {
		w.flight('O', onward, onward.to, j.passenger.class)
	}
	w.tag("", j.plate)
	w.element('D').add(pick(w.Rand, places)).char('/').number(1+w.IntN(99), 1).char('/').char("KAC"[w.IntN(3)]).endLine()
	w.passenger(j, status)
	if j.original != nil {
		w.rush(j)
	}
	w.line("ENDBSM")
}

func (w *writer) bpm(j *journey, s step) {
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
	w.reading("SSSSHRRRRGHR"[s.kind-sorted], time.UnixMilli(s.moment), at)
	w.flight('F', f, f.to, j.passenger.class)
	switch s.kind {
	case screened, cleared, refused:
		w.screening(s.kind)
	case stowed:
		w.element('U').device(f, j.container(f))
		w.stowed(j.passenger.class, f, j.trips[s.trip][s.leg:])
	case aboard:
		w.element('U')
		if f.containers > 0 {
			w.device(f, j.container(f))
		}
		w.char('/').hold(f).endLine()
	}
	w.tag([...]string{taken: "OFF", onHand: "OND", positioned: ""}[s.kind], j.plate)
	if s.named {
		w.passenger(j, 'C')
	}
	w.element('H').add(at.code).add(pick(w.Rand, places)).number(1+w.IntN(9), 1).endLine()
	w.line("ENDBPM")
}

// positioned writes the BPM that a container is loaded into its aircraft.
func (w *writer) positioned(f flight, container int) {
	w.line("BPM")
	w.version('L', f.from)
	w.reading('R', f.positioning(container), f.from)
	w.flight('F', f, f.to, 0)
	w.element('U').device(f, container).char('/').hold(f).endLine()
	w.line("ENDBPM")
}

// rush writes the elements that mark a rush bag and name its original.
func (w *writer) rush(j *journey) {
	if j.link != byTag {
		w.line(".E/RUSH")
	}
	if j.link == byRemark {
		w.element('R').add("EXPEDITE TAG ").add(j.original.plate).endLine()
		return
	}
	w.element('M').add(j.original.plate).add("/T/").number(w.IntN(1000), 3).endLine()
}

// screening writes .X with the result of a screening.
func (w *writer) screening(k kind) {
	w.element('X').add([]string{"SEL", "NON", ""}[w.IntN(3)])
	switch k {
	case cleared:
		w.add("/CLR")
	case refused:
		w.add("/REJ")
	default:
		w.add("/UCL")
	}
	w.add("///").add(pick(w.Rand, places)).number(w.IntN(40), 2)
	if level := pick(w.Rand, levels); level != "" {
		w.add("/").add(level)
	}
	w.endLine()
}

// passenger writes the elements that describe the passenger.
func (w *writer) passenger(j *journey, status byte) {
	p := &j.passenger
	w.element('S').add("Y/").number(p.row, 1).char("ABCDEK"[p.seat]).char('/').char(status).char('/').number(p.sequence, 3)
	w.char('/').number(p.sequence, 4).add("//N/A").endLine()
	w.element('W').add("K/1/").number(p.kilos, 1).endLine()
	w.element('P').char('1').add(p.surname).char('/').add(p.given).endLine()
	w.element('L').add(p.pnr).endLine()
	if p.frequentFlyer != "" {
		w.element('Y').add(p.frequentFlyer).endLine()
	}
	if w.IntN(6) == 0 {
		w.element('E').add(pick(w.Rand, exceptions)).endLine()
	}
	if w.IntN(3) == 0 {
		w.element('R').add(pick(w.Rand, remarks)).endLine()
	}
	switch w.IntN(4) {
	case 0:
		w.element('T').add("BTP").number(w.IntN(100000), 5).endLine()
	case 1:
		w.element('Q').number(w.IntN(400), 3).endLine()
	}
}

// version writes .V for an airport.
func (w *writer) version(indicator byte, a *airport) {
	w.element('V').char('1').char(indicator).add(a.code)
	if w.IntN(6) == 0 {
		w.add("//").number(w.IntN(100000), 5)
	}
	w.endLine()
}

// reading writes .J with a read time in local time or UTC. It uses UTC if the clocks change within
// three hours.
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
	w.endLine()
}

func sameOffset(a, b time.Time) bool {
	_, x := a.Zone()
	_, y := b.Zone()
	return x == y
}

// flight writes .F, .I or .O. end is the airport that it names.
func (w *writer) flight(letter byte, f flight, end *airport, class byte) {
	w.element(letter).designator(f).char('/').date(f.date()).char('/').add(end.code)
	if class != 0 {
		w.char('/').char(class)
	}
	w.endLine()
}

// designator writes airline and number, with leading zeros if the airline pads numbers.
func (w *writer) designator(f flight) *writer {
	w.add(f.airline.code)
	if f.airline.pads {
		w.add("0000"[len(f.number):])
	}
	return w.add(f.number)
}

// device writes the name of a container of f.
func (w *writer) device(f flight, container int) *writer {
	kinds := [...]string{"AKE", "AKH", "PMC", "AKE"}
	_, month, day := f.leaves.Date()
	return w.add(kinds[container%len(kinds)]).number((day*31+int(month))%100, 2).number(container, 2).add(f.airline.code)
}

// stowed writes the rest of .U for a container: its destination and the onward flight.
func (w *writer) stowed(class byte, f flight, rest []flight) {
	w.add("//B/").char(class).char('/').add(f.to.code).add("/N")
	if len(rest) > 1 {
		next := rest[1]
		w.char('/').designator(next).char('/').date(next.date()).char('/').add(next.to.code)
	}
	w.endLine()
}

// hold writes a compartment of the aircraft.
func (w *writer) hold(f flight) *writer {
	if f.containers == 0 {
		return w.number(1+w.IntN(5), 1)
	}
	return w.number(1+w.IntN(4), 1).number(1+w.IntN(4), 1).char("LRP"[w.IntN(3)])
}

// tag writes .N, or .B if there is a status.
func (w *writer) tag(status, plate string) {
	if status == "" {
		w.element('N').add(plate).add("001").endLine()
		return
	}
	w.element('B').add(status).char('/').add(plate).add("001").endLine()
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

func (w *writer) line(s string) { w.add(s).endLine() }
func (w *writer) endLine()      { w.add(w.lineEnd) }
