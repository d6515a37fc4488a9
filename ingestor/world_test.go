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

// newAcceptor returns an Acceptor into an index, with what else conf says.
func newAcceptor(x ingestor.Index, conf ...ingestor.Config) *ingestor.Acceptor {
	airports := airport.New()
	var c ingestor.Config
	if len(conf) > 0 {
		c = conf[0]
	}
	c.Judge, c.Index = ingestor.NewJudge(airports, enricher.New(airports)), x
	return ingestor.NewAcceptor(c)
}

func envelope(raw string) ingestor.Envelope {
	return ingestor.Envelope{Raw: raw, Received: received, Origin: "http/1"}
}

func codes(list []ingestor.Diagnostic) string { return strings.Join(ingestor.Codes(list), " ") }

func process(t *testing.T, a *ingestor.Acceptor, env ingestor.Envelope) ingestor.Outcome {
	t.Helper()
	outcomes, err := a.AcceptBatch(t.Context(), []ingestor.Envelope{env})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}
