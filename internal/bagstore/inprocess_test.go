package bagstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
	"bagtrail/test/race"
)

func TestWithoutAURLTheIndexIsInTheProcess(t *testing.T) {
	client := redistest.Open(t, "")
	if !client.InProcess() {
		t.Error("it is not in the process")
	}
	if err := client.Ready(context.Background()); err != nil {
		t.Error(err)
	}
	s := open(t, "", bagstore.Config{})
	if found, err := client.Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	filings := oneBag(5)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	if err := complete(t, s, filings); err != nil {
		t.Error(err)
	}
	if err := complete(t, open(t, "", bagstore.Config{}), filings); err == nil {
		t.Error("two of them share what they hold")
	}
}

func TestTheIndexInTheProcessExpiresByTheClock(t *testing.T) {
	var mu sync.Mutex
	ahead := time.Duration(0)
	s := open(t, "", bagstore.Config{Retention: 700 * time.Second, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}})
	filings := oneBag(2)
	if _, err := s.Writer().File(context.Background(), filings); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		now, err := s.Reader().Read(context.Background(), trail.Wanted{PlateMessages: []bag.Plate{"0220123456"}})
		if err != nil {
			t.Fatal(err)
		}
		return len(messagesOf(now.PlateMessages[0]))
	}
	if n := left(); n != 2 {
		t.Errorf("%d messages", n)
	}
	mu.Lock()
	ahead = 702 * time.Second
	mu.Unlock()
	redistest.Eventually(t, 5*time.Second, "they stay", func() bool { return left() == 0 })
}

// Long requests and long replies of many goroutines do not block each other.
func TestTheIndexInTheProcessTakesLongPipelines(t *testing.T) {
	s := open(t, "", bagstore.Config{})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			var filings []bag.Filing
			var plates []bag.Plate
			for i := range race.Less(1500, 300) {
				plate := bag.Plate(fmt.Sprintf("0%03d%06d", w, i))
				plates = append(plates, plate)
				filings = append(filings, bag.Filing{Raw: fmt.Sprintf("BSM %0500d", i), Received: time.Now(), Entries: []bag.Entry{{Plate: plate}}})
			}
			if _, err := s.Writer().File(context.Background(), filings); err != nil {
				t.Error(err)
			}
			now, err := s.Reader().Read(context.Background(), trail.Wanted{PlateMessages: plates})
			if err != nil {
				t.Error(err)
				return
			}
			for i, held := range now.PlateMessages {
				if all, whole := held.Messages(); !whole || len(all) != 1 || all[0].Raw != filings[i].Raw {
					t.Errorf("plate %s: %v, %v", plates[i], all, whole)
				}
			}
		})
	}
	all.Wait()
}

func TestARetentionOfLessThanASecondIsRefused(t *testing.T) {
	if _, err := bagstore.Open(redistest.Open(t, ""), bagstore.Config{Retention: time.Millisecond, Now: time.Now}); err == nil {
		t.Error("it is taken")
	}
}

// An installation without a prefix would sweep the keys of this one.
func TestAPrefixThatBeginsAsAKeyIsRefused(t *testing.T) {
	for prefix, refused := range map[string]bool{
		"b:": true, "f:": true, "a:": true, "n:": true, "p:": true, "r:": true, "u:": true, "c:": true, "p:zrh:": true, "p": false, "pp:": false, ":p": false,
	} {
		store, err := bagstore.Open(redistest.Open(t, "redis://127.0.0.1:1?prefix="+prefix), bagstore.Config{Retention: time.Hour, Now: time.Now})
		if (err != nil) != refused {
			t.Errorf("%q: %v", prefix, err)
		}
		if err == nil {
			store.Close()
		}
	}
}
