package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
)

// openIndex opens Redis, and the readers and writers of the index in it.
func (s *service) openIndex(context.Context) (err error) {
	tick := s.conf.Rules.Retention / 360 // short, so that a short retention does not end late
	if s.redis, err = redis.Open(redis.Config{URL: s.conf.Redis.URL, Now: s.clock, Tick: tick}); err != nil {
		return err
	}
	s.cleanup.add("redis", s.redis.Close)
	s.ready.Add("redis", true, s.redis.Ready)
	s.store, err = bagstore.Open(s.redis, bagstore.Config{Retention: s.conf.Rules.Retention, Now: s.clock, Damaged: s.reportDamage()})
	if err != nil {
		return err
	}
	s.rejectStore = rejectstore.New(s.redis, s.conf.Rules.RejectsRetention, s.clock)
	s.cleanup.add("index", func() error { s.store.Close(); return nil })
	s.trails = trail.New(s.store.Reader(), s.enricher, trail.Settings{
		Window:    s.conf.Rules.DuplicateWindow,
		Retention: s.conf.Rules.Retention,
		Airports:  s.library,
		Departed:  s.flights.Departed,
		Now:       s.clock,
	})
	s.index = s.store.Writer()
	if s.redis.InProcess() {
		s.inProcess("redis", "a Redis that ends with the process", "BAGTRAIL_REDIS_URL")
		if s.isTool() { // serve files the messages of the tool when it reads them from the log
			s.index = discard{}
		}
	}
	return nil
}

// discard is an index that keeps nothing.
type discard struct{}

// File implements ingestor.Index.
func (discard) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	return slices.Repeat([]bool{true}, len(filings)), nil
}

// reportDamage returns a function that logs damaged values in Redis, and counts those that were moved
// aside.
func (s *service) reportDamage() func(digest string, err error) {
	values := telemetry.NewDamaged(s.registry)
	return func(digest string, err error) {
		if err != nil {
			s.log.Error("a damaged value in Redis is left out, and cannot be moved aside", zap.String("key_digest", digest), zap.Error(err))
			return
		}
		values.Inc()
		s.log.Error("a damaged value in Redis was moved aside: bagtrail replay brings its message back", zap.String("key_digest", digest))
	}
}

// keysASecond is how many keys the sweeper reads in a second of each master of Redis. Other clients
// do not notice this load.
const keysASecond = 2000

// sweep removes everything whose retention has ended from the index, until ctx ends, see
// bagstore.Sweeper.
func (s *service) sweep(ctx context.Context) {
	interpreter := struct {
		*trail.Reader
		*ingestor.Judge
	}{s.trails, s.judge}
	s.store.Sweeper(interpreter, keysASecond, func(swept bagstore.SweepCounts, err error) {
		switch {
		case errors.Is(err, bagstore.ErrHeld):
			s.log.Info("a sweep of the index has ended, since a replay holds sweeps: the next one is tried later")
			return
		case err != nil:
			s.log.Warn("a sweep of the index is incomplete, and the next one is tried later", zap.Int("messages_removed", swept.Messages), zap.Error(err))
			return
		}
		s.log.Info("index swept", zap.Int("keys", swept.Keys), zap.Int("messages_removed", swept.Messages), zap.Int("damaged", swept.Damaged))
	}).Run(ctx)
}

// trimRejects removes rejects that are older than their retention, and counts the open ones, until
// ctx ends.
func (s *service) trimRejects(ctx context.Context) {
	gauge := telemetry.NewRejects(s.registry)
	s.rejectStore.Run(ctx, func(open int64, err error) {
		if err != nil {
			s.log.Warn("old rejects cannot be removed or counted", zap.Error(err))
			return
		}
		gauge.Set(float64(open))
	})
}

// runJobs advances jobs over rejects, until ctx ends.
func (s *service) runJobs(ctx context.Context) {
	s.rejectOperations.RunJobs(ctx, func(err error) {
		s.log.Warn("jobs over rejects, if there are any, cannot go on: trying again", zap.Error(err))
	})
}

// redisKeys are the keys of the stores, as an ACL of Redis names them.
var redisKeys = strings.Fields("b:* f:* a:* n:* p:* r:* u:* c:* d:* x:* w:* h:* s:* j:* status feed:* count sweep")

