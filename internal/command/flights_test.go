package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A bag that is Delayed because its flight has departed is Not Loaded again.
func TestABagWhoseFlightDepartsLaterByAChangedFileIsTold(t *testing.T) {
	day, dir := time.Now().UTC(), t.TempDir()
	flights := func(departure time.Time) string {
		return fmt.Sprintf("flights: [{airline: LX, flight: 14, origin: ZRH, destination: JFK, date: %s, departure: {estimated: %s}, arrival: {scheduled: %s}}]",
			day.Format(time.DateOnly), departure.Format(time.RFC3339), departure.Add(8*time.Hour).Format(time.RFC3339))
	}
	path := write(t, dir, "flights.yaml", flights(day.Add(-2*time.Hour)))
	s := serve(t, "BAGTRAIL_FLIGHTS_FILE="+path)
	text := "BSM\r\n.V/1LZRH\r\n.F/LX14/" + strings.ToUpper(day.Format("02Jan")) + "/JFK\r\n.N/0724100001001\r\nENDBSM\r\n"
	s.post(text, http.StatusOK, "")
	target := "since=" + day.Format(time.RFC3339)
	told := func(status string) func() bool {
		return func() bool {
			_, answer := s.ask("GET", "/v1/changes?"+target, "")
			var page struct{ Cursor string }
			if json.Unmarshal([]byte(answer), &page) == nil && page.Cursor != "" {
				target = "cursor=" + page.Cursor
			}
			return strings.Contains(answer, `"status":"`+status+`"`)
		}
	}
	s.until("the departed bag is told", told("Delayed"))
	if err := os.Rename(write(t, dir, "next.yaml", flights(day.Add(2*time.Hour))), path); err != nil {
		t.Fatal(err)
	}
	s.until("the bag whose flight has not departed yet is told", told("Not Loaded"))
}
