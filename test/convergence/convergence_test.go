// Package convergence_test shows that answers depend on the set of messages alone: journeys are delivered
// in permuted orders, with copies, through the Kafka door and the HTTP door, and all three queries must
// answer byte for byte the same.
//
// Received times are kept: by the record timestamp at the one door, by an injected clock at the other.
package convergence_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/flightref"
	"bagtrail/internal/simulate/journey"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
)

var (
	journeys = flag.Int("journeys", 250, "how many journeys to deliver")
	seed     = flag.Uint64("seed", 1, "seed of the first world")
)

// journeysAWorld is how many journeys share plates, flights and passengers.
const journeysAWorld = 25

// service is the whole service over an index of its own, without its process.
type service struct {
	site  *web.Site
	pipe  *ingestor.Pipeline
	door  *kafkadoor.Door
	clock time.Time // of the HTTP door
}

// kept is long enough for the times of every world.
const kept = 100 * 365 * 24 * time.Hour

func newService(t testing.TB, brokers []string, topic string) *service {
	t.Helper()
	s := &service{}
	store, err := bagstore.Open(bagstore.Config{Retention: kept, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	airports := airport.New()
	enrich := enricher.New(airports)
	s.pipe = ingestor.New(airports, enrich, store.Writer())
	if topic != "" {
		s.door, err = kafkadoor.Open(kafkadoor.Config{
			Brokers: brokers, Group: topic, Partitions: 3,
			Topics: kafkadoor.Topics{Raw: topic, Rejects: topic + ".rejected"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.door.Close)
	}
	reader := trail.New(store.Reader(), enrich, trail.Settings{Window: 10 * time.Minute, Retention: kept, Airports: airports, Now: time.Now})
	queries := queryapi.Queries{Trails: func(seen bag.Sight) queryapi.Trails { return reader.For(seen) }, Airports: airports, Flights: flightref.None()}
	in := httpdoor.Door{
		Acceptor: ingestor.NewAcceptor(s.pipe, nil, nil, ingestor.NewClock(time.Now), time.Minute),
		Judge:    s.pipe.Judge,
		Clock:    func() time.Time { return s.clock },
	}
	s.site = web.New(web.Settings{Keys: apikey.Development(), Log: zap.NewNop(), Clock: time.Now},
		append(queries.Operations(), in.Operation()), nil)
	return s
}

func (s *service) do(method, target string, body io.Reader) (int, string) {
	req := httptest.NewRequest(method, target, body)
	req.Header.Set("api_key", apikey.DevelopmentKey)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.site.ServeHTTP(answer, req)
	return answer.Code, answer.Body.String()
}

// post brings messages through the HTTP door, each at its time.
func (s *service) post(t testing.TB, messages []journey.Message) {
	t.Helper()
	for _, m := range messages {
		s.clock = m.Received
		if m.Report {
			if _, err := s.pipe.Process(t.Context(), envelope(m)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		body, err := json.Marshal(map[string]string{"bim_message": m.Text})
		if err != nil {
			t.Fatal(err)
		}
		want := http.StatusOK
		if len(m.Rejects) > 0 {
			want = http.StatusBadRequest
		}
		if got, text := s.do(http.MethodPost, "/baggage/processbim/v1.0/", strings.NewReader(string(body))); got != want {
			t.Fatalf("process BIM: %d, want %d: %s\n%s", got, want, text, m.Text)
		}
	}
}

// stream brings messages through the Kafka door, each with its time in the record.
func (s *service) stream(t testing.TB, brokers []string, topic string, messages []journey.Message) {
	t.Helper()
	if err := s.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	records := make([]kafka.Message, len(messages))
	for i, m := range messages {
		records[i] = kafka.Message{Key: []byte(m.Plate), Value: []byte(m.Text), Time: m.Received}
		if m.Report {
			records[i].Headers = []kafka.Header{{Key: "bagtrail-kind", Value: []byte("delayed-bag-report")}}
		}
	}
	transport := &kafka.Transport{} // of its own: a shared one does not know the new topic yet
	defer transport.CloseIdleConnections()
	writer := &kafka.Writer{Transport: transport, Addr: kafka.TCP(brokers...), Topic: topic, Balancer: &kafka.RoundRobin{}, BatchSize: 1000,
		BatchTimeout: time.Millisecond, RequiredAcks: kafka.RequireAll}
	defer func() { _ = writer.Close() }()
	if err := writer.WriteMessages(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
	counted := newCounter(len(messages))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.door.NewConsumer(s.pipe, nil, counted).Run(ctx) }()
	select {
	case <-counted.all:
	case <-time.After(time.Minute):
		t.Errorf("the Kafka door took %d of %d messages in a minute", counted.seen.Load(), len(messages))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// counter tells when a consumer has decided on all messages.
type counter struct {
	kafkadoor.NoMetrics
	want int64
	seen atomic.Int64
	all  chan struct{}
}

func newCounter(want int) *counter { return &counter{want: int64(want), all: make(chan struct{})} }

func (c *counter) Messages(accepted, duplicate, rejected int) {
	n := int64(accepted + duplicate + rejected)
	if seen := c.seen.Add(n); seen >= c.want && seen-n < c.want {
		close(c.all)
	}
}

func envelope(m journey.Message) ingestor.Envelope {
	e := ingestor.Envelope{Raw: m.Text, Received: m.Received}
	if m.Report {
		e.Kind = bag.Report
	}
	return e
}

// questions returns the targets of all queries that the messages can answer: every plate, flight and PNR.
func questions(messages []journey.Message) []string {
	airports, enrich := airport.New(), enricher.New(airport.New())
	asked := make(map[string]bool)
	for _, m := range messages {
		var parsed parser.Message
		if m.Report {
			continue
		}
		if parsed.Parse(m.Text, airports); !parsed.Accepted() {
			continue
		}
		for _, e := range enrich.Filing(&parsed, m.Text, m.Received).Entries {
			for _, f := range e.Flights {
				day := f.Day.String()
				asked["/baggage/history/v1.0/tag/"+string(e.Plate)+"/flightdate/"+day+"?include_bim=true"] = true
				for _, pnr := range e.PNRs {
					asked["/baggage/history/v1.0/tag/"+string(e.Plate)+"/flightdate/"+day+"?pnr="+pnr] = true
					asked["/baggage/bagsforpassenger/v1.0/pnr/"+pnr+"/dep_flight_date/"+day] = true
				}
				for _, at := range [...]string{parsed.Version.Airport, parsed.Groups[0].Outbound.Airport} {
					if at == "" {
						continue
					}
					for _, end := range [...]string{"D", "A"} {
						asked["/baggage/bagsforflight/v1.0/airport_code/"+at+"/arr_dep_indicator/"+end+"/airline_code/"+f.Airline+
							"/flight_no/"+f.Number+"/dep_flight_date/"+day] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(asked))
}

// ask returns the answer to each question.
func (s *service) ask(targets []string) []string {
	answers := make([]string, len(targets))
	for i, target := range targets {
		_, answers[i] = s.do(http.MethodGet, target, nil)
	}
	return answers
}

// differing returns the first question that a service answers in another way than wanted, and its answer.
func differing(s *service, targets, wanted []string) (i int, answer string, differs bool) {
	for i, target := range targets {
		if _, answer := s.do(http.MethodGet, target, nil); answer != wanted[i] {
			return i, answer, true
		}
	}
	return 0, "", false
}

// disorder returns the messages in another order, a third of them twice.
func disorder(messages []journey.Message, seed uint64) []journey.Message {
	r := rand.New(rand.NewPCG(seed, 7))
	all := slices.Clone(messages)
	for _, m := range messages {
		if r.IntN(3) == 0 {
			all = append(all, m)
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// TestConvergence delivers each world three times: in order through the HTTP door, and in two disorders through
// either door.
func TestConvergence(t *testing.T) {
	broker, err := kafkadoor.StartEmbedded(kafkadoor.EmbeddedConfig{Dir: t.TempDir(), Addr: "127.0.0.1:0", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Close() })
	brokers := []string{broker.Addr()}
	awkward := journey.Awkward()
	var delivered, answers atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for i := range uint64(max(1, *journeys/journeysAWorld)) {
			world := *seed + i
			t.Run(fmt.Sprintf("seed=%d", world), func(t *testing.T) {
				t.Parallel()
				messages := journey.Make(world, journey.Crowded(awkward[int(world)%len(awkward)], journeysAWorld))
				answers.Add(int64(converges(t, world, messages, brokers)))
				delivered.Add(journeysAWorld)
			})
		}
	})
	t.Logf("%d journeys, %d questions, each answered alike after three deliveries", delivered.Load(), answers.Load())
}

// converges delivers the messages of a world three times, and returns how many questions were answered alike.
func converges(t *testing.T, world uint64, messages []journey.Message, brokers []string) int {
	targets := questions(messages)
	ordered := newService(t, nil, "")
	ordered.post(t, messages)
	wanted := ordered.ask(targets)

	permuted := newService(t, nil, "")
	permuted.post(t, disorder(messages, world))
	if i, got, differs := differing(permuted, targets, wanted); differs {
		small := minimal(t, messages, targets[i], world)
		t.Fatalf("seed %d: %s\n in order %s\nin disorder %s\nminimal case:\n%s", world, targets[i], wanted[i], got, show(small))
	}

	topic := fmt.Sprintf("bim.raw.%d", world)
	streamed := newService(t, brokers, topic)
	streamed.stream(t, brokers, topic, disorder(messages, world+1))
	if i, got, differs := differing(streamed, targets, wanted); differs {
		t.Fatalf("seed %d: %s\n over HTTP %s\nover Kafka %s\nmessages:\n%s", world, targets[i], wanted[i], got, show(messages))
	}
	return len(targets)
}

// minimal takes messages away for as long as orders still make a difference to the answer.
func minimal(t *testing.T, messages []journey.Message, target string, seed uint64) []journey.Message {
	differs := func(some []journey.Message) bool {
		a, b := newService(t, nil, ""), newService(t, nil, "")
		a.post(t, some)
		b.post(t, disorder(some, seed))
		_, _, different := differing(b, []string{target}, a.ask([]string{target}))
		return different
	}
	for i := 0; i < len(messages); {
		if fewer := slices.Delete(slices.Clone(messages), i, i+1); differs(fewer) {
			messages = fewer
			continue
		}
		i++
	}
	return messages
}

func show(messages []journey.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %q\n", m.Received.Format(time.RFC3339Nano), m.Text)
	}
	return b.String()
}
