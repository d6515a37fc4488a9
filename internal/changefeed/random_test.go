package changefeed_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/test/race"
)

var (
	randomSeed  = flag.Uint64("seed", 1, "seed of the random messages")
	randomSteps = flag.Int("steps", race.Less(25, 10), "how many random messages each group of plates gets")
)

// groups is how many groups of three plates get random messages.
const groups = 12

// random makes messages about groups of plates: bags, their rush bags and those of these, with
// bookings, cancellations, scans, loads, containers and positionings, many of them late or repeated.
type random struct {
	*rand.Rand
	sent [groups][]string
}

func (r *random) pick(list ...string) string { return list[r.IntN(len(list))] }

func (r *random) message(group int) string {
	if before := r.sent[group]; len(before) > 0 && r.IntN(6) == 0 {
		return r.pick(before...)
	}
	m := r.newMessage(group)
	r.sent[group] = append(r.sent[group], m)
	return m
}

func (r *random) newMessage(group int) string {
	bagPlate, rushPlate, nextRush := fmt.Sprintf("0724%06d", group), fmt.Sprintf("2724%06d", group), fmt.Sprintf("2725%06d", group)
	plate := r.pick(bagPlate, bagPlate, rushPlate, rushPlate, nextRush)
	at := r.pick("ZRH", "ZRH", "ZRH", "JFK", "LHR")
	to := r.pick("JFK", "LHR", "BOS")
	if to == at {
		to = "GVA"
	}
	out := fmt.Sprintf(" .F/%s%d/%s/%s", r.pick("LX", "LX", "BA"), group+1, r.pick("14MAR", "14MAR", "15MAR", "13MAR"), to)
	flights := out
	if r.IntN(4) == 0 {
		flights = fmt.Sprintf(" .I/%s%d/%s/%s", r.pick("BA", "LX"), 1000+group, r.pick("14MAR", "13MAR"), r.pick("GVA", "MUC")) + flights
	}
	if r.IntN(5) == 0 {
		flights += fmt.Sprintf(" .O/%s%d/%s/%s", r.pick("BA", "LX"), 2000+group, r.pick("14MAR", "15MAR"), r.pick("BOS", "MIA"))
	}
	var passenger string
	if r.IntN(3) > 0 {
		passenger = " .P/" + r.pick("MUELLER", "MUELLER", "SMITH")
		if r.IntN(3) > 0 { // each plate has a PNR of its own, and perhaps another one
			letter := map[string]string{bagPlate: "A", rushPlate: "B", nextRush: "C"}[plate]
			passenger += fmt.Sprintf(" .L/%s%s%03dX", letter, r.pick("A", "A", "A", "A", "B"), group)
		}
	}
	device := fmt.Sprintf(" .U/AKE%05dLX", group)
	named := " .N/" + plate + "001"
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		// A rush bag names its original: one that is found by a PNR may change untold (docs/v1.md).
		origin := map[string]string{
			bagPlate: "", rushPlate: " .M/" + r.pick(bagPlate, bagPlate, nextRush), nextRush: " .M/" + r.pick(bagPlate, rushPlate, rushPlate),
		}[plate]
		return "BSM" + r.pick("", "", "", " CHG", " DEL") + " .V/1" + r.pick("L", "L", "T") + at + flights + named + passenger + origin + " ENDBSM"
	case 4, 5:
		return "BPM .V/1L" + at + " .J/S" + flights + named + r.pick("", passenger) + " ENDBPM"
	case 6:
		return fmt.Sprintf("BPM .V/1L%s .J/S//B1/14MAR/%04d00Z", at, 555+r.IntN(3)) + out + named + r.pick("", passenger) + " ENDBPM"
	case 7:
		return "BPM .V/1L" + at + " .J/R" + out + device + r.pick("", "/41L") + named + r.pick("", passenger) + " ENDBPM"
	case 8:
		return "BPM .V/1L" + at + out + " .B/" + r.pick("OFF", "OND", "NAL", "UNS") + "/" + plate + "001 ENDBPM"
	default:
		return "BPM .V/1L" + at + " .J/R" + out + device + "/" + r.pick("41L", "11R") + " ENDBPM"
	}
}

// Whoever follows a cursor holds what the queries show, whatever comes in whatever order. -seed and
// -steps try more.
func TestReadersHoldWhatTheQueriesShow(t *testing.T) {
	flights := departing(t, groups)
	w := newWorldOf(t, partitions, flights)
	r := &random{Rand: rand.New(rand.NewPCG(*randomSeed, 0))}
	keepers := []*keeper{ // a limited key may stop seeing what keeps a bag in a filter, so its filter is empty
		w.keeper("*", "*", changefeed.Filter{}), w.keeper("*", "*", changefeed.Filter{Airline: "LX"}),
		w.keeper("LX", "*", changefeed.Filter{}), w.keeper("BA", "*", changefeed.Filter{}), w.keeper("*", "JFK", changefeed.Filter{}),
		w.keeper("LX", "LHR", changefeed.Filter{}), w.keeper("*", "BOS", changefeed.Filter{}),
	}
	for step := range *randomSteps {
		w.received = w.received.Add(time.Minute)
		if step == *randomSteps/2 {
			w.received = departure.Add(time.Minute)
		}
		before := w.marked()
		w.now.Store(w.received.Unix())
		if step == *randomSteps/2 {
			onThem, err := w.feed.Trails.OnFlights(t.Context(), flights.Between(departure.Add(-time.Second), departure))
			if err != nil {
				t.Fatal(err)
			}
			departed := int64(len(slices.Concat(onThem...)))
			w.eventually("the departures are marked, by each owner in its own time", func() bool { return w.marked() >= before+departed })
		}
		for group := range groups {
			at := w.received
			if r.IntN(3) == 0 {
				at = at.Add(-time.Duration(r.IntN(720)) * time.Second)
			}
			envelope := ingestor.Envelope{Raw: strings.ReplaceAll(r.message(group), " ", "\r\n"), Received: at}
			if o, err := w.acceptor.AcceptBatch(t.Context(), []ingestor.Envelope{envelope}); err != nil || o[0].Verdict == ingestor.Rejected {
				t.Fatal(o, err)
			}
		}
		w.quiet()
		for reader, k := range keepers {
			k.follow()
			for i := range 3 * groups {
				group := i / 3
				plate := bag.Plate(fmt.Sprintf([]string{"0724%06d", "2724%06d", "2725%06d"}[i%3], group))
				got, told := k.states[plate]
				if !told && k.asker.Filter.Airline != "" {
					continue // perhaps the filter never selected it
				}
				if want := k.queried(plate); want != "[]" && withoutOriginals(got) != withoutOriginals(want) {
					t.Fatalf("seed %d, step %d, reader %d\nhas               %s\nthe queries show  %s\nafter %s", *randomSeed, step, reader,
						withoutOriginals(got), withoutOriginals(want), strings.Join(r.sent[group], "\n"))
				}
			}
		}
	}
}

// withoutOriginals removes what a rush bag shows of its originals, which is not told until a change
// of its own.
func withoutOriginals(bags string) string {
	var list []map[string]any
	if json.Unmarshal([]byte(bags), &list) != nil {
		return bags
	}
	for _, b := range list {
		if b["rush"] != true {
			continue
		}
		delete(b, "originals")
		delete(b, "chain")
		events, _ := b["events"].([]any)
		for _, e := range events {
			if e, ok := e.(map[string]any); ok {
				delete(e, "reflighted_info")
			}
		}
	}
	text, _ := json.Marshal(list)
	return string(text)
}
