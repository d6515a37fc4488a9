package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"bagtrail/parser"
)

// A message is written in words here: F1 is an .F of flight LX1 (I and O alike), N1 and B1 are tags
// with that serial, any other word is an element with that text: L/AAAAAA, S, U/AKE1.
func words(kind, text string) string {
	lines := []string{kind, ".V/1LZRH"}
	for word := range strings.FieldsSeq(text) {
		letter, rest := word[:1], word[1:]
		switch {
		case strings.Contains("FIO", letter):
			word = fmt.Sprintf("%s/LX%s/12MAR/JFK/Y", letter, rest)
		case letter == "N":
			word = fmt.Sprintf("N/0724%06s001", rest)
		case letter == "B":
			word = fmt.Sprintf("B/OFF/0724%06s001", rest)
		}
		lines = append(lines, "."+word)
	}
	return strings.Join(append(lines, "END"+kind), "\n")
}

// inWords writes the groups of a message in words, one a group: its flights, its tags, and what
// else it holds.
func inWords(m *parser.Message) string {
	var groups []string
	for i := range m.Groups {
		g := &m.Groups[i]
		var b strings.Builder
		if g.Outbound.Present() {
			b.WriteString("F" + g.Outbound.Number + " ")
		}
		if g.Inbound.Present() {
			b.WriteString("I" + g.Inbound.Number + " ")
		}
		for _, f := range g.Onward {
			b.WriteString("O" + f.Number + " ")
		}
		for _, tag := range g.Tags {
			letter := "N"
			if tag.Status != "" {
				letter = "B"
			}
			fmt.Fprintf(&b, "%s%d ", letter, tag.First%1000)
		}
		if g.Loading.Present {
			b.WriteString("U/" + g.Loading.Device + " ")
		}
		if g.Seat != "" {
			b.WriteString("S//" + g.Seat + " ")
		}
		if g.Weight.Pieces >= 0 {
			fmt.Fprintf(&b, "W/P/%d ", g.Weight.Pieces)
		}
		for _, named := range [][2]string{{"P/", g.Surname}, {"L/", g.PNR}, {"Y/", g.FrequentFlyer}} {
			if named[1] != "" {
				b.WriteString(named[0] + named[1] + " ")
			}
		}
		if g.Rush {
			b.WriteString("E/RUSH ")
		}
		for _, data := range g.AirlineData {
			b.WriteString("R/" + data + " ")
		}
		groups = append(groups, strings.TrimSpace(b.String()))
	}
	return strings.Join(groups, " | ")
}

