package bagstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// oneBag returns n filings about a bag.
func oneBag(n int) []bag.Filing {
	received := time.Now().UTC().Truncate(time.Millisecond)
	flight := bag.Flight{Airline: "LX", Number: "1", Day: bag.DayOf(received)}
	var all []bag.Filing
	for i := range n {
		all = append(all, bag.Filing{
			Raw: fmt.Sprintf("BSM %d", i), Received: received.Add(time.Duration(i) * time.Millisecond),
			Entries: []bag.Entry{{Plate: "0220123456", Flights: []bag.Flight{flight}, PNRs: []string{"ABC123"}}},
		})
	}
	return all
}

// complete returns an error if the store lacks a part of filings about one bag.
func complete(t *testing.T, s *bagstore.Store, filings []bag.Filing) error {
	t.Helper()
	e := filings[0].Entries[0]
	now, err := s.Reader().Read(context.Background(), trail.Wanted{Flights: e.Flights, PNRs: e.PNRs, PlateMessages: []bag.Plate{e.Plate}})
	if err != nil {
		return err
	}
	if f, p, m := len(now.Flights[0]), len(now.PNRs[0]), len(messagesOf(now.PlateMessages[0])); f != 1 || p != 1 || m != len(filings) {
		return fmt.Errorf("%d plates on the flight, %d under the PNR, %d messages of %d", f, p, m, len(filings))
	}
	return nil
}

// A pipeline is cut off after every possible number of bytes of its replies. What is reported as
// filed is in Redis; if nothing is reported, filing again completes it.
func TestACutPipelineIsNeverReportedAsFiled(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	direct := open(t, "redis://"+server.Addr(), bagstore.Config{})
	filings := oneBag(5)
	cut := 0
	for after := range 120 {
		server.FlushAll()
		s := open(t, proxy.URL(""), bagstore.Config{})
		proxy.CutAfter(after)
		_, err := s.Writer().File(context.Background(), filings)
		proxy.CutAfter(-1)
		switch {
		case err == nil:
			if err := complete(t, direct, filings); err != nil {
				t.Fatalf("cut after %d bytes, and reported as filed: %v", after, err)
			}
		case !errors.Is(err, redis.ErrUnavailable):
			t.Fatal(err)
		default:
			cut++
			if _, err := s.Writer().File(context.Background(), filings); err != nil {
				t.Fatalf("filing again: %v", err)
			}
			if err := complete(t, direct, filings); err != nil {
				t.Fatalf("cut after %d bytes and filed again: %v", after, err)
			}
		}
	}
	if cut < 20 {
		t.Errorf("only %d were cut", cut)
	}
}

func TestAReadIsWholeOrAnError(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	filings := oneBag(5)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	for after := range 200 {
		proxy.CutAfter(after)
		err := complete(t, s, filings)
		proxy.CutAfter(-1)
		if err != nil && !errors.Is(err, redis.ErrUnavailable) {
			t.Errorf("cut after %d bytes: %v", after, err)
		}
		if err := complete(t, s, filings); err != nil {
			t.Fatalf("after a cut after %d bytes: %v", after, err)
		}
	}
}

// Many hashes are read over several connections. If one of these fails, the whole read fails.
func TestALargeReadIsWholeOrAnError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	var filings []bag.Filing
	var plates []bag.Plate
	for i := range 300 {
		plates = append(plates, bag.Plate(fmt.Sprintf("0220%06d", i)))
		filings = append(filings, bag.Filing{Raw: "BSM " + string(plates[i]), Received: time.Now(), Entries: []bag.Entry{{Plate: plates[i]}}})
	}
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	r := s.Reader()
	read := func() error {
		now, err := r.Read(context.Background(), trail.Wanted{PlateMessages: plates})
		for i, held := range now.PlateMessages {
			if all := messagesOf(held); len(all) != 1 || all[0].Raw != filings[i].Raw {
				t.Fatalf("%s: %v, %v", plates[i], all, err)
			}
		}
		return err
	}
	proxy.Sent("")
	if err := read(); err != nil || proxy.Sent("hgetall") != len(plates) {
		t.Fatal(err)
	}
	failed := 0
	for after := 0; after < 30_000; after += 509 {
		proxy.CutAfter(after)
		proxy.Lead("127.0.0.1:1") // else a second try succeeds
		err := read()
		proxy.CutAfter(-1)
		proxy.Lead(server.Addr())
		if err != nil {
			if failed++; !errors.Is(err, redis.ErrUnavailable) {
				t.Errorf("cut after %d bytes: %v", after, err)
			}
		}
		if err := read(); err != nil {
			t.Fatalf("after a cut after %d bytes: %v", after, err)
		}
	}
	if failed < 20 {
		t.Errorf("%d reads have failed", failed)
	}
	server.SetError("NOPERM this user has no permissions to run the 'hgetall' command")
	if err := read(); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("refused: %v", err)
	}
}

