package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/test/service"
)

const (
	writeLimit = 30 * time.Second // for an answer
	maxMemory  = 400 << 20        // resident bytes of a process under load, with the index inside
)

// Sixty callers ask for a history of some 14 MB as often as they can and never read the answer.
// Ordinary histories go on, memory stays bounded, and once the callers are cut off the history can
// be read again.
func TestCallersWhoDoNotReadTakeBoundedMemory(t *testing.T) {
	const callers, messages = 60, 100
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=error")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX2900/"+day(1).bim()+"/JFK", ".N/0724290001001", ".P/ORDINARY", ".L/ORD123", "ENDBSM")
	large := largeHistory(t, s, messages)
	size := int64(len(s.Get(large).Body))
	if size < 10<<20 {
		t.Fatalf("the history has %d bytes", size)
	}
	before, peak := memory(t, s), 0
	var shown, refused atomic.Int64
	var asking sync.WaitGroup
	const storm = 10 * time.Second
	end := time.Now().Add(storm)
	for range callers {
		asking.Go(func() {
			for time.Now().Before(end) { // if it is refused it asks again
				if status, got := askAndWait(t, s, large); status != http.StatusOK {
					refused.Add(1)
				} else if shown.Add(1); got >= size {
					t.Error("a caller who did not read has got everything")
				}
			}
		})
	}
	took := ordinary(t, s, service.HistoryPath("0724290001", day(1).iso()), storm, func() bool {
		peak = max(peak, memory(t, s))
		return false
	})
	t.Parallel() // those who were shown the history wait for half a minute: let other tests run meanwhile
	asking.Wait()
	if len(took) == 0 {
		t.Fatal("no ordinary request was answered")
	}
	t.Logf("memory %d MiB, at most %d MiB; %d callers were shown the history of %d bytes, %d answers 503; %d ordinary requests, p50 %v, p99 %v",
		before>>20, peak>>20, shown.Load(), size, refused.Load(), len(took), percentile(took, .5), percentile(took, .99))
	if peak > maxMemory {
		t.Errorf("%d MiB", peak>>20)
	}
	if shown.Load() == 0 || shown.Load()*size > 64<<20 || refused.Load() == 0 {
		t.Errorf("%d callers were shown the history, %d were refused", shown.Load(), refused.Load())
	}
	if !s.Until(writeLimit+slack, func() bool { return int64(len(s.Get(large).Body)) == size }) {
		t.Error("the history is not to be had again")
	}
}

// largeHistory sends messages of nearly 64 KiB about one bag. It returns the target of its history
// once all are in it.
func largeHistory(t *testing.T, s *service.Service, messages int) string {
	t.Helper()
	send(t, s, "BSM", ".V/1LZRH", ".F/LX2900/"+day(1).bim()+"/JFK", ".N/0724290002001", ".P/LARGE", ".L/LAR123", "ENDBSM")
	for i := range messages {
		lines := []string{"BPM", ".V/1LZRH", ".J/S///" + day(0).bim() + fmt.Sprintf("/00%02d%02dZ", i/60, i%60), ".F/LX2900/" + day(1).bim() + "/JFK", ".N/0724290002001"}
		for range 1080 {
			noise := make([]byte, 55)
			for j := range noise {
				noise[j] = byte('A' + rand.IntN(26))
			}
			lines = append(lines, ".R/"+string(noise))
		}
		deliver(t, s, append(lines, "ENDBPM")...)
	}
	return service.HistoryPath("0724290002", day(1).iso()) + "?include_bim=true"
}

// deliver posts a message until it is accepted, since a busy machine may answer 503.
func deliver(t *testing.T, s *service.Service, lines ...string) {
	t.Helper()
	if !s.Until(patience, func() bool { return s.Process(strings.Join(lines, "\r\n")).Status == http.StatusOK }) {
		t.Fatalf("%.100q is not taken", lines)
	}
}

// askAndWait sends a request and reads only the status of the answer. If that is 200, it waits
// until the connection is cut off, and returns how many bytes of the body were sent.
func askAndWait(t *testing.T, s *service.Service, target string) (status int, got int64) {
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer func() { _ = c.Close() }()
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\napi_key: %s\r\n\r\n", target, service.DevelopmentKey)
	_ = c.SetReadDeadline(time.Now().Add(2 * writeLimit))
	response, err := http.ReadResponse(bufio.NewReaderSize(c, 512), nil)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	if response.StatusCode == http.StatusOK {
		<-time.After(writeLimit)
		got, _ = io.Copy(io.Discard, response.Body)
	}
	return response.StatusCode, got
}

// Of ten concurrent lists of a flight with 24,975 bags, each is complete or 503. Memory stays
// bounded, and ordinary histories go on. Then the list is to be had.
func TestTenListsOfAVeryLargeFlightTakeBoundedMemory(t *testing.T) {
	const bags, perMessage = 24_975, 999
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=error")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX2900/"+day(1).bim()+"/JFK", ".N/0724290001001", ".P/ORDINARY", ".L/ORD123", "ENDBSM")
	for i := range bags / perMessage {
		deliver(t, s, "BSM", ".V/1LZRH", ".F/LX2901/"+day(1).bim()+"/JFK", fmt.Sprintf(".N/0724%06d999", i*1000), ".P/FAMILY", ".L/FAM"+strconv.Itoa(100+i), "ENDBSM")
	}
	before, peak := memory(t, s), 0
	var whole, refused atomic.Int64
	list := func() {
		got, err := s.TryDo(http.MethodGet, service.FlightPath("ZRH", "D", "LX", "2901", day(1).iso()), nil)
		switch {
		case err == nil && got.Status == http.StatusOK && strings.Count(got.Body, `"bagtag"`) == bags:
			whole.Add(1)
		case err == nil && got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "" && strings.Contains(got.Body, "SVCSRV0016"):
			refused.Add(1)
		default:
			t.Errorf("%d, %d bags, %v", got.Status, strings.Count(got.Body, `"bagtag"`), err)
		}
	}
	var asking sync.WaitGroup
	for range 10 {
		asking.Go(list)
	}
	took := ordinary(t, s, service.HistoryPath("0724290001", day(1).iso()), patience, func() bool {
		peak = max(peak, memory(t, s))
		return whole.Load()+refused.Load() == 10
	})
	asking.Wait()
	if len(took) == 0 {
		t.Fatal("no ordinary request was answered")
	}
	t.Logf("memory %d MiB, at most %d MiB; %d lists whole, %d answers 503; %d ordinary requests, p50 %v, p99 %v",
		before>>20, peak>>20, whole.Load(), refused.Load(), len(took), percentile(took, .5), percentile(took, .99))
	if peak > maxMemory {
		t.Errorf("%d MiB", peak>>20)
	}
	during := whole.Load()
	if !s.Until(patience, func() bool {
		list()
		return whole.Load() > during || t.Failed()
	}) {
		t.Error("the list is not to be had")
	}
}
