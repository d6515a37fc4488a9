package bagstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/test/race"
)

const retention = 180 * 24 * time.Hour

func TestSuiteOnMiniredis(t *testing.T) {
	server := miniredis.RunT(t)
	server.SetTime(time.Now()) // its clock stands still between ticks: each costs it a look at all keys
	server.ClockTTL(true)
	tick := time.NewTicker(500 * time.Millisecond)
	over := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				server.SetTime(time.Now())
			}
		}
	})
	t.Cleanup(func() {
		tick.Stop()
		close(over)
		ticking.Wait()
	})
	runSuite(t, "redis://"+server.Addr())
}

// The Redis is that of BAGTRAIL_TEST_REDIS, if it is set, or one that is started for the test.
func TestSuiteOnRedis(t *testing.T) {
	if url := os.Getenv("BAGTRAIL_TEST_REDIS"); url != "" {
		runSuite(t, url)
		return
	}
	server := redistest.StartServer(t)
	runSuite(t, server.URL(""))
}

func TestSuiteOnACluster(t *testing.T) {
	runSuite(t, redistest.StartCluster(t))
}

// runSuite runs the tests that the index must pass on every kind of Redis against the Redis at a URL
// without parameters. The keys of a test have a prefix of their own.
func runSuite(t *testing.T, url string) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"what was filed is found":                          testFound,
		"what was not filed is empty":                      testEmpty,
		"a position is part of what is filed":              testPosition,
		"what no log numbers is counted":                   testCount,
		"filing again changes nothing":                     testRepeat,
		"any order and any number of copies read alike":    testOrder,
		"writers at once read alike":                       testWriters,
		"a bag with a history is listed":                   testListedFirst,
		"bytes are kept whatever they are":                 testBytes,
		"a range of 999 tags is filed whole":               testRange,
		"a plate of 10000 messages is read whole":          testLongTrail,
		"a flight of 5000 bags is read in one go":          testLargeFlight,
		"a known version is not read again":                testVersions,
		"versions are the same in every process":           testVersionsTravel,
		"what has expired is gone from every key":          testExpiry,
		"an expired member is not found":                   testExpiredMember,
		"no expiry ever moves to an earlier time":          testNeverEarlier,
		"what is filed past retention stays for a grace":   testGrace,
		"a sweep removes what has ended and nothing else":  testSweep,
		"a sweep keeps what a living bag needs":            testExtend,
		"a sweep gives every key an expiry":                testHeal,
		"sweeps and writers at once lose nothing":          testSweepAndWrite,
		"one process sweeps at a time":                     testSweepRun,
		"nobody sweeps while sweeps are held":              testSweepHeld,
		"a damaged value is left out and moved aside":      testDamagedValue,
		"a bag whose only value was damaged still expires": testDamagedBagExpires,
		"a key of a wrong type is moved aside":             testWrongType,
		"a member that is no plate is moved aside":         testWrongMember,
		"a writer is not stalled by a key of wrong type":   testWriterMeetsWrongType,
		"a sweep goes on past what is damaged":             testSweepPastDamage,
		"installations do not see each other":              testPrefix,
		"a caller whose time is over is told":              testContext,
		"it is ready":                                      testReady,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t, url))
		})
	}
}

// fixture holds what a test works with.
type fixture struct {
	testing.TB
	url    string
	prefix string
	redis  *redis.Client           // of the test itself
	client goredis.UniversalClient // that of redis
}

func newFixture(t *testing.T, url string) *fixture {
	prefix := fmt.Sprintf("%08x[*]:", rand.Uint32()) // also a pattern that would match other keys
	b := &fixture{TB: t, url: url + "?prefix=" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(prefix), prefix: prefix}
	b.redis = redistest.Open(t, b.url)
	b.client = b.redis.WriteClient()
	t.Cleanup(b.empty)
	return b
}

