package command

import (
	"context"
	"slices"

	"bagtrail/ingestor"
)

// runner accepts messages until ctx ends.
type runner func(ctx context.Context) error

// doors are the ways by which messages come in. Each is opened with an Acceptor of its own, which
// logs and counts under the name of the door.
var doors = []struct {
	name string
	open func(*service, *ingestor.Acceptor) runner
}{
	{kafkaDoor, (*service).openKafkaDoor},
	{httpDoor, (*service).openHTTPDoor},
	{demoDoor, (*service).openDemoDoor},
}

const (
	kafkaDoor = "kafka"
	httpDoor  = "http"
	fileDoor  = "file" // only replay opens it
)

// opens reports whether the process opens a door.
func (s *service) opens(door string) bool { return slices.Contains(s.doors, door) }

// openDoors opens the doors, and starts all work that continues until the context of the process
// ends.
func (s *service) openDoors(ctx context.Context) error {
	running := newGroup(ctx, s.log, s.fail)
	s.cleanup.add("doors", running.stop)
	s.openStatus()
	for _, d := range doors {
		if !s.opens(d.name) {
			continue
		}
		running.start(d.name+" door", d.open(s, s.acceptor(d.name)))
	}
	running.run(s.status.Run)
	if s.opens(kafkaDoor) && s.changes != nil {
		running.start("changes", s.changes.Run)
	}
	if s.webhooks != nil {
		running.start("webhooks", s.webhooks.Run)
	}
	if s.rejectOperations != nil {
		running.run(s.runJobs)
	}
	if s.maintainsStores() {
		running.run(s.sweep)
		running.run(s.trimRejects)
	}
	return nil
}

// maintainsStores reports whether the process sweeps the index of bags, trims the rejects and
// watches the feeds. A process with the Kafka door does that, and every process does if Kafka is
// off.
func (s *service) maintainsStores() bool { return s.opens(kafkaDoor) || s.conf.Kafka.Off }

// acceptor returns the Acceptor of a door.
func (s *service) acceptor(door string) *ingestor.Acceptor {
	s.count(door, new(ingestor.Batch)) // makes the series begin at 0, so that the first message is an increase
	conf := ingestor.Config{
		Door: door, Judge: s.judge, Log: s.record, Index: s.index, Rejects: s.rejects, Clock: s.received,
		Observe: func(b *ingestor.Batch) { s.count(door, b) },
	}
	if door == kafkaDoor && s.changes != nil { // this door also reads the messages that the other doors log
		conf.Marks = s.marker()
	}
	return ingestor.NewAcceptor(conf)
}

// count counts the messages of a batch by verdict. Unauthorised messages do not count. With Kafka, a
// message that is accepted over HTTP counts as decided when it is read from the log.
func (s *service) count(door string, b *ingestor.Batch) {
	var by [ingestor.Unauthorised + 1]int
	for i := range b.Outcomes {
		by[b.Outcomes[i].Verdict]++
	}
	for v := ingestor.Accepted; v < ingestor.Unauthorised; v++ {
		s.messages.WithLabelValues(door, v.String()).Add(float64(by[v]))
		if s.kafka == nil || door == kafkaDoor || v == ingestor.Rejected {
			s.decided.Add(int64(by[v]))
		}
	}
	if s.counter != nil {
		s.counter.Count(door, b)
	}
}
