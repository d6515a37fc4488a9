package command

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apidoc"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/reportstore"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
)

// openDoors lets messages and callers in. From here on the process works until its context ends.
func (s *service) openDoors(ctx context.Context) error {
	crew := newCrew(ctx, s.fail)
	if s.open.kafka {
		s.consume(crew)
	}
	if s.open.kafka || s.kafka == nil { // whoever writes the index keeps it tidy
		s.sweep(crew)
	}
	if s.open.http {
		site, err := s.site()
		if err != nil {
			return failed(err)
		}
		server := web.Server{
			Handler: lastAnswers(ctx, site), Certificate: s.conf.HTTP.TLSCert, PrivateKey: s.conf.HTTP.TLSKey,
			Log: s.log, Drain: s.conf.HTTP.Drain,
		}
		crew.start("HTTP", func(ctx context.Context) error {
			lingering, stop := linger(ctx, s.conf.HTTP.Linger)
			defer stop()
			return server.Run(lingering, s.listener)
		})
		s.log.Info("callers are served", zap.Stringer("address", s.listener.Addr()), zap.Bool("tls", s.conf.HTTP.TLS()))
	}
	s.stop.later("doors", crew.goHome)
	return nil
}

// linger returns a context that ends a while after ctx, which gives balancers time to see that /readyz says no.
func linger(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(while, cancel) })
	return longer, func() { stop(); cancel() }
}

// lastAnswers tells callers, from the end of ctx on, to take their next request elsewhere.
func lastAnswers(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// consume brings the raw topic to the pipeline.
func (s *service) consume(crew *crew) {
	consumer := s.kafka.NewConsumer(s.pipeline, s.announcements(), s.consumed)
	joined := func(context.Context) error { return consumer.Member() }
	if s.open.http {
		s.ready.AddOptional("consumer", joined) // queries go on without it
	} else {
		s.ready.Add("consumer", joined)
	}
	s.ready.Add("partitions", func(context.Context) error { return consumer.Stalled() })
	crew.start("consumer", consumer.Run)
}

// keysASecond is how fast the sweeper goes through Redis; a load that others do not notice.
const keysASecond = 2000

// sweep lets nothing stay in the index that retention does not allow.
func (s *service) sweep(crew *crew) {
	sweeper := s.store.Sweeper(story{s.trails, s.pipeline.Judge}, keysASecond, func(swept bagstore.Swept, err error) {
		if err != nil {
			s.log.Warn("the sweep of the index is cut short", zap.Error(err))
			return
		}
		s.log.Info("index swept", zap.Int("keys", swept.Keys), zap.Int("messages_removed", swept.Messages), zap.Int("damaged", swept.Damaged))
	})
	crew.start("sweeper", func(ctx context.Context) error { sweeper.Run(ctx); return nil })
}

// story tells the sweeper what messages mean.
type story struct {
	*trail.Reader
	judge func(ingestor.Envelope) ingestor.Outcome
}

// Entry implements bagstore.Story.
func (s story) Entry(plate bag.Plate, m bag.Stored) bag.Entry {
	for _, entry := range s.judge(ingestor.Envelope{Raw: m.Raw, Report: m.Report, Received: m.Received}).Filing.Entries {
		if entry.Plate == plate {
			return entry
		}
	}
	return bag.Entry{Plate: plate}
}

// site makes all that is answered over HTTP.
func (s *service) site() (*web.Site, error) {
	clock := ingestor.NewClock(s.clock)
	acceptor := s.acceptor(clock)
	trails := func(seen bag.Sight) queryapi.Trails { return s.trails.For(seen) }
	queries := queryapi.Queries{Trails: trails, Airports: s.library, Airlines: s.airlines, Flights: s.flights}
	delayed := &queryapi.DelayedBags{
		Trails: trails, Airports: s.library, Downstream: s.wtr, Reports: httpdoor.Reports{Acceptor: acceptor},
		Outcomes: reportstore.New(s.redis), Clock: clock.Now,
	}
	door := httpdoor.Door{Acceptor: acceptor, Judge: s.pipeline.Judge, Clock: clock.Now}
	pages, err := apidoc.Pages(thisBuild().version, s.clock)
	if err != nil {
		return nil, fmt.Errorf("describe the interface: %w", err)
	}
	requests := telemetry.NewRequests(s.registry)
	settings := web.Settings{
		Keys: s.keys, Proxies: s.conf.HTTP.TrustedProxies, Log: s.log, Clock: s.clock, Observe: requests.Observe,
		AnswerBytes: s.conf.HTTP.AnswerBytes,
	}
	operations := append(queries.Operations(), delayed.Operation(), door.Operation())
	for _, op := range operations {
		requests.Expect(op.Template, op.Method, http.StatusOK, http.StatusServiceUnavailable)
	}
	return web.New(settings, operations, pages), nil
}

// acceptor decides on messages that come by HTTP. With Kafka off there is neither a log nor a place for rejects.
func (s *service) acceptor(clock *ingestor.Clock) httpdoor.Acceptor {
	if s.kafka == nil {
		return counted{ingestor.NewAcceptor(s.pipeline, ingestor.NewNumbering(s.store), s.rejects, clock, 0), s.messages}
	}
	return counted{ingestor.NewAcceptor(s.pipeline, s.kafka, s.kafka, clock, 0), s.messages}
}

// counted counts what an acceptor decides.
type counted struct {
	httpdoor.Acceptor
	messages *telemetry.Messages
}

// Accept implements httpdoor.Acceptor.
func (c counted) Accept(ctx context.Context, env ingestor.Envelope, authorise func(*parser.Message) error) (ingestor.Outcome, error) {
	outcome, err := c.Acceptor.Accept(ctx, env, authorise)
	if err == nil {
		switch outcome.Verdict {
		case ingestor.Accepted:
			c.messages.Count("http", 1, 0, 0)
		case ingestor.Duplicate:
			c.messages.Count("http", 0, 1, 0)
		case ingestor.Rejected:
			c.messages.Count("http", 0, 0, 1)
		}
	}
	return outcome, err
}
