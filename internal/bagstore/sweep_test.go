package bagstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
)

// interpreter is a simple bagstore.Interpreter: messages whose texts begin with the same word are about
// one bag, which ends one retention after the last of them.
type interpreter struct {
	keep    time.Duration
	filings []bag.Filing
}

func (in interpreter) Lifetimes(_ bag.Plate, messages []bag.Stored) []time.Time {
	last := map[string]time.Time{}
	for _, m := range messages {
		if name, _, _ := strings.Cut(m.Raw, " "); m.Received.After(last[name]) {
			last[name] = m.Received
		}
	}
	ends := make([]time.Time, len(messages))
	for i, m := range messages {
		name, _, _ := strings.Cut(m.Raw, " ")
		ends[i] = last[name].Add(in.keep)
	}
	return ends
}

func (in interpreter) Entry(plate bag.Plate, m bag.Stored) bag.Entry {
	for _, f := range in.filings {
		for _, e := range f.Entries {
			if e.Plate == plate && f.Raw == m.Raw && f.Received.Equal(m.Received) {
				return e
			}
		}
	}
	return bag.Entry{}
}

const day = 24 * time.Hour

// atOnce is how many keys a second a sweeper reads that does not wait.
const atOnce = 1_000_000_000

// sweep sweeps once, with an interpreter that knows the filings.
func (b *fixture) sweep(s *bagstore.Store, filings []bag.Filing) bagstore.SweepCounts {
	b.Helper()
	swept, err := s.Sweeper(interpreter{retention, filings}, atOnce, nil).Sweep(context.Background())
	if err != nil {
		b.Error(err)
	}
	return swept
}

// filingOf returns a filing about one plate, received some days ago. Its entry has a member for
// each kind of key.
func filingOf(raw string, daysAgo int, plate bag.Plate, flight bag.Flight, pnr string) bag.Filing {
	return bag.Filing{
		Raw: raw, Received: now().Add(-time.Duration(daysAgo) * day),
		Entries: []bag.Entry{{
			Plate: plate, Flights: []bag.Flight{flight}, PNRs: []string{pnr}, Surnames: []string{"MUELLER"}, Originals: []bag.Plate{"9" + plate[1:]},
			Stowage: []bag.Container{{Flight: flight, Device: "AKE1LX"}}, Ends: []bag.End{{Flight: flight, Airport: "ZRH", Arriving: true}},
		}},
	}
}

func testSweep(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	filings := []bag.Filing{
		filingOf("old BSM", 200, "0220000001", lx("1"), "OLD"),
		filingOf("old BPM", 190, "0220000001", lx("2"), "OLD"),
		filingOf("new BSM", 5, "0220000001", lx("2"), "NEW"),
		filingOf("gone BSM", 250, "0220000002", lx("2"), "OLD"),
		filingOf("young BSM", 5, "0220000003", lx("2"), "OLD"),
		{Raw: "container", Received: now().Add(-5 * day), Stowage: []bag.Container{ake("1", "2")}},
	}
	b.file(s, filings...)
	if swept := b.sweep(s, filings); swept.Messages != 3 || swept.Members != 0 || swept.Extended != 0 {
		t.Errorf("swept %+v", swept)
	}
	v := b.read(s.Reader(), filings)
	if got := v.PlateMessages["0220000001"]; len(got) != 1 || got[0].Raw != "new BSM" {
		t.Errorf("left of the first plate: %v", got)
	}
	if got := len(v.PlateMessages["0220000002"]); got != 0 {
		t.Errorf("left of the second plate: %d", got)
	}
	if len(v.PlateMessages["0220000003"]) != 1 || len(v.Stowage[ake("1", "2")]) != 1 {
		t.Errorf("left of the third plate and the container: %v", v)
	}
	if swept := b.sweep(s, filings); swept.Messages+swept.Members+swept.Extended != 0 {
		t.Errorf("swept again %+v", swept)
	}

	// Five days on, past the grace, the entries of the old bags have expired; those of the new ones
	// have not.
	// LX1, its container and OLD of the first plate; LX2, its container, OLD and the original of
	// the second; LX1 of the airport.
	if swept := b.sweep(b.open(retention, in(5*day)), filings); swept.Members != 8 {
		t.Errorf("swept five days later %+v", swept)
	}
	v = b.read(s.Reader(), filings)
	if got, want := v.Flights[lx("2")], []bag.Plate{"0220000001", "0220000003"}; !slices.Equal(got, want) {
		t.Errorf("left on LX2: %v", got)
	}
	if got, want := v.PNRs["OLD"], []bag.Plate{"0220000003"}; !slices.Equal(got, want) {
		t.Errorf("left of OLD: %v", got)
	}
}

