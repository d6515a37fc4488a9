package oracle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"bagtrail/test/journey"
	"bagtrail/test/oracle"
)

// talk makes the messages of small, crowded worlds: one itinerary, one or two plates, a few names.
// Feeds send anything that can be sent, at nearly the same time, and repeat it.
type talk struct {
	r      *rand.Rand
	now    time.Time
	stops  []string // airports of the itinerary
	legs   []carrier
	others []carrier // another flight out of each stop
	cities map[string][]string
	day    time.Time
	plates []string
	who    []person
	said   []oracle.Input
	offset int64
}

// carrier is a flight number with the codes of its airline.
type carrier struct{ iata, icao, number string }

type person struct{ surname, pnr string }

// cities are codes of one place. Newark is one place with New York and with its railway station
// ZME, which is not one place with New York. The rules leave open what a bag does at all three at
// once, so that no world has all three.
var cities = []map[string][]string{
	{"LHR": {"LGW", "LON"}, "LGW": {"LHR", "LON"}, "LON": {"LHR"}, "JFK": {"NYC", "EWR"}, "EWR": {"NYC", "JFK"}},
	{"LHR": {"LGW", "LON"}, "LGW": {"LHR", "LON"}, "LON": {"LHR"}, "EWR": {"ZME"}, "ZME": {"EWR"}},
	{"LHR": {"LGW", "LON"}, "LGW": {"LHR", "LON"}, "LON": {"LHR"}, "JFK": {"NYC"}, "NYC": {"JFK"}, "ZME": nil},
}

var carriers = []carrier{{"LX", "SWR", "602"}, {"LX", "SWR", "14"}, {"BA", "BAW", "713"}, {"LX", "SWR", "604"}, {"U2", "EZY", "117A"}, {"LH", "DLH", "9"}}

// talkOf returns the world of a seed.
func talkOf(seed uint64) []oracle.Input {
	r := rand.New(rand.NewPCG(seed, 0x74616c6b))
	awkward := journey.Awkward()
	start := time.Date(2026, 6, 20, 8, 0, 0, 0, time.UTC)
	if r.IntN(4) == 0 {
		start = awkward[r.IntN(len(awkward))]
	}
	w := &talk{r: r, now: start, day: time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC)}
	w.cities = pick(r, cities...)
	airports := append(slices.Sorted(maps.Keys(w.cities)), "ZRH", "ZRH", "GVA")
	for stops := 2 + r.IntN(3); len(w.stops) < stops; {
		stop := pick(r, airports...)
		if len(w.stops) == 0 || w.stops[len(w.stops)-1] != stop {
			w.stops = append(w.stops, stop)
			w.legs = append(w.legs, pick(r, carriers...))
			w.others = append(w.others, pick(r, carriers...))
		}
	}
	if r.IntN(4) == 0 { // a through flight
		w.legs[1] = w.legs[0]
	}
	w.plates = []string{"0220123456", "0220123457", "2220123456"}[:1+r.IntN(3)]
	w.who = []person{{"SMITH", "ABC123"}, {"SMITH", "ABC123"}, {"SMITH", ""}, {"", "ABC123"}, {}}
	if r.IntN(2) == 0 {
		w.who = append(w.who, person{"SMI", ""}, person{"S MITH", "XYZ789"}, person{"SNITH", "QQQ111"})
	}
	if r.IntN(3) == 0 {
		w.who = append(w.who, person{"O'NEIL", "XYZ789"}, person{"ONEIL", ""}, person{"ONE", "xyz789"})
	}
	for range 3 + r.IntN(12) {
		w.wait()
		w.say()
	}
	if r.IntN(3) == 0 {
		w.again()
	}
	return w.said
}

func (w *talk) chance(percent int) bool { return w.r.IntN(100) < percent }

