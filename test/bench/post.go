package main

import (
	"context"
	"fmt"
	"net/http"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/simulate"
	"bagtrail/internal/strictjson"
)

const posters = 64

// postLine is line 3: POST processbim over 64 connections, without Kafka and with the log, against a bare Gin handler.
func postLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	messages, _ := feed(b.size(3500))
	requests := postRequests(messages)
	var rows []row
	embedded, err := b.embeddedKafka()
	if err != nil {
		return nil, err
	}
	k, err := b.needKafka(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		what    string
		brokers []string // of the log; nil: none
		target  float64  // 0: none
	}{
		{"POST, Kafka off, requests/s", nil, 0.7},
		{"POST, in-process log, requests/s", []string{embedded}, 0.4},
		{"POST, real Kafka, requests/s", k.brokers, 0},
	} {
		if kind.target == 0 && !k.real {
			continue
		}
		p, err := b.alternate(
			func() (float64, error) { return postOurs(ctx, r, k, kind.brokers, requests) },
			func() (float64, error) { return postBare(ctx, r, requests) })
		if err != nil {
			return rows, err
		}
		rows = append(rows, p.rates("3", kind.what, p.ratioAndCPU(), kind.target))
	}
	return rows, nil
}

func postRequests(messages []simulate.Message) [][]byte {
	requests := make([][]byte, len(messages))
	for i, m := range messages {
		requests[i] = post("/baggage/processbim/v1.0/", append(strictjson.AppendString([]byte(`{"bim_message":`), m.Text), '}'))
	}
	return requests
}

func postOurs(ctx context.Context, r *redisServer, k *kafkaServer, brokers []string, requests [][]byte) (float64, error) {
	var log ingestor.Log
	if brokers != nil {
		topics := kafkadoor.Topics{Raw: k.name("posted"), Rejects: k.name("posted-rejected")}
		door, closeDoor, err := openDoor(ctx, brokers, "unused", topics)
		if err != nil {
			return 0, err
		}
		defer closeDoor()
		log = door
	}
	store, err := openStore(ctx, r)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	addr, stop, err := serve(ctx, store, log)
	if err != nil {
		return 0, err
	}
	defer stop()
	return postAll(ctx, addr, requests)
}

func postAll(ctx context.Context, addr string, requests [][]byte) (float64, error) {
	rate, wrong, err := load(ctx, addr, posters, len(requests), func(i int) []byte { return requests[i] },
		func(status int) bool { return status == http.StatusOK || status == http.StatusBadRequest })
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d of %d requests were answered otherwise than 200 and 400", wrong, len(requests))
	}
	return rate, err
}
