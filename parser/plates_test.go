package parser_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bagtrail/parser"
)

func platesOf(g *parser.Group) (text string) {
	for plate := range g.Plates() {
		text += fmt.Sprintf("%010d ", plate)
	}
	return strings.TrimSpace(text)
}

func TestPlates(t *testing.T) {
	for elements, want := range map[string]string{
		".N/0724123456001":                           "0724123456",
		".N/0724123456003":                           "0724123456 0724123457 0724123458",
		".N/0724123458001\n.N/0724123456002":         "0724123456 0724123457 0724123458",
		".N/0724123456003\n.N/0724123457003":         "0724123456 0724123457 0724123458 0724123459",
		".N/0724123456002\n.N/0724123456002":         "0724123456 0724123457",
		".N/0724123456003\n.B/OFF/0724123457001":     "0724123456 0724123457 0724123458",
		".B/OFF/0724123457001\n.N/0724123456003":     "0724123456 0724123457 0724123458",
		".B/UNS/0724123456002\n.B/OFF/0724123456003": "0724123456 0724123457 0724123458",
		".N/1724123456001\n.N/0724123456001":         "0724123456 1724123456",
	} {
		m := parse(t, withIrregularity(elements))
		equal(t, elements, platesOf(&m.Groups[0]), want)
	}
	equal(t, "no tags", platesOf(new(parser.Group)), "")
}

func TestPlatesStopWhenAsked(t *testing.T) {
	g := parser.Group{Tags: []parser.Tags{{First: 5, Count: 9}, {First: 1, Count: 2}}}
	var got []uint64
	for plate := range g.Plates() {
		if got = append(got, plate); len(got) == 3 {
			break
		}
	}
	equal(t, "plates", got, []uint64{1, 2, 5})
}

// The plain way: every plate of every run.
func TestPlatesAreThoseOfThePlainWay(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var g parser.Group
		for range random.IntN(8) {
			g.Tags = append(g.Tags, parser.Tags{First: random.Uint64N(30), Count: 1 + random.IntN(8)})
		}
		want := map[uint64]bool{}
		for _, run := range g.Tags {
			for n := range uint64(run.Count) {
				want[run.First+n] = true
			}
		}
		if got := slices.Collect(g.Plates()); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%v gives %v", g.Tags, got)
		}
	}
}
