package bagstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// complaints records the calls of Config.Damaged.
type complaints struct {
	mu      sync.Mutex
	digests []string
	errs    []error
}

func (d *complaints) tell(digest string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.errs = append(d.errs, err)
		return
	}
	d.digests = append(d.digests, digest)
}

func (d *complaints) moved() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.digests)
}

// openTold opens a store, and records its calls of Config.Damaged.
func (b *fixture) openTold() (*bagstore.Store, *complaints) {
	b.Helper()
	d := &complaints{}
	s, err := bagstore.Open(redistest.Open(b, b.url), bagstore.Config{Retention: retention, Now: now, Damaged: d.tell})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		s.Close()
		if len(d.errs) > 0 {
			b.Error(errors.Join(d.errs...))
		}
	})
	return s, d
}

// waitMoved waits until so many damages have been moved aside.
func (b *fixture) waitMoved(d *complaints, want int) {
	b.Helper()
	redistest.Eventually(b, 10*time.Second, fmt.Sprintf("%d damages are not moved aside", want), func() bool { return d.moved() >= want })
}

// near reports whether two times are equal within the second by which Redis may round.
func near(a, b time.Duration) bool { return (a - b).Abs() <= time.Second }

const damagedPlate = bag.Plate("0220123456")

// aBag returns filings about a bag and a container.
func aBag() []bag.Filing {
	at := now()
	e := bag.Entry{
		Plate: damagedPlate, Flights: []bag.Flight{lx("1")}, PNRs: []string{"ABC123"}, Surnames: []string{"MUELLER"},
		Ends:    []bag.End{{Flight: lx("1"), Airport: "ZRH"}},
		Stowage: []bag.Container{ake("1", "1")}, Originals: []bag.Plate{"0220999999"},
	}
	return []bag.Filing{
		{Raw: "BSM\r\n.V/1LZRH\r\n.F/LX1/21NOV/JFK/Y\r\n.N/0220123456001\r\nENDBSM\r\n", Received: at, Entries: []bag.Entry{e}, Position: bag.Position{Known: true, Offset: 5}},
		{Raw: "BSM 2", Received: at.Add(time.Millisecond), Entries: []bag.Entry{e}},
		{Raw: "BPM 3", Received: at, Stowage: []bag.Container{ake("1", "1")}},
		{Raw: "BPM 4", Received: at, Stowage: []bag.Container{ake("1", "1")}},
	}
}

// hashes returns the keys of the hashes of aBag, and how to read each.
func (b *fixture) hashes() map[string]trail.Wanted {
	return map[string]trail.Wanted{
		b.prefix + "b:0220123456":                              {PlateMessages: []bag.Plate{damagedPlate}},
		b.prefix + "c:LX1:" + lx("1").Day.String() + ":AKE1LX": {Stowage: []bag.Container{ake("1", "1")}},
	}
}

// holding reads one plate or container.
func (b *fixture) holding(s *bagstore.Store, w trail.Wanted) trail.Held {
	b.Helper()
	found := b.find(s, w)
	return append(found.PlateMessages, found.Stowage...)[0]
}

func testDamagedValue(t *testing.T, b *fixture) {
	ctx := context.Background()
	s, damaged := b.openTold()
	filings := aBag()
	b.file(s, filings...)
	for key, w := range b.hashes() {
		good := b.client.HGetAll(ctx, key).Val()
		expiry := b.expiry(key)
		damage := func(field, value string) {
			t.Helper()
			before, moved := len(messagesOf(b.holding(s, w))), damaged.moved()
			if err := b.client.HSet(ctx, key, field, value).Err(); err != nil {
				t.Fatal(err)
			}
			held, whole := b.holding(s, w).Messages()
			if whole {
				t.Errorf("%q under %q is said to be whole", value, field)
			}
			readable := before
			if _, was := good[field]; was {
				readable--
			}
			if got := len(held); got != readable {
				t.Errorf("%q under %q: %d messages are read, want %d", value, field, got, readable)
			}
			b.waitMoved(damaged, moved+1)
			aside := b.prefix + "x:{" + key + "}"
			if got := b.client.HGet(ctx, aside, field).Val(); got != value {
				t.Errorf("moved aside is %q, want %q", got, value)
			}
			if got := b.expiry(aside); !near(got, expiry) {
				t.Errorf("it expires at %v, want %v", got, expiry)
			}
			if b.client.HExists(ctx, key, field).Val() {
				t.Errorf("%q is still there", field)
			}
			b.file(s, filings...) // as a replay does
			b.check(s, filings)
			if _, whole := b.holding(s, w).Messages(); !whole {
				t.Error("it is not said to be whole though the message came back")
			}
		}
		for field, value := range good {
			for i := 0; i < len(value); i += 1 + len(value)/8 {
				flipped := []byte(value)
				flipped[i] ^= 1 << (i % 8)
				damage(field, string(flipped))
			}
			damage(field, "")
			damage("identity", value)
			damage("", "")
		}
	}
}