func (w *talk) wait() {
	w.now = w.now.Add(pick(w.r, 0, 0, time.Millisecond, 20*time.Second, 30*time.Second, time.Minute, time.Minute+time.Millisecond, 3*time.Minute,
		5*time.Minute, 9*time.Minute, 10*time.Minute, 11*time.Minute, time.Hour))
	if w.chance(4) {
		days := pick(w.r, 1, 1, 2, 3, 4, 5, 10, 14, 15)
		w.now = w.now.AddDate(0, 0, days)
		if w.chance(70) {
			w.day = w.day.AddDate(0, 0, days)
		}
	}
}

// say sends one message.
func (w *talk) say() {
	if len(w.said) > 0 && w.chance(22) { // repeat an earlier message, most likely a recent one
		old := w.said[max(0, len(w.said)-1-w.r.IntN(4))]
		if !old.Report {
			w.send(old.Text)
			return
		}
	}
	switch n := w.r.IntN(100); {
	case n < 42:
		w.source()
	case n < 88:
		w.process()
	case n < 97:
		w.position()
	default:
		w.said = append(w.said, oracle.Input{Report: true, Received: w.now, Position: w.place(), Text: fmt.Sprintf(
			`{"record_reference":"%sLX%05d","station":%q,"bags":[%q]}`, "ZRH", 10001+len(w.said), pick(w.r, w.stops...), pick(w.r, w.plates...))})
	}
}

// again sends a whole feed a second time, perhaps not to its end, and single old messages.
func (w *talk) again() {
	batch := slices.Clone(w.said)
	from := w.r.IntN(len(batch))
	batch = batch[from:]
	if w.chance(50) {
		batch = batch[:1+w.r.IntN(len(batch))]
	}
	if w.chance(20) {
		batch = batch[:1]
	}
	later := pick(w.r, time.Millisecond, 20*time.Second, 2*time.Minute, 9*time.Minute, 2*time.Hour, 26*time.Hour)
	for _, m := range batch {
		m.Position = w.place()
		if w.chance(50) { // at once, or with the delays of the first time
			m.Received = w.now.Add(later)
		} else {
			m.Received = m.Received.Add(w.now.Add(later).Sub(batch[0].Received))
		}
		w.said = append(w.said, m)
	}
}

// place returns the next position; some messages have none.
func (w *talk) place() *oracle.Position {
	if w.chance(15) {
		return nil
	}
	w.offset++
	return &oracle.Position{Partition: w.r.IntN(2), Offset: w.offset}
}

func (w *talk) send(text string) {
	w.said = append(w.said, oracle.Input{Text: text, Received: w.now, Position: w.place()})
}

func (w *talk) finish(lines []string) {
	identifier := lines[0]
	if w.chance(25) {
		lines = append([]string{pick(w.r, ".ZRHXXLX 201000", ".ZRHXXLX 201000", ".MUCXXLH 201200", ".ZRHXXLX", "QU ZRHXHXH")}, lines...)
	}
	w.send(strings.Join(append(lines, "END"+identifier), "\n"))
}

// flight writes .F, .I or .O.
func (w *talk) flight(letter byte, c carrier, airport string) string {
	if others := w.cities[airport]; len(others) > 0 && w.chance(20) {
		airport = pick(w.r, others...)
	}
	airline := c.iata
	if w.chance(15) {
		airline = c.icao
	}
	day := w.day
	if w.chance(6) {
		day = day.AddDate(0, 0, pick(w.r, -1, 1, 1, 2))
	}
	line := "." + string(letter) + "/" + airline + fmt.Sprintf("%05s", c.number) + "/" + strings.ToUpper(day.Format("02Jan")) + "/" + airport
	return strings.Replace(line, airline+"00", airline, 1) // five digits would be too many
}

// leg returns the flight out of stop i, usually that of the itinerary.
func (w *talk) leg(i int) carrier {
	if w.chance(25) {
		return w.others[i]
	}
	return w.legs[i]
}

// after returns the stop after stop i.
func (w *talk) after(i int) string {
	if i+1 < len(w.stops) {
		return w.stops[i+1]
	}
	return "GVA"
}

// here returns the airport of a stop, or sometimes another one of its city.
func (w *talk) here(i int) string {
	if others := w.cities[w.stops[i]]; len(others) > 0 && w.chance(10) {
		return pick(w.r, others...)
	}
	return w.stops[i]
}

