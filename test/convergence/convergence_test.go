// Package convergence_test checks that answers depend only on the set of messages, each with its
// received time and its position in the log. It delivers journeys in many orders through the Kafka
// door and the HTTP door; all three queries must give the same answers, byte for byte. Received
// times are kept: by the record's timestamp at the Kafka door, by an injected clock at the HTTP
// door. Positions are kept too: they are those of the records in the topic, and the log behind the
// HTTP door returns the same.
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

	kafkago "github.com/segmentio/kafka-go"
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
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
	"bagtrail/test/journey"
	"bagtrail/test/race"
)

var (
	journeys = flag.Int("journeys", race.Less(250, 60), "how many journeys to deliver")
	seed     = flag.Uint64("seed", 1, "seed of the first world")
)

// journeysAWorld is the number of journeys that share plates, flights and passengers.
const journeysAWorld = 25

// service is the service without its process, over an index of its own.
type service struct {
	site  *web.Site
	conf  ingestor.Config // of its Acceptors
	clock time.Time       // of the HTTP door
	log   log             // of the HTTP door
}

// log is a log that already holds the appended records, at the position that is set.
type log struct{ position bag.Position }

// Append sets the position of the records.
func (l *log) Append(_ context.Context, records []ingestor.Record) error {
	for i := range records {
		records[i].Position = l.position
	}
	return nil
}

// message is a message with the position of its record; nil if it was replayed from a file.
type message struct {
	journey.Message
	position bag.Position
}

// partitions is the number of partitions of the topic.
const partitions = 3

// logged returns the messages with the positions that they get if they are written to a topic in
// this order. Messages with equal received times are shuffled first, and every tenth has no
// position.
func logged(messages []journey.Message, seed uint64) []message {
	r := rand.New(rand.NewPCG(seed, 5))
	messages = slices.Clone(messages)
	r.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	slices.SortStableFunc(messages, func(a, b journey.Message) int { return a.Received.Compare(b.Received) })
	var offsets [partitions]int64
	var all []message
	for _, m := range messages {
		if m.Plate == "" {
			m.Plate = "none"
		}
		at := balancer.Balance(kafkago.Message{Key: []byte(m.Plate)}, 0, 1, 2)
		position := bag.Position{Known: true, Partition: int32(at), Offset: offsets[at]}
		offsets[at]++
		if r.IntN(10) == 0 {
			position = bag.Position{}
		}
		all = append(all, message{m, position})
	}
	return all
}

// balancer chooses the partition of a message by its plate.
var balancer = &kafkago.Hash{}

// kept is long enough for the times of every world.
const kept = 100 * 365 * 24 * time.Hour

