package simulate

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Generate returns the messages of a feed with valid options, in the order in which they are sent.
// That is the order of their received times, except for messages that are sent out of order. Generate
// calls truth with the truth about a bag after its last message was yielded; truth may be nil.
func Generate(opt Options, truth func(Bag)) iter.Seq[Message] {
	opt.Interval = opt.interval()
	if truth == nil {
		truth = func(Bag) {}
	}
	return func(yield func(Message) bool) { newGenerator(opt, truth).run(yield) }
}

// generator makes a feed.
type generator struct {
	opt        Options
	truth      func(Bag)
	table      *timetable
	source     rand.PCG // seeded again for each bag and each text, so that these do not depend on each other
	random     *rand.Rand
	text       writer
	queue      queue
	containers map[container]bool // containers whose message is in the queue
	pushed     uint64             // number of items ever pushed onto the queue
}

// container is a container of a flight.
type container struct {
	flight flight
	number int
}

func newGenerator(opt Options, truth func(Bag)) *generator {
	g := &generator{opt: opt, truth: truth, containers: map[container]bool{}}
	g.random = rand.New(&g.source)
	g.text.Rand = g.random
	g.table = newTimetable(g.seed(timetableStream, 0))
	return g
}

// Streams of random numbers. Each text of a bag has a stream of its own, from textStream on.
const (
	timetableStream = iota
	passengerStream
	bagStream
	rushStream
	textStream
)

// seed starts a stream of random numbers for the bag, passenger or container with that number.
func (g *generator) seed(stream uint64, number int) *rand.Rand {
	g.source.Seed(g.opt.Seed, uint64(number)<<10|stream)
	return g.random
}

// run yields every message, until yield returns false.
func (g *generator) run(yield func(Message) bool) {
	start := g.opt.Start.UTC()
	for n := 0; n < g.opt.Bags || len(g.queue) > 0; {
		next := start.Add(time.Duration(n) * g.opt.Interval)
		if n < g.opt.Bags && (len(g.queue) == 0 || g.queue[0].sent >= next.UnixMilli()) {
			g.checkIn(n, next)
			n++
			continue
		}
		m, finished := g.next()
		if !yield(m) {
			return
		}
		if finished != nil {
			g.truth(finished.truth())
		}
	}
}

// checkIn plans the journey of the n-th bag, and that of its rush bag if it needs one, and queues
// them.
func (g *generator) checkIn(n int, now time.Time) {
	leader, party := n, now
	// It may be a second bag of the last passenger, unless their flight is near by now.
	if n%2 == 1 && g.opt.Interval <= 5*time.Minute && g.seed(bagStream, n).IntN(3) == 0 {
		leader, party = n-1, now.Add(-g.opt.Interval)
	}
	r := g.seed(passengerStream, leader)
	j := &journey{number: n, passenger: newPassenger(r, leader)}
	j.trips = [][]flight{g.table.itinerary(r, party)}

	r = g.seed(bagStream, n)
	r.IntN(3) // this number decided above whether it is a second bag
	j.plate = plate('0', j.trips[0][0].airline, n)
	j.disruption = g.opt.Faults.draw(r)
	p := planner{r, j, g.table, g.opt.Faults}
	p.plan(now)
	p.schedule()
	if j.disruption == leftBehind {
		g.sendRush(j)
	}
	g.enqueue(j)
}

// sendRush plans and queues the rush bag of a bag that was left behind.
func (g *generator) sendRush(j *journey) {
	missed := j.trip()[len(j.trip())-1]
	r := g.seed(rushStream, j.number)
	rush := &journey{number: j.number, passenger: j.passenger, original: j, link: r.IntN(rushLinks)}
	first := byte('2')
	if rush.link != byTag {
		first = '1'
	}
	rush.plate = plate(first, missed.airline, j.number)
	j.rush = rush
	p := planner{r, rush, g.table, g.opt.Faults}
	at := p.minutes(missed.leaves, 120, 240)
	rush.trips = [][]flight{g.table.rebook([]flight{missed}, at.Add(90*time.Minute))}
	p.plan(at)
	p.schedule()
	g.enqueue(rush)
}