func TestGroups(t *testing.T) {
	for _, c := range []struct{ rule, message, groups string }{
		{"one group", "F1 I2 O3 O4 N1 N2 S//1A W/P/1 P/A L/AAAAAA Y/7 E/RUSH R/x R/y",
			"F1 I2 O3 O4 N1 N2 S//1A W/P/1 P/A L/AAAAAA Y/7 E/RUSH R/x R/y"},

		{"a group opens at each F after the first", "F1 N1 F2 N2 F3 N3", "F1 N1 | F2 N2 | F3 N3"},
		{"the first F opens none, wherever it stands", "N1 F1 N2", "F1 N1 N2"},
		{"an F opens one also where the open group has no tag", "F1 F2 N1", "F1 | F2 N1"},

		{"a tag opens one behind a tag and S", "F1 N1 S N2", "F1 N1 | F1 N2"},
		{"a tag opens one behind a tag and W", "F1 N1 W/P/1 N2", "F1 N1 W/P/1 | F1 N2"},
		{"a tag opens one behind a tag and P", "F1 N1 P/A N2", "F1 N1 P/A | F1 N2"},
		{"a tag opens one behind a tag and L", "F1 N1 L N2", "F1 N1 | F1 N2"},
		{"a tag opens one behind a tag and Y", "F1 N1 Y N2", "F1 N1 | F1 N2"},
		{"a tag opens none behind other elements", "F1 N1 E/VIP R/x X J U T I2 O3 M N2", "F1 I2 O3 N1 N2 U/ R/x"},
		{"a tag opens none where S comes before any tag", "F1 S//1A L/AAAAAA N1 N2", "F1 N1 N2 S//1A L/AAAAAA"},
		{"a tag opens none where S comes before the tags of the group", "F1 N1 F2 S//1A N2 N3", "F1 N1 | F2 N2 N3 S//1A"},
		{"a tag opens one behind several tags and S", "F1 N1 N2 S N3 N4 S N5", "F1 N1 N2 | F1 N3 N4 | F1 N5"},
		{"what came before a tag does not count for the next", "F1 S//1A N1 N2 P/A N3 N4", "F1 N1 N2 S//1A P/A | F1 N3 N4"},
		{"B is a tag", "F1 B1 S N2 S B3 N4 B5", "F1 B1 | F1 N2 | F1 B3 N4 B5"},

		{"a group opened by a tag inherits F I O", "F1 I2 O3 O4 N1 S//1A N2", "F1 I2 O3 O4 N1 S//1A | F1 I2 O3 O4 N2"},
		{"… also what was inherited", "F1 I2 O3 N1 S N2 S N3", "F1 I2 O3 N1 | F1 I2 O3 N2 | F1 I2 O3 N3"},
		{"own O replace inherited ones", "F1 O3 O4 N1 S N2 O5 O6 S N3", "F1 O3 O4 N1 | F1 O5 O6 N2 | F1 O5 O6 N3"},
		{"own I replaces an inherited one", "F1 I2 N1 S N2 I3 I4", "F1 I2 N1 | F1 I3 N2"},
		{"a group opened by F inherits I alone", "F1 I2 O3 N1 U/AKE1 S//1A L/AAAAAA F2 N2", "F1 I2 O3 N1 U/AKE1 S//1A L/AAAAAA | F2 I2 N2"},
		{"… also where that was inherited", "F1 I2 N1 S N2 F2 N3 F3 N4", "F1 I2 N1 | F1 I2 N2 | F2 I2 N3 | F3 I2 N4"},
		{"an I that comes too late is not inherited backwards", "F1 N1 F2 I3 N2", "F1 N1 | F2 I3 N2"},
		{"nothing else is inherited", "F1 N1 U/AKE1 S//1A W/P/1 P/A L/AAAAAA Y/7 E/RUSH R/x N2",
			"F1 N1 U/AKE1 S//1A W/P/1 P/A L/AAAAAA Y/7 E/RUSH R/x | F1 N2"},

		{"a group with no F before it takes the first of the message", "N1 S N2 P/A N3 F1 N4 F2 N5", "F1 N1 | F1 N2 P/A | F1 N3 N4 | F2 N5"},
		{"… and no other", "N1 S N2 F1 F2", "F1 N1 | F1 N2 | F2"},

		{"U holds for its group", "F1 N1 U/AKE1 S N2 U/AKE2 F2 N3", "F1 N1 U/AKE1 | F1 N2 U/AKE2 | F2 N3"},
		{"a U before any tag holds for each group without its own", "F1 U/AKE1 N1 S N2 U/AKE2 F2 N3", "F1 N1 U/AKE1 | F1 N2 U/AKE2 | F2 N3 U/AKE1"},
		{"of two U before any tag the first does", "F1 U/AKE1 F2 U/AKE2 N1 S N2", "F1 U/AKE1 | F2 N1 U/AKE2 | F2 N2 U/AKE1"},
		{"a U before any tag counts before one behind it", "F1 U/AKE1 N1 U/AKE2 S N2", "F1 N1 U/AKE1 | F1 N2 U/AKE1"},

		{"O R E repeat, of others the first counts", "F1 N1 O2 O3 R/x R/x E/VIP E/RUSH E/VIP S//1A S//2A P/A P/B L/AAAAAA L/BBBBBB Y/7 Y/8 W/P/1 W/P/2 U/A U/B",
			"F1 O2 O3 N1 U/A S//1A W/P/1 P/A L/AAAAAA Y/7 E/RUSH R/x R/x"},
		{"… in each group", "F1 N1 L/AAAAAA N2 L/BBBBBB L/CCCCCC", "F1 N1 L/AAAAAA | F1 N2 L/BBBBBB"},
		{"R of two groups are kept apart", "F1 N1 R/x S R/y N2 R/z", "F1 N1 R/x R/y | F1 N2 R/z"},
		{"container positioning is one group without tags", "F1 U/AKE1", "F1 U/AKE1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := parse(t, words("BPM", c.message))
			equal(t, "groups of "+c.message, inWords(m), c.groups)
		})
	}
}

func TestProcessingAndScreeningHoldForTheWholeMessage(t *testing.T) {
	m := parse(t, words("BPM", "F1 N1 S N2 F2 N3 J/S X//CLR"))
	equal(t, "processing", m.Processing.Code, byte('S'))
	equal(t, "screening", m.Screening, parser.Cleared)
}

// A slice of one group must not grow into that of the next.
func TestGroupsDoNotShareRoomToGrow(t *testing.T) {
	m := parse(t, words("BPM", "F1 O1 O2 N1 N2 R/a S N3 R/b"))
	m.Parse(words("BPM", "F1 O1 O2 N1 N2 R/a S N3 O3 R/b"), airports{}) // now there is room
	first := &m.Groups[0]
	first.Tags = append(first.Tags, parser.Tags{})
	first.AirlineData = append(first.AirlineData, "?")
	first.Onward = append(first.Onward, parser.Flight{})
	_, second, _ := strings.Cut(inWords(m), " | ")
	equal(t, "second group", second, "F1 O3 N3 R/b")
}

func TestReuseLeavesNothingBehind(t *testing.T) {
	var m parser.Message
	m.Parse(words("BPM", "F1 I1 O1 J/S X//REJ U/AKE1 N1 S//1A W/K/1/2 P/A/B L/AAAAAA Y/7 E/RUSH M/0724000001 R/x N2 O2 O3 R/y"), airports{})
	for _, text := range []string{"BSM\nCHG\n.V/2KQQQ\n.W/X", words("BPM", "F1 B1"), words("BPM", "U/AKE2 F2 N1 S N2"), ""} {
		m.Parse(text, airports{})
		var fresh parser.Message
		fresh.Parse(text, airports{})
		equal(t, "message", snapshot(&m), snapshot(&fresh))
	}
}

// snapshot writes down all that a message says.
func snapshot(m *parser.Message) string {
	return fmt.Sprintf("%q %q %v %v %+v %+v %v %+v %+v %+v %q", m.Origin, m.Identifier, m.Kind, m.Change, m.Version, m.Processing, m.Screening,
		m.Groups, m.Errors, m.Warnings, m.Canonical())
}
