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
	for tries := 1; ; tries++ { // a goroutine of the broker may take the descriptor of the caller
		err := withoutDescriptors(t, func() error {
			first, err := net.Dial("tcp", b.Addr())
			if err == nil {
				_ = pause.For(t.Context(), 200*time.Millisecond) // the broker fails to accept
				_ = first.Close()
			}
			return err
		})
		if err == nil {
			break
		}
		if tries == 20 {
			t.Fatal(err)
		}
	}
	conn, err := kafkago.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Controller(); err != nil {
		t.Fatal(err)
	}
}

// withoutDescriptors calls f while the process may open one more descriptor, and returns its error.
func withoutDescriptors(t *testing.T, f func() error) error {
	t.Helper()
	next, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	var was, few syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few.Cur, few.Max = uint64(next.Fd())+1, was.Max
	_ = next.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}()
	return f()
}
