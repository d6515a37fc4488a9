package console

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/bag"
)

// functions returns the functions that templates call in addition to the methods of their data.
func (c *Console) functions() template.FuncMap {
	return template.FuncMap{
		"asset":  func(name string) string { return Path + name + "?v=" + c.versions[name] },
		"status": statusOf,
		"plate":  plate,
		"clock":  func(t time.Time, airport string) string { return t.In(c.airports.TimeZone(airport)).Format("15:04") },
		"local": func(t time.Time, airport string) string {
			return t.In(c.airports.TimeZone(airport)).Format("2 Jan 15:04")
		},
		"title": func(word string) string { // delayed_bags as Delayed bags
			return strings.ReplaceAll(strings.ToUpper(word[:min(1, len(word))])+word[min(1, len(word)):], "_", " ")
		},
		"utc":      func(t time.Time) string { return t.UTC().Format("15:04") },
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":      day,
		"listed":   listed,
		"ago":      func(now, t time.Time) string { return span(now.Sub(t)) },
		"until":    func(now, t time.Time) string { return span(t.Sub(now)) },
		"path":     path,
		"plural":   plural,
		"covers":   covers,
		"city":     c.city,
		"zone":     func(airport string) string { return c.airports.TimeZone(airport).String() },
		"sections": sections,
		"may":      session.may,
		"seconds":  seconds,
		"flightOf": c.flightAddress,
		"clockOn":  c.clockOn,
		"both":     func(p page, item any) any { return map[string]any{"Page": p, "Item": item} },
	}
}

// clockOn shows the local time at an airport, with its day unless the local day is date.
func (c *Console) clockOn(t time.Time, airport, date string) string {
	t = t.In(c.airports.TimeZone(airport))
	if t.Format(time.DateOnly) != date {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("15:04")
}

// city returns the name of the city of an airport, or "" if it is not known.
func (c *Console) city(airport string) string {
	_, city, _ := c.airports.Names(airport)
	return city
}

// status is a loading status as pages show it: a colour, a shape and a word.
type status struct {
	Class string // class of the colour, and name of the icon
	Word  string
	Order int // order of the statuses in lists: bags that are not loaded come first
}

// The statuses of /v1, as texts.
var (
	notLoaded   = bag.NotLoaded.String()
	offloaded   = bag.Offloaded.String()
	delayed     = bag.Delayed.String()
	inContainer = bag.InContainer.String()
	onAircraft  = bag.OnAircraft.String()
)

var statuses = map[string]status{
	notLoaded:   {"not", "Not loaded", 0},
	offloaded:   {"off", "Offloaded", 1},
	delayed:     {"del", "Delayed", 2},
	inContainer: {"con", "In container", 3},
	onAircraft:  {"air", "On aircraft", 4},
}

// statusOf returns how a status of /v1 is shown.
func statusOf(text string) status {
	if s, known := statuses[text]; known {
		return s
	}
	return status{"unk", "No status", 5}
}

// plate returns a plate in two groups of digits.
func plate(p string) template.HTML {
	if len(p) < 5 {
		return template.HTML(template.HTMLEscapeString(p)) //nolint:gosec // escaped
	}
	return template.HTML("<span>" + template.HTMLEscapeString(p[:4]) + "</span> " + template.HTMLEscapeString(p[4:])) //nolint:gosec // escaped
}

// day shows a date of /v1, or a time, as 22 Nov.
func day(date any) string {
	switch d := date.(type) {
	case time.Time:
		return d.Format("2 Jan")
	case string:
		if t, err := time.Parse(time.DateOnly, d); err == nil {
			return t.Format("2 Jan")
		}
		return d
	}
	return ""
}

// span shows a duration in the units that matter: 38 min, 2 h 08, 3 d.
func span(d time.Duration) string {
	minutes := int(math.Round(d.Minutes()))
	switch {
	case minutes < 0:
		return "now"
	case minutes < 100:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %02d", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d d", minutes/60/24)
}

// plural returns a number with a word, which is plural unless the number is 1.
func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}

// covers shows a list of the session.
func covers(codes []string) string {
	switch {
	case len(codes) == 0:
		return "none"
	case codes[0] == "*":
		return "all"
	}
	return strings.Join(codes, ", ")
}

// section is a link of the navigation. A key without the right does not see it.
type section struct{ Name, Title, Path, Icon, right string }

var allSections = []section{
	{"flights", "Flights", Path + "flights", "flights", "flights"},
	{"search", "Search", Path + "search", "find", ""},
	{"rejects", "Rejects", Path + "rejects", "rejects", "rejects"},
	{"feeds", "Feeds", Path + "feeds", "feeds", ""},
}

// sections returns the links of the navigation for a session, or all links if the session could not be
// read.
func sections(s session) []section {
	return slices.DeleteFunc(slices.Clone(allSections), func(link section) bool { return s.Name != "" && link.right != "" && !s.may(link.right) })
}

// flightAddress returns the address of the flight of a leg, at an end that the session covers if
// there is one. If no airport of the leg is known, it returns the address of the search.
func (c *Console) flightAddress(s session, l legDoc) string {
	for _, within := range []bool{true, false} {
		for _, end := range [][2]string{{l.From, "D"}, {l.To, "A"}} {
			if c.airports.KnownLocation(end[0]) && (!within || s.covers(end[0])) {
				return path("flights", end[0], end[1], l.Airline, l.Flight, l.Date)
			}
		}
	}
	return Path + "search"
}
