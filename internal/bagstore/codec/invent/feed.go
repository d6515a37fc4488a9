// Package invent makes up baggage messages for benchmarks and tests of the store. Airlines, airports, names, bookings and places are random. The order of elements and
// the use of their fields are those of real feeds. The same seed gives the same bytes. The service
// does not use this package.
package invent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Bag is an invented bag with the messages about it, in the order of its journey.
type Bag struct {
	Plate    string
	PNR      string
	Flights  []Flight // in the order of travel
	Messages []string
	Times    []time.Time // when each message was sent
}

// Flight is a flight as the messages of a bag write it, and its day.
type Flight struct {
	Airline, Number string // the number may have leading zeros
	Day             time.Time
}

// Feed invents bags. It is not safe for concurrent use.
type Feed struct {
	rng       *rand.Rand
	start     time.Time
	timetable []route
}

// route is two flights that connect.
type route struct {
	first, second  [2]string // airline, number
	from, via, to  string
	departs, later time.Duration // since the start of the feed; departure of the second flight after the first
}

// NewFeed returns a feed with a timetable of its own, whose flights leave within a day of start.
func NewFeed(seed uint64, start time.Time) *Feed {
	f := &Feed{rng: rand.New(rand.NewPCG(seed, seed)), start: start.Truncate(time.Second)}
	for range 40 {
		airline := f.pick(f.letters(2), f.letters(2), f.letters(3), f.letters(1)+f.digits(1))
		f.timetable = append(f.timetable, route{
			first:  [2]string{airline, f.pick(f.number("%d"), f.number("%04d"))},
			second: [2]string{airline, f.number("%d")},
			from:   f.letters(3), via: f.letters(3), to: f.letters(3),
			departs: time.Duration(f.rng.IntN(24*60)) * time.Minute,
			later:   time.Duration(3+f.rng.IntN(9)) * time.Hour,
		})
	}
	return f
}

