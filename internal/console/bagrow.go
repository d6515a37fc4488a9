package console

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// bagRow is a bag in the list of a flight.
type bagRow struct {
	listedDoc
	ID      string // id of its HTML element
	Class   string
	Status  status
	Age     string // since the last event; "" if the key does not see it
	Minutes int    // the age in whole minutes
	Order   int    // by status, then by the last event, the oldest first
}

// bagRows returns the rows of the bags whose plates are wanted, in the order of the table. risk is
// the class of rows whose bags are Not Loaded or Offloaded.
func bagRows(bags []listedDoc, wanted func(plate string) bool, risk string, now time.Time) []bagRow {
	rows, seen := make([]bagRow, 0, len(bags)), make(map[string]int, len(bags))
	for _, b := range bags {
		if seen[b.Plate]++; wanted(b.Plate) {
			rows = append(rows, newBagRow(b, seen[b.Plate], risk, now))
		}
	}
	slices.SortStableFunc(rows, func(a, b bagRow) int { return a.Order - b.Order })
	return rows
}

// newBagRow returns the row of a bag. n numbers the bags of one plate, from 1.
func newBagRow(b listedDoc, n int, risk string, now time.Time) bagRow {
	r := bagRow{listedDoc: b, ID: "b-" + b.Plate, Status: statusOf(b.Leg().Status)}
	if n > 1 {
		r.ID += "-" + strconv.Itoa(n)
	}
	if r.Status.Order <= statuses[offloaded].Order {
		r.Class = risk
	}
	if b.Rush {
		r.Class = strings.TrimSpace(r.Class + " rush")
	}
	if b.Last != nil {
		age := now.Sub(b.Last.Happened)
		r.Age, r.Minutes = span(age), int(age.Minutes())
	}
	r.Order = r.Status.Order*1_000_000 - r.Minutes
	return r
}

// Stowed returns where the bag is stowed.
func (r bagRow) Stowed() string { return strings.TrimSpace(r.Device + " " + r.Compartment) }

// Where returns where the bag was seen last, or "".
func (r bagRow) Where() string {
	if r.Last == nil {
		return ""
	}
	return r.Last.Airport + " " + r.Last.Read
}

// Words returns the words of the row in lower case, for the filter.
func (r bagRow) Words() string {
	p := &r.Passenger
	return strings.ToLower(strings.Join([]string{r.Plate, p.LastName, p.FirstName, p.PNR, r.Leg().Seat, r.Stowed(), r.Where()}, " "))
}

// rowsOfGroup is how many rows a browser lays out together when they come into view. The stylesheet
// uses the same number.
const rowsOfGroup = 20
