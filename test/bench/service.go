package main

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// serve serves the operations over a store on a port of its own, wired as `bagtrail serve` does, with access log and
// metrics. Unlike there, rejected messages are not kept, and requests wait longer, so that a busy machine answers late
// instead of with 503. Without a log the store numbers the messages.
func serve(ctx context.Context, store *index, log ingestor.Log) (addr string, stop func(), err error) {
	airports := airport.New()
	trails := newTrails(store.Reader())
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return "", nil, err
	}
	logger := telemetry.NewLogger(nowhere, "info", "json")
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	if log == nil {
		log = ingestor.NewNumbering(store.Count)
	}
	acceptor := ingestor.NewAcceptor(ingestor.Config{
		Judge: newJudge(), Log: log, Index: store.Writer(), Patience: 10 * time.Second,
	})
	door := httpdoor.Door{Acceptor: acceptor, Clock: acceptor.Now}
	queries := queryapi.Queries{Trails: func(seen bag.Sight) queryapi.Trails { return trails.For(seen) }, Airports: airports, Flights: flightref.None()}
	site := web.New(web.Settings{
		Keys: apikey.Development(), Log: logger, Clock: time.Now, Observe: telemetry.NewRequests(telemetry.NewRegistry("bench")).Observe,
	}, append(queries.Operations(), door.Operation()), nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return "", nil, err
	}
	running.Go(func() { _ = web.Server{Handler: site, Log: logger, Drain: time.Second}.Run(ctx, listener) })
	return listener.Addr().String(), func() {
		cancel()
		running.Wait()
		nowhere.Close()
	}, nil
}
