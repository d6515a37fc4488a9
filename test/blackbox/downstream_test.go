package blackbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"bagtrail/test/service"
)

// downstream stands for the delayed-bag system. Its answer depends on the vendor of the request.
type downstream struct {
	*httptest.Server
	mu    sync.Mutex
	taken []string // documents, as they were received
}

func newDownstream(t service.T) *downstream {
	d := &downstream{}
	d.Server = httptest.NewServer(http.HandlerFunc(d.answer))
	t.Cleanup(d.Close)
	return d
}

func (d *downstream) answer(w http.ResponseWriter, r *http.Request) {
	document, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	d.mu.Lock()
	d.taken = append(d.taken, string(document))
	d.mu.Unlock()
	vendor := func(code string) bool { return strings.Contains(string(document), `"AirlineVendorID":"`+code+`"`) }
	switch {
	case vendor("2N"):
		_, _ = io.WriteString(w, `{"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"AIRLINE NOT FOUND","Code":"2004"}]},"Version":0.1}}`)
	case vendor("4N"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"WTR_BagsCreateRS":{"Errors":{"Error":[{"value":"STATION NOT FOUND","Code":"2010"}]},"Version":0.1}}`)
	case vendor("4M"):
		http.NotFound(w, r)
	case vendor("5N"):
		http.Error(w, "no document at all", http.StatusBadGateway)
	default:
		_, _ = io.WriteString(w, `{"WTR_BagsCreateRS":{"Version":0.1,"Success":{},"RecordID":{"RecordType":"DELAYED",`+
			`"RecordReference":{"StationCode":"DEN","AirlineCode":"US","ReferenceNumber":10031}}}}`)
	}
}

// took reports whether the document reached the downstream system, byte for byte.
func (d *downstream) took(document string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.taken, document)
}
