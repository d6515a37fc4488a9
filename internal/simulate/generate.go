package simulate

import (
	"container/heap"
	"iter"
	"math/rand/v2"
	"time"
)

// Generate makes the feed: its messages in the order in which they are sent, which is that of their received times but
// for those out of order. It hands the truth about a bag to truth when its last message was made; truth may be nil.
func Generate(opt Options, truth func(Bag)) (iter.Seq[Message], error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	opt.Interval = opt.interval()
	if truth == nil {
		truth = func(Bag) {}
	}
	return func(yield func(Message) bool) {
		g, err := newGenerator(opt, truth)
		if err != nil {
			panic(err) // never: the zones are compiled in
		}
		g.run(yield)
	}, nil
}

// generator holds what is under way.
type generator struct {
	opt       Options
	truth     func(Bag)
	table     *timetable
	source    rand.PCG // begun anew for each bag and each text, so that none depends on another
	random    *rand.Rand
	text      writer
	waiting   queue
	positions map[box]bool // positionings that wait
	made      uint64       // things put into waiting
}

// box is a container of a flight.
type box struct {
	flight    *departure
	leaves    int64
	container int
}

func newGenerator(opt Options, truth func(Bag)) (*generator, error) {
	g := &generator{opt: opt, truth: truth, positions: map[box]bool{}}
	g.random = rand.New(&g.source)
	g.text.Rand = g.random
	var err error
	g.table, err = newTimetable(g.begin(timetableDraw, 0))
	return g, err
}

// What is drawn apart, as the lowest bits of the second half of a seed.
const (
	timetableDraw = iota
	passengerDraw
	bagDraw
	rushDraw
	textDraw // and those above
)

// begin begins the random numbers for one thing.
func (g *generator) begin(what uint64, number int) *rand.Rand {
	g.source.Seed(g.opt.Seed, uint64(number)<<10|what)
	return g.random
}

// run makes everything.
func (g *generator) run(yield func(Message) bool) {
	start := g.opt.Start.UTC()
	for n := 0; n < g.opt.Bags || len(g.waiting) > 0; {
		next := start.Add(time.Duration(n) * g.opt.Interval)
		if n < g.opt.Bags && (len(g.waiting) == 0 || g.waiting[0].sent >= next.UnixMilli()) {
			g.checkIn(n, next)
			n++
			continue
		}
		if !yield(g.step()) {
			return
		}
	}
}

// checkIn decides on a bag and puts it, and its rush bag, among those that wait.
func (g *generator) checkIn(n int, now time.Time) {
	leader, party := n, now
	if n%2 == 1 && g.begin(bagDraw, n).IntN(3) == 0 { // a second bag of the passenger before
		leader, party = n-1, now.Add(-g.opt.Interval)
	}
	r := g.begin(passengerDraw, leader)
	j := &journey{number: n, who: newPassenger(r, leader)}
	j.trips = [][]flight{g.table.itinerary(r, party)}

	r = g.begin(bagDraw, n)
	r.IntN(3) // whether it is a second bag
	j.plate = plate('0', j.trips[0][0].line, n)
	j.twist = g.opt.Faults.draw(r)
	p := player{r, j, g.table, g.opt.Faults}
	p.play(now)
	p.deliver()
	if j.twist == leftBehind {
		g.sendAfter(j)
	}
	g.wait(j)
}

// sendAfter decides on the rush bag of a bag that was left behind.
func (g *generator) sendAfter(j *journey) {
	missed := j.trip()[len(j.trip())-1]
	r := g.begin(rushDraw, j.number)
	rush := &journey{number: j.number, who: j.who, original: j, link: r.IntN(rushLinks)}
	first := byte('2')
	if rush.link != byTag {
		first = '1'
	}
	rush.plate = plate(first, missed.line, j.number)
	j.rush = rush
	p := player{r, rush, g.table, g.opt.Faults}
	at := p.minutes(missed.leaves, 120, 240)
	rush.trips = [][]flight{g.table.after([]flight{missed}, at.Add(90*time.Minute))}
	p.play(at)
	p.deliver()
	g.wait(rush)
}