func (w *talk) person() []string {
	p := pick(w.r, w.who...)
	var lines []string
	if p.surname != "" {
		lines = append(lines, ".P/1"+p.surname+pick(w.r, "", "/ANNAMRS", "/WILLIAMS"))
	}
	if p.pnr != "" {
		lines = append(lines, ".L/"+p.pnr)
	}
	if w.chance(10) {
		lines = append(lines, pick(w.r, ".Y/LX992", ".W/K/1/20", ".W/L/2"))
	}
	return lines
}

func (w *talk) tag(status string) string {
	count := 1
	if w.chance(15) {
		count = 2
	}
	if status != "" {
		return fmt.Sprintf(".B/%s/%s%03d", status, pick(w.r, w.plates...), count)
	}
	return fmt.Sprintf(".N/%s%03d", pick(w.r, w.plates...), count)
}

// source sends a BSM.
func (w *talk) source() {
	i := w.r.IntN(len(w.stops))
	lines := []string{"BSM"}
	if change := pick(w.r, "", "", "", "", "CHG", "CHG", "DEL", "DEL", "ADD"); change != "" {
		lines = append(lines, change)
	}
	if i > 0 && w.chance(30) { // an arrival
		lines = append(lines, ".V/1"+pick(w.r, "X", "X", "T")+w.here(i), w.flight('F', w.leg(i-1), pick(w.r, w.stops[i], w.stops[i], w.after(i))))
	} else {
		lines = append(lines, ".V/1"+pick(w.r, "L", "L", "T")+w.here(i), w.flight('F', w.leg(i), w.after(i)))
		if i > 0 && w.chance(40) {
			lines = append(lines, w.flight('I', w.leg(i-1), w.stops[i-1]))
		}
	}
	for k := i + 1; k < len(w.stops) && w.chance(50); k++ {
		lines = append(lines, w.flight('O', w.leg(k), w.after(k)))
	}
	lines = append(lines, w.tag(""))
	if w.chance(30) {
		lines = append(lines, ".S/Y/"+pick(w.r, "12A", "1F", "")+"/"+pick(w.r, "B", "B", "C", ""))
	}
	lines = append(lines, w.person()...)
	lines = append(lines, w.rush()...)
	if w.chance(8) { // another group
		lines = append(lines, w.flight('F', w.others[i], w.after(i)), w.tag(""))
		lines = append(lines, w.person()...)
		lines = append(lines, w.rush()...)
	}
	w.finish(lines)
}

// rush returns elements of a rush bag, or usually none.
func (w *talk) rush() []string {
	if !w.chance(12) {
		return nil
	}
	return append([]string{".E/RUSH"}, pick(w.r, nil, nil, []string{".M/" + pick(w.r, w.plates...)}, []string{".R/WAS " + pick(w.r, w.plates...)})...)
}

// process sends a BPM.
func (w *talk) process() {
	i := w.r.IntN(len(w.stops))
	lines := []string{"BPM", ".V/1L" + w.here(i)}
	if w.chance(45) {
		lines = append(lines, w.reading())
	}
	hasFlight := true
	switch n := w.r.IntN(100); {
	case n < 65:
		lines = append(lines, w.flight('F', w.leg(i), w.after(i)))
	case n < 78 && i > 0:
		lines = append(lines, w.flight('F', w.leg(i-1), w.stops[i]))
	default:
		hasFlight = false
	}
	if i > 0 && w.chance(20) {
		lines = append(lines, w.flight('I', w.leg(i-1), w.stops[i-1]))
	}
	status := ""
	if w.chance(45) {
		status = pick(w.r, "OFF", "OFF", "OFF", "OND", "ONA", "UNS", "NAL", "NAL")
	}
	if hasFlight && w.chance(60) {
		lines = append(lines, w.stowage(lines[1][len(".V/1L"):]))
	}
	if w.chance(8) {
		lines = append(lines, pick(w.r, ".X//CLR", ".X//REJ", ".X/SEL"))
	}
	lines = append(lines, w.tag(status))
	if w.chance(10) {
		lines = append(lines, w.tag(pick(w.r, "", "OFF", "NAL", "OND")))
	}
	if w.chance(25) {
		lines = append(lines, w.person()...)
	}
	w.finish(lines)
}

