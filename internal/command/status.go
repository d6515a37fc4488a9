package command

import (
	"context"
	"crypto/rand"
	"time"

	"bagtrail/internal/status"
	"bagtrail/internal/statusstore"
	"bagtrail/internal/telemetry"
)

// openStatus makes the monitor of the state of this process, which also reports it to other
// processes.
func (s *service) openStatus() {
	var before time.Time
	var counted int64
	s.status = &status.Monitor{Reports: statusstore.New(s.redis), Process: rand.Text(), Look: func(ctx context.Context) (status.Report, status.Parts) {
		states, _ := s.ready.Check(ctx)
		works := map[string]bool{}
		for _, part := range states {
			works[part.Name] = part.Ready
		}
		report := status.Report{At: s.clock()}
		total := s.decided.Load()
		if !before.IsZero() {
			report.Messages = float64(total-counted) / max(report.At.Sub(before).Seconds(), time.Millisecond.Seconds())
		}
		before, counted = report.At, total
		if s.opens(kafkaDoor) {
			report.Consumer = backlog(s.consumer, works["consumer"] && works["partitions"])
			if s.changes != nil {
				report.Changes = backlog(s.changed, works["changes"])
			}
		}
		parts := status.Parts{Kafka: status.StateOf(works["kafka"]), Redis: status.StateOf(works["redis"]), DelayedBags: status.StateOf(s.wtr == nil || s.wtr.Answers())}
		if s.kafka == nil {
			parts.Kafka, parts.Consumer = status.Off, status.Off
		}
		if s.changes == nil {
			parts.Changes = status.Off
		}
		return report, parts
	}}
}

// backlog returns how many records wait for a consumer, and for how long.
func backlog(c *telemetry.Consumer, works bool) *status.Backlog {
	records, age, known := c.Backlog()
	return &status.Backlog{Works: works, Reads: known, Records: records, Seconds: age.Seconds()}
}