// checkRedis returns an error if Redis is not set up for the index, and logs lesser faults of its
// set-up.
func (s *service) checkRedis(ctx context.Context) error {
	findings, err := s.redis.Check(ctx, redisKeys...)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Fatal {
			return &exit{Failed, fmt.Errorf("the settings of Redis do not suit the index: %v", f)}
		}
		s.log.Warn("a setting of Redis should be changed", zap.Stringer("finding", f))
	}
	return nil
}

// progressEvery is how often a long rebuild is logged.
const progressEvery = 5 * time.Second

// rebuilder returns the Acceptor of a rebuild. It only files messages, since they are in the log
// already, and rejects are stored already.
func (s *service) rebuilder() *ingestor.Acceptor {
	return ingestor.NewAcceptor(ingestor.Config{Judge: s.judge, Index: s.index})
}

// replayer returns the Acceptor of a replay into an index that is in use. It marks the bags of
// messages that the index did not hold, so that their changes are published. If Redis has lost the
// epoch of changes too, it has lost everything. Then replayer returns a rebuilder, and no change is
// published.
func (s *service) replayer(ctx context.Context) (kafkadoor.Acceptor, error) {
	if s.changes == nil {
		return s.rebuilder(), nil
	}
	switch begun, err := s.changes.Begun(ctx); {
	case err != nil:
		return nil, err
	case !begun:
		return s.rebuilder(), nil
	}
	conf := ingestor.Config{Judge: s.judge, Index: s.store.RestoringWriter(), Clock: s.received}
	return changes.NewReplay(ctx, conf, s.marker(), s.changeIndex())
}

// restoreRejects reads rejected messages from the rejects topic into Redis, which may have lost
// them. It returns the acceptor for reading the log from start on, which keeps these messages
// rejected. The service works without the rejects, so a failure is only logged.
func (s *service) restoreRejects(ctx context.Context, start kafka.Start, acceptor kafkadoor.Acceptor) kafkadoor.Acceptor {
	s.state.Set(errors.New("reading the rejected messages"))
	began, restore, from := s.clock(), rejectstore.NewRestore(acceptor, s.rejectStore), s.firstReject()
	if start.Time.Before(from.Time) {
		from = kafka.Start{} // the log also has rejected messages whose rejects are no longer kept
	}
	read, err := s.kafka.RestoreRejects(ctx, from, kafkaDoor, s.judge, restore)
	if err != nil {
		s.log.Error("not all rejected messages are read back; a replay reads them again, and with a Redis in the process the next start", zap.Int("messages", read), zap.Error(err))
		return restore
	}
	s.log.Info("rejected messages read back", zap.Int("messages", read), zap.Duration("took", s.clock().Sub(began)))
	return restore
}

// firstReject returns the place in the rejects topic of the first reject that is still kept.
func (s *service) firstReject() kafka.Start {
	return kafka.Start{Time: s.clock().Add(-s.conf.Rules.RejectsRetention)}
}

// rebuild fills an in-process Redis, which begins empty: with the rejected messages of the rejects
// topic, with all messages of the log, and with the epoch of changes.
func (s *service) rebuild(ctx context.Context) error {
	if !s.redis.InProcess() || s.kafka == nil {
		return nil
	}
	acceptor := s.restoreRejects(ctx, kafka.Start{}, s.rebuilder())
	logged := s.clock()
	progress, err := s.kafka.Rebuild(ctx, acceptor, kafka.Start{}, func(p kafkadoor.Progress) {
		s.state.Set(fmt.Errorf("rebuilding the index: %d of %d records", p.Records, p.Total))
		if now := s.clock(); now.Sub(logged) >= progressEvery {
			logged = now
			s.log.Info("rebuilding the index", zap.Int64("records", p.Records), zap.Int64("of", p.Total), zap.Duration("left", p.Left()))
		}
	})
	if err != nil {
		return fmt.Errorf("rebuild the index: %w", err)
	}
	s.log.Info("index rebuilt from the log", zap.Int64("messages", progress.Messages), zap.Int64("rejected", progress.Rejected), zap.Duration("took", progress.Elapsed))
	return s.restoreChanges(ctx, kafka.Start{})
}
