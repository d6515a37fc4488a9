package command

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"bagtrail/internal/feeds"
	"bagtrail/internal/telemetry"
)

// openFeeds starts the parts that write the counts of feeds, and that look for silent feeds.
func (s *service) openFeeds(ctx context.Context) error {
	s.feeds = feeds.NewStore(s.redis)
	s.counter = feeds.NewCounter(s.feeds, s.clock)
	running := newGroup(context.WithoutCancel(ctx), s.log, s.fail)
	s.cleanup.add("feeds", running.stop) // after the doors have closed, before Redis does
	running.run(func(ctx context.Context) {
		failing := false
		s.counter.Run(ctx, func(err error) {
			if err != nil && !failing {
				s.log.Warn("counts of feeds cannot be written, and are lost", zap.Error(err))
			}
			failing = err != nil
		})
	})
	if s.maintainsStores() {
		watch := newFeedWatch(s.log, s.registry)
		running.run(func(ctx context.Context) { s.feeds.Watch(ctx, s.clock, watch.look) })
	}
	return nil
}

// feedWatch counts feeds by state, and logs which feeds become silent.
type feedWatch struct {
	log     *zap.Logger
	states  *prometheus.GaugeVec // by state
	alarms  *prometheus.GaugeVec // 1 for each silent feed, by airport and door
	silent  map[feeds.Name]bool
	failing bool
}

func newFeedWatch(log *zap.Logger, registry prometheus.Registerer) *feedWatch {
	w := &feedWatch{log: log}
	w.states, w.alarms = telemetry.NewFeeds(registry)
	w.look(nil, nil) // creates the gauge of every state
	return w
}

// look counts the feeds by state, and logs which feeds have become silent or send again.
func (w *feedWatch) look(all []feeds.Feed, err error) {
	if err != nil {
		if !w.failing {
			w.log.Warn("feeds cannot be read", zap.Error(err))
		}
		w.failing = true
		return
	}
	w.failing = false
	count := map[feeds.State]int{}
	silent := map[feeds.Name]bool{}
	for _, f := range all {
		count[f.State]++
		name := []zap.Field{zap.String("airport", f.Airport), zap.String("door", f.Door), zap.Time("last_received", f.Last)}
		switch was := w.silent[f.Name]; {
		case f.State == feeds.Silent:
			silent[f.Name] = true
			w.alarms.WithLabelValues(f.Airport, f.Door).Set(1)
			if !was {
				w.log.Warn("a feed is silent", append(name, zap.Duration("usual_gap", f.Gap))...)
			}
		case was:
			w.log.Info("a feed sends again", name...)
		}
	}
	for name := range w.silent { // a feed may also be forgotten while it is silent
		if !silent[name] {
			w.alarms.DeleteLabelValues(name.Airport, name.Door)
		}
	}
	w.silent = silent
	for _, state := range feeds.States {
		w.states.WithLabelValues(string(state)).Set(float64(count[state]))
	}
}
