package trail_test

import "testing"

// TestRules3DelayedByReflight: of an original those living legs are Delayed that are not Loaded on Aircraft, and whose status no event set
// after the first REFLIGHTED event of its rush bags.
func TestRules3DelayedByReflight(t *testing.T) {
	const original, rush = "0220000001", "2220000009"
	for _, row := range []struct {
		name string
		send func(w *world)
		want string
	}{
		{"named", func(w *world) { w.send("13T06:00", rushTag(rush, "13", ".M/"+original)...) }, "Delayed"},
		{"not named", func(w *world) { w.send("13T06:00", rushTag(rush, "13", ".P/SMITH", ".L/ABC123")...) }, "Delayed"},
		{"not named, of another passenger", func(w *world) { w.send("13T06:00", rushTag(rush, "13", ".P/JONES", ".L/ABC123")...) }, "Not Loaded"},
		{"loaded in a container before", func(w *world) {
			w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/JFK", ".U/AKE1", ".N/"+original+"001", "ENDBPM")
			w.send("13T06:00", rushTag(rush, "13", ".M/"+original)...)
		}, "Delayed"},
		{"loaded on the aircraft before", func(w *world) {
			w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/JFK", ".N/"+original+"001", "ENDBPM")
			w.send("13T06:00", rushTag(rush, "13", ".M/"+original)...)
		}, "Loaded on Aircraft"},
		{"offloaded since", func(w *world) {
			w.send("13T06:00", rushTag(rush, "13", ".M/"+original)...)
			w.send("13T07:00", "BPM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".B/OFF/"+original+"001", "ENDBPM")
		}, "Offloaded"},
		{"offloaded between two rush bags", func(w *world) {
			w.send("13T06:00", rushTag(rush, "13", ".M/"+original)...)
			w.send("13T07:00", "BPM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".B/OFF/"+original+"001", "ENDBPM")
			w.send("13T08:00", rushTag("2220000010", "13", ".M/"+original)...)
		}, "Offloaded"},
		{"too long ago", func(w *world) { w.send("27T06:00", rushTag(rush, "27", ".M/"+original)...) }, "Not Loaded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.send("12T06:00", checkIn(original, "12")...)
			expectList(t, "before", w.flight("ZRH", false, "LX100/12"), original+" Not Loaded")
			row.send(w)
			expectList(t, "list", w.flight("ZRH", false, "LX100/12"), original+" "+row.want)
			expect(t, "status", w.one(original).Legs[0].Status.String(), row.want)
		})
	}
}

// A list that is remembered shows what a rush bag has changed since.
func TestARememberedListShowsReflights(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", checkIn("0220000001", "12")...)
	w.send("12T06:01", checkIn("0220000002", "12")...)
	w.keep = w.reader()
	expectList(t, "before", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded", "0220000002 Not Loaded")
	w.send("13T06:00", rushTag("2220000009", "13", ".M/0220000002")...)
	for range 2 {
		expectList(t, "after", w.flight("ZRH", false, "LX100/12"), "0220000001 Not Loaded", "0220000002 Delayed")
	}
}

// The bag is in a container, so what is read for it is planned before it is folded.
func TestAListFindsARushBagUnderAPNRInSmallLetters(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX100/12MAR/JFK", ".N/0220000001001", ".P/SMITH/JOHN", ".L/abc123", "ENDBSM")
	w.send("12T08:00", "BPM", ".V/1LZRH", ".J/R", ".F/LX100/12MAR/JFK", ".U/AKE1", ".N/0220000001001", "ENDBPM")
	w.send("13T06:00", rushTag("2220000009", "13", ".P/SMITH", ".L/ABC123")...)
	expectList(t, "list", w.flight("ZRH", false, "LX100/12"), "0220000001 Delayed")
}

// History looks for no rush bags, whatever a list has found before.
func TestAListChangesNoBagThatIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", checkIn("0220000001", "12")...)
	w.send("13T06:00", rushTag("2220000009", "13", ".M/0220000001")...)
	w.keep = w.reader()
	expectList(t, "list", w.flight("ZRH", false, "LX100/12"), "0220000001 Delayed")
	for range 2 {
		bags, err := w.keep.History(t.Context(), "0220000001")
		if err != nil || len(bags) != 1 {
			t.Fatalf("%v, %v", bags, err)
		}
		expectList(t, "history", legs(bags[0]), "LX100/12 ZRH-JFK Not Loaded")
		expectList(t, "the bag", legs(w.one("0220000001")), "LX100/12 ZRH-JFK Delayed")
	}
}
