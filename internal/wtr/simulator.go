package wtr

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bagtrail/internal/pause"
)

// Simulator simulates the downstream system. It is an http.Handler:
//
//	POST /            creates a record, if the request holds the mandatory elements
//	GET  /records     returns the number of records: {"created": n}
//	POST /misbehave   ?fault=…&delay=…&times=n sets the Misbehaviour for the next n requests, 0 for all
//
// Every airline exists except ZZ (error 2004). A request without a mandatory element is error 4065.
type Simulator struct {
	mutex        sync.Mutex
	created      int
	misbehaviour Misbehaviour
	times        int // how many more requests it applies to; 0 and less for all
}

// Misbehaviour is a way of answering wrongly. Unless the fault is CutBefore, the record is created.
type Misbehaviour struct {
	Fault Fault
	Delay time.Duration // before the answer
}

// Fault is a kind of wrong answer.
type Fault string

// The faults.
const (
	CutBefore Fault = "cut-before" // the connection is cut before the request is read
	CutDuring Fault = "cut-during" // … in the middle of the answer
	CutAfter  Fault = "cut-after"  // … after the record was created, without an answer
	Truncated Fault = "truncated"  // half a document, with the right length
	NotJSON   Fault = "not-json"   // an HTML page with status 200
	Empty     Fault = "empty"      // a document without record and errors
	Oversized Fault = "oversized"  // 2 MiB of blanks before the document
	NotFound  Fault = "not-found"  // status 404 with an errors document
	Missing   Fault = "missing"    // status 404 without one
	Failing   Fault = "failing"    // status 500 without a document
)

// Faults lists the faults.
var Faults = []Fault{CutBefore, CutDuring, CutAfter, Truncated, NotJSON, Empty, Oversized, NotFound, Missing, Failing}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/records":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"created":%d}`, s.Created())
	case r.URL.Path == "/misbehave" && r.Method == http.MethodPost:
		s.setMisbehaviour(w, r)
	case r.Method == http.MethodPost:
		s.serveCreate(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Simulator) setMisbehaviour(w http.ResponseWriter, r *http.Request) {
	m, times, err := readMisbehaviour(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Misbehave(m, times)
}

// readMisbehaviour reads the parameters of a request to misbehave.
func readMisbehaviour(r *http.Request) (m Misbehaviour, times int, err error) {
	if m.Fault = Fault(r.FormValue("fault")); m.Fault != "" && !slices.Contains(Faults, m.Fault) {
		return m, 0, fmt.Errorf("fault must be one of %s", Faults)
	}
	if text := r.FormValue("delay"); text != "" {
		if m.Delay, err = time.ParseDuration(text); err != nil || m.Delay < 0 {
			return m, 0, errors.New("delay must be a duration such as 5s")
		}
	}
	if text := r.FormValue("times"); text != "" {
		if times, err = strconv.Atoi(text); err != nil || times < 0 {
			return m, 0, errors.New("times must be a whole number, 0 or more")
		}
	}
	return m, times, nil
}

// Misbehave makes the simulator answer the next requests wrongly; times is their number, 0 for all.
func (s *Simulator) Misbehave(m Misbehaviour, times int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.misbehaviour, s.times = m, times
}

// Created returns the number of records.
func (s *Simulator) Created() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.created
}

// next returns the misbehaviour for one more request.
func (s *Simulator) next() Misbehaviour {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	m := s.misbehaviour
	if s.times--; s.times == 0 {
		s.misbehaviour = Misbehaviour{}
	}
	return m
}

// serveCreate answers a request to create a record.
func (s *Simulator) serveCreate(w http.ResponseWriter, r *http.Request) {
	m := s.next()
	if m.Fault == CutBefore {
		panic(http.ErrAbortHandler)
	}
	document, err := io.ReadAll(io.LimitReader(r.Body, maxReply))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answer := s.create(document)
	_ = pause.For(r.Context(), m.Delay)
	m.Fault.write(w, answer)
}

// write writes the answer with the fault.
func (f Fault) write(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "application/json")
	switch f {
	case CutAfter:
		panic(http.ErrAbortHandler)
	case CutDuring:
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		_, _ = io.WriteString(w, answer[:len(answer)/2])
		_ = http.NewResponseController(w).Flush() // before the connection is closed
		panic(http.ErrAbortHandler)
	case Truncated:
		answer = answer[:len(answer)/2]
	case NotJSON:
		w.Header().Set("Content-Type", "text/html")
		answer = "<html><body>WTR_BagsCreateRS</body></html>"
	case Empty:
		answer = `{"WTR_BagsCreateRS":{"Version":0.1}}`
	case Oversized:
		answer = strings.Repeat(" ", 2*maxReply) + answer
	case NotFound:
		w.WriteHeader(http.StatusNotFound)
		answer = failure("4001", "RECORD NOT FOUND")
	case Missing:
		w.WriteHeader(http.StatusNotFound)
		answer = "404 page not found"
	case Failing:
		w.WriteHeader(http.StatusInternalServerError)
		answer = "internal server error"
	}
	_, _ = io.WriteString(w, answer)
}

// create checks a request as the downstream system does, and creates its record.
func (s *Simulator) create(document []byte) (answer string) {
	root := node(document).member(requestRoot)
	if !complete(root) {
		return failure("4065", "RECORD LACKS MANDATORY ELEMENTS")
	}
	for _, source := range root.member("POS", "Source").list() {
		if vendor := source.member("AirlineVendorID").text(); !isCode(vendor, 2, 3) || vendor == "ZZ" {
			return failure("2004", "AIRLINE NOT FOUND")
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.created++
	owner := root.member("RefStationAirline")
	return fmt.Sprintf(`{"WTR_BagsCreateRS":{"Version":0.1,"Success":{},"RecordID":{"RecordType":"DELAYED","RecordReference":{"StationCode":%q,"AirlineCode":%q,"ReferenceNumber":%d}}}}`,
		owner.member("StationCode").text(), owner.member("AirlineCode").text(), 10_000+s.created)
}

// complete reports whether a request holds every mandatory element.
func complete(root node) bool {
	within := func(list []node, most int) bool { return len(list) >= 1 && len(list) <= most }
	owner := root.member("RefStationAirline")
	bags := root.member("DelayedBagGroup", "DelayedBags", "DelayedBag").list()
	legs := root.member("Passengers", "Itinerary", "FlightSegments", "FlightSegmentOrARNK").list()
	sources := root.member("POS", "Source").list()
	agent := root.member("AgentID").text()
	if !root.member("Version").isNumber() || !within(sources, 5) || !within(bags, 10) || !within(legs, 5) ||
		!isCode(owner.member("StationCode").text(), 3, 3) || !isCode(owner.member("AirlineCode").text(), 2, 3) ||
		!isCode(strings.ToUpper(agent), 1, 12) {
		return false
	}
	for _, source := range sources {
		if source.member("AirlineVendorID") == nil {
			return false
		}
	}
	for _, b := range bags {
		colour := b.member("ColorTypeDesc")
		if colour.member("ColorCode").text() == "" || colour.member("TypeCode").text() == "" || colour.member("Descriptor").text() == "" {
			return false
		}
	}
	return true
}

func failure(code, value string) string {
	reply := Reply{Errors: []Error{{code, value}}, Version: "0.1"}
	return string(append(reply.Append([]byte(`{"`+replyRoot+`":`)), '}'))
}
