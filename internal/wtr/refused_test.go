package wtr_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/wtr"
)

// The circuit breaker opens if the system does not answer, not if it refuses what one caller sends.
func TestRequestsThatAreRefusedShutOutNobody(t *testing.T) {
	for status, open := range map[int]bool{http.StatusBadRequest: false, http.StatusUnprocessableEntity: false, http.StatusBadGateway: true} {
		system := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a document that is cut off is not odd
			if strings.Contains(string(body), "odd") {
				http.Error(w, "<html>no</html>", status)
				return
			}
			_, _ = io.WriteString(w, `{"WTR_BagsCreateRS":{"RecordID":{"RecordReference":{"StationCode":"ZRH","AirlineCode":"LX","ReferenceNumber":1}}}}`)
		}))
		defer system.Close()
		c := wtr.NewClient(system.URL, time.Second, time.Now)
		for range 5 {
			if _, err := c.Create(t.Context(), "odd"); err == nil {
				t.Errorf("%d: no error", status)
			}
		}
		if _, err := c.Create(t.Context(), "sound"); (err != nil) != open || c.Answers() == open {
			t.Errorf("after %d: %v", status, err)
		}
	}
}
