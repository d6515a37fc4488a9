package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// postBare is the bare Gin handler: JSON decode, the commands of the bare pipeline, batched with those of other requests,
// JSON answer.
func postBare(ctx context.Context, r *redisServer, requests [][]byte) (float64, error) {
	if err := r.empty(ctx); err != nil {
		return 0, err
	}
	client := redis.NewClient(clientOptions(r.addr))
	defer client.Close()
	waiting := make(chan posted, 1024)
	for range 2 {
		go storePosted(client, waiting)
	}
	defer close(waiting)

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	var count atomic.Int64
	engine.POST("/baggage/processbim/v1.0/", func(c *gin.Context) {
		var body struct {
			Message string `json:"bim_message"`
		}
		if err := c.ShouldBindJSON(&body); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"success": false})
			return
		}
		p := posted{body.Message, count.Add(1), make(chan error, 1)}
		waiting <- p
		if err := <-p.done; err != nil {
			c.JSON(http.StatusServiceUnavailable, gin.H{"success": false})
			return
		}
		c.JSON(http.StatusOK, gin.H{"success": true, "message": "Message processed successfully"})
	})
	addr, stop, err := serveBare(engine)
	if err != nil {
		return 0, err
	}
	defer stop()
	return postAll(ctx, addr, requests)
}

type posted struct {
	text string
	id   int64
	done chan error
}

// storePosted stores whatever waits in one round trip.
func storePosted(client *redis.Client, waiting <-chan posted) {
	ctx := context.Background()
	for first := range waiting {
		batch := []posted{first}
		for more := true; more && len(batch) < 500; {
			select {
			case next, open := <-waiting: // another goroutine may have taken what was there a moment ago
				if more = open; open {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		pipe := client.Pipeline()
		now := time.Now()
		for _, p := range batch {
			bareCommands(ctx, pipe, p.text, strconv.FormatInt(p.id, 10), now)
		}
		_, err := pipe.Exec(ctx)
		for _, p := range batch {
			p.done <- err
		}
	}
}

// serveBare serves a handler on a port of its own.
func serveBare(handler http.Handler) (addr string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return listener.Addr().String(), func() { server.Close() }, nil
}