func newService(t testing.TB) *service {
	t.Helper()
	s := &service{}
	store, err := bagstore.Open(redistest.Open(t, ""), bagstore.Config{Retention: kept, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	airports := airport.New()
	enrich := enricher.New(airports)
	s.conf = ingestor.Config{Judge: ingestor.NewJudge(airports, enrich), Index: store.Writer()}
	reader := trail.New(store.Reader(), enrich, trail.Settings{Window: 10 * time.Minute, Retention: kept, Airports: airports, Now: time.Now})
	queries := queryapi.Queries{Trails: func(seen bag.Sight) queryapi.Trails { return reader.For(seen) }, Airports: airports, Flights: flightref.None()}
	conf := s.conf
	conf.Log, conf.Patience = &s.log, time.Minute
	in := httpdoor.Door{
		Acceptor: ingestor.NewAcceptor(conf),
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

// post sends messages through the HTTP door, each at its received time.
func (s *service) post(t testing.TB, messages []message) {
	t.Helper()
	for _, m := range messages {
		s.clock, s.log.position = m.Received, m.position
		if m.Report {
			e := ingestor.Envelope{Raw: m.Text, Received: m.Received, Position: m.position, Report: true}
			if _, err := ingestor.NewAcceptor(s.conf).AcceptBatch(t.Context(), []ingestor.Envelope{e}); err != nil {
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

// openDoor opens a Kafka door to a topic, which it creates if it is not there.
func openDoor(t testing.TB, brokers []string, topic, group string) *kafkadoor.Door {
	t.Helper()
	topics := kafkadoor.Topics{Raw: topic, Rejects: topic + ".rejected"}
	client, err := kafka.Open(kafka.Config{Brokers: brokers, Topics: topics.Names()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	door := kafkadoor.New(client, kafkadoor.Config{Group: group, Partitions: partitions, Topics: topics})
	if err := door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	return door
}

// write writes the messages to a topic, with their received times as timestamps.
func write(t testing.TB, brokers []string, topic string, messages []message) {
	t.Helper()
	records := make([]kafkago.Message, len(messages))
	for i, m := range messages {
		records[i] = kafkago.Message{Key: []byte(m.Plate), Value: []byte(m.Text), Time: m.Received}
		if m.Report {
			records[i].Headers = []kafkago.Header{{Key: "bagtrail-kind", Value: []byte("delayed-bag-report")}}
		}
		if !m.position.Known {
			records[i].Headers = append(records[i].Headers, kafkago.Header{Key: "bagtrail-replayed", Value: []byte("true")})
		}
	}
	transport := &kafkago.Transport{} // a shared transport does not know the new topic yet
	defer transport.CloseIdleConnections()
	writer := &kafkago.Writer{Transport: transport, Addr: kafkago.TCP(brokers...), Topic: topic, Balancer: balancer, BatchSize: 1000,
		BatchTimeout: time.Millisecond, RequiredAcks: kafkago.RequireAll}
	defer func() { _ = writer.Close() }()
	if err := writer.WriteMessages(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

// stream reads the messages of a topic through the Kafka door, with a new consumer group.
func (s *service) stream(t testing.TB, door *kafkadoor.Door, messages int) {
	t.Helper()
	counted := newCounter(messages)
	conf := s.conf
	conf.Rejects, conf.Observe = door, counted.observe
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- door.NewConsumer(ingestor.NewAcceptor(conf), nil).Run(ctx) }()
	select {
	case <-counted.all:
	case <-time.After(time.Minute):
		t.Errorf("the Kafka door took %d of %d messages in a minute", counted.seen.Load(), messages)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// counter waits until a consumer has decided on all messages.
type counter struct {
	want int64
	seen atomic.Int64
	all  chan struct{}
}

func newCounter(want int) *counter { return &counter{want: int64(want), all: make(chan struct{})} }

func (c *counter) observe(b *ingestor.Batch) {
	n := int64(len(b.Outcomes))
	if seen := c.seen.Add(n); seen >= c.want && seen-n < c.want {
		close(c.all)
	}
}

// questions returns the targets of all queries that the messages suggest: every plate, flight and
// PNR.
func questions(messages []message) []string {
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
func (s *service) ask(t testing.TB, targets []string) []string {
	t.Helper()
	answers := make([]string, len(targets))
	for i, target := range targets {
		var status int
		if status, answers[i] = s.do(http.MethodGet, target, nil); status != http.StatusOK {
			t.Fatalf("%s: %d %s", target, status, answers[i])
		}
	}
	return answers
}

// differing returns the first question that a service does not answer as wanted, and its answer.
func differing(s *service, targets, wanted []string) (i int, answer string, differs bool) {
	for i, target := range targets {
		if _, answer := s.do(http.MethodGet, target, nil); answer != wanted[i] {
			return i, answer, true
		}
	}
	return 0, "", false
}

// disorder returns the messages in random order, a third of them twice.
func disorder(messages []message, seed uint64) []message {
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

// Each world is delivered three times: in order through the HTTP door; in random order, a third of
// it twice, through the HTTP door; and through the Kafka door, which reads the log of every fifth
// world twice.
func TestAnswersDoNotDependOnTheOrderOfDelivery(t *testing.T) {
	brokers := startBroker(t)
	awkward := journey.Awkward()
	var delivered, answers atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for i := range uint64(max(1, *journeys/journeysAWorld)) {
			world := *seed + i
			t.Run(fmt.Sprintf("seed=%d", world), func(t *testing.T) {
				t.Parallel()
				made := journey.Make(world, journey.Crowded(awkward[int(world)%len(awkward)], journeysAWorld))
				answers.Add(int64(converges(t, world, logged(made, world), brokers)))
				delivered.Add(journeysAWorld)
			})
		}
	})
	t.Logf("%d journeys, %d questions, each answered alike after three deliveries", delivered.Load(), answers.Load())
}

func startBroker(t testing.TB) []string {
	broker, err := broker.Start(broker.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Close() })
	return []string{broker.Addr()}
}

// converges delivers the messages of a world three times. It returns the number of questions with
// equal answers.
func converges(t *testing.T, world uint64, messages []message, brokers []string) int {
	targets := questions(messages)
	ordered := newService(t)
	ordered.post(t, messages)
	wanted := ordered.ask(t, targets)
	if !slices.ContainsFunc(wanted, func(answer string) bool { return strings.HasPrefix(answer, `{"success":true`) }) {
		t.Fatalf("seed %d: %d questions find no bag", world, len(targets))
	}

	permuted := newService(t)
	permuted.post(t, disorder(messages, world))
	if i, got, differs := differing(permuted, targets, wanted); differs {
		small := minimal(t, messages, targets[i], world)
		t.Fatalf("seed %d: %s\n in order %s\nin disorder %s\nminimal case:\n%s", world, targets[i], wanted[i], got, show(small))
	}

	topic := fmt.Sprintf("bim.raw.%d", world)
	streamed := newService(t)
	first := openDoor(t, brokers, topic, topic)
	write(t, brokers, topic, messages)
	streamed.stream(t, first, len(messages))
	if i, got, differs := differing(streamed, targets, wanted); differs {
		t.Fatalf("seed %d: %s\n over HTTP %s\nover Kafka %s\nmessages:\n%s", world, targets[i], wanted[i], got, show(messages))
	}
	if world%5 != 0 { // the second reading is slow
		return len(targets)
	}
	streamed.stream(t, openDoor(t, brokers, topic, topic+".again"), len(messages))
	if i, got, differs := differing(streamed, targets, wanted); differs {
		t.Fatalf("seed %d: %s\n over Kafka once %s\nover Kafka twice %s", world, targets[i], wanted[i], got)
	}
	return len(targets)
}

// Two bookings of one millisecond are told apart by their positions alone, in any order of arrival.
func TestThePositionDecidesBetweenMessagesOfOneReceivedTime(t *testing.T) {
	at := time.Date(2026, 6, 20, 10, 0, 0, 0, time.UTC)
	booking := func(flight string, offset int64) message {
		text := "BSM\n.V/1LZRH\n.F/" + flight + "/20JUN/GVA\n.N/0220123456001\n.P/SMITH\nENDBSM"
		return message{Message: journey.Message{Text: text, Received: at}, position: bag.Position{Known: true, Offset: offset}}
	}
	listed := func(s *service, number string) bool {
		_, answer := s.do(http.MethodGet, "/baggage/bagsforflight/v1.0/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/"+number+
			"/dep_flight_date/2026-06-20", nil)
		return strings.Contains(answer, "0220123456")
	}
	for _, last := range []string{"602", "604"} {
		early, late := booking("LX602", 6), booking("LX604", 7)
		if last == "602" {
			early, late = booking("LX602", 8), booking("LX604", 7)
		}
		for _, order := range [][]message{{early, late}, {late, early}} {
			s := newService(t)
			s.post(t, order)
			for _, number := range []string{"602", "604"} {
				if got, want := listed(s, number), number == last; got != want {
					t.Errorf("LX%s was booked last: LX%s lists the bag: %t, want %t", last, number, got, want)
				}
			}
		}
	}
}

// minimal removes messages while two orders still give different answers.
func minimal(t *testing.T, messages []message, target string, seed uint64) []message {
	differs := func(some []message) bool {
		a, b := newService(t), newService(t)
		a.post(t, some)
		b.post(t, disorder(some, seed))
		_, _, different := differing(b, []string{target}, a.ask(t, []string{target}))
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

func show(messages []message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %+v %q\n", m.Received.Format(time.RFC3339Nano), m.position, m.Text)
	}
	return b.String()
}
