package web_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

// The tests that run in parallel wait for the limits of connections: all of them may at once.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const slowOnes = 1000 // connections of each kind

// dialSlow opens connections that send a beginning and then nothing.
func dialSlow(t *testing.T, address, beginning string) []net.Conn {
	t.Helper()
	connections := make([]net.Conn, slowOnes)
	for i := range connections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, beginning); err != nil {
			t.Fatal(err)
		}
		connections[i] = conn
	}
	return connections
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func TestSlowConnectionsTakeLittleDelayNobodyAndAreCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limits")
	}
	s := site(zap.NewNop(), history(nil), bim())
	address, _ := serve(t, s)
	const ordinary = "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14"
	alone := p99(ordinaryRequests(t, "http://"+address+ordinary))
	before := inUse()
	began := time.Now()
	connections := append(
		dialSlow(t, address, "GET /baggage/history/v1.0/ HTTP/1.1\r\nHost: x\r\nX-Slow: "),
		dialSlow(t, address, "POST /baggage/processbim/v1.0/ HTTP/1.1\r\nHost: x\r\napi_key: "+demo+"\r\nContent-Length: 1048576\r\n\r\n{")...)

	beside := p99(ordinaryRequests(t, "http://"+address+ordinary))
	for range 2 { // other programs on the machine do not delay each of three rounds
		beside = min(beside, p99(ordinaryRequests(t, "http://"+address+ordinary)))
	}
	grown := int64(inUse()) - int64(before)
	t.Logf("p99 of ordinary requests %v, beside %d slow connections %v; memory +%d KiB", alone, len(connections), beside, grown>>10)
	if beside > max(50*time.Millisecond, 3*alone) { // alone shows how busy the machine is
		t.Errorf("p99 %v, alone %v", beside, alone)
	}
	if grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}

	t.Parallel() // nothing is measured any more: other tests that wait for the limits may run
	const slack = 10 * time.Second
	for i, conn := range connections {
		_ = conn.SetReadDeadline(began.Add(15*time.Second + slack))
		if _, err := io.Copy(io.Discard, conn); err != nil && isTimeout(err) {
			t.Fatalf("connection %d is open after %v", i, time.Since(began))
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // io.Copy returns it as it is
	return ok && timeout.Timeout()
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*99/100]
}

// ordinaryRequests sends requests from eight goroutines, and returns the duration of each.
func ordinaryRequests(t *testing.T, url string) []time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	var (
		mutex sync.Mutex
		took  []time.Duration
		sides sync.WaitGroup
	)
	for range 8 {
		sides.Go(func() {
			for range 100 {
				r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
				r.Header.Set("api_key", demo)
				began := time.Now()
				response, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				mutex.Lock()
				took = append(took, time.Since(began))
				mutex.Unlock()
			}
		})
	}
	sides.Wait()
	return took
}

func TestBodyCutOffByTheLimitIsAnsweredAndTheConnectionClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the limit")
	}
	t.Parallel()
	answered := make(chan bool, 1)
	operation := bim()
	operation.Serve = func(_ context.Context, c *web.Call) web.Answer {
		answered <- c.Body == nil
		return c.Refuse(fault.BIMMissing)
	}
	address, _ := serve(t, site(zap.NewNop(), operation))
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST /baggage/processbim/v1.0/ HTTP/1.1\r\nHost: x\r\napi_key: %s\r\nContent-Length: 100\r\n\r\n{", demo)
	_ = conn.SetReadDeadline(time.Now().Add(25 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil || !<-answered {
		t.Errorf("%v: %s", err, text)
	}
}
