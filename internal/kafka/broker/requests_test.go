package broker_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/internal/kafka/broker"
)

// The letters GET and a space are a length of 1.1 GiB.
func TestWhatIsNoRequestOfKafkaEndsItsConnectionAlone(t *testing.T) {
	b, err := broker.Start(broker.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	const apiVersions = "\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x07\xff\xff"
	for _, request := range []string{
		"GET / HTTP/1.1\r\n\r\n", "\x06\x40\x00\x01\x00\x12\x00\x00", apiVersions + "GET / HTTP/1.1\r\n\r\n",
		"\x00\x00\x00\x08\x7f\xff\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		conn, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(conn, request); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q: the connection is not closed: %v", request, err)
		}
		_ = conn.Close()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 50<<20 {
			t.Errorf("%q takes %d bytes", request, took)
		}
	}
	conn, err := kafkago.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Controller(); err != nil {
		t.Error(err)
	}
}
