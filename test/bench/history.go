package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"bagtrail/internal/simulate"
)

const askers = 16

// historyLine measures line 4: the history of a bag with about 15 events, against HGETALL and c.JSON of as many fields and
// bytes. The first row asks for many bags, so that caches rarely help; the second asks for the same few again and again.
func historyLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	messages, truth := feed(b.size(40_000))
	if err := fileAll(ctx, r, messages); err != nil {
		return nil, err
	}
	var paths [][]byte
	for _, bag := range truth {
		if n := len(bag.Events); n >= 14 && n <= 16 && len(bag.Legs) > 0 {
			paths = append(paths, get(historyPath(bag)))
		}
	}
	store, err := openIndex(r.url())
	if err != nil {
		return nil, err
	}
	defer store.Close()
	addr, stop, err := serve(ctx, store, nil)
	if err != nil {
		return nil, err
	}
	defer stop()
	size, err := answerSize(addr, paths[0])
	if err != nil {
		return nil, err
	}
	if err := fillHashes(ctx, r, len(paths), 15, size); err != nil {
		return nil, err
	}
	var rows []row
	for _, many := range []bool{true, false} {
		n, what := len(paths), fmt.Sprintf("history, 15 events, %d B, any of %s bags, answers/s", size, thousands(float64(len(paths))))
		if !many {
			n, what = min(100, n), "the same, 100 bags again and again"
		}
		requests := b.size(60_000)
		p, err := b.alternate(
			func() (float64, error) {
				return ask(ctx, addr, requests, func() []byte { return paths[rand.IntN(n)] })
			},
			func() (float64, error) { return askBare(ctx, r, requests, n) })
		if err != nil {
			return rows, err
		}
		rows = append(rows, p.rates("4", what, p.ratioAndCPU(), 0.6))
	}
	return rows, nil
}

func historyPath(b simulate.Bag) string {
	return "/baggage/history/v1.0/tag/" + b.Plate + "/flightdate/" + b.Legs[0].Date
}

// ask asks over 16 connections, and fails if an answer is not 200.
func ask(ctx context.Context, addr string, requests int, request func() []byte) (float64, error) {
	rate, wrong, err := load(ctx, addr, askers, requests, func(int) []byte { return request() },
		func(status int) bool { return status == http.StatusOK })
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d of %d requests were answered otherwise than 200", wrong, requests)
	}
	return rate, err
}

// answerSize is how many bytes an answer has.
func answerSize(addr string, request []byte) (size int, err error) {
	c, err := dial(addr)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	status, err := c.do(request, func(text []byte) { size += len(text) })
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("answered %d", status)
	}
	return size, err
}

// fillHashes makes hashes of so many fields, with so many bytes together.
func fillHashes(ctx context.Context, r *redisServer, hashes, fields, size int) error {
	value := make([]byte, size/fields-8)
	for i := range value {
		value[i] = 'A' + byte(i%26)
	}
	pipe := r.client.Pipeline()
	for i := range hashes {
		for f := range fields {
			pipe.HSet(ctx, fmt.Sprintf("reference:%d", i), fmt.Sprintf("f%02d", f), value)
		}
		if pipe.Len() > 1000 || i == hashes-1 {
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// askBare is the reference: HGETALL and c.JSON.
func askBare(ctx context.Context, r *redisServer, requests, bags int) (float64, error) {
	options := clientOptions(r.addr)
	options.ReadBufferSize, options.WriteBufferSize = 64<<10, 16<<10
	client := redis.NewClient(options)
	defer client.Close()
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/baggage/history/v1.0/tag/:tag/flightdate/:date", func(c *gin.Context) {
		fields, err := client.HGetAll(c.Request.Context(), "reference:"+c.Param("tag")).Result()
		if err != nil {
			c.JSON(http.StatusServiceUnavailable, gin.H{"success": false})
			return
		}
		c.JSON(http.StatusOK, fields)
	})
	addr, stop, err := serveBare(engine)
	if err != nil {
		return 0, err
	}
	defer stop()
	paths := make([][]byte, bags)
	for i := range paths {
		paths[i] = get(fmt.Sprintf("/baggage/history/v1.0/tag/%d/flightdate/2026-03-01", i))
	}
	return ask(ctx, addr, requests, func() []byte { return paths[rand.IntN(bags)] })
}
