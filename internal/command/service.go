package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/announce"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/collector"
	"bagtrail/internal/config"
	"bagtrail/internal/flightref"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
	"bagtrail/internal/redis"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
	"bagtrail/internal/watch"
	"bagtrail/internal/wtr"
)

// service is a process that serves: its parts, and how they hang together. It is started step by step; each step
// remembers how to undo it.
type service struct {
	conf   *config.Config
	open   doors
	log    *zap.Logger
	keyOut io.Writer // where a key that the process makes is printed
	clock  func() time.Time
	stop   stopper
	fail   func(error) // ends the process, with this as its reason

	registry *prometheus.Registry
	messages *telemetry.Messages
	consumed *telemetry.Consumer // nil where the process consumes nothing
	ready    telemetry.Readiness
	state    telemetry.State // of the start and the stop
	rejects  *rejectLog
	behind   *crew // what the doors need while they are open

	library  *airport.Library
	airlines *airline.Library
	keys     *apikey.Store
	flights  *flightref.Store
	filer    *enricher.Enricher
	redis    *redis.Client
	store    *bagstore.Store
	kafka    *kafkadoor.Door // nil where Kafka is off
	trails   *trail.Reader
	pipeline *ingestor.Pipeline
	listener net.Listener // of the five operations, or nil
	wtr      *wtr.Client
}

var (
	errStopping = errors.New("stopping")
	errStarting = errors.New("starting")
)

func newService(conf *config.Config, open doors, log *zap.Logger, fail func(error)) *service {
	s := &service{conf: conf, open: open, log: log, clock: time.Now, stop: stopper{log: log}, fail: fail, flights: flightref.None()}
	s.registry = telemetry.NewRegistry(thisBuild().version)
	s.messages = telemetry.NewMessages(s.registry)
	s.rejects = newRejectLog(log)
	s.stop.later("log of rejected messages", s.rejects.flush)
	if open.kafka {
		s.consumed = telemetry.NewConsumer(s.registry, s.messages, s.clock)
	}
	return s
}

// start starts the parts from the inside outward: what others need comes first, and the doors open last.
func (s *service) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.startOps, s.readLibraries, s.readFlights, s.readKeys, s.listen, s.openIndex, s.openKafka, s.openDownstream,
		s.waitForServers, s.rebuild, s.openDoors,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.state.Set(nil)
	s.log.Info("ready")
	return nil
}

// startOps opens the ops server, so that everything after it can be watched.
func (s *service) startOps(ctx context.Context) error {
	s.ready.Add("service", s.state.Check)
	s.state.Set(errStarting)
	listener, err := listenOn(ctx, config.Names("ops-addr"), s.conf.Ops.Addr)
	if err != nil {
		return err
	}
	last := newCrew(context.WithoutCancel(ctx), s.fail)
	last.start("ops server", func(ctx context.Context) error {
		return telemetry.NewOps(s.registry, &s.ready, s.log).Serve(ctx, listener)
	})
	s.stop.later("ops server", last.goHome)
	s.log.Info("operators are served", zap.Stringer("address", listener.Addr()))

	s.behind = newCrew(context.WithoutCancel(ctx), s.fail)
	s.stop.later("background work", s.behind.goHome)
	s.stop.later("collector", collector.Floor(usualHeap))
	collector.Limit()
	return nil
}

// usualHeap is how large the heap is at full rate, in bytes: what a process has been at its peak it may as well use.
const usualHeap = 64 << 20

// readLibraries makes what knows airports and airlines.
func (s *service) readLibraries(context.Context) (err error) {
	if s.library, err = openAirports(s.conf); err != nil {
		return unusable(err)
	}
	pairs, err := readPairs(s.conf)
	if err != nil {
		return unusable(err)
	}
	s.airlines, s.filer = airline.New(pairs...), enricher.New(s.library, pairs...)
	return nil
}

// readFlights reads the flight reference, and watches it.
func (s *service) readFlights(context.Context) (err error) {
	if path := s.conf.Files.Flights; path != "" {
		if s.flights, err = flightref.Open(path, s.library.SamePlace, s.airlines); err != nil {
			return unusable(fmt.Errorf("flights file: %w", err))
		}
		s.watch("flights file", s.flights.Watch)
	}
	return nil
}

// watch takes over changes of a file while the service runs.
func (s *service) watch(name string, run func(ctx context.Context, ticks <-chan time.Time, report func(error))) {
	s.behind.start(name, func(ctx context.Context) error {
		ticker := time.NewTicker(watch.Interval)
		defer ticker.Stop()
		run(ctx, ticker.C, func(err error) {
			if err != nil {
				s.log.Error("a changed file is not taken over", zap.String("file", name), zap.Error(err))
				return
			}
			s.log.Info("a changed file is taken over", zap.String("file", name))
		})
		return nil
	})
}

