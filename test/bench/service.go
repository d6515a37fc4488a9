package main

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// service is the HTTP side of bagtrail over a store, wired as `bagtrail serve` does, access log and metrics included,
// but for rejected messages, which are not kept, and for the patience, so that a machine that is busy answers late.
type service struct {
	addr     string
	store    *index
	airports *airport.Library
	enricher *enricher.Enricher
	trails   *trail.Reader
	stop     func()
}

// serve starts it on a port of its own. Without a log the store numbers the messages.
func serve(ctx context.Context, store *index, log ingestor.Log) (*service, error) {
	s := &service{store: store, airports: airport.New()}
	s.enricher = enricher.New(s.airports)
	s.trails = trail.New(store.Reader(), s.enricher, trail.Settings{Window: 10 * time.Minute, Airports: s.airports, Now: time.Now})
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	logger, err := telemetry.NewLogger(nowhere, "info", "json")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	if log == nil {
		log = ingestor.NewNumbering(store)
	}
	acceptor := ingestor.NewAcceptor(ingestor.Config{
		Judge: ingestor.NewJudge(s.airports, s.enricher), Log: log, Index: store.Writer(), Patience: 10 * time.Second,
	})
	door := httpdoor.Door{Acceptor: acceptor, Clock: acceptor.Now}
	queries := queryapi.Queries{Trails: func(seen bag.Sight) queryapi.Trails { return s.trails.For(seen) }, Airports: s.airports, Flights: flightref.None()}
	site := web.New(web.Settings{
		Keys: apikey.Development(), Log: logger, Clock: time.Now, Observe: telemetry.NewRequests(telemetry.NewRegistry("bench")).Observe,
	}, append(queries.Operations(), door.Operation()), nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, err
	}
	s.addr = listener.Addr().String()
	running.Go(func() { _ = web.Server{Handler: site, Log: logger, Drain: time.Second}.Run(ctx, listener) })
	s.stop = func() {
		cancel()
		running.Wait()
		nowhere.Close()
	}
	return s, nil
}