func testExtend(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	filings := []bag.Filing{
		filingOf("bag BSM", 175, "0220000001", lx("1"), "PNR1"),
		{Raw: "container", Received: now().Add(-175 * day), Stowage: []bag.Container{ake("1", "1")}},
		{Raw: "container", Received: now().Add(-175 * day), Stowage: []bag.Container{ake("2", "1")}},
		filingOf("bag found again", 10, "0220000001", lx("2"), "PNR1"),
	}
	b.file(s, filings...)
	if err := b.client.ExpireAt(context.Background(), b.prefix+"b:0220000001", now().Add(5*day)).Err(); err != nil { // a process ended between two commands
		t.Fatal(err)
	}
	if swept := b.sweep(s, filings); swept.Extended != 1 || swept.Messages != 0 {
		t.Errorf("swept %+v", swept)
	}
	late := b.open(retention, in(165*day))
	v := b.read(late.Reader(), filings)
	if len(v.Flights[lx("1")]) != 1 || len(v.PNRs["PNR1"]) != 1 || len(v.Rush["9220000001"]) != 1 || len(v.Contents[ake("1", "1")]) != 1 || len(v.PlateMessages["0220000001"]) != 2 {
		t.Errorf("shortly before the end of the bag: %+v", v)
	}
	on := ":" + lx("1").Day.String()
	for key, days := range map[string]time.Duration{
		"b:0220000001": 170, "f:LX1" + on: 170, "a:ZRH:A" + on: 170, "n:LX1" + on: 170, "p:PNR1": 170, "r:9220000001": 170,
		"u:LX1" + on + ":AKE1LX": 170, "c:LX1" + on + ":AKE1LX": 170, "c:LX1" + on + ":AKE2LX": 5,
	} {
		if got := time.Unix(0, 0).Add(b.expiry(b.prefix+key)).Sub(now()) / day; got != days {
			t.Errorf("%s expires in %d days, want %d", key, got, days)
		}
	}
	if err := b.client.Del(context.Background(), b.prefix+"p:PNR1").Err(); err != nil {
		t.Fatal(err)
	}
	b.sweep(s, filings)
	b.expiry(b.prefix + "p:PNR1") // each sweep writes it, whatever the sweep before has written
}

func testHeal(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	filings := append(journeys(5, 30, now().Add(-5*day)), filingOf("bag", 200, "0220000001", lx("1"), "PNR1"))
	b.file(s, filings...)
	for _, key := range b.keys() {
		if err := b.client.Persist(context.Background(), key).Err(); err != nil {
			t.Fatal(err)
		}
	}
	b.sweep(s, filings)
	for _, key := range b.keys() {
		b.expiry(key)
	}
}