// A known write is not sent again, unless Redis may have lost it.
func TestIndexEntriesAreSentOnceWhileTheConnectionLasts(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	filings := oneBag(15)
	sent := func(f bag.Filing) int {
		t.Helper()
		proxy.Sent("")
		if _, err := s.Writer().File(context.Background(), []bag.Filing{f}); err != nil {
			t.Fatal(err)
		}
		return proxy.Sent("zadd")
	}
	// The first one is sent several times: nothing is known of what was before the connection.
	if n := sent(filings[0]); n < 2 {
		t.Errorf("first: %d ZADD", n)
	}
	if n := sent(filings[1]); n != 0 {
		t.Errorf("second: %d ZADD", n)
	}
	server.SetError("OOM command not allowed when used memory > 'maxmemory'.")
	if _, err := s.Writer().File(context.Background(), filings[10:11]); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("of a full Redis: %v", err)
	}
	server.SetError("")
	if n := sent(filings[11]); n < 2 {
		t.Errorf("after an error: %d ZADD", n)
	}
}

func TestASilentRedisIsGivenUpWithinASecond(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	filings := oneBag(1)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	proxy.Silence(true)
	start := time.Now()
	if _, err := s.Reader().Read(context.Background(), trail.Wanted{PNRs: []string{"ABC123"}}); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a read took %v", took)
	}
	start = time.Now()
	if err := redistest.Open(t, proxy.URL("")).Ready(context.Background()); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("ready: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("to say whether it is ready took %v", took)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start = time.Now()
	if _, err := s.Writer().File(ctx, filings); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("write: %v", err)
	}
	if took := time.Since(start); took > 500*time.Millisecond {
		t.Errorf("a write with a time limit of 100 ms took %v", took)
	}
	proxy.Silence(false)
	if err := complete(t, s, filings); err != nil {
		t.Errorf("when it speaks again: %v", err)
	}
}

