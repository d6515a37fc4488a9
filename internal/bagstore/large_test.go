package bagstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/budget"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// If many ask for one bag at once, its messages are read a few times, not once for each, and all
// get the same answer.
func TestWhatManyAskForAtOnceIsReadOnce(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	filings := oneBag(3)
	if _, err := s.Writer().File(t.Context(), filings); err != nil {
		t.Fatal(err)
	}
	const crowd = 60
	r := s.Reader()
	proxy.Silence(true) // so that they come together
	proxy.Sent("")
	var began, asking sync.WaitGroup
	began.Add(crowd)
	for range crowd {
		asking.Go(func() {
			began.Done()
			found, err := r.Read(t.Context(), trail.Wanted{PlateMessages: []bag.Plate{"0220123456"}, PNRs: []string{"ABC123"}})
			if err != nil || len(messagesOf(found.PlateMessages[0])) != 3 || len(found.PNRs[0]) != 1 {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
	began.Wait()
	proxy.Silence(false)
	asking.Wait()
	if n := proxy.Sent("hgetall"); n == 0 || n > crowd/2 {
		t.Errorf("the messages were read %d times for %d questions", n, crowd)
	}
}

// A question about a plate that is known to be large, or about very many plates, waits for memory
// before anything is read. A question about a usual plate does not wait.
func TestLargeQuestionsWaitBeforeTheyRead(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s := open(t, proxy.URL(""), bagstore.Config{})
	received := time.Now().UTC().Truncate(time.Millisecond)
	var filings []bag.Filing
	for i := range 10 {
		noise := make([]byte, 60_000)
		for j := range noise {
			noise[j] = byte('A' + rand.IntN(26))
		}
		filings = append(filings, bag.Filing{
			Raw: string(noise), Received: received.Add(time.Duration(i) * time.Millisecond), Entries: []bag.Entry{{Plate: "0220000001"}},
		})
	}
	filings = append(filings, bag.Filing{Raw: "BSM", Received: received, Entries: []bag.Entry{{Plate: "0220000002"}}})
	if _, err := s.Writer().File(t.Context(), filings); err != nil {
		t.Fatal(err)
	}
	r, bytes := s.Reader(), budget.New(1<<20, nil)
	var many []bag.Plate
	for i := range 1000 {
		many = append(many, bag.Plate(fmt.Sprintf("0220%06d", i)))
	}
	wait := 5 * time.Second
	ask := func(plates ...bag.Plate) (*budget.Question, error) {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		ctx, question := bytes.Ask(ctx)
		_, err := r.Read(ctx, trail.Wanted{PlateMessages: plates})
		return question, err
	}
	first, err := ask("0220000001") // nobody knows yet that it is large
	if err != nil {
		t.Fatal(err)
	}
	proxy.Sent("")
	wait = 50 * time.Millisecond
	for name, plates := range map[string][]bag.Plate{"large": {"0220000001"}, "many": many} {
		question, err := ask(plates...)
		if question.End(); !errors.Is(err, redis.ErrUnavailable) || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := proxy.Sent("hgetall"); n != 0 {
		t.Errorf("%d plates were read", n)
	}
	wait = 5 * time.Second
	if question, err := ask("0220000002"); err != nil {
		t.Errorf("usual: %v", err)
	} else {
		question.End()
	}
	first.End()
	for name, plates := range map[string][]bag.Plate{"large": {"0220000001"}, "many": many} {
		question, err := ask(plates...)
		if question.End(); err != nil {
			t.Errorf("%s, behind the first: %v", name, err)
		}
	}
}

// A search for plates on several flights takes the memory of the plates alone, since it reads none of
// their messages.
func TestASearchOnSeveralFlightsTakesLittleMemory(t *testing.T) {
	server := miniredis.RunT(t)
	s := open(t, "redis://"+server.Addr(), bagstore.Config{})
	flights := make([]bag.Flight, 32)
	for i := range flights {
		flights[i] = bag.Flight{Airline: "LX", Number: strconv.Itoa(i + 1), Day: bag.DayOf(time.Now())}
	}
	var entries []bag.Entry
	for i := range 300 {
		entries = append(entries, bag.Entry{Plate: bag.Plate(fmt.Sprintf("0220%06d", i)), Flights: flights})
	}
	if _, err := s.Writer().File(t.Context(), []bag.Filing{{Raw: "BSM", Received: time.Now(), Entries: entries}}); err != nil {
		t.Fatal(err)
	}
	bytes := budget.New(4<<20, nil)
	ctx, question := bytes.Ask(t.Context())
	defer question.End()
	found, err := s.Reader().Read(ctx, trail.Wanted{Flights: flights})
	if err != nil || len(found.Flights[31]) != 300 {
		t.Fatal(len(found.Flights), err)
	}
	if !bytes.Try(3 << 20) {
		t.Error("it takes more than 1 MiB for 9600 plates")
	}
}