// open opens a store as a process of its own does.
func (b *fixture) open(keep time.Duration, now func() time.Time) *bagstore.Store {
	b.Helper()
	s, err := bagstore.Open(redistest.Open(b, b.url), bagstore.Config{Retention: keep, Now: now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// keys returns all keys of the test.
func (b *fixture) keys() []string {
	b.Helper()
	var mu sync.Mutex
	var all []string
	err := b.redis.EachMaster(context.Background(), func(ctx context.Context, client goredis.UniversalClient) error {
		for cursor := uint64(0); ; {
			page, next, err := client.Scan(ctx, cursor, "*", 1000).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			for _, key := range page {
				if strings.HasPrefix(key, b.prefix) {
					all = append(all, key)
				}
			}
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// expiry returns when a key expires, since 1970. It fails the test if the key never does.
func (b *fixture) expiry(key string) time.Duration {
	b.Helper()
	at, err := b.client.ExpireTime(context.Background(), key).Result()
	if err != nil || at <= 0 {
		b.Errorf("%s expires at %v, %v", key, at, err)
	}
	return at
}

// empty removes all keys of the test.
func (b *fixture) empty() {
	b.Helper()
	for _, key := range b.keys() {
		if err := b.client.Del(context.Background(), key).Err(); err != nil {
			b.Error(err)
		}
	}
}

func (b *fixture) file(s *bagstore.Store, filings ...bag.Filing) []bool {
	b.Helper()
	fresh, err := s.Writer().File(context.Background(), filings)
	if err != nil {
		b.Fatal(err)
	}
	return fresh
}

// find returns what the store has of what is wanted.
func (b *fixture) find(s *bagstore.Store, w trail.Wanted) trail.Found {
	b.Helper()
	found, err := s.Reader().Read(context.Background(), w)
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// view holds everything that can be read of a few filings.
type view struct {
	Flights       map[bag.Flight][]bag.Plate
	Airports      map[bag.AirportDay][]bag.Flight
	Named         map[bag.Named][]bag.Plate
	PNRs          map[string][]bag.Plate
	Rush          map[bag.Plate][]bag.Plate
	RushPNRs      map[string][]bag.Plate
	Contents      map[bag.Container][]bag.Plate
	PlateMessages map[bag.Plate][]bag.Stored
	Stowage       map[bag.Container][]bag.Stored
}

// messagesOf returns the messages of a plate or container in the order of receipt, without damaged
// ones.
func messagesOf(held trail.Held) []bag.Stored {
	messages, _ := held.Messages()
	slices.SortFunc(messages, byReceipt)
	return messages
}

// wanted returns everything that filings name.
func wanted(filings []bag.Filing) (w trail.Wanted) {
	ends := func(list []bag.End) {
		for _, end := range list {
			w.Airports = append(w.Airports, end.AirportDay())
		}
	}
	for _, f := range filings {
		ends(f.Ends)
		w.Stowage = append(w.Stowage, f.Stowage...)
		for _, e := range f.Entries {
			ends(e.Ends)
			for _, flight := range e.Flights {
				w.Flights = append(w.Flights, flight)
				for _, surname := range e.Surnames {
					w.Named = append(w.Named, bag.Named{Flight: flight, Surname: surname})
				}
			}
			w.PNRs, w.Originals = append(w.PNRs, e.PNRs...), append(w.Originals, e.Originals...)
			w.PlateMessages, w.Stowage = append(w.PlateMessages, e.Plate), append(w.Stowage, e.Stowage...)
		}
	}
	w.Flights, w.Airports, w.Named = smallmap.Distinct(w.Flights), smallmap.Distinct(w.Airports), smallmap.Distinct(w.Named)
	w.PNRs, w.Originals = smallmap.Distinct(w.PNRs), smallmap.Distinct(w.Originals)
	w.PlateMessages, w.Stowage = smallmap.Distinct(w.PlateMessages), smallmap.Distinct(w.Stowage)
	w.RushPNRs, w.Contents = w.PNRs, w.Stowage
	return w
}

// read returns everything that an index has for what filings name.
func (b *fixture) read(index trail.Index, filings []bag.Filing) view {
	b.Helper()
	w := wanted(filings)
	found, err := index.Read(context.Background(), w)
	if err != nil {
		b.Fatal(err)
	}
	for _, flights := range found.Airports {
		slices.SortFunc(flights, func(a, b bag.Flight) int { return cmp.Compare(a.Airline+a.Number, b.Airline+b.Number) })
	}
	messages := func(all []trail.Held) (read [][]bag.Stored) {
		for _, held := range all {
			read = append(read, messagesOf(held))
		}
		return read
	}
	return view{
		mapped(w.Flights, found.Flights), mapped(w.Airports, found.Airports), mapped(w.Named, found.Named), mapped(w.PNRs, found.PNRs),
		mapped(w.Originals, found.Originals), mapped(w.RushPNRs, found.RushPNRs), mapped(w.Contents, found.Contents),
		mapped(w.PlateMessages, messages(found.PlateMessages)), mapped(w.Stowage, messages(found.Stowage)),
	}
}

func mapped[K comparable, V any](keys []K, values []V) map[K]V {
	m := make(map[K]V)
	for i, key := range keys {
		m[key] = values[i]
	}
	return m
}

// twin returns an index in memory, as the tests of other packages use it, that holds filings.
func (b *fixture) twin(filings []bag.Filing) *memory.Index {
	b.Helper()
	index := memory.New()
	if _, err := index.File(context.Background(), filings); err != nil {
		b.Fatal(err)
	}
	return index
}

func byReceipt(a, b bag.Stored) int {
	rank := map[bool]int{true: 1}
	return cmp.Or(a.Received.Compare(b.Received), a.Position.Compare(b.Position), cmp.Compare(a.Raw, b.Raw),
		cmp.Compare(rank[a.Report], rank[b.Report]))
}

// check fails the test if the store does not return exactly what was filed.
func (b *fixture) check(s *bagstore.Store, filings []bag.Filing) {
	b.Helper()
	got, want := b.read(s.Reader(), filings), b.read(b.twin(filings), filings)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[view]()) {
		g, w := fmt.Sprint(reflect.ValueOf(got).FieldByIndex(field.Index)), fmt.Sprint(reflect.ValueOf(want).FieldByIndex(field.Index))
		if g != w {
			b.Errorf("%s: read %.2000q, want %.2000q", field.Name, g, w)
		}
	}
	plates := wanted(filings).PlateMessages
	lengths, err := s.Reader().Lengths(context.Background(), plates)
	if err != nil {
		b.Fatal(err)
	}
	for i, plate := range plates {
		if lengths[i] != len(want.PlateMessages[plate]) {
			b.Errorf("%d messages of plate %s, want %d", lengths[i], plate, len(want.PlateMessages[plate]))
		}
	}
}

// now is a clock with a precision of milliseconds.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// in returns a clock that is ahead.
func in(d time.Duration) func() time.Time { return func() time.Time { return now().Add(d) } }

func lx(number string) bag.Flight {
	return bag.Flight{Airline: "LX", Number: number, Day: bag.DayOf(now())}
}

// ake returns a stowage device on a flight.
func ake(number, flight string) bag.Container {
	return bag.Container{Flight: lx(flight), Device: "AKE" + number + "LX"}
}

// journeys returns filings of every kind about few plates, flights and PNRs.
func journeys(seed uint64, n int, received time.Time) []bag.Filing {
	r := rand.New(rand.NewPCG(seed, seed))
	plate := func() bag.Plate { return bag.Plate(fmt.Sprintf("022012345%d", r.IntN(4))) }
	number := func() string { return fmt.Sprint(100 + r.IntN(3)) }
	flight := func() bag.Flight { return lx(number()) }
	container := func() bag.Container { return ake(fmt.Sprint(r.IntN(2)), number()) }
	var all []bag.Filing
	for i := range n {
		f := bag.Filing{
			Report:   r.IntN(3) == 2,
			Raw:      fmt.Sprintf("BPM\n.V/1LZRH\n.N/%s001\n.R/%d\nENDBPM", plate(), r.IntN(5)),
			Received: received.Add(time.Duration(r.IntN(20)) * 6 * time.Hour),
		}
		if r.IntN(4) > 0 {
			f.Position = bag.Position{Known: true, Partition: int32(r.IntN(3)), Offset: int64(r.IntN(1000))}
		}
		if i%5 == 4 {
			f.Stowage = append(f.Stowage, container())
			f.Ends = append(f.Ends, bag.End{Flight: flight(), Airport: "NYC"})
		} else {
			for range 1 + r.IntN(3) {
				e := bag.Entry{Plate: plate()}
				for range r.IntN(3) {
					e.Flights = append(e.Flights, flight())
					e.Ends = append(e.Ends, bag.End{Flight: flight(), Airport: []string{"ZRH", "JFK"}[r.IntN(2)], Arriving: r.IntN(2) == 0})
				}
				for range r.IntN(2) {
					e.Stowage = append(e.Stowage, container())
				}
				if r.IntN(2) == 0 {
					e.PNRs = append(e.PNRs, fmt.Sprintf("PNR%d", r.IntN(3)))
				}
				for range r.IntN(3) {
					e.Surnames = append(e.Surnames, []string{"MUELLER", "ÖZ\xff"}[r.IntN(2)])
				}
				e.Rush = r.IntN(4) == 0
				for range r.IntN(8) / 6 * r.IntN(3) {
					e.Originals = append(e.Originals, plate())
				}
				f.Entries = append(f.Entries, e)
			}
		}
		all = append(all, f)
	}
	return all
}

func testFound(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	day := bag.DayOf(now())
	filings := []bag.Filing{
		{Raw: "BSM one", Received: now(), Entries: []bag.Entry{
			{Plate: "0220123456", Flights: []bag.Flight{{Airline: "LX", Number: "100", Day: day}, {Airline: "DLH", Number: "5A", Day: day + 1}}, PNRs: []string{"ABC123", "XYZ99"}, Ends: []bag.End{
				{Flight: bag.Flight{Airline: "LX", Number: "100", Day: day}, Airport: "ZRH"},
				{Flight: bag.Flight{Airline: "DLH", Number: "5A", Day: day}, Airport: "ZRH"},
				{Flight: bag.Flight{Airline: "9W", Number: "17", Day: day}, Airport: "ZRH"},
				{Flight: bag.Flight{Airline: "9W", Number: "17", Day: day}, Airport: "ZRH", Arriving: true},
			}},
			{Plate: "2220123457", Flights: []bag.Flight{{Airline: "LX", Number: "100", Day: day}}, PNRs: []string{"ABC123"}, Originals: []bag.Plate{"0220123456"}},
		}},
		{Raw: "BPM two", Received: now(), Entries: []bag.Entry{{Plate: "0220123456", Stowage: []bag.Container{ake("1", "100"), ake("2", "100")}}}},
		{Report: true, Raw: `{"report":3}`, Received: now().Add(-time.Hour), Entries: []bag.Entry{{Plate: "0220123456"}}},
		{Raw: "BPM container", Received: now(), Stowage: []bag.Container{ake("1", "100"), ake("1", "200"), ake("3", "100")}},
	}
	if fresh := b.file(s, filings...); !slices.Equal(fresh, []bool{true, true, true, true}) {
		t.Errorf("fresh is %v", fresh)
	}
	b.check(s, filings)
}

func testEmpty(t *testing.T, b *fixture) {
	ctx, r := context.Background(), b.open(retention, now).Reader()
	two, containers := []bag.Plate{"0220123456", "0220123457"}, []bag.Container{ake("1", "1"), ake("2", "1")}
	got, err := r.Read(ctx, trail.Wanted{
		Flights: []bag.Flight{lx("1"), lx("2")}, Airports: []bag.AirportDay{{}, {Airport: "ZRH"}}, PNRs: []string{"ABC123", ""}, Originals: two, RushPNRs: []string{"ABC123", ""}, Contents: containers, Named: []bag.Named{{Flight: lx("1"), Surname: "X"}},
		PlateMessages: two, Stowage: containers, PlateVersions: two, StowageVersions: containers,
	})
	for _, held := range append(got.PlateMessages, got.Stowage...) {
		if messages, whole := held.Messages(); held.Version != 1 || len(messages) > 0 || !whole {
			t.Errorf("version %d of %v, whole: %t", held.Version, messages, whole)
		}
	}
	trails, stowage := len(got.PlateMessages), len(got.Stowage)
	got.PlateMessages, got.Stowage = nil, nil
	none := [][]bag.Plate{{}, {}}
	want := trail.Found{
		Flights: none, Airports: [][]bag.Flight{nil, nil}, PNRs: none, Originals: none, RushPNRs: none, Contents: none, Named: [][]bag.Plate{nil},
		PlateVersions: []uint64{1, 1}, StowageVersions: []uint64{1, 1},
	}
	if err != nil || trails != 2 || stowage != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v", got, err)
	}
	if lengths, err := r.Lengths(ctx, two); err != nil || !slices.Equal(lengths, []int{0, 0}) {
		t.Errorf("lengths %v, %v", lengths, err)
	}
	if got, err := r.Read(ctx, trail.Wanted{}); err != nil || len(got.PlateMessages) > 0 {
		t.Errorf("found %+v, %v, where nothing was wanted", got, err)
	}
	if fresh, err := b.open(retention, now).Writer().File(ctx, nil); err != nil || len(fresh) > 0 {
		t.Errorf("File of nothing: %v, %v", fresh, err)
	}
}

func testPosition(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	at := now()
	var filings []bag.Filing
	for _, p := range []bag.Position{
		{}, {Known: true}, {Known: true, Offset: 1}, {Known: true, Partition: 1}, {Known: true, Partition: 11, Offset: 1 << 40},
	} {
		filings = append(filings, bag.Filing{Raw: "BSM", Received: at, Position: p, Entries: []bag.Entry{{Plate: "0220123456"}}})
	}
	version := func() uint64 {
		return b.find(s, trail.Wanted{PlateVersions: []bag.Plate{"0220123456"}}).PlateVersions[0]
	}
	for _, f := range filings {
		before := version()
		if fresh := b.file(s, f); !fresh[0] || version() == before {
			t.Errorf("the message at %+v is known before", f.Position)
		}
		if fresh := b.file(s, f); fresh[0] {
			t.Errorf("the message at %+v is fresh again", f.Position)
		}
	}
	b.check(s, filings)
}

func testCount(t *testing.T, b *fixture) {
	one, other := b.open(retention, now), b.open(retention, now)
	next := int64(0)
	for i, s := range []*bagstore.Store{one, other, one} {
		first, err := s.Count(context.Background(), 3+i)
		if err != nil || first != next {
			t.Errorf("counts from %d, want %d (%v)", first, next, err)
		}
		next += int64(3 + i)
	}
}

func testRepeat(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	filings := journeys(1, 40, now())
	b.file(s, filings...)
	before := b.read(s.Reader(), filings)
	for _, again := range []*bagstore.Store{s, b.open(retention, now)} {
		for i, fresh := range b.file(again, filings...) {
			if fresh {
				t.Errorf("filing %d is fresh again", i)
			}
		}
	}
	if got := b.read(s.Reader(), filings); !reflect.DeepEqual(got, before) {
		t.Errorf("read %.500v, before %.500v", got, before)
	}
}

func testOrder(t *testing.T, b *fixture) {
	for seed := range uint64(race.Less(10, 2)) {
		filings := journeys(seed, 30, now())
		r := rand.New(rand.NewPCG(seed, 0))
		one, other := b.open(retention, now), b.open(retention, now)
		sent := append(slices.Clone(filings), filings[:10]...)
		r.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		for len(sent) > 0 {
			n := min(len(sent), 1+r.IntN(7))
			b.file([]*bagstore.Store{one, other}[r.IntN(2)], sent[:n]...)
			sent = sent[n:]
		}
		b.check(one, filings)
		b.empty()
	}
}

func testWriters(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	filings := journeys(7, 400, now())
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			writer := s.Writer()
			for i := range filings {
				if _, err := writer.File(context.Background(), filings[(i+w*50)%400:][:1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	b.check(s, filings)
}

// A bag with a history that is missing in the lists of its flight and of its passenger would be a
// contradiction to a caller that asks for both.
func testListedFirst(t *testing.T, b *fixture) {
	if strings.HasPrefix(b.url, "redis+cluster:") {
		t.Skip("the masters of a cluster do not wait for each other")
	}
	s := b.open(retention, now)
	filings := make([]bag.Filing, 400)
	for i := range filings {
		filings[i] = bag.Filing{Raw: fmt.Sprintf("BSM %d", i), Received: now(), Entries: []bag.Entry{{
			Plate:   bag.Plate(fmt.Sprintf("0724%06d", i)),
			Flights: []bag.Flight{lx(fmt.Sprint(1000 + i))},
			PNRs:    []string{fmt.Sprintf("ABC%03d", i)},
		}}}
	}
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for i := range filings {
			if _, err := s.Writer().File(context.Background(), filings[i:i+1]); err != nil {
				t.Error(err)
			}
		}
	})
	deadline := time.Now().Add(30 * time.Second)
	for i := range filings {
		e := &filings[i].Entries[0]
		for len(messagesOf(b.find(s, trail.Wanted{PlateMessages: []bag.Plate{e.Plate}}).PlateMessages[0])) == 0 { // without a pause, to see the first moment
			if time.Now().After(deadline) {
				t.Fatalf("%s is not found", e.Plate)
			}
		}
		found := b.find(s, trail.Wanted{Flights: e.Flights, PNRs: e.PNRs})
		if len(found.Flights[0]) != 1 || len(found.PNRs[0]) != 1 {
			t.Fatalf("%s has a history, and is %d times in the list of its flight, %d times in that of its passenger", e.Plate, len(found.Flights[0]), len(found.PNRs[0]))
		}
	}
}

func testBytes(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	var filings []bag.Filing
	for i, raw := range []string{
		"", "\x00", "\xff\xfe\x00", "BSM\r\n.N/0220123456001\r\n", strings.Repeat("\x00\r\n", 20000), strings.Repeat(".R/TEXT\n", 8000),
	} {
		filings = append(filings, bag.Filing{Raw: raw, Received: now().Add(time.Duration(i) * time.Millisecond), Entries: []bag.Entry{{Plate: "0220123456"}, {Plate: "0220123457"}}[:1+i%2]})
	}
	b.file(s, filings...)
	b.check(s, filings)
	// Names are bytes as well.
	odd := bag.Filing{Raw: "BSM", Received: now(), Entries: []bag.Entry{{Plate: "0220123499", PNRs: []string{"", "{A}", "A:B", "\x00\r\n", strings.Repeat("Z", 60000)}}}}
	b.file(s, odd)
	b.check(s, []bag.Filing{odd})
}

func testRange(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	f := bag.Filing{Raw: "BSM\n.N/0220000000999\nENDBSM", Received: now()}
	for i := range 999 {
		f.Entries = append(f.Entries, bag.Entry{Plate: bag.Plate(fmt.Sprintf("0220%06d", i)), Flights: []bag.Flight{lx("1")}, PNRs: []string{"ABC123"}})
	}
	b.file(s, f)
	plates := b.find(s, trail.Wanted{Flights: []bag.Flight{lx("1")}}).Flights[0]
	if len(plates) != 999 {
		t.Fatalf("%d plates", len(plates))
	}
	for i, held := range b.find(s, trail.Wanted{PlateMessages: plates}).PlateMessages {
		if all := messagesOf(held); len(all) != 1 || all[0].Raw != f.Raw {
			t.Errorf("%s: %v", plates[i], all)
		}
	}
}

func testLongTrail(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	var filings []bag.Filing
	start := now()
	for i := range race.Less(10_000, 1000) {
		filings = append(filings, bag.Filing{Raw: fmt.Sprintf("BPM %d", i), Received: start.Add(time.Duration(i) * time.Millisecond), Entries: []bag.Entry{{Plate: "0220123456"}}})
	}
	b.file(s, filings...)
	messages := messagesOf(b.find(s, trail.Wanted{PlateMessages: []bag.Plate{"0220123456"}}).PlateMessages[0])
	if len(messages) != len(filings) {
		t.Fatalf("%d messages", len(messages))
	}
	for i, m := range messages {
		if m.Raw != filings[i].Raw || !m.Received.Equal(filings[i].Received) {
			t.Fatalf("message %d is %v", i, m)
		}
	}
}

func testLargeFlight(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	var filings []bag.Filing
	var want []bag.Plate
	for i := range race.Less(5000, 500) {
		plate := bag.Plate(fmt.Sprintf("0220%06d", i))
		want = append(want, plate)
		for j := range 3 {
			filings = append(filings, bag.Filing{Raw: fmt.Sprintf("BPM\n.N/%s001\n.R/%d\n", plate, j), Received: now(), Entries: []bag.Entry{{Plate: plate, Flights: []bag.Flight{lx("1")}}}})
		}
	}
	b.file(s, filings...)
	plates := b.find(s, trail.Wanted{Flights: []bag.Flight{lx("1")}}).Flights[0]
	if !slices.Equal(plates, want) {
		t.Fatalf("%d plates", len(plates))
	}
	var found trail.Found
	redistest.Eventually(t, time.Minute, "it cannot be read", func() bool { // a machine that does a lot beside may be too slow at first
		var err error
		found, err = s.Reader().Read(context.Background(), trail.Wanted{PlateMessages: plates})
		if err != nil && !errors.Is(err, redis.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	for i, held := range found.PlateMessages {
		if all := messagesOf(held); len(all) != 3 || !strings.Contains(all[1].Raw, string(plates[i])) {
			t.Fatalf("%s: %v", plates[i], all)
		}
	}
}

func testVersions(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	plates, containers := []bag.Plate{"0220123456", "0220123457"}, []bag.Container{ake("1", "1"), ake("2", "1")}
	// versions are those of both plates and both containers, which are the same whether all is read
	// or these alone.
	versions := func() []uint64 {
		t.Helper()
		found := b.find(s, trail.Wanted{PlateMessages: plates, Stowage: containers, PlateVersions: plates, StowageVersions: containers})
		read := []uint64{found.PlateMessages[0].Version, found.PlateMessages[1].Version, found.Stowage[0].Version, found.Stowage[1].Version}
		if alone := append(found.PlateVersions, found.StowageVersions...); !slices.Equal(alone, read) {
			t.Errorf("versions alone are %v, and read with the messages %v", alone, read)
		}
		return read
	}
	b.file(s,
		bag.Filing{Raw: "one", Received: now(), Entries: []bag.Entry{{Plate: plates[0]}, {Plate: plates[1]}}},
		bag.Filing{Raw: "two", Received: now(), Entries: []bag.Entry{{Plate: plates[1]}}},
		bag.Filing{Raw: "container", Received: now(), Stowage: containers[:1]})
	before := versions()
	if again := versions(); !slices.Equal(again, before) {
		t.Errorf("versions are %v, before %v", again, before)
	}
	if before[0] == before[1] || before[2] == before[3] || slices.Contains(before, 0) {
		t.Errorf("versions of different messages are %v", before)
	}
	b.file(s, bag.Filing{Raw: "three", Received: now(), Entries: []bag.Entry{{Plate: plates[0]}}}, bag.Filing{Raw: "four", Received: now(), Stowage: containers[:1]})
	after := versions()
	if after[0] == before[0] || after[1] != before[1] || after[2] == before[2] || after[3] != before[3] {
		t.Errorf("versions are %v after a message to the first plate and container, before %v", after, before)
	}
}

// Two processes that file the same messages in different orders, at once and one by one, read the
// same versions.
func testVersionsTravel(t *testing.T, b *fixture) {
	at, container := now(), ake("1", "1")
	var filings []bag.Filing
	for i := range 600 { // more than a listpack takes
		filings = append(filings, bag.Filing{
			Raw: fmt.Sprintf("message %d", i), Received: at, Position: bag.Position{Known: true, Offset: int64(i)},
			Entries: []bag.Entry{{Plate: "0220123456"}}, Stowage: []bag.Container{container},
		})
	}
	other := *b
	other.url, other.prefix = strings.Replace(b.url, "prefix=", "prefix=other", 1), "other"+b.prefix
	t.Cleanup(other.empty)
	one, two := b.open(retention, now), other.open(retention, now)
	b.file(one, filings...)
	for _, i := range rand.Perm(len(filings)) {
		other.file(two, filings[i])
	}
	versions := func(s *bagstore.Store) [2]uint64 {
		t.Helper()
		found := b.find(s, trail.Wanted{PlateVersions: []bag.Plate{"0220123456"}, StowageVersions: []bag.Container{container}})
		return [2]uint64{found.PlateVersions[0], found.StowageVersions[0]}
	}
	before := versions(one)
	if got := versions(two); got != before {
		t.Errorf("versions are %v in one process and %v in another", before, got)
	}
	more := filings[0]
	more.Position.Offset = -1
	other.file(two, more)
	if got := versions(two); got[0] == before[0] || got[1] == before[1] {
		t.Errorf("versions are %v before and %v after another message", before, got)
	}
}

func testExpiry(t *testing.T, b *fixture) {
	s := b.open(2*time.Second, now)
	b.file(s, journeys(3, 50, now().Add(-5*24*time.Hour))...)
	if len(b.keys()) == 0 {
		t.Fatal("no keys")
	}
	redistest.Eventually(t, 10*time.Second, "keys do not expire", func() bool { return len(b.keys()) == 0 })
}

func testExpiredMember(t *testing.T, b *fixture) {
	f := bag.Filing{Raw: "BSM", Received: now(), Entries: []bag.Entry{{Plate: "2220123456", Flights: []bag.Flight{lx("1")}, PNRs: []string{"ABC123"}, Originals: []bag.Plate{"0220123456"}, Stowage: []bag.Container{ake("1", "1")}}}}
	b.file(b.open(retention, now), f)
	older := f
	older.Received = f.Received.Add(-100 * 24 * time.Hour)
	b.file(b.open(retention, now), older) // makes nothing expire earlier
	found := func(s *bagstore.Store) int {
		v := b.read(s.Reader(), []bag.Filing{f})
		return len(v.Flights[lx("1")]) + len(v.PNRs["ABC123"]) + len(v.Rush["0220123456"]) + len(v.Contents[ake("1", "1")])
	}
	if n := found(b.open(retention, in(retention-time.Minute))); n != 4 {
		t.Errorf("found %d times just before the end", n)
	}
	if n := found(b.open(retention, in(retention+retention/360+time.Minute))); n != 0 {
		t.Errorf("found %d times after the end", n)
	}
}

func testNeverEarlier(t *testing.T, b *fixture) {
	expiries := func() map[string]time.Duration {
		all := map[string]time.Duration{}
		for _, key := range b.keys() {
			all[key] = b.expiry(key)
		}
		return all
	}
	entries := []bag.Entry{{Plate: "2220123456", Flights: []bag.Flight{lx("1")}, PNRs: []string{"ABC123"}, Originals: []bag.Plate{"0220123456"}, Stowage: []bag.Container{ake("1", "1")}}}
	filing := func(age time.Duration, e []bag.Entry, stowage ...bag.Container) bag.Filing {
		return bag.Filing{Raw: "BSM", Received: now().Add(-age), Entries: e, Stowage: stowage}
	}
	one, other := b.open(retention, now), b.open(retention, now)
	b.file(one, filing(50*24*time.Hour, entries), filing(50*24*time.Hour, nil, ake("1", "1")))
	first := expiries()
	b.file(other, filing(10*24*time.Hour, entries), filing(10*24*time.Hour, nil, ake("1", "1")))
	later := expiries()
	b.file(one, filing(100*24*time.Hour, entries), filing(100*24*time.Hour, nil, ake("1", "1")))
	b.file(b.open(retention, now), filing(60*24*time.Hour, entries), filing(60*24*time.Hour, nil, ake("1", "1")))
	last := expiries()
	if len(first) != 6 {
		t.Errorf("keys are %v", first)
	}
	for key := range first {
		if later[key]-first[key] < 39*24*time.Hour || !near(last[key], later[key]) {
			t.Errorf("%s expires at %v, then %v, then %v", key, first[key], later[key], last[key])
		}
		end := time.Unix(0, 0).Add(last[key]).Sub(now())
		if want := 170 * 24 * time.Hour; end < want-time.Minute || end > want+retention/360+time.Minute {
			t.Errorf("%s expires in %v, want %v", key, end, want)
		}
	}
}

func testGrace(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	old := bag.Filing{Raw: "BSM", Received: now().Add(-300 * 24 * time.Hour), Entries: []bag.Entry{{Plate: "0220123456", Flights: []bag.Flight{lx("1")}}}}
	b.file(s, old)
	b.check(s, []bag.Filing{old})
	if n := len(b.read(b.open(retention, in(retention/90)).Reader(), []bag.Filing{old}).Flights[lx("1")]); n != 0 {
		t.Error("it stays for longer")
	}
	b.file(s, bag.Filing{Raw: "BSM", Received: time.UnixMilli(math.MaxInt64), Entries: old.Entries}) // of a feed with a wrong clock
}

func testReady(t *testing.T, b *fixture) {
	if err := redistest.Open(t, b.url).Ready(context.Background()); err != nil {
		t.Error(err)
	}
}

func testPrefix(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	f := bag.Filing{Raw: "BSM", Received: now(), Entries: []bag.Entry{{Plate: "0220123456", Flights: []bag.Flight{lx("1")}}}}
	b.file(s, f)
	other := *b
	other.url = strings.Replace(b.url, "prefix=", "prefix=other", 1)
	o := other.open(retention, in(2*retention))
	if v := other.read(o.Reader(), []bag.Filing{f}); len(v.Flights[lx("1")])+len(v.PlateMessages["0220123456"]) != 0 {
		t.Errorf("read %v", v)
	}
	if swept := b.sweep(o, nil); swept.Keys != 0 {
		t.Errorf("swept %+v", swept)
	}
	b.check(s, []bag.Filing{f})
}

func testContext(t *testing.T, b *fixture) {
	s := b.open(retention, now)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	f := []bag.Filing{{Raw: "BSM", Received: now(), Entries: []bag.Entry{{Plate: "0220123456"}}}}
	_, err := s.Writer().File(over, f)
	_, errRead := s.Reader().Read(over, trail.Wanted{PNRs: []string{"ABC123"}})
	_, errSweep := s.Sweeper(interpreter{}, atOnce, nil).Sweep(over)
	for i, err := range []error{err, errRead, errSweep, redistest.Open(t, b.url).Ready(over)} {
		if !errors.Is(err, redis.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