// The ways in which a rush bag names its original.
const (
	byTag    = iota // leading digit 2, and .M
	byRemark        // .E/RUSH, and the plate in .R
	byID            // .E/RUSH, and .M
	rushLinks
)

// plate returns the plate of the n-th bag. Plates repeat after a million bags.
func plate(first byte, carrier *airline, n int) string {
	return fmt.Sprintf("%c%s%06d", first, carrier.accounting, (n*7919+104729)%1_000_000)
}

// draw draws the disruption of a bag.
func (f Faults) draw(r *rand.Rand) disruption {
	x := r.Float64() * 100
	for _, d := range []struct {
		percent    float64
		disruption disruption
	}{{f.Rerouted, rerouted}, {f.Rush, leftBehind}, {f.Offloaded, offloaded}, {f.Unknown, unannounced}, {f.Cancelled, cancelled}} {
		if x < d.percent {
			return d.disruption
		}
		x -= d.percent
	}
	return undisturbed
}

// enqueue queues a journey and the messages about its containers.
func (g *generator) enqueue(j *journey) {
	for _, s := range j.steps {
		if s.kind != positioned {
			continue
		}
		f := j.trips[s.trip][s.leg]
		c := container{f, j.container(f)}
		if !g.containers[c] {
			g.containers[c] = true
			g.push(item{sent: f.positioning(c.number).UnixMilli() + 5000, container: c})
		}
	}
	g.push(item{sent: j.steps[j.next].sent, journey: j})
}

func (g *generator) push(i item) {
	g.pushed++
	i.order = g.pushed
	heap.Push(&g.queue, i)
}

// next makes the next message, and returns the journey that ends with it, or nil.
func (g *generator) next() (Message, *journey) {
	first := &g.queue[0]
	if first.journey == nil {
		c := first.container
		heap.Pop(&g.queue)
		delete(g.containers, c)
		return g.positioned(c), nil
	}
	j := first.journey
	m := g.message(j, j.steps[j.next])
	j.next++
	if j.next == len(j.steps) {
		heap.Pop(&g.queue)
		return m, j
	}
	first.sent = j.steps[j.next].sent
	heap.Fix(&g.queue, 0)
	return m, nil
}

func (g *generator) message(j *journey, s step) Message {
	stream := textStream + uint64(s.text)<<1
	if j.original != nil {
		stream++
	}
	g.seed(stream, j.number)
	g.text.reset(j.trips[s.trip][s.leg].airline, s.copied)
	m := Message{Received: time.UnixMilli(s.received).UTC(), Plate: j.plate}
	if s.kind.isBSM() {
		g.text.bsm(j, s)
	} else {
		g.text.bpm(j, s)
	}
	if s.mutation > 0 {
		mutation := &mutations[s.mutation-1]
		g.text.buf = mutation.apply(g.text.buf)
		m.Code = mutation.bpm
		if s.kind.isBSM() {
			m.Code = mutation.bsm
		}
	}
	m.Text = string(g.text.buf)
	return m
}

// positioned makes the message that a container is loaded into its aircraft.
func (g *generator) positioned(c container) Message {
	f := c.flight
	g.seed(textStream+uint64(c.number)<<1, int(f.leaves.Unix()))
	g.text.reset(f.airline, false)
	g.text.positioned(f, c.number)
	return Message{Text: string(g.text.buf), Received: f.positioning(c.number).Add(5 * time.Second)}
}

// item is the next message of a journey, or the message about a container.
type item struct {
	sent      int64
	order     uint64 // orders items with equal times
	journey   *journey
	container container // if journey is nil
}

// queue is a heap of items, the one that is sent next first.
type queue []item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].sent, q[j].sent), cmp.Compare(q[i].order, q[j].order)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