// Bag invents a bag with two flights and 15 messages.
func (f *Feed) Bag() Bag {
	r := f.timetable[f.rng.IntN(len(f.timetable))]
	departure := f.start.Add(r.departs)
	j := &journey{
		Feed: f, route: r, at: departure.Add(-3 * time.Hour), day: ddmmm(departure), next: ddmmm(departure.Add(r.later)),
		line: f.pick("\r\n", "\n"), class: f.pick("Y", "Y", "Y", "J", "C", "F", "M"), passenger: f.passenger(),
		bag: Bag{
			Plate: fmt.Sprintf("0%03d%06d", 1+f.rng.IntN(999), f.rng.IntN(1e6)),
			PNR:   f.draw("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5+min(1, f.rng.IntN(10))),
			Flights: []Flight{
				{Airline: r.first[0], Number: r.first[1], Day: departure},
				{Airline: r.second[0], Number: r.second[1], Day: departure.Add(r.later)},
			},
		},
	}
	j.travel()
	return j.bag
}

// passenger invents the elements that the messages about a bag repeat.
func (f *Feed) passenger() []string {
	sequence := fmt.Sprintf(f.pick("%03d", "%03d", "%d"), 1+f.rng.IntN(300))
	surname, given := f.letters(4+f.rng.IntN(7)), f.letters(3+f.rng.IntN(6))
	lines := []string{
		".S/" + f.pick("Y", "Y", "N") + "/" + f.number("%d", 50) + f.pick("A", "B", "C", "D", "E", "F", "K") + "/C/" + sequence + "/" +
			f.pick(sequence, "") + f.pick("//N//A", "//N//I", "//N", "//Y/", ""),
		".W/" + f.pick("K", "K", "K", "L", "P") + "/" + f.number("%d", 3) + "/" + f.number("%d", 45),
		".P/" + f.pick("", "1", "1", "2") + surname + "/" + given + f.pick("MR", "MRS", "MS", "MISS", ""),
	}
	if f.rng.IntN(3) == 0 {
		lines = append(lines, ".Y/"+f.letters(2)+f.digits(9)+"/"+f.pick("GOLD", "SILVER", f.letters(3)))
	}
	if f.rng.IntN(6) == 0 {
		lines = append(lines, ".E/"+f.pick("PRIO", "VIP", "CREW", "RUSH"))
	}
	if f.rng.IntN(6) == 0 {
		lines = append(lines, f.pick(".R/"+f.letters(8), ".T/"+f.digits(5), ".Q/"+f.digits(3)))
	}
	return lines
}

// journey is a bag on its way.
type journey struct {
	*Feed
	route
	bag       Bag
	at        time.Time
	day, next string // DDMMM of the flights
	line      string
	class     string
	passenger []string
}

// travel sends the messages of the whole journey.
func (j *journey) travel() {
	out, back := j.flight("F", j.first, j.day, j.via), j.flight("F", j.second, j.next, j.to)
	onward, inbound := j.flight("O", j.second, j.next, j.to), j.flight("I", j.first, j.day, j.from)
	cart, container := ".U/"+j.place()+"//X/"+j.class, ".U/"+j.pick("AKE", "PMC", "AKH")+j.digits(5)+j.first[0]+"/"

	j.source("L", j.from, "", "C", out, onward)
	j.processed("L", j.from, "S", out)
	j.processed("L", j.from, "S", out, ".X/"+j.pick("", "SEL", "NON")+"/CLR///"+j.pick("", j.place()+"/HBSLEVEL1"))
	j.processed("L", j.from, "R", out, cart)
	j.source("L", j.from, "CHG", "B", out, onward)
	j.processed("L", j.from, "R", out, container+j.digits(1)+"P/T/"+j.class+"/"+j.via+"/N/"+strings.Join(j.second[:], "")+"/"+j.next+"/"+j.to)
	j.processed("T", j.via, "G", out)
	j.source("T", j.via, "", "C", back, inbound)
	j.processed("T", j.via, "S", back)
	j.processed("T", j.via, "S", back, ".X//CLR")
	j.processed("T", j.via, "R", back, cart)
	j.source("T", j.via, "CHG", "B", back, inbound)
	j.processed("T", j.via, "R", back, container+j.digits(2)+"/X/"+j.class+"/"+j.to+"/Y///")
	j.processed("X", j.to, "G", back)
	j.processed("X", j.to, "H", back)
}

func (j *journey) source(indicator, airport, change, status string, flights ...string) {
	lines := []string{"BSM"}
	if change != "" {
		lines = append(lines, change)
	}
	lines = append(append(append(lines, j.version(indicator, airport)), flights...), ".N/"+j.bag.Plate+"001")
	lines = append(lines, strings.Replace(j.passenger[0], "/C/", "/"+status+"/", 1))
	j.send(append(append(lines, j.passenger[1:]...), ".L/"+j.bag.PNR, "ENDBSM"))
}

func (j *journey) processed(indicator, airport, code, out string, more ...string) {
	lines := append([]string{"BPM", j.version(indicator, airport), j.read(code), out}, more...)
	lines = append(lines, ".N/"+j.bag.Plate+"001")
	if j.rng.IntN(2) == 0 {
		lines = append(append(lines, j.passenger...), ".L/"+j.bag.PNR)
	}
	j.send(append(lines, "ENDBPM"))
}

func (j *journey) send(lines []string) {
	j.bag.Messages = append(j.bag.Messages, strings.Join(lines, j.line)+j.pick(j.line, ""))
	j.bag.Times = append(j.bag.Times, j.at)
	j.at = j.at.Add(time.Duration(1+j.rng.IntN(40*60)) * time.Second)
}

func (j *journey) version(indicator, airport string) string { return ".V/1" + indicator + airport }

func (j *journey) read(code string) string {
	return ".J/" + code + "/" + j.pick("", j.place(), j.digits(4+j.rng.IntN(3))) + "/" + j.pick("", j.place(), j.digits(5)) + "/" + ddmmm(j.at) +
		"/" + j.at.Format(j.pick("1504", "150405", "150405")) + j.pick("L", "L", "Z") + "/" + j.place() + j.pick("", "/", "/"+j.place())
}

func (j *journey) flight(element string, number [2]string, day, airport string) string {
	return "." + element + "/" + number[0] + number[1] + "/" + day + "/" + airport + j.pick("/"+j.class, "/"+j.class, "")
}

// place is the name of a belt, a pier, a scanner, a cart.
func (f *Feed) place() string {
	return f.pick("BELT", "PIER", "SORT", "SCAN", "CART", "GATE", "CLAIM", "CHUTE", f.letters(2), f.letters(3), f.letters(4)) + f.digits(1+f.rng.IntN(3))
}

func (f *Feed) number(format string, most ...int) string {
	return fmt.Sprintf(format, 1+f.rng.IntN(append(most, 2999)[0]))
}

func (f *Feed) pick(of ...string) string { return of[f.rng.IntN(len(of))] }
func (f *Feed) letters(n int) string     { return f.draw("ABCDEFGHIJKLMNOPQRSTUVWXYZ", n) }
func (f *Feed) digits(n int) string      { return f.draw("0123456789", n) }

func (f *Feed) draw(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[f.rng.IntN(len(alphabet))]
	}
	return string(b)
}

func ddmmm(t time.Time) string { return strings.ToUpper(t.Format("02Jan")) }
