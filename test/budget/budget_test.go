// Package budget_test checks that the most expensive messages within the limits fit into a small
// process.
package budget_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis/redistest"
	"bagtrail/test/service"
)

var (
	messages = flag.Int("messages", 12, "how many of the most expensive messages")
	within   = flag.Duration("within", 10*time.Second, "how long an ordinary message behind one may take until it is found; on a machine that does nothing else a second")
)

// mebibytes is the memory that the process may use for its data.
const mebibytes = 256

// With 256 MiB, the process accepts the most expensive messages within the limits, in a row and
// with changes. An ordinary message after each, in the same partition, is in the answers soon.
func TestTheDearestMessagesFitIntoASmallProcess(t *testing.T) {
	redis, broker := redistest.StartServer(t), kafkatest.Start(t).ListenAddrs()[0]
	settings := []string{"BAGTRAIL_KAFKA_BROKERS=" + broker, "BAGTRAIL_REDIS_URL=" + redis.URL("")}
	ingest := service.New(t, []string{"ingest"}, settings...)
	ingest.LimitData(mebibytes)
	ingest.Up()
	api := service.StartCommand(t, []string{"api"}, settings...)
	writer := &kafka.Writer{
		Addr: kafka.TCP(broker), Topic: "bim.raw", RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond,
		Balancer: kafka.Murmur2Balancer{}, Transport: &kafka.Transport{},
	}
	defer func() { _ = writer.Close() }()
	today := time.Now().UTC()
	random := rand.New(rand.NewPCG(1, 2))
	took := make(map[string][]time.Duration)
	for i := range *messages {
		kind := kinds[i%len(kinds)]
		plate := fmt.Sprintf("0725%06d", i)
		write(t, writer, kind.message(random, today), ordinary(plate, today))
		began := time.Now()
		path := service.HistoryPath(plate, today.Format(time.DateOnly))
		if !api.Until(30*time.Second, func() bool { return strings.Contains(api.Get(path).Body, "EXPECTED") }) {
			t.Fatalf("behind %d messages, the last of them %s, an ordinary one is not found", i+1, kind.name)
		}
		took[kind.name] = append(took[kind.name], time.Since(began))
		if i%100 == 99 {
			t.Logf("%d messages: resident at most %s, data %s", i+1, ingest.Status("VmHWM"), ingest.Status("VmData"))
		}
	}
	if code, _ := ingest.TryGet(ingest.Ops + "/readyz"); code != 200 {
		t.Error("the process is gone, or not ready")
	}
	accepted := func() int { return int(ingest.Metric("bagtrail_messages_total", `verdict="accepted"`)) }
	if !ingest.Until(10*time.Second, func() bool { return accepted() >= 2**messages }) {
		t.Errorf("%d of %d messages were accepted", accepted(), 2**messages)
	}
	for _, kind := range kinds[:min(*messages, len(kinds))] {
		slices.Sort(took[kind.name])
		list := took[kind.name]
		longest := list[len(list)-1]
		t.Logf("%d × %s: an ordinary message behind it is found after %v, %v at most", len(list), kind.name,
			list[len(list)/2].Round(time.Millisecond), longest.Round(time.Millisecond))
		if longest > *within {
			t.Errorf("%s: %v is more than %v", kind.name, longest, *within)
		}
	}
	t.Logf("resident at most %s, data %s, of %d MiB", ingest.Status("VmHWM"), ingest.Status("VmData"), mebibytes)
}

// kinds are messages that are accepted and expensive in one way each: many bags, long texts, many
// entries, many groups, many names, many containers.
var kinds = []struct {
	name    string
	message func(random *rand.Rand, day time.Time) string
}{
	{"999 bags on 4 KiB", func(random *rand.Rand, day time.Time) string {
		return padded(head(day)+run(0, 999), 4<<20/999, random)
	}},
	{"64 bags on 64 KiB", func(random *rand.Rand, day time.Time) string {
		return padded(head(day)+run(0, 64), 64<<10, random)
	}},
	{"999 bags on 98 flights", func(random *rand.Rand, day time.Time) string {
		text := head(day)
		for i := range 97 {
			text += fmt.Sprintf(".O/LX%04d/%s/JFK\r\n", 1+random.IntN(9000)+i, ddmmm(day))
		}
		return padded(text+run(0, 999), 4<<20/999, random)
	}},
	{"999 bags in 9 groups", func(random *rand.Rand, day time.Time) string {
		text := "BSM\r\n.V/1LZRH\r\n"
		for i := range 9 {
			text += fmt.Sprintf(".F/LX%04d/%s/JFK\r\n", 1+random.IntN(9000)+i, ddmmm(day)) + run(0, 999)
		}
		return padded(text, 4<<20/999/9, random)
	}},
	{"one bag on 298 flights under 298 names", func(random *rand.Rand, day time.Time) string {
		text, bag := "BSM\r\n.V/1LZRH\r\n", run(1000+random.IntN(990_000), 1)
		for i := range 298 {
			text += fmt.Sprintf(".F/LX%04d/%s/JFK\r\n%s.P/%c%c\r\n", 1+random.IntN(9000)+i, ddmmm(day), bag, 'A'+i/26, 'A'+i%26)
		}
		return padded(text, 4<<20/298, random)
	}},
	{"64 containers on 64 KiB", func(random *rand.Rand, day time.Time) string {
		text := "BPM\r\n.V/1LZRH\r\n.U/AKE1\r\n"
		for i := range 64 {
			text += fmt.Sprintf(".F/LX%04d/%s/JFK\r\n", 1+random.IntN(9000)+i, ddmmm(day))
		}
		return padded(text, 64<<10, random)
	}},
}

func head(day time.Time) string {
	return "BSM\r\n.V/1LZRH\r\n.F/LX0014/" + ddmmm(day) + "/JFK\r\n"
}

func run(first, count int) string { return fmt.Sprintf(".N/0724%06d%03d\r\n", first, count) }

// padded extends a message to a length with text that cannot be compressed.
func padded(text string, length int, random *rand.Rand) string {
	end := "END" + text[:3] + "\r\n"
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz+-"
	b := []byte(text + ".R/")
	for len(b) < length-len(end)-2 {
		b = append(b, letters[random.IntN(len(letters))])
	}
	return string(b) + "\r\n" + end
}

func ordinary(plate string, day time.Time) string {
	return "BSM\r\n.V/1LZRH\r\n.F/LX0016/" + ddmmm(day) + "/JFK\r\n.N/" + plate + "001\r\n.P/MUELLER\r\nENDBSM\r\n"
}

func ddmmm(day time.Time) string { return strings.ToUpper(day.Format("02Jan")) }

// write writes messages one after the other to one partition.
func write(t *testing.T, w *kafka.Writer, texts ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	list := make([]kafka.Message, len(texts))
	for i, text := range texts {
		list[i] = kafka.Message{Key: []byte("0724000000"), Value: []byte(text), Time: time.Now()}
	}
	if err := w.WriteMessages(ctx, list...); err != nil {
		t.Fatal(err)
	}
}
