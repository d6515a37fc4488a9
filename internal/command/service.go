package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/changes"
	"bagtrail/internal/collector"
	"bagtrail/internal/config"
	"bagtrail/internal/feeds"
	"bagtrail/internal/flightref"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/secret"
	"bagtrail/internal/status"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
	"bagtrail/internal/watch"
	"bagtrail/internal/webhooks"
	"bagtrail/internal/wtr"
	"bagtrail/queryapi"
)

// service holds the parts of a process. start starts them one after the other; each registers in
// cleanup how it is stopped.
type service struct {
	conf   *config.Config
	doors  []string // names of the doors that the process opens; a tool opens none
	log    *zap.Logger
	stdout io.Writer   // takes an API key that the process makes
	fail   func(error) // ends the process with this error
	clock  func() time.Time

	cleanup    cleanup
	background *group // work that the doors need while they are open
	readers    *group // readers of topics that the doors need; they end before the in-process broker

	registry *prometheus.Registry
	messages *prometheus.CounterVec
	decided  atomic.Int64         // messages, for the state of the service: see count
	refused  *prometheus.GaugeVec // by the setting of a watched file: 1 if its content cannot be loaded
	ready    telemetry.Readiness
	state    telemetry.State // of the start and the stop

	library          *airport.Library
	airlines         *airline.Library
	flights          *flightref.Store
	enricher         *enricher.Enricher
	judge            *ingestor.Judge
	keys             *apikey.Store
	secret           secret.Secret // nil if there is none
	certificates     []tls.Certificate
	listener         net.Listener // of the HTTP door, or nil
	redis            *redis.Client
	store            *bagstore.Store
	trails           *trail.Reader
	index            ingestor.Index
	client           *kafka.Client        // nil if Kafka is off
	kafka            *kafkadoor.Door      // nil if Kafka is off
	changes          *changes.Stage       // nil if there are no changes
	webhooks         *webhooks.Service    // nil if the process has no webhooks
	reloads          changes.Reloads      // of the flight reference
	consumer         *telemetry.Consumer  // of the Kafka door
	waited           func() time.Duration // kafka.Consumer.Waited of the Kafka door
	changed          *telemetry.Consumer  // of the stage of changes
	status           *status.Monitor
	record           ingestor.Log
	rejects          ingestor.Rejects
	rejectStore      *rejectstore.Store
	rejectOperations *queryapi.Rejects // nil without the HTTP door
	received         *ingestor.Clock   // of all doors
	feeds            *feeds.Store      // nil in a tool
	counter          *feeds.Counter    // nil in a tool
	demo             demo              // of the demo door
	wtr              *wtr.Client
}

func newService(conf *config.Config, doors []string, log *zap.Logger, fail func(error)) *service {
	s := &service{conf: conf, doors: doors, log: log, clock: time.Now, cleanup: cleanup{log: log}, fail: fail, flights: flightref.None()}
	s.registry = telemetry.NewRegistry(thisBuild().version)
	s.messages = telemetry.NewMessages(s.registry)
	s.refused = telemetry.NewRefusedFiles(s.registry, keysSetting, flightsSetting)
	s.received = ingestor.NewClock(s.clock)
	return s
}

// isTool reports whether the process opens no door.
func (s *service) isTool() bool { return len(s.doors) == 0 }

// start starts the parts in order: each needs only the parts before it, and the doors open last.
func (s *service) start(ctx context.Context) error {
	for _, step := range []step{
		(*service).startOps, (*service).openLibraries, (*service).openFlights, (*service).openKeys, (*service).listen,
		(*service).openIndex, (*service).openFeeds, (*service).openKafka, (*service).openSecret, (*service).openChanges, (*service).openDownstream, (*service).waitForServers,
		(*service).rebuild, (*service).openDoors, (*service).waitForChanges,
	} {
		if err := step(s, ctx); err != nil {
			return err
		}
	}
	s.state.Set(nil)
	s.log.Info("ready", s.pageField()...)
	return nil
}

// startOps starts the ops server, so that everything after it can be watched.
func (s *service) startOps(ctx context.Context) error {
	s.ready.Add("service", true, s.state.Check)
	listener, err := listenOn(ctx, config.Names("ops-addr"), s.conf.Ops.Addr)
	if err != nil {
		return err
	}
	ops := newGroup(context.WithoutCancel(ctx), s.log, s.fail)
	ops.start("ops server", func(ctx context.Context) error {
		return telemetry.Serve(ctx, telemetry.NewOps(s.registry, &s.ready, s.log), telemetry.RetryAccept(listener, s.log))
	})
	s.cleanup.add("ops server", ops.stop)
	s.log.Info("ops server listens", zap.Stringer("address", listener.Addr()))

	s.background = newGroup(context.WithoutCancel(ctx), s.log, s.fail)
	s.cleanup.add("background work", s.background.stop)
	collector.Limit()
	return nil
}

// The settings that name watched files.
const (
	keysSetting    = "keys-file"
	flightsSetting = "flights-file"
)

// watch loads the file of a setting again when it changes, while the service runs.
func (s *service) watch(setting string, run func(ctx context.Context, ticks <-chan time.Time, report func(error))) {
	refused := s.refused.WithLabelValues(setting)
	s.background.run(func(ctx context.Context) {
		ticker := time.NewTicker(watch.Interval)
		defer ticker.Stop()
		run(ctx, ticker.C, func(err error) {
			if err != nil {
				refused.Set(1)
				s.log.Error("a changed file cannot be loaded; the old one stays in force", zap.String("setting", config.Names(setting)), zap.Error(err))
				return
			}
			refused.Set(0)
			s.log.Info("a changed file is loaded", zap.String("setting", config.Names(setting)))
		})
	})
}

// inProcess logs that a part runs inside this process, and the variable that replaces it.
func (s *service) inProcess(part, what, variable string, fields ...zap.Field) {
	s.log.Info("in-process part", append([]zap.Field{
		zap.String("part", part), zap.String("what", what), zap.String("replaced_by", variable),
	}, fields...)...)
}

// listenOn listens on the address of a setting. The error names the setting. A malformed address is
// wrong usage.
func listenOn(ctx context.Context, setting, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if _, malformed := errors.AsType[*net.AddrError](err); malformed {
		return nil, &exit{Usage, listenError(err, setting, address)}
	}
	if err != nil {
		return nil, listenError(err, setting, address)
	}
	return listener, nil
}

// listenError returns the error of a failed listen on the address of a setting.
func listenError(err error, setting, address string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %s is in use", setting, address)
	}
	return fmt.Errorf("%s: %w", setting, err)
}