func testSweepAndWrite(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	living := journeys(9, 300, now().Add(-170*day))
	for i := range living { // one bag, whose last message is young
		living[i].Raw = "bag " + living[i].Raw
	}
	for _, plate := range []bag.Plate{"0220123450", "0220123451", "0220123452", "0220123453"} {
		living = append(living, filingOf("bag again", 0, plate, lx("1"), "PNR0"))
	}
	b.file(s, living[len(living)-4:]...)
	dead := journeys(10, 100, now().Add(-300*day))
	for i := range dead {
		dead[i].Raw = "dead " + dead[i].Raw
		dead[i].Stowage = nil
	}
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			store := b.open(retention, now)
			for i := range living {
				b.file(store, living[(i+w*150)%len(living)])
			}
		})
		all.Go(func() {
			store := b.open(retention, now)
			for i := range dead {
				b.file(store, dead[i])
			}
		})
		all.Go(func() {
			sweeping := b.open(retention, now)
			for range 10 {
				b.sweep(sweeping, living)
			}
		})
	}
	all.Wait()
	b.sweep(s, living)
	got, want := b.read(s.Reader(), living), b.read(b.twin(living), living)
	for plate, messages := range want.PlateMessages {
		if !slices.Equal(got.PlateMessages[plate], messages) {
			t.Errorf("%s has %d messages, want %d", plate, len(got.PlateMessages[plate]), len(messages))
		}
	}
	for c, messages := range want.Stowage {
		if !slices.Equal(got.Stowage[c], messages) {
			t.Errorf("%v has %d positionings, want %d", c, len(got.Stowage[c]), len(messages))
		}
	}
	for c, plates := range want.Contents {
		for _, plate := range plates {
			if !slices.Contains(got.Contents[c], plate) {
				t.Errorf("%v has lost %s", c, plate)
			}
		}
	}
	for flight, plates := range want.Flights {
		for _, plate := range plates {
			if !slices.Contains(got.Flights[flight], plate) {
				t.Errorf("%v has lost %s", flight, plate)
			}
		}
	}
}

func testSweepHeld(t *testing.T, b *fixture) {
	filings := make([]bag.Filing, 1000)
	for i := range filings {
		filings[i] = filingOf("bag", 0, bag.Plate(fmt.Sprintf("022%07d", i)), lx("1"), "HELD")
	}
	s := b.open(180*time.Second, now) // a sweep is due every second, and at this rate takes many
	b.file(s, filings...)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 100)
	var running sync.WaitGroup
	running.Go(func() {
		s.Sweeper(interpreter{180 * time.Second, filings}, 50, func(_ bagstore.SweepCounts, err error) { ended <- err }).Run(ctx)
	})
	release := context.CancelFunc(func() {})
	defer func() { release() }()
	var err error
	redistest.Eventually(t, 2*time.Minute, "no sweep was cut short", func() bool {
		release() // of a hold that came before a sweep
		<-time.After(3 * time.Second)
		var holding context.Context
		holding, release = context.WithCancel(context.Background())
		if err := s.HoldSweeps(holding); err != nil {
			t.Fatal(err)
		}
		select {
		case err = <-ended:
			return true
		case <-time.After(10 * time.Second): // a busy machine may take that long to cut a sweep short
			return false
		}
	})
	if err == nil || !strings.Contains(err.Error(), "sweeps are held") {
		t.Errorf("the sweep that ran ended with %v", err)
	}
	<-time.After(3 * time.Second) // longer than it takes until a sweep is due
	stop()
	running.Wait()
	if len(ended) > 0 {
		t.Errorf("a sweep ran while sweeps were held: %v", <-ended)
	}
}

func testSweepRun(t *testing.T, b *fixture) {
	// Sweeps are due every 180th part of the retention, here every second.
	filings := []bag.Filing{{Raw: "bag", Received: now(), Entries: []bag.Entry{{Plate: "0220000001"}}}}
	ctx, stop := context.WithCancel(context.Background())
	var mu sync.Mutex
	sweeps := 0
	start := time.Now()
	var running sync.WaitGroup
	for range 3 {
		s := b.open(180*time.Second, now)
		b.file(s, filings...)
		running.Go(func() {
			s.Sweeper(interpreter{180 * time.Second, filings}, 1000, func(swept bagstore.SweepCounts, err error) {
				mu.Lock()
				defer mu.Unlock()
				if sweeps++; err != nil || swept.Keys != 1 {
					t.Errorf("swept %+v, %v", swept, err)
				}
			}).Run(ctx)
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return sweeps
	}
	redistest.Eventually(t, 20*time.Second, "nobody sweeps", func() bool { return count() >= 2 })
	if n, most := count(), int(time.Since(start)/time.Second)+1; n > most {
		t.Errorf("%d sweeps in %v", n, time.Since(start))
	}
	stop()
	running.Wait()
}
