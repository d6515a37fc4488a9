//go:build unix

package broker_test

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/internal/kafka/broker"
	"bagtrail/internal/pause"
)

// The process has no descriptors left for a moment.
func TestABrokerWithoutDescriptorsForAMomentTakesConnectionsAfterwards(t *testing.T) {
	b, err := broker.Start(broker.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	next, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	var was, few syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few.Cur, few.Max = uint64(next.Fd())+1, was.Max // one more: that of the caller
	_ = next.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	first, err := net.Dial("tcp", b.Addr())
	_ = pause.For(t.Context(), 200*time.Millisecond) // the broker fails to accept
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	conn, err := kafkago.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Controller(); err != nil {
		t.Fatal(err)
	}
}
