package command

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/apidoc"
	"bagtrail/internal/config"
	"bagtrail/internal/pause"
	"bagtrail/internal/simulate"
)

// demoDoor is the door by which the simulated traffic of a demo comes in. Metrics, feeds and
// rejections show its name.
const demoDoor = "demo"

const (
	demoInterval = 4 * time.Second    // time between two check-ins, which gives a flight about 50 bags
	demoPast     = 3 * time.Hour      // how long ago the traffic begins, so that the first pages show flights
	demoPause    = time.Second        // pause before messages that could not be processed are sent again
	demoSeed     = 1                  // seed of the traffic
	demoFlights  = 7 * 24 * time.Hour // how long after the traffic begins the flight reference ends
)

// ownDataDir sets the data directory to a new one for a demo, and returns a function that removes it.
func ownDataDir(c *config.Config) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "bagtrail-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a data directory for the demo: %w", err)
	}
	c.DataDir = dir
	return func() { _ = os.RemoveAll(dir) }, nil
}

// openDemoFlights writes the flight reference of a demo, unless there is one: the timetable of its
// traffic, from a day before the traffic begins.
func (s *service) openDemoFlights() error {
	if s.conf.Files.Flights != "" {
		return nil
	}
	begun := s.clock().Add(-demoPast)
	var text strings.Builder
	text.WriteString("flights:\n")
	for _, f := range simulate.Flights(demoSeed, begun.Add(-24*time.Hour), begun.Add(demoFlights)) {
		fmt.Fprintf(&text, "  - {airline: %s, flight: %q, origin: %s, destination: %s, date: %s, departure: {scheduled: %s}, arrival: {scheduled: %s}}\n",
			f.Airline, f.Number, f.From, f.To, f.Date.Format(time.DateOnly), f.Departs.Format(time.RFC3339), f.Arrives.Format(time.RFC3339))
	}
	s.conf.Files.Flights = filepath.Join(s.conf.DataDir, "flights.yaml")
	return os.WriteFile(s.conf.Files.Flights, []byte(text.String()), 0o600)
}

// openDemoDoor plays simulated traffic in real time.
func (s *service) openDemoDoor(acceptor *ingestor.Acceptor) runner {
	s.log.Warn("demo: the traffic is simulated, and nothing of it is kept")
	begun := s.clock()
	options := simulate.Options{
		Seed: demoSeed, Start: begun.Add(-demoPast), Bags: math.MaxInt32, Interval: demoInterval, Faults: simulate.DefaultFaults(),
	}
	s.demo.acceptor, s.demo.log = acceptor, s.log
	s.demo.origin = demoDoor + "/" + strconv.FormatInt(begun.UnixMilli(), 10) + "/"
	return func(ctx context.Context) error {
		if _, err := simulate.Run(ctx, options, simulate.Delivery{Sink: s.demo.Send, Clock: s.clock}); ctx.Err() == nil {
			return err
		}
		return nil
	}
}

// demo accepts the messages of a demo, and remembers one of their bags.
type demo struct {
	acceptor *ingestor.Acceptor
	log      *zap.Logger
	origin   string // of its messages, without their number
	sent     int
	bag      atomic.Pointer[apidoc.Bag] // the bag that was checked in last; nil at first
}

// Send is a simulate.Sink.
func (d *demo) Send(ctx context.Context, messages []simulate.Message) error {
	envelopes := make([]ingestor.Envelope, len(messages))
	for i, m := range messages {
		d.sent++
		envelopes[i] = ingestor.Envelope{Raw: m.Text, Received: m.Received, Origin: d.origin + strconv.Itoa(d.sent), Sender: demoDoor}
	}
	for len(envelopes) > 0 {
		outcomes, err := d.acceptor.AcceptBatch(ctx, envelopes)
		if err != nil {
			d.log.Warn("messages of the demo cannot be processed for now", zap.Error(err))
			if err := pause.For(ctx, demoPause); err != nil {
				return err
			}
			continue
		}
		for i := range outcomes {
			d.note(&outcomes[i])
		}
		envelopes = envelopes[len(outcomes):]
	}
	return nil
}

// note remembers the bag of a message, if it is a BSM of the airport at which the bag was checked in.
func (d *demo) note(o *ingestor.Outcome) {
	entries := o.Filing.Entries // none if the message was rejected
	if o.Identifier != "BSM" || !strings.Contains(o.Filing.Raw, "\n.V/1L") ||
		len(entries) == 0 || len(entries[0].Flights) == 0 || len(entries[0].PNRs) == 0 {
		return
	}
	e, f := entries[0], entries[0].Flights[0] // of a local bag, the flight on which it departs
	d.bag.Store(&apidoc.Bag{
		Airport: strings.Clone(o.Airport), Airline: f.Airline, Flight: strings.Clone(f.Number), Date: f.Day.String(),
		Plate: string(e.Plate), PNR: strings.Clone(e.PNRs[0]),
	})
}
