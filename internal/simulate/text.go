package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
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
	status := 'C'
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
	indicator := 'L'
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
	w.line(".D/%s/%d/%c", pick(w.Rand, places), 1+w.IntN(99), "KAC"[w.IntN(3)])
	w.passenger(j, status)
	if j.original != nil {
		w.rush(j)
	}
	w.line("ENDBSM")
}

func (w *writer) bpm(j *journey, s step) {
	f := j.trips[s.trip][s.leg]
	at, indicator := f.from, 'L'
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
		w.stowed(j, s)
	case aboard:
		container := ""
		if f.containers > 0 {
			container = device(f, j.container(f))
		}
		w.line(".U/%s/%s", container, w.hold(f))
	}
	w.tag([...]string{taken: "OFF", onHand: "OND", positioned: ""}[s.kind], j.plate)
	if s.named {
		w.passenger(j, 'C')
	}
	w.line(".H/%s%s%d", at.code, pick(w.Rand, places), 1+w.IntN(9))
	w.line("ENDBPM")
}

// positioned writes the BPM that a container is loaded into its aircraft.
func (w *writer) positioned(f flight, container int) {
	w.line("BPM")
	w.version('L', f.from)
	w.reading('R', f.positioning(container), f.from)
	w.flight('F', f, f.to, 0)
	w.line(".U/%s/%s", device(f, container), w.hold(f))
	w.line("ENDBPM")
}

// rush writes the elements that mark a rush bag and name its original.
func (w *writer) rush(j *journey) {
	if j.link != byTag {
		w.line(".E/RUSH")
	}
	if j.link == byRemark {
		w.line(".R/EXPEDITE TAG %s", j.original.plate)
		return
	}
	w.line(".M/%s/T/%03d", j.original.plate, w.IntN(1000))
}

// screening writes .X with the result of a screening.
func (w *writer) screening(k kind) {
	reason := []string{"SEL", "NON", ""}[w.IntN(3)]
	result := "UCL"
	switch k {
	case cleared:
		result = "CLR"
	case refused:
		result = "REJ"
	}
	w.add(".X/%s/%s///%s%02d", reason, result, pick(w.Rand, places), w.IntN(40))
	if level := pick(w.Rand, levels); level != "" {
		w.add("/%s", level)
	}
	w.line("")
}

// passenger writes the elements that describe the passenger.
func (w *writer) passenger(j *journey, status rune) {
	p := &j.passenger
	w.line(".S/Y/%d%c/%c/%03d/%04d//N/A", p.row, "ABCDEK"[p.seat], status, p.sequence, p.sequence)
	w.line(".W/K/1/%d", p.kilos)
	w.line(".P/1%s/%s", p.surname, p.given)
	w.line(".L/%s", p.pnr)
	if p.frequentFlyer != "" {
		w.line(".Y/%s", p.frequentFlyer)
	}
	if w.IntN(6) == 0 {
		w.line(".E/%s", pick(w.Rand, exceptions))
	}
	if w.IntN(3) == 0 {
		w.line(".R/%s", pick(w.Rand, remarks))
	}
	switch w.IntN(4) {
	case 0:
		w.line(".T/BTP%05d", w.IntN(100000))
	case 1:
		w.line(".Q/%03d", w.IntN(400))
	}
}

// version writes .V for an airport.
func (w *writer) version(indicator rune, a *airport) {
	w.add(".V/1%c%s", indicator, a.code)
	if w.IntN(6) == 0 {
		w.add("//%05d", w.IntN(100000))
	}
	w.line("")
}

// reading writes .J with a read time in local time or UTC. It uses UTC if the clocks change within
// three hours.
func (w *writer) reading(process byte, at time.Time, a *airport) {
	w.add(".J/%c/%04d/%06d/", process, w.IntN(9000), w.IntN(900000))
	at = at.UTC()
	mark := 'Z'
	if local := at.In(a.zone); w.IntN(3) > 0 && sameOffset(local, at.Add(-3*time.Hour).In(a.zone)) && sameOffset(local, at.Add(3*time.Hour).In(a.zone)) {
		at, mark = local, 'L'
	}
	clock := "1504"
	if at.Second() > 0 {
		clock = "150405"
	}
	w.add("%s/%s%c/%s%s%d", date(at), at.Format(clock), mark, a.code, pick(w.Rand, places), w.IntN(60))
	if w.IntN(2) == 0 {
		w.add("/%s%d", pick(w.Rand, places), w.IntN(200))
	}
	w.line("")
}

func sameOffset(a, b time.Time) bool {
	_, x := a.Zone()
	_, y := b.Zone()
	return x == y
}

// flight writes .F, .I or .O. end is the airport that it names.
func (w *writer) flight(letter rune, f flight, end *airport, class byte) {
	w.add(".%c/%s/%s/%s", letter, designator(f), date(f.date()), end.code)
	if class != 0 {
		w.add("/%c", class)
	}
	w.line("")
}

// designator returns airline and number, with leading zeros if the airline pads numbers.
func designator(f flight) string {
	if f.airline.pads {
		return f.airline.code + "0000"[len(f.number):] + f.number
	}
	return f.airline.code + f.number
}

// device returns the name of a container of f.
func device(f flight, container int) string {
	kinds := [...]string{"AKE", "AKH", "PMC", "AKE"}
	_, month, day := f.leaves.Date()
	return fmt.Sprintf("%s%02d%02d%s", kinds[container%len(kinds)], (day*31+int(month))%100, container, f.airline.code)
}

// stowed writes .U for a container: its name, its destination and the onward flight.
func (w *writer) stowed(j *journey, s step) {
	rest := j.trips[s.trip][s.leg:]
	f := rest[0]
	w.add(".U/%s//B/%c/%s/N", device(f, j.container(f)), j.passenger.class, f.to.code)
	if len(rest) > 1 {
		next := rest[1]
		w.add("/%s/%s/%s", designator(next), date(next.date()), next.to.code)
	}
	w.line("")
}

// hold draws a compartment of the aircraft.
func (w *writer) hold(f flight) string {
	if f.containers == 0 {
		return fmt.Sprint(1 + w.IntN(5))
	}
	return fmt.Sprintf("%d%d%c", 1+w.IntN(4), 1+w.IntN(4), "LRP"[w.IntN(3)])
}

// tag writes .N, or .B if there is a status.
func (w *writer) tag(status, plate string) {
	if status == "" {
		w.line(".N/%s001", plate)
		return
	}
	w.line(".B/%s/%s001", status, plate)
}

// date returns a date as 12MAR.
func date(t time.Time) string { return strings.ToUpper(t.Format("02Jan")) }

// add adds to the line, and line ends it.
func (w *writer) add(format string, args ...any) { w.buf = fmt.Appendf(w.buf, format, args...) }

func (w *writer) line(format string, args ...any) { w.add(format+w.lineEnd, args...) }
