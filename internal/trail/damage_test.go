package trail_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// damagedIndex leaves out the last message of each plate, or of each container, while these are
// damaged, under the same version.
type damagedIndex struct {
	trail.Index
	plates, containers bool
}

func (d *damagedIndex) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	found, err := d.Index.Read(ctx, w)
	damage := func(all []trail.Held) {
		for i := range all {
			if messages, _ := all[i].Messages(); len(messages) > 0 {
				all[i].Messages = func() ([]bag.Stored, bool) { return messages[:len(messages)-1], false }
			}
		}
	}
	if d.plates {
		damage(found.PlateMessages)
	}
	if d.containers {
		damage(found.Stowage)
	}
	return found, err
}

// A message that was damaged and then brought back is seen, though the versions are those that were
// read without it.
func TestWhatWasMadeWithoutADamagedMessageIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".U/AKE12345LX", "ENDBPM")
	w.send("12T07:30", "BPM", ".V/1LZRH", ".J/R//B/12MAR/0730L", ".F/LX14/12MAR/JFK", ".U/AKE12345LX/41", "ENDBPM")
	for _, damaged := range []damagedIndex{{plates: true}, {containers: true}, {plates: true, containers: true}} {
		for _, question := range []func() string{
			func() string { return fmt.Sprint(len(w.one("0724100001").Events), " events") },
			func() string { return w.flight("ZRH", false, "LX14/12")[0] },
		} {
			index := &damagedIndex{w.index, damaged.plates, damaged.containers}
			w.keep = trail.New(index, w.enricher, w.settings)
			ask := func() (answer string) {
				for range 3 { // so that it is remembered
					answer = question()
				}
				return answer
			}
			without := ask()
			index.plates, index.containers = false, false
			if with := ask(); with == without {
				t.Errorf("plates damaged %t, containers damaged %t: %s, and the same without the damage", damaged.plates, damaged.containers, with)
			}
		}
	}
}

// ending is a context that ends after some looks at it.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A list that is made while its context ends, which a caller may do at any moment, is not remembered.
func TestWhatWasMadeAfterTheEndOfAContextIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	w.send("02T06:00", "BSM", ".V/1LLHR", ".F/BA177/02MAR/JFK", ".N/0220000001001", ".P/JONES", ".L/XYZ789", "ENDBSM")
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX318/12MAR/LHR", ".N/0220000001001", ".P/SMITH", ".L/ABC123", "ENDBSM")
	w.send("12T09:00", "BPM", ".V/1LLHR", ".J/S", ".N/0220000001001", "ENDBPM")
	flight := bag.Flight{Airline: "LX", Number: "318", Day: bag.DayIn(2026, time.March, 12)}
	changed := func(ctx context.Context, r *trail.Reader) (time.Time, error) {
		list, err := r.OfFlight(ctx, "ZRH", false, flight)
		if err != nil {
			return time.Time{}, err
		}
		return list[0].Changed, nil
	}
	want := at("2026-03-12T09:00:00Z")
	for looks := range 1000 {
		r, ctx := w.reader(), &ending{t.Context(), looks}
		_, ended := changed(ctx, r)
		if got, err := changed(t.Context(), r); err != nil || got != want {
			t.Errorf("changed at %v, %v, after a context that ended after %d looks; want %v", got, err, looks, want)
		}
		if ended == nil && ctx.looks > 0 {
			return
		}
	}
	t.Error("the context is looked at without end")
}