func TestAPatientReaderWaitsForAReplyThatTakesLong(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	filings := oneBag(1)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	proxy.Silence(true)
	defer time.AfterFunc(1500*time.Millisecond, func() { proxy.Silence(false) }).Stop()
	found, err := s.PatientReader().Read(context.Background(), trail.Wanted{PlateMessages: []bag.Plate{"0220123456"}})
	if err != nil || len(messagesOf(found.PlateMessages[0])) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// Many hashes are read over several connections. Each has the time that the whole read has, here 2.4
// s, and not that of its part, here 1.2 s.
func TestAPartOfALargeReadHasTheTimeOfTheWhole(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	proxy := redistest.StartProxy(t, miniredis.RunT(t).Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	plates := make([]bag.Plate, 16_000)
	for i := range plates {
		plates[i] = bag.Plate(fmt.Sprintf("0220%06d", i))
	}
	proxy.Silence(true)
	defer time.AfterFunc(1300*time.Millisecond, func() { proxy.Silence(false) }).Stop()
	if _, err := s.Reader().Read(t.Context(), trail.Wanted{PlateMessages: plates}); err != nil {
		t.Error(err)
	}
}

// If Redis refuses the connection, the answer is an error and not empty.
func TestAConnectionThatIsRefusedIsNotAnEmptyAnswer(t *testing.T) {
	server := miniredis.RunT(t)
	server.RequireAuth("old")
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, strings.Replace(proxy.URL(""), "redis://", "redis://:old@", 1), bagstore.Config{})
	filings := oneBag(5)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	if err := complete(t, s, filings); err != nil {
		t.Fatal(err)
	}
	server.RequireAuth("new")
	proxy.Cut()
	reader := s.Reader()
	var reading sync.WaitGroup
	for range 16 { // some go alone, some together
		reading.Go(func() {
			now, err := reader.Read(context.Background(), trail.Wanted{PNRs: []string{"ABC123"}, PlateMessages: []bag.Plate{"0220123456"}})
			if !errors.Is(err, redis.ErrUnavailable) {
				t.Errorf("found %v, %v", now, err)
			}
		})
	}
	reading.Wait()
	server.RequireAuth("old")
	if err := complete(t, s, filings); err != nil {
		t.Errorf("when it lets us in again: %v", err)
	}
}

func TestAnAbsentRedisIsGivenUpWithinASecond(t *testing.T) {
	server := miniredis.RunT(t)
	s := open(t, "redis://"+server.Addr(), bagstore.Config{})
	client := redistest.Open(t, "redis://"+server.Addr())
	server.Close()
	start := time.Now()
	_, errWrite := s.Writer().File(context.Background(), oneBag(1))
	_, errRead := s.Reader().Read(context.Background(), trail.Wanted{PNRs: []string{"ABC123"}})
	for _, err := range []error{errWrite, errRead, client.Ready(context.Background())} {
		if !errors.Is(err, redis.ErrUnavailable) || !strings.Contains(err.Error(), ": redis is not available: ") {
			t.Error(err)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("all took %v", took)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(context.Background()); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

func TestErrorsHoldNothingOfWhatWasAsked(t *testing.T) {
	server := miniredis.RunT(t)
	server.SetError("ERR unknown command 'ZRANGE', with args beginning with: 'p:SECRET'")
	s := open(t, "redis://"+server.Addr(), bagstore.Config{})
	_, err := s.Reader().Read(context.Background(), trail.Wanted{PNRs: []string{"SECRET"}})
	if got, want := fmt.Sprint(err), "bagstore: read: redis refused it: ERR unknown command 'ZRANGE'"; got != want {
		t.Errorf("the error is %q", got)
	}
}

// cutting is a bagstore.Interpreter that calls cut before it interprets.
type cutting struct {
	lifetimes
	cut func()
}

func (c cutting) Lifetimes(plate bag.Plate, messages []bag.Stored) []time.Time {
	c.cut()
	return c.lifetimes.Lifetimes(plate, messages)
}

func TestASweepThatLosesItsConnectionIsMadeAgainBeforeTheNextIsDue(t *testing.T) {
	const keep = 180 * 24 * time.Second // a sweep is due every 24 seconds; each process looks every second
	server := miniredis.RunT(t)         // its keys do not expire by themselves: no other sweep becomes due
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{Retention: keep})
	var filings []bag.Filing
	for raw, age := range map[string]time.Duration{"dead": 2 * keep, "living": 0} {
		filings = append(filings, bag.Filing{Raw: raw, Received: time.Now().Add(-age), Entries: []bag.Entry{{Plate: "0220123456"}}})
	}
	if _, err := s.Writer().File(t.Context(), filings); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var ended []error
	interpreter := cutting{lifetimes{"dead": -time.Second, "living": time.Minute}, sync.OnceFunc(func() { proxy.CutAfter(0) })}
	var running sync.WaitGroup
	running.Go(func() {
		s.Sweeper(interpreter, atOnce, func(_ bagstore.SweepCounts, err error) {
			if ended = append(ended, err); err == nil {
				stop()
			}
		}).Run(ctx)
	})
	redistest.Eventually(t, 10*time.Second, "no process waits for its sweep", func() bool { return server.Exists("sweep") })
	server.Del("sweep")
	running.Wait()
	if len(ended) != 2 || !errors.Is(ended[0], redis.ErrUnavailable) || ended[1] != nil {
		t.Errorf("sweeps ended with %v", ended)
	}
}
