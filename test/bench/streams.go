package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/pause"
	"bagtrail/internal/simulate"
)

const (
	opensAtOnce     = 16          // streams
	listenersBuffer = 1024        // bytes of an event that are looked at together
	listenersTime   = time.Minute // to open all streams, and to hear the last change
	firstProbe      = 800_000     // number of the plate of the first probe
	probeTick       = 10 * time.Millisecond
)

// listeners follow streams of changes, and note when probes are heard. A probe is a message about a
// plate of its own.
type listeners struct {
	conns    []net.Conn
	running  sync.WaitGroup
	mu       sync.Mutex
	produced map[string]time.Time // by plate of a probe
	took     []time.Duration      // from produced to heard, of each stream that is told of a probe
	changes  int                  // of all streams
	fault    error                // of a stream that ended by itself
	closed   bool
}

// listen opens streams of the api process, and returns when each has told its first heartbeat.
// query returns the parameters of the i-th.
func (l *live) listen(ctx context.Context, n int, query func(i int) string) (*listeners, error) {
	s := &listeners{produced: make(map[string]time.Time)}
	if err := s.open(ctx, l.api.http, n, query); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// open opens more streams.
func (s *listeners) open(ctx context.Context, addr string, n int, query func(i int) string) error {
	ctx, cancel := context.WithTimeout(ctx, listenersTime)
	defer cancel()
	errs := make([]error, opensAtOnce)
	var opening sync.WaitGroup
	for worker := range errs {
		opening.Go(func() {
			for i := worker; i < n && errs[worker] == nil; i += opensAtOnce {
				errs[worker] = s.add(ctx, addr, query(i))
			}
		})
	}
	opening.Wait()
	return errors.Join(errs...)
}

// add opens one stream.
func (s *listeners) add(ctx context.Context, addr, query string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.conns = append(s.conns, conn)
	s.mu.Unlock()
	_, err = io.WriteString(conn, "GET /v1/changes?"+query+" HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\nX-API-Key: "+apikey.DevelopmentKey+"\r\n\r\n")
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(response.Body)
		return errors.Join(err, fmt.Errorf("a stream is refused: %s %s", response.Status, text))
	}
	first := make(chan struct{})
	s.running.Go(func() {
		err := s.follow(bufio.NewReaderSize(response.Body, listenersBuffer), sync.OnceFunc(func() { close(first) }))
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed && s.fault == nil {
			s.fault = fmt.Errorf("a stream has ended: %w", err)
		}
	})
	select {
	case <-first:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("a stream tells no heartbeat: %w", ctx.Err())
	}
}

// follow reads the events of a stream. A change is heard when its line is read to the end.
func (s *listeners) follow(in *bufio.Reader, heartbeat func()) error {
	told := make(map[string]bool) // plates of probes
	plate := ""                   // of the line that is read
	for begin := true; ; {
		part, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if begin {
			if id, is := bytes.CutPrefix(part, []byte(`data: {"id":"`)); is && len(id) > 10 {
				plate = string(id[:10])
			}
			switch {
			case bytes.HasPrefix(part, []byte("event: heartbeat")):
				heartbeat()
			case bytes.HasPrefix(part, []byte("event: reset")):
				return errors.New("it is reset")
			}
		}
		if begin = err == nil; begin && plate != "" {
			s.heard(plate, told)
			plate = ""
		}
	}
}

// heard notes a change that a stream has told. told holds the probes that it has told before.
func (s *listeners) heard(plate string, told map[string]bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	if produced, is := s.produced[plate]; is && !told[plate] {
		told[plate] = true
		s.took = append(s.took, now.Sub(produced))
	}
}

// streamedFlights returns the filter of each flight of the bags that messages name, in the order of
// the filters.
func streamedFlights(messages []simulate.Message, truth []simulate.Bag) []string {
	plates := make(map[string]bool)
	for _, m := range messages {
		plates[m.Plate] = true
	}
	flights := make(map[string]bool)
	for _, t := range truth {
		for _, leg := range t.Legs {
			if airline, number := leg.Designator(); plates[t.Plate] {
				flights["flight="+leg.From+"/D/"+airline+"/"+number+"/"+leg.Date] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(flights))
}

// close ends all streams. It fails if one has ended before.
func (s *listeners) close() error {
	s.mu.Lock()
	s.closed = true
	for _, conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	return s.fault
}

// probe produces n messages, each about a plate of its own, at an even pace, and waits until they
// are heard so many times in all. flight returns the designator of the flight of the i-th.
func (s *listeners) probe(ctx context.Context, log ingestor.Log, n, rate, hearings int, flight func(i int) string) error {
	began := time.Now()
	for sent := 0; sent < n; {
		if err := pause.For(ctx, probeTick); err != nil {
			return err
		}
		due := min(n, int(time.Since(began).Seconds()*float64(rate)))
		var records []ingestor.Record
		s.mu.Lock()
		for ; sent < due; sent++ {
			m := bsm(sent, flight(sent), plateOf(firstProbe+sent))
			s.produced[m.Plate] = time.Now()
			records = append(records, ingestor.Record{Raw: m.Text, Received: m.Received, Plate: bag.Plate(m.Plate)})
		}
		s.mu.Unlock()
		if err := log.Append(ctx, records); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, listenersTime)
	defer cancel()
	for {
		s.mu.Lock()
		heard, fault := len(s.took), s.fault
		s.mu.Unlock()
		if heard >= hearings || fault != nil {
			return fault
		}
		if pause.For(ctx, probeTick) != nil {
			return fmt.Errorf("probes are heard %d times, not %d: %w", heard, hearings, ctx.Err())
		}
	}
}
