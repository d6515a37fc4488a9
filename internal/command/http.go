package command

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apidoc"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/config"
	"bagtrail/internal/console"
	"bagtrail/internal/preview"
	"bagtrail/internal/requeststore"
	"bagtrail/internal/session"
	"bagtrail/internal/sessionstore"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// listen reads the certificate, and listens on the address of the HTTP interface. If the address is
// in use, the process fails here, before it opens Redis and Kafka. Callers that connect before the
// door is open wait.
func (s *service) listen(ctx context.Context) (err error) {
	if !s.opens(httpDoor) {
		return nil
	}
	if s.certificates, err = readCertificates(s.conf.HTTP); err != nil {
		return err
	}
	if s.listener, err = listenOn(ctx, config.Names("http-addr"), s.conf.HTTP.Addr); err != nil {
		return err
	}
	s.cleanup.add("HTTP address", func() error {
		_ = s.listener.Close() // if the door was opened, it is closed already
		return nil
	})
	return nil
}

// openHTTPDoor opens the door that serves all operations and pages over HTTP.
func (s *service) openHTTPDoor(acceptor *ingestor.Acceptor) runner {
	site := s.site(acceptor)
	s.log.Info("HTTP server listens", zap.Stringer("address", s.listener.Addr()), zap.Bool("tls", s.conf.HTTP.TLS()))
	return func(ctx context.Context) error {
		lingering, stop := linger(ctx, s.conf.HTTP.Linger)
		defer stop()
		return web.Server{
			Handler: closing(ctx, site), Certificates: s.certificates,
			Log: s.log, Drain: s.conf.HTTP.Drain, OnStop: site.Stop,
		}.Run(lingering, telemetry.RetryAccept(s.listener, s.log))
	}
}

// linger returns a context that ends a while after ctx, so that load balancers see in time that
// /readyz reports not ready.
func linger(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(while, cancel) })
	return longer, func() { stop(); cancel() }
}

// closing closes a connection after an answer that is written after ctx has ended.
func closing(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// sessions returns the browser sessions, or nil if there is no secret. With a Redis inside this
// process all sessions end with the process, since Redis then forgets which of them were ended.
func (s *service) sessions() *session.Sessions {
	if s.secret == nil {
		return nil
	}
	purpose := "session"
	if s.redis.InProcess() {
		purpose += "/" + rand.Text()
	}
	return session.New(s.keys, s.secret.Key(purpose), sessionstore.New(s.redis))
}

// home returns what the page at the root shows.
func (s *service) home() apidoc.Home {
	h := apidoc.Home{Proxies: s.conf.HTTP.TrustedProxies, Ready: func(ctx context.Context) bool {
		_, ready := s.ready.Check(ctx)
		return ready
	}}
	if s.keysFile() == "" {
		h.KnownKey = apikey.DevelopmentKey
	}
	if s.conf.HTTP.Console {
		h.Console = console.Path
	}
	if s.opens(demoDoor) {
		h.Demo = s.demo.bag.Load
	}
	return h
}

// pageField returns the address of the page at the root as a field of the log, if there is one.
func (s *service) pageField() []zap.Field {
	if s.listener == nil {
		return nil
	}
	return []zap.Field{zap.String("page", localURL(s.conf, s.listener.Addr().String())+"/")}
}

// localURL returns the URL by which this machine reaches the HTTP interface at an address. The host
// of an address that stands for all addresses, such as :8080, becomes localhost, for which HTTP
// clients use no proxy.
func localURL(conf *config.Config, address string) string {
	host, port, _ := net.SplitHostPort(address)
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if conf.HTTP.TLS() {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port)
}

// site makes the operations and pages that are served over HTTP. It also sets s.webhooks and
// s.rejectOperations, whose work openDoors starts.
func (s *service) site(acceptor *ingestor.Acceptor) *web.Site {
	trails := func(seen bag.Sight) queryapi.Trails { return s.trails.For(seen) }
	feed := s.openFeed()
	queries := queryapi.Queries{
		Trails: trails, Airports: s.library, Airlines: s.airlines, Flights: s.flights,
		Changes: feed, NoChanges: s.noChanges(), ChangesRetention: s.conf.Rules.ChangesRetention, Feeds: s.feeds, Clock: s.clock,
	}
	remembered := requeststore.New(s.redis)
	delayed := &queryapi.DelayedBags{
		Trails: trails, Airports: s.library, Downstream: s.wtr, Limit: s.conf.WTR.Timeout, Reports: httpdoor.Reports{Acceptor: acceptor},
		Outcomes: remembered, Clock: acceptor.Now,
	}
	door := httpdoor.Door{Acceptor: acceptor, Clock: acceptor.Now}
	pages := apidoc.Pages(thisBuild().version, s.clock, s.home())
	requests := telemetry.NewRequests(s.registry)
	messages := httpdoor.Messages{
		Acceptor: acceptor, Attempts: remembered, Preview: preview.New(s.enricher, s.library), Airports: s.library,
		Bags: func(seen bag.Sight) httpdoor.Bags { return s.trails.For(seen) },
	}
	hooks := queryapi.Webhooks{Queries: queries, Service: s.openWebhooks(feed), NoWebhooks: s.noWebhooks()}
	s.rejectOperations = &queryapi.Rejects{Store: s.rejectStore, Acceptor: acceptor, Keys: s.keys, NewID: rand.Text, Begun: make(chan struct{}, 1)}
	operations := slices.Concat(
		queries.Operations(), messages.Operations(), hooks.Operations(), web.SessionOperations(), s.rejectOperations.Operations(),
		[]web.Operation{delayed.Operation(), door.Operation(), s.status.Operation()},
	)
	for _, op := range operations {
		requests.Expect(op.Template, op.Method)
	}
	var site *web.Site
	if s.conf.HTTP.Console {
		v1 := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) })
		pages = append(pages, web.Page{Path: console.Path, Handler: console.New(v1, s.library, s.clock), Forms: true})
	}
	site = web.New(web.Settings{
		Keys: s.keys, Proxies: s.conf.HTTP.TrustedProxies, Log: s.log, Clock: s.clock, Observe: requests.Observe,
		AnswerBytes: s.conf.HTTP.AnswerBytes, Streams: s.conf.HTTP.Streams, Origins: s.conf.HTTP.Origins, Sessions: s.sessions(),
		LocalNamesOnly: s.keysFile() == "",
	}, operations, pages)
	telemetry.NewStreams(s.registry, site.OpenStreams)
	return site
}