// The ways in which a rush bag names its original.
const (
	byTag    = iota // leading digit 2, and .M
	byRemark        // .E/RUSH, and the plate in .R
	byID            // .E/RUSH, and .M
	rushLinks
)

// plate is the n-th tag of an airline. No tag comes again within a million bags.
func plate(first byte, line *airline, n int) string {
	b := append(make([]byte, 0, 10), first)
	return string(appendNumber(append(b, line.accounting...), (n*7919+104729)%1_000_000, 6))
}

// draw decides what befalls a bag.
func (f Faults) draw(r *rand.Rand) twist {
	x := r.Float64() * 100
	for _, t := range []struct {
		percent float64
		twist   twist
	}{{f.Rerouted, rerouted}, {f.Rush, leftBehind}, {f.Offloaded, offloaded}, {f.Unknown, unannounced}, {f.Cancelled, dropped}} {
		if x < t.percent {
			return t.twist
		}
		x -= t.percent
	}
	return asPlanned
}

// wait puts a journey among those that wait, and the positionings of its containers.
func (g *generator) wait(j *journey) {
	for _, s := range j.steps {
		if s.kind != positioned {
			continue
		}
		f := j.trips[s.trip][s.leg]
		b := box{f.departure, f.leaves.UnixMilli(), j.container(f)}
		if !g.positions[b] {
			g.positions[b] = true
			g.push(waiting{sent: f.positioning(b.container).UnixMilli() + 5000, box: b})
		}
	}
	g.push(waiting{sent: j.steps[j.next].sent, journey: j})
}

func (g *generator) push(w waiting) {
	g.made++
	w.made = g.made
	heap.Push(&g.waiting, w)
}

// step makes the next message of what waits.
func (g *generator) step() Message {
	w := &g.waiting[0]
	if w.journey == nil {
		b := w.box
		heap.Pop(&g.waiting)
		delete(g.positions, b)
		return g.positioned(b)
	}
	j := w.journey
	m := g.message(j, j.steps[j.next])
	j.next++
	if j.next == len(j.steps) {
		heap.Pop(&g.waiting)
		g.truth(j.truth())
		return m
	}
	w.sent = j.steps[j.next].sent
	heap.Fix(&g.waiting, 0)
	return m
}

// message writes a message of a journey.
func (g *generator) message(j *journey, s step) Message {
	stream := textDraw + uint64(s.text)<<1
	if j.original != nil {
		stream++
	}
	g.begin(stream, j.number)
	g.text.begin(j.trips[s.trip][s.leg].line, s.copied)
	m := Message{Received: time.UnixMilli(s.received).UTC(), Plate: j.plate}
	if s.kind.isBSM() {
		g.text.source(j, s)
	} else {
		g.text.processed(j, s)
	}
	if s.spoiled > 0 {
		bad := &spoilers[s.spoiled-1]
		g.text.buf = bad.spoil(g.text.buf)
		m.Code = bad.bpm
		if s.kind.isBSM() {
			m.Code = bad.bsm
		}
	}
	m.Text = string(g.text.buf)
	return m
}

func (g *generator) positioned(b box) Message {
	f := flight{b.flight, time.UnixMilli(b.leaves).UTC()}
	g.begin(textDraw+uint64(b.container)<<1, int(b.leaves/1000))
	g.text.begin(f.line, false)
	g.text.positioned(f, b.container)
	return Message{Text: string(g.text.buf), Received: f.positioning(b.container).Add(5 * time.Second)}
}

// begin begins a text in the line ends of an airline, or in those of the others.
func (w *writer) begin(line *airline, other bool) {
	w.buf = w.buf[:0]
	w.end = line.ends
	if other {
		w.end = map[string]string{"\n": "\r\n", "\r\n": "\n"}[line.ends]
	}
}

// waiting is a journey, or a container, whose next message is to be sent at a time.
type waiting struct {
	sent    int64
	made    uint64 // decides between equal times
	journey *journey
	box     box // where journey is nil
}

// queue is a heap: what is sent first stands first.
type queue []waiting

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].sent != q[j].sent {
		return q[i].sent < q[j].sent
	}
	return q[i].made < q[j].made
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(waiting)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
