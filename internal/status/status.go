// Package status answers GET /v1/status: how far the service lags, how many messages it decides on
// in a second, and the state of its parts, without addresses. Every process stores a report of
// itself for the others, and an answer joins the reports of all.
package status

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"bagtrail/internal/operation"
	"bagtrail/internal/pause"
	"bagtrail/internal/web"
)

const (
	// every is the interval at which a process reports.
	every = 2 * time.Second
	// MaxAge is the age up to which a report counts. It allows for clocks that differ by seconds.
	MaxAge = 10 * time.Second
)

// Report is the report of one process.
type Report struct {
	At       time.Time `json:"at"`
	Messages float64   `json:"messages"`           // decisions in a second
	Consumer *Backlog  `json:"consumer,omitempty"` // of the raw topic; nil if it has none
	Changes  *Backlog  `json:"changes,omitempty"`  // of the topic of marks; nil if it has none
}

// Backlog is the state of a consumer, and the records that wait for it.
type Backlog struct {
	Works   bool    `json:"works"` // the consumer is not failing
	Reads   bool    `json:"reads"` // it reads a partition; if not, it does not know what waits
	Records int64   `json:"records"`
	Seconds float64 `json:"seconds"` // age of the oldest record
}

// Reports keeps the last report of each process where all processes can read it.
type Reports interface {
	// Exchange stores the report of a process and returns the reports of all processes. Some may be
	// older than MaxAge.
	Exchange(ctx context.Context, process string, own Report) ([]Report, error)
}

// State is the state of a part.
type State string

// The states.
const (
	OK      State = "ok"
	Failing State = "failing"
	Off     State = "off" // by the settings
)

// StateOf returns OK or Failing.
func StateOf(works bool) State {
	if works {
		return OK
	}
	return Failing
}

// Parts holds the states of the parts. Those of the consumers follow from the reports, unless they
// are Off. Redis also fails if it does not take the report of this process.
type Parts struct {
	Kafka       State `json:"kafka"`
	Redis       State `json:"redis"`
	Consumer    State `json:"consumer"`
	Changes     State `json:"changes"`
	DelayedBags State `json:"delayed_bags"`
}

// Monitor reports the state of this process and knows that of the service.
type Monitor struct {
	Reports Reports
	Process string // unique
	// Look returns what this process knows: its report, and the parts of the service. It is called
	// by one goroutine at a time.
	Look func(ctx context.Context) (Report, Parts)

	updating sync.Mutex
	answer   atomic.Pointer[[]byte]
}

// Run reports until ctx ends.
func (m *Monitor) Run(ctx context.Context) {
	m.Update(ctx)
	pause.Every(ctx, every, func() { m.Update(ctx) })
}

// Update reports the state of this process, and prepares the next answers from the reports of all.
func (m *Monitor) Update(ctx context.Context) {
	m.updating.Lock()
	defer m.updating.Unlock()
	ctx, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	own, parts := m.Look(ctx)
	all, err := m.Reports.Exchange(ctx, m.Process, own)
	if err != nil {
		all = []Report{own}
	}
	text, err := json.Marshal(join(own.At, all, parts, err == nil))
	if err == nil { // numbers and constants can always be written
		m.answer.Store(&text)
	}
}

// document is the answer.
type document struct {
	Messages    float64  `json:"messages_per_second"`
	LagRecords  *int64   `json:"lag_records,omitempty"`
	LagSeconds  *float64 `json:"lag_seconds,omitempty"`
	ChangeDelay *float64 `json:"changes_delay_seconds,omitempty"`
	Parts       Parts    `json:"parts"`
}

// join joins reports. Without a report of a consumer that reads a partition, as while Kafka is away,
// the backlog is not known.
func join(now time.Time, reports []Report, parts Parts, exchanged bool) document {
	d := document{Parts: parts}
	if !exchanged {
		d.Parts.Redis = Failing
	}
	var consumer, changes backlogs
	for _, r := range reports {
		if age := now.Sub(r.At); age > MaxAge || age < -MaxAge {
			continue
		}
		d.Messages += r.Messages
		consumer.add(r.Consumer)
		changes.add(r.Changes)
	}
	d.Parts.Consumer, d.Parts.Changes = consumer.state(parts.Consumer), changes.state(parts.Changes)
	if consumer.all.Reads {
		d.LagRecords, d.LagSeconds = &consumer.all.Records, rounded(consumer.all.Seconds)
	}
	if changes.all.Reads {
		d.ChangeDelay = rounded(changes.all.Seconds)
	}
	d.Messages = *rounded(d.Messages)
	return d
}

// rounded returns a number with three decimals.
func rounded(x float64) *float64 {
	return new(math.Round(x*1000) / 1000)
}

// backlogs joins the backlogs of the consumers of a group.
type backlogs struct {
	known bool
	all   Backlog // Works if all known consumers work, Reads if one does
}

func (b *backlogs) add(next *Backlog) {
	if next == nil {
		return
	}
	b.all.Works = next.Works && (b.all.Works || !b.known)
	b.all.Reads = b.all.Reads || next.Reads
	b.all.Records += next.Records
	b.all.Seconds = max(b.all.Seconds, next.Seconds)
	b.known = true
}

func (b *backlogs) state(setting State) State {
	if setting == Off {
		return Off
	}
	return StateOf(b.known && b.all.Works)
}

// Operation returns GET /v1/status.
func (m *Monitor) Operation() web.Operation {
	return web.Operation{Operation: operation.ByID("getStatus"), Serve: func(ctx context.Context, c *web.Call) web.Answer {
		if len(c.Query) > 0 {
			return c.Invalid(c.UnknownParameters())
		}
		if m.answer.Load() == nil {
			m.Update(ctx)
		}
		return c.OK(append(c.Buffer, *m.answer.Load()...))
	}}
}