// listen takes the address of the five operations, so that a process without it fails before it has done anything.
// Callers who come too early wait.
func (s *service) listen(ctx context.Context) (err error) {
	if !s.open.http {
		return nil
	}
	if h := s.conf.HTTP; h.TLS() {
		if _, err := tls.LoadX509KeyPair(h.TLSCert, h.TLSKey); err != nil {
			return unusable(fmt.Errorf("BAGTRAIL_HTTP_TLS_CERT, BAGTRAIL_HTTP_TLS_KEY: %w", err))
		}
	}
	if s.listener, err = listenOn(ctx, config.Names("http-addr"), s.conf.HTTP.Addr); err != nil {
		return err
	}
	s.stop.later("HTTP address", func() error {
		_ = s.listener.Close() // the server has closed it, where there was one
		return nil
	})
	return nil
}

// listenOn listens on the address of a setting. The error names the setting, since nobody knows all of them by their addresses.
func listenOn(ctx context.Context, setting, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, failed(unlistened(err, setting, address))
	}
	return listener, nil
}

// unlistened is the error about the address of a setting on which a process cannot listen.
func unlistened(err error, setting, address string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %s is in use", setting, address)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// openIndex opens the store, and what reads and writes it.
func (s *service) openIndex(context.Context) (err error) {
	if s.redis, err = redis.Open(redis.Config{URL: s.conf.Redis.URL, Now: s.clock}); err != nil {
		return failed(err)
	}
	s.stop.later("redis", s.redis.Close)
	s.ready.Add("redis", s.redis.Ready)
	s.store, err = bagstore.Open(s.redis, bagstore.Config{Retention: s.conf.Rules.Retention, Now: s.clock, Damaged: s.tellDamaged()})
	if err != nil {
		return failed(err)
	}
	s.stop.later("index", func() error { s.store.Close(); return nil })
	s.trails = trail.New(s.store.Reader(), s.filer, trail.Settings{
		Window:    s.conf.Rules.DuplicateWindow,
		Retention: s.conf.Rules.Retention,
		Airports:  s.library,
		Departed:  s.flights.Departed,
		Now:       s.clock,
	})
	s.pipeline = ingestor.New(s.library, s.filer, s.index())
	if s.redis.InProcess() {
		s.inProcess("redis", "a Redis that ends with the process", "BAGTRAIL_REDIS_URL")
	}
	return nil
}

// tellDamaged counts damaged values in Redis, and says so.
func (s *service) tellDamaged() func(digest string, err error) {
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

// index returns what messages are filed in. The Redis of a tool that has none ends with it before anybody can ask: what
// the tool brings is in the log, and whoever serves takes it from there.
func (s *service) index() ingestor.Index {
	if s.isTool() && s.redis.InProcess() {
		return nowhere{}
	}
	return s.trails.Learning(s.store.Writer())
}

// nowhere is an index that keeps nothing.
type nowhere struct{}

// File implements ingestor.Index.
func (nowhere) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	fresh := make([]bool, len(filings))
	for i := range fresh {
		fresh[i] = true
	}
	return fresh, nil
}

// isTool reports whether the process opens no door.
func (s *service) isTool() bool { return s.open == doors{} }

// inProcess says that a part runs inside this process, and what replaces it.
func (s *service) inProcess(part, what, variable string, fields ...zap.Field) {
	s.log.Info("in-process part", append([]zap.Field{
		zap.String("part", part), zap.String("what", what), zap.String("replaced_by", variable),
	}, fields...)...)
}

// openKafka opens the way to Kafka, and the in-process broker where no other is named.
func (s *service) openKafka(context.Context) (err error) {
	conf := s.conf.Kafka
	if conf.Off {
		s.log.Warn("Kafka is off: messages come by HTTP only, and Redis is the only copy of them")
		if s.redis.InProcess() {
			s.log.Warn("there is nothing to rebuild the index from: what it holds ends with the process")
		}
		return nil
	}
	brokers := conf.Brokers
	if conf.InProcess() {
		address, err := s.startBroker()
		if err != nil {
			return failed(err)
		}
		brokers = []string{address}
	}
	door := s.doorConfig()
	client, err := kafka.Open(s.kafkaConfig(brokers, door.Topics.Names()))
	if err != nil {
		return &exit{Usage, err}
	}
	s.stop.later("Kafka", func() error { client.Close(); return nil })
	if s.kafka, err = kafkadoor.New(client, door); err != nil {
		return &exit{Usage, err}
	}
	if s.open.kafka {
		s.ready.Add("kafka", s.kafka.Ping)
	} else {
		s.ready.AddOptional("kafka", s.kafka.Ping) // queries go on without it
	}
	return nil
}

// startBroker starts the in-process broker and returns its address. A tool that finds the files of the broker in use goes
// to the process that uses them, which is a bagtrail serve.
func (s *service) startBroker() (string, error) {
	address := s.conf.Kafka.EmbeddedAddr
	broker, err := broker.Start(broker.Config{
		Dir: filepath.Join(s.conf.DataDir, "kafka"), Addr: address, AcceptLoss: s.conf.Kafka.AcceptLoss, Logger: s.log,
	})
	if s.isTool() && errors.Is(err, syscall.EWOULDBLOCK) {
		return address, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = unlistened(err, config.Names("embedded-kafka-addr"), address)
	}
	if err != nil {
		return "", err
	}
	s.stop.later("in-process broker", broker.Close)
	s.ready.Add("data directory", func(context.Context) error { return errors.Join(broker.Check(), writable(s.conf.DataDir)) })
	s.inProcess("kafka", "a Kafka-protocol broker that keeps its log and offsets", "BAGTRAIL_KAFKA_BROKERS",
		zap.String("address", broker.Addr()), zap.String("directory", s.conf.DataDir))
	if s.conf.Kafka.EmbeddedOpen {
		s.log.Warn("the in-process kafka has no authentication: whoever reaches its address may read and write every topic",
			zap.String("address", broker.Addr()))
	}
	return broker.Addr(), nil
}

// writable returns why no file can be made in a directory, or nil.
func writable(dir string) error {
	file, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// afterlife is how much longer than a bag the topics keep a message: a bag is kept by its last event, the messages of
// its journey are older.
const afterlife = 30 * 24 * time.Hour

// kafkaConfig says how to reach Kafka.
func (s *service) kafkaConfig(brokers, topics []string) kafka.Config {
	c := s.conf.Kafka
	conf := kafka.Config{
		Brokers: brokers, Topics: topics, Logger: s.log,
		SASL: kafka.SASL{Mechanism: c.Mechanism, Username: c.Username, Password: c.Password},
	}
	if c.TLS {
		conf.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return conf
}

// doorConfig says what the Kafka door reads and writes.
func (s *service) doorConfig() kafkadoor.Config {
	c := s.conf
	conf := kafkadoor.Config{
		Group:     c.Kafka.Group,
		Topics:    kafkadoor.Topics{Raw: c.Kafka.Topic, Rejects: c.Kafka.RejectsTopic, Events: c.Kafka.EventsTopic},
		Retention: c.Rules.Retention + afterlife,
		Logger:    s.log,
		Rejected:  s.rejects.write,
	}
	if c.Kafka.InProcess() {
		conf.Retention = 0 // that broker deletes all before a record with an old time, however new it is itself
	}
	return conf
}

// openDownstream opens the way to the delayed-bag system, and simulates it where none is named.
func (s *service) openDownstream(ctx context.Context) (err error) {
	if !s.open.http {
		return nil
	}
	address := s.conf.WTR.URL
	if s.conf.WTR.InProcess() {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return failed(fmt.Errorf("delayed-bag simulator: %w", err))
		}
		address = "http://" + listener.Addr().String() + "/"
		s.behind.start("delayed-bag simulator", func(ctx context.Context) error {
			return serveSimulator(ctx, new(wtr.Simulator), listener)
		})
		s.inProcess("delayed-bag system", "a simulator", "BAGTRAIL_WTR_URL", zap.String("address", address))
	}
	if s.wtr, err = wtr.NewClient(address, s.conf.WTR.Timeout, s.clock); err != nil {
		return &exit{Usage, err}
	}
	return nil
}

// serveSimulator serves the simulated delayed-bag system until ctx ends.
func serveSimulator(ctx context.Context, simulator http.Handler, listener net.Listener) error {
	server := &http.Server{Handler: simulator, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// announcements makes the events of messages for the events topic.
func (s *service) announcements() kafkadoor.EventMaker {
	announcer := announce.Announcer{
		Index: s.store.Reader(), Enricher: s.filer, Places: s.library,
		Rules: bag.Rules{Window: s.conf.Rules.DuplicateWindow, SamePlace: s.library.SamePlace},
	}
	return func(ctx context.Context, filings []bag.Filing, publish func([]kafkadoor.Event) error) error {
		return announcer.Tell(ctx, filings, func(made []announce.Event) error {
			events := make([]kafkadoor.Event, len(made))
			for i, e := range made {
				events[i] = kafkadoor.Event{ID: e.ID, Key: string(e.Plate), Document: e.Document}
			}
			return publish(events)
		})
	}
}
