package trail_test

import (
	"context"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// damagedIndex leaves out the last message of each plate and container while it is damaged, under the same version.
type damagedIndex struct {
	trail.Index
	damaged bool
}

func (d *damagedIndex) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	found, err := d.Index.Read(ctx, w)
	for _, all := range [][]trail.Held{found.Trails, found.Stowage} {
		for i := range all {
			if d.damaged && all[i].Values != nil {
				all[i].Values = damagedValues{all[i].Values}
			}
		}
	}
	return found, err
}

type damagedValues struct{ trail.Values }

func (d damagedValues) Messages() (messages []bag.Stored, whole bool) {
	messages, _ = d.Values.Messages()
	return messages[:len(messages)-1], false
}

// A message that was damaged and then brought back is seen, though the versions are those that were read without it.
func TestWhatWasMadeWithoutADamagedMessageIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".P/TOUR", ".L/TOUR99", "ENDBSM")
	w.send("12T07:00", "BPM", ".V/1LZRH", ".J/R//A/12MAR/0700L", ".F/LX14/12MAR/JFK", ".N/0724100001001", ".U/AKE12345LX", "ENDBPM")
	w.send("12T07:30", "BPM", ".V/1LZRH", ".J/R//B/12MAR/0730L", ".F/LX14/12MAR/JFK", ".U/AKE12345LX", "ENDBPM")
	index := &damagedIndex{Index: w.index}
	w.keep = trail.New(index, w.enricher, w.settings)
	ask := func() (events int, listed string) {
		for range 3 { // so that it is remembered
			events = len(w.one("0724100001").Events)
			listed = w.flight("ZRH", false, "LX14/12")[0]
		}
		return events, listed
	}
	index.damaged = true
	few, without := ask()
	index.damaged = false
	all, with := ask()
	if few == all || without == with {
		t.Errorf("%d events and %q with the damage, %d and %q without", few, without, all, with)
	}
}