func testDamagedBagExpires(t *testing.T, b *fixture) {
	ctx, key := context.Background(), b.prefix+"b:0220123456"
	s, damaged := b.openTold()
	filings := aBag()[:1]
	b.file(s, filings...)
	expiry := b.expiry(key)
	for _, field := range b.client.HKeys(ctx, key).Val() {
		if err := b.client.HSet(ctx, key, field, "damaged").Err(); err != nil {
			t.Fatal(err)
		}
	}
	if held, whole := b.holding(s, b.hashes()[key]).Messages(); len(held) > 0 || whole {
		t.Errorf("%d messages are read, and said to be whole: %t", len(held), whole)
	}
	b.waitMoved(damaged, 1)
	b.file(s, filings...) // by the same process, which has set the expiry of the key before
	if got := b.expiry(key); !near(got, expiry) {
		t.Errorf("it expires at %v, want %v", got, expiry)
	}
}

func testWrongType(t *testing.T, b *fixture) {
	ctx := context.Background()
	s, damaged := b.openTold()
	filings := aBag()
	b.file(s, filings...)
	keys := b.keys()
	if len(keys) != 8 {
		t.Fatalf("keys %q", keys)
	}
	for i, key := range keys {
		if err := errors.Join(
			b.client.Del(ctx, key).Err(),
			b.client.RPush(ctx, key, "no", "such", "thing").Err(),
			b.client.ExpireAt(ctx, key, time.Unix(4_000_000_000, 0)).Err(),
		); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reader().Lengths(ctx, []bag.Plate{damagedPlate}); err != nil {
			t.Error(err)
		}
		b.read(s.Reader(), filings) // what is left
		b.waitMoved(damaged, i+1)
		aside := b.prefix + "x:{" + key + "}:key"
		if n, end := b.client.LLen(ctx, aside).Val(), b.expiry(aside); n != 3 || !near(end, 4_000_000_000*time.Second) {
			t.Errorf("moved aside are %d elements that expire at %v", n, end)
		}
		b.file(s, filings...)
		b.check(s, filings)
	}
	if damaged.moved() != len(keys) {
		t.Errorf("told of %d damages, want %d", damaged.moved(), len(keys))
	}
}

func testWrongMember(t *testing.T, b *fixture) {
	ctx := context.Background()
	s, damaged := b.openTold()
	filings := aBag()
	b.file(s, filings...)
	moved := 0
	members := map[string][]string{"zset": {"", "022012345", "0220123456001", "02201X3456", "SWRX1"}, "set": {"", "-1", "10000000000", "9223372036854775808"}}
	for _, key := range b.keys() {
		kind := b.client.Type(ctx, key).Val()
		for _, member := range members[kind] {
			add, has := b.client.SAdd(ctx, key, member).Err, b.client.SIsMember
			if kind == "zset" {
				add = b.client.ZAdd(ctx, key, goredis.Z{Score: 4e9, Member: member}).Err
			}
			if err := add(); err != nil {
				t.Fatal(err)
			}
			b.check(s, filings)
			moved++
			b.waitMoved(damaged, moved)
			if !b.client.HExists(ctx, b.prefix+"x:{"+key+"}", member).Val() || b.client.ZScore(ctx, key, member).Err() == nil || has(ctx, key, member).Val() {
				t.Errorf("%q was not moved aside", member)
			}
		}
	}
	if moved != 29 {
		t.Errorf("%d members", moved)
	}
}

func testWriterMeetsWrongType(t *testing.T, b *fixture) {
	ctx := context.Background()
	s, damaged := b.openTold()
	filings := aBag()
	b.file(s, filings...)
	for i, key := range b.keys() {
		if err := errors.Join(b.client.Del(ctx, key).Err(), b.client.Set(ctx, key, "SECRET", 0).Err()); err != nil {
			t.Fatal(err)
		}
		other, tells := b.openTold() // that does not know yet what Redis has taken
		b.file(other, filings...)
		if got := tells.moved(); got != 1 {
			t.Errorf("key %d: told of %d damages, want one", i, got)
		}
		b.check(s, filings)
	}
	for _, key := range b.keys() {
		b.expiry(key)
	}
	if damaged.moved() != 0 {
		t.Errorf("a reader met %d damages", damaged.moved())
	}
}

func testSweepPastDamage(t *testing.T, b *fixture) {
	ctx := context.Background()
	s, damaged := b.openTold()
	filings := aBag()
	b.file(s, append(filings, filingOf("due", 175, "0220123458", lx("2"), "PNR1"))...)
	for key := range b.hashes() {
		if err := b.client.HSet(ctx, key, "identity", "").Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.client.HSet(ctx, b.prefix+"b:0220123458", "identity", "").Err(); err != nil {
		t.Fatal(err)
	}
	if err := b.client.RPush(ctx, b.prefix+"b:0220123457", "no hash").Err(); err != nil {
		t.Fatal(err)
	}
	if err := b.client.RPush(ctx, b.prefix+"p:XYZ999", "no set").Err(); err != nil {
		t.Fatal(err)
	}
	if swept := b.sweep(s, nil); swept.Damaged != 3 {
		t.Errorf("swept %+v", swept)
	}
	b.waitMoved(damaged, 4)
	b.check(s, filings)
}
