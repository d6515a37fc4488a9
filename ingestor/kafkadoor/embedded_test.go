package kafkadoor_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
	"bagtrail/test/service"
)

// brokerVariable makes the test binary a process with an in-process broker in that directory, which
// runs until it is killed.
const brokerVariable = "BAGTRAIL_TEST_EMBEDDED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(brokerVariable); dir != "" {
		if err := serveEmbedded(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// serveEmbedded starts a broker, writes and consumes 200 messages, says so, and goes on writing.
func serveEmbedded(dir string) error {
	inside, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	_, door, err := open(embeddedKafka(inside), embeddedDoor)
	if err != nil {
		return err
	}
	if err := door.EnsureTopics(ctx); err != nil {
		return err
	}
	w := &world{index: newIndex(), metrics: &metrics{}}
	consumer := door.NewConsumer(w.acceptor(), w.metrics)
	go consumer.Run(ctx) //nolint:errcheck // the process is killed
	said := false
	for i := 0; ; i++ {
		if err := door.Append(ctx, []ingestor.Record{{Raw: message(i), Received: received}}); err != nil {
			return err
		}
		if !said && i >= 200 && w.metrics.accepted.Load() >= 200 {
			said = true
			fmt.Fprintln(os.Stdout, "running")
		}
	}
}

func embeddedKafka(b *broker.Broker) kafka.Config {
	return kafka.Config{Brokers: []string{b.Addr()}, Timing: kafka.Timing{Wait: 50 * time.Millisecond}}
}

var embeddedDoor = kafkadoor.Config{Group: "group", Partitions: 2, Topics: kafkadoor.Topics{Raw: "bim.raw", Rejects: "bim.rejected"}}

// startEmbedded is a world on an in-process broker.
func startEmbedded(t *testing.T, dir string) (*world, *broker.Broker) {
	t.Helper()
	inside, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, index: newIndex(), metrics: &metrics{}, kafka: embeddedKafka(inside), conf: embeddedDoor}
	w.client = &kafkago.Client{Addr: kafkago.TCP(inside.Addr()), Transport: &kafkago.Transport{}, Timeout: 10 * time.Second}
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, inside
}

func TestEmbeddedBrokerKeepsLogAndOffsetsOverAStop(t *testing.T) {
	dir := t.TempDir()
	w, inside := startEmbedded(t, dir)
	w.consumed(50)
	if err := inside.Close(); err != nil {
		t.Fatal(err)
	}

	w, inside = startEmbedded(t, dir)
	defer closed(t, inside)
	if got := w.committed(); got[0] != 50 {
		t.Errorf("committed %v, want 50", got)
	}
	if _, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil); err != nil {
		t.Fatal(err)
	}
	w.wantFiled(50)
}

func TestEmbeddedBrokerKeepsLogAndOffsetsWhenItIsKilled(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), brokerVariable+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "running\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second process in the same directory: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()

	w, inside := startEmbedded(t, dir)
	defer closed(t, inside)
	before := int64(0)
	for _, offset := range w.committed() {
		before += max(0, offset)
	}
	if before < 1 {
		t.Error("no committed offset was kept")
	}
	progress, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if progress.Total < 200 || progress.Total < before || progress.Rejected != 0 {
		t.Errorf("after a kill there are %d records, %d committed, %d rejected; at least 200 were acknowledged",
			progress.Total, before, progress.Rejected)
	}
	w.wantFiled(int(progress.Total))

	w.consume()
	w.waitCommitted(progress.Total)
	if got := w.metrics.rejected.Load() + w.metrics.accepted.Load(); got != 0 {
		t.Errorf("%d records that the index did not know", got)
	}
}

func TestEmbeddedBrokerSaysThatItsAddressIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, taken)
	dir := t.TempDir()
	addr := taken.Addr().String()
	_, err = broker.Start(broker.Config{Dir: dir, Addr: addr})
	if err == nil || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "BAGTRAIL_EMBEDDED_KAFKA_ADDR") {
		t.Errorf("error %v", err)
	}
	inside, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatalf("afterwards the directory is still locked: %v", err)
	}
	closed(t, inside)
}

func TestEmbeddedBrokerSaysThatItsDirectoryCannotBeUsed(t *testing.T) {
	file := service.WriteFile(t, "file", "")
	if _, err := broker.Start(broker.Config{Dir: file, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
	lock := filepath.Join(t.TempDir(), "lock")
	if err := os.Mkdir(lock, 0o700); err != nil { // as a file that this user may not open
		t.Fatal(err)
	}
	_, err := broker.Start(broker.Config{Dir: filepath.Dir(lock), Addr: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), lock) || strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
}

func TestEmbeddedBrokerThatListensEverywhereIsKnownByName(t *testing.T) {
	inside, err := broker.Start(broker.Config{Dir: t.TempDir(), Addr: "0.0.0.0:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, inside)
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	if !strings.HasPrefix(inside.Addr(), name+":") {
		t.Errorf("address %s, want the name %s", inside.Addr(), name)
	}
}

func TestAllGoesOnByItselfAfterTheBrokerWasStartedAgain(t *testing.T) {
	dir := t.TempDir()
	w, inside := startEmbedded(t, dir)
	w.consume()
	n := 0
	add := func() {
		for range 20 {
			w.eventually("the log takes a message", func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				return w.door.Append(ctx, []ingestor.Record{{Raw: message(n), Received: received}}) == nil
			})
			n++
		}
	}
	for range 3 {
		add()
		w.eventually("all is in the index", func() bool { return w.index.plates() == n })
		closed(t, inside)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := w.door.Append(ctx, []ingestor.Record{{Raw: message(0), Received: received}}); err == nil {
			t.Error("a broker that is gone has taken a message")
		}
		cancel()
		var err error
		if inside, err = broker.Start(broker.Config{Dir: dir, Addr: w.kafka.Brokers[0]}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	w.eventually("all is in the index", func() bool { return w.index.plates() == n })
	w.wantFiled(n)
	closed(t, inside)
}
