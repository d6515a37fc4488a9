package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bagtrail/internal/apikey"
)

// get writes a GET request.
func get(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: bench\r\nX-API-Key: " + apikey.DevelopmentKey + "\r\n\r\n")
}

// post writes a POST request with a JSON body.
func post(path string, body []byte) []byte {
	return append([]byte("POST "+path+" HTTP/1.1\r\nHost: bench\r\nX-API-Key: "+apikey.DevelopmentKey+
		"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}

// client is an HTTP connection that costs little: it writes requests as bytes, and parses status and length only.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

// do sends a request and reads the answer to its end. If look is not nil, it gets the body, perhaps in several parts.
func (c *client) do(request []byte, look func([]byte)) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	first, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(first) < 12 {
		return 0, fmt.Errorf("answer begins %q", first)
	}
	status, err = strconv.Atoi(string(first[9:12]))
	if err != nil {
		return 0, err
	}
	length, chunked := 0, false
	for {
		header, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(header) <= 2 {
			break
		}
		if value, found := bytes.CutPrefix(header, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
		chunked = chunked || bytes.HasPrefix(header, []byte("Transfer-Encoding: chunked"))
	}
	if chunked {
		return status, c.chunks(look)
	}
	return status, c.body(length, look)
}

func (c *client) body(length int, look func([]byte)) error {
	if look != nil {
		text := make([]byte, length)
		if _, err := io.ReadFull(c.in, text); err != nil {
			return err
		}
		look(text)
		return nil
	}
	_, err := c.in.Discard(length)
	return err
}

func (c *client) chunks(look func([]byte)) error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		length, err := strconv.ParseInt(strings.TrimSpace(string(line)), 16, 32)
		if err != nil {
			return err
		}
		if err := c.body(int(length), look); err != nil {
			return err
		}
		if _, err := c.in.Discard(2); err != nil {
			return err
		}
		if length == 0 {
			return nil
		}
	}
}

// load sends requests over several connections, one after the other on each, and returns the answers a second. wrong
// counts answers whose status is not right.
func load(ctx context.Context, addr string, connections, requests int, request func(i int) []byte, right func(status int) bool) (rate float64, wrong int64, err error) {
	clients := make([]*client, connections)
	for i := range clients {
		if clients[i], err = dial(addr); err != nil {
			return 0, 0, err
		}
		defer clients[i].conn.Close()
	}
	var next, bad atomic.Int64
	errs := make([]error, connections)
	var wg sync.WaitGroup
	began := time.Now()
	for i, c := range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= requests {
					return
				}
				status, err := c.do(request(n), nil)
				if err != nil {
					errs[i] = err
					return
				}
				if !right(status) {
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	return float64(requests) / took.Seconds(), bad.Load(), errors.Join(append(errs, ctx.Err())...)
}

// atPace calls ask again and again, each time after an interval, until ctx ends or ask fails. A call that is late follows at
// once. due is when it should have begun: a latency that is counted from then includes the wait.
func atPace(ctx context.Context, interval time.Duration, ask func(n int, due time.Time) error) error {
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		due := began.Add(time.Duration(n) * interval)
		sleepUntil(due)
		if err := ask(n, due); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// percentile returns the p-th percentile of latencies, which it sorts. Without any it returns the longest duration, which
// meets no target.
func percentile(latencies []time.Duration, p float64) time.Duration {
	if len(latencies) == 0 {
		return math.MaxInt64
	}
	slices.Sort(latencies)
	return latencies[min(len(latencies)-1, int(float64(len(latencies))*p/100))]
}
