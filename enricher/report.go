package enricher

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Report is a report that the delayed-bag system has created, as the log and the index store it. It
// has what MISHANDLED events need, and nothing about the passenger.
type Report struct {
	Reference string      `json:"record_reference"` // station, airline and number: DENUS10031
	Station   string      `json:"station"`          // airport that owns the record
	Plates    []bag.Plate `json:"bags"`
}

// Document returns the document of the report: a JSON object.
func (r Report) Document() string { return string(strictjson.Encode(r)) }

// readReport reads the document of a report. It fails unless the document has a reference and names
// at least one bag, each by a plate of ten digits.
func readReport(document string) (Report, error) {
	var r Report
	err := json.Unmarshal([]byte(document), &r)
	switch {
	case err != nil:
	case r.Reference == "" || len(r.Plates) == 0:
		err = errors.New("it has no reference or names no bag")
	case slices.ContainsFunc(r.Plates, func(p bag.Plate) bool { return !p.Valid() }):
		err = errors.New("a bag is not a plate of ten digits")
	}
	if err != nil {
		return Report{}, fmt.Errorf("read delayed-bag report: %w", err)
	}
	return r, nil
}

// FilingOfReport returns the filing of a report, with an entry for each plate that it names, in
// plate order. It fails if the document is not a delayed-bag report.
func FilingOfReport(document string, received time.Time) (bag.Filing, error) {
	r, err := readReport(document)
	if err != nil {
		return bag.Filing{}, err
	}
	filing := bag.Filing{Report: true, Raw: document, Received: received}
	for _, p := range slices.Compact(slices.Sorted(slices.Values(r.Plates))) {
		filing.Entries = append(filing.Entries, bag.Entry{Plate: p})
	}
	return filing, nil
}

// addReport parses a stored report and appends it if it names the plate. It leaves out a report
// that cannot be read: each was valid when it was filed, so that one is damaged. The station of the
// report takes the place of the airport in .V.
func (e *Enricher) addReport(to []*bag.Message, plate bag.Plate, s bag.Stored) []*bag.Message {
	r, err := readReport(s.Raw)
	if err != nil || !slices.Contains(r.Plates, plate) {
		return to
	}
	return append(to, &bag.Message{
		Head:     parser.Head{Version: parser.Version{Airport: r.Station}},
		Received: s.Received, Happened: s.Received, Order: s.Received, Position: s.Position,
		LocalDay: bag.DayOf(e.airports.Local(r.Station, s.Received)),
		Raw:      s.Raw, Text: s.Raw,
	})
}
