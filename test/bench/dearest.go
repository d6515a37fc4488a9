package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"bagtrail/internal/pause"
	"bagtrail/internal/simulate"
)

// dearestCallers is how many callers ask the same expensive question at the same time.
const dearestCallers = 50

// ordinaryBags is how many bags are asked for in turn: so many that no history is cached.
const ordinaryBags = 1000

// dearQuestion is a question that is as expensive as the limits allow, and the messages that make it so.
type dearQuestion struct {
	what     string
	messages []simulate.Message
	path     string
}

// longHistory is 90 messages of nearly 64 KiB about one bag, shown with their remarks and texts: 13 MB.
func longHistory() dearQuestion {
	const plate = "0724290002"
	random := rand.New(rand.NewPCG(feedSeed, 1))
	q := dearQuestion{what: "a history of 13 MB", path: "/baggage/history/v1.0/tag/" + plate + "/flightdate/2026-03-01?include_bim=true"}
	q.messages = append(q.messages, bsm(0, "LX500", plate))
	for n := range 89 {
		var remarks strings.Builder
		for range 1080 {
			remarks.WriteString(".R/")
			for range 55 {
				remarks.WriteByte(byte('A' + random.IntN(26)))
			}
			remarks.WriteString("\r\n")
		}
		q.messages = append(q.messages, bpm(n, "LX500", plate, remarks.String()))
	}
	return q
}

// largeFlight is a flight of 49,950 bags.
func largeFlight() dearQuestion {
	q := dearQuestion{what: "a list of 49,950 bags", path: flightPath(simulate.Leg{Flight: "LX501", From: "ZRH", To: "JFK", Date: "2026-03-01"})}
	for i := range 50 {
		m := bsm(i, "LX501", "0724000001")
		m.Plate = plateOf(500_000 + 1000*i)
		m.Text = strings.Replace(m.Text, "0724000001001", m.Plate+"999", 1)
		q.messages = append(q.messages, m)
	}
	return q
}

// rushBags is a passenger with 999 bags, of which 200 were sent after him under other plates.
func rushBags() dearQuestion {
	q := dearQuestion{what: "a passenger with 200 rush bags", path: "/baggage/bagsforpassenger/v1.0/pnr/RUSH99/dep_flight_date/2026-03-01"}
	text := "BSM\r\n.V/1LZRH\r\n.F/%s/JFK\r\n.N/%s\r\n%s.P/TOUR\r\n.L/RUSH99\r\nENDBSM\r\n"
	q.messages = append(q.messages, simulate.Message{Received: at(0), Plate: plateOf(600_000), Text: fmt.Sprintf(text, "LX502/01MAR", plateOf(600_000)+"999", "")})
	for i := range 200 {
		plate := fmt.Sprintf("2724%06d", i)
		m := simulate.Message{Received: at(i + 1), Plate: plate}
		m.Text = fmt.Sprintf(text, "LX504/02MAR", plate+"001", ".E/RUSH\r\n.M/"+plateOf(600_000+i)+"\r\n")
		q.messages = append(q.messages, m)
	}
	return q
}

// dearestLine measures line 14: how long an ordinary history takes while callers ask an api process an expensive question.
func dearestLine(ctx context.Context, b *bench) ([]row, error) {
	l, err := b.openLive(ctx, nil, "ingest", "api")
	if err != nil {
		return nil, err
	}
	defer l.close()
	messages := manyPlates(1000, ordinaryBags, 15).messages
	questions := []dearQuestion{longHistory(), largeFlight(), rushBags()}
	for _, q := range questions {
		messages = append(messages, q.messages...)
	}
	if _, err := l.fill(ctx, messages); err != nil {
		return nil, err
	}
	var rows []row
	for _, q := range questions {
		some, err := l.askDearly(ctx, q, time.Duration(b.size(15))*time.Second)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", q.what, err)
		}
		rows = append(rows, some)
	}
	return rows, b.redis.empty(ctx)
}

// askDearly asks for the histories of ordinary bags, one every 20 ms, while the callers ask q.
func (l *live) askDearly(ctx context.Context, q dearQuestion, length time.Duration) (row, error) {
	c, err := dial(l.api.http)
	if err != nil {
		return row{}, err
	}
	defer c.conn.Close()
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var mu sync.Mutex
	answers := map[int]int{} // by status
	errs := make([]error, dearestCallers)
	var asking sync.WaitGroup
	for i := range dearestCallers {
		asking.Go(func() {
			errs[i] = l.again(ctx, get(q.path), func(status int) {
				mu.Lock()
				defer mu.Unlock()
				answers[status]++
			})
		})
	}
	var took []time.Duration
	wrong := 0
	err = atPace(ctx, 20*time.Millisecond, func(n int, due time.Time) error {
		status, err := c.do(get("/baggage/history/v1.0/tag/"+plateOf(1000+n%ordinaryBags)+"/flightdate/2026-03-01"), nil)
		if took = append(took, time.Since(due)); err == nil && status != http.StatusOK {
			wrong++
		}
		return err
	})
	cancel()
	asking.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return row{}, err
	}
	if answers[http.StatusOK] == 0 {
		return row{}, fmt.Errorf("no answer has status 200: %v", answers)
	}
	p99 := percentile(took, 99)
	ours := fmt.Sprintf("p99 %.1f ms of %d", p99.Seconds()*1000, len(took))
	if wrong > 0 {
		ours += fmt.Sprintf(", %d refused", wrong)
	}
	return row{"14", fmt.Sprintf("an ordinary history, while %d callers ask for %s (%d answers, %d told to wait)", dearestCallers, q.what, answers[200], answers[503]),
		ours, "–", "–", "p99 ≤ 50 ms", verdictOf(wrong == 0 && p99 <= 50*time.Millisecond)}, nil
}

// again sends a request over one connection, each time when the answer before it has been read, until ctx ends.
func (l *live) again(ctx context.Context, request []byte, answered func(status int)) error {
	c, err := dial(l.api.http)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for ctx.Err() == nil {
		status, err := c.do(request, nil)
		if err != nil {
			return err
		}
		answered(status)
		if status == http.StatusServiceUnavailable {
			pause.For(ctx, 100*time.Millisecond)
		}
	}
	return nil
}
