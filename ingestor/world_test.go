package ingestor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail/memory"
)

var received = time.Date(2026, 3, 12, 6, 0, 0, 123e6, time.UTC)

const (
	bsm = "BSM\r\n.V/1LZRH\r\n.F/LX14/12MAR/JFK\r\n.N/0724123456001\r\nENDBSM\r\n"
	bpm = "BPM\r\n.V/1LZRH\r\n.J/S//SCAN1/12MAR/0601L\r\n.N/0724123456001\r\nENDBPM\r\n"
)

var errAway = errors.New("the index is away")

// index is an index that can be told to fail, and remembers how it was called.
type index struct {
	*memory.Index
	mu    sync.Mutex
	fail  bool
	calls [][]bag.Filing
	enter chan struct{} // where not nil, File says that it has begun, and waits to be let through
	leave chan struct{}
}

func newIndex() *index { return &index{Index: memory.New()} }

func (x *index) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	if x.enter != nil {
		x.enter <- struct{}{}
		<-x.leave
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls = append(x.calls, filings)
	if x.fail {
		return nil, errAway
	}
	return x.Index.File(ctx, filings)
}

func (x *index) setFail(fail bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fail = fail
}

func (x *index) filed() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, c := range x.calls {
		n += len(c)
	}
	return n
}

func newPipeline(x ingestor.Index) *ingestor.Pipeline {
	airports := airport.New()
	return ingestor.New(airports, enricher.New(airports), x)
}

func envelope(raw string) ingestor.Envelope {
	return ingestor.Envelope{Raw: raw, Received: received, Origin: "http/1"}
}

func codes(list []ingestor.Diagnostic) string { return strings.Join(ingestor.Codes(list), " ") }

func process(t *testing.T, p *ingestor.Pipeline, env ingestor.Envelope) ingestor.Outcome {
	t.Helper()
	outcome, err := p.Process(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}