// reading returns a .J: with or without a read time, with or without seconds, sometimes later than
// its receipt.
func (w *talk) reading() string {
	code := pick(w.r, "R", "R", "R", "S", "G", "H", "C")
	if w.chance(35) {
		return ".J/" + code
	}
	at := w.now.Add(-pick(w.r, 0, 20*time.Second, time.Minute, time.Minute, 3*time.Minute, 10*time.Minute, -time.Minute, -time.Hour))
	zone, mark := time.UTC, "Z"
	if w.chance(30) {
		zone, mark = library.TimeZone("ZRH"), "L"
	}
	at = at.In(zone)
	return ".J/" + code + "///" + strings.ToUpper(at.Format("02Jan")) + "/" + at.Format(pick(w.r, "1504", "150405")) + mark
}

func (w *talk) stowage(airport string) string {
	return ".U/" + pick(w.r, "AKE1", "AKE1", "AKE1", "AKE2", "AKE2", "AKE12345LXX", "", "") + pick(w.r, "", "", "/41", "/42", "/"+airport)
}

// position sends a container positioning.
func (w *talk) position() {
	i := w.r.IntN(len(w.stops))
	lines := []string{"BPM", ".V/1L" + w.stops[i]}
	if w.chance(30) {
		lines = append(lines, w.reading())
	}
	lines = append(lines, w.flight('F', w.leg(i), pick(w.r, w.after(i), w.after(i), w.after(i), w.stops[i])),
		".U/"+pick(w.r, "AKE1", "AKE1", "AKE2")+pick(w.r, "", "/41", "/41", "/42", "/"+w.stops[i]))
	if i > 0 && w.chance(10) {
		lines = append(lines, w.flight('I', w.leg(i-1), w.stops[i-1]))
	}
	if w.chance(5) {
		lines = append(lines, w.flight('O', w.others[i], "GVA"))
	}
	if w.chance(10) {
		lines = append(lines, w.flight('F', w.others[i], w.after(i)), ".U/"+pick(w.r, "AKE1", "AKE2")+"/41")
	}
	if w.chance(10) {
		lines = append(lines, w.person()...)
	}
	w.finish(lines)
}

// journeysOf returns the world of a seed made of whole journeys. It then disturbs the feed:
// positions, ties, the other codes of airlines, shortened names, origin lines, batches sent again.
func journeysOf(seed uint64) []oracle.Input {
	awkward := journey.Awkward()
	opt := journey.Crowded(awkward[seed%uint64(len(awkward))], 1+int(seed/7%4))
	opt.Statuses = statuses
	w := &talk{r: rand.New(rand.NewPCG(seed, 0x6a6f))}
	icao := strings.NewReplacer("/LX", "/SWR", "/BA", "/BAW", "/U2", "/EZY")
	cut := strings.NewReplacer(".P/SMITH", ".P/SMI", ".P/MUELLER", ".P/MUELLE")
	for _, m := range journey.Make(seed, opt) {
		text, received := m.Text, m.Received
		if !m.Report {
			if w.chance(10) {
				text = icao.Replace(text)
			}
			if w.chance(10) {
				text = cut.Replace(text)
			}
			if w.chance(10) {
				text = pick(w.r, ".ZRHXXLX 201000", ".MUCXXLH 121314") + "\n" + text
			}
		}
		if w.chance(20) && len(w.said) > 0 {
			received = w.said[len(w.said)-1].Received
		}
		w.now = received
		w.said = append(w.said, oracle.Input{Text: text, Received: received, Position: w.place(), Report: m.Report})
	}
	if len(w.said) > 0 && w.chance(30) {
		w.again()
	}
	return w.said
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
