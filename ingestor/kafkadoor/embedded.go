package kafkadoor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
)

// Embedded is a Kafka-protocol broker inside this process. It keeps records and committed offsets in a directory, and
// has them again after the process was killed; what a machine had not yet written to its disk when it lost its power
// may be gone. It is for one machine: no replicas, no users.
type Embedded struct {
	cluster *kfake.Cluster
	lock    lock
	addr    string
}

// brokerSettings keep everything until a topic says otherwise, and offsets also of a group that was away for months.
var brokerSettings = map[string]string{
	"log.retention.ms":          "-1",
	"offsets.retention.minutes": "5256000", // ten years
}

// StartEmbedded starts the broker on addr (host:port) with its files in dir, which is made where it is missing. It
// fails where another process uses the directory or the address.
func StartEmbedded(dir, addr string, logger *zap.Logger) (*Embedded, error) {
	if logger == nil {
		logger = zap.NewNop()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("in-process kafka: %w", err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("in-process kafka: the files in %s are in use by another process: %w", dir, err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("in-process kafka: cannot listen on %s, choose another BAGTRAIL_EMBEDDED_KAFKA_ADDR: %w", addr, err),
			lock.Close())
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return advertised(listener), nil }),
		kfake.DataDir(filepath.Join(dir, "log")),
		kfake.BrokerConfigs(brokerSettings),
		kfake.ClusterID("bagtrail"),
		kfake.WithLogger(brokerLog{logger}),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("in-process kafka: %w", err), listener.Close(), lock.Close())
	}
	return &Embedded{cluster: cluster, lock: lock, addr: advertised(listener).Addr().String()}, nil
}

// Addr returns the address by which clients reach the broker.
func (e *Embedded) Addr() string { return e.addr }

// Close writes what is open and stops the broker.
func (e *Embedded) Close() error {
	e.cluster.Close()
	if err := e.lock.Close(); err != nil {
		return fmt.Errorf("in-process kafka: %w", err)
	}
	return nil
}

// advertised returns the listener under an address that clients can use: one that listens everywhere is known by the
// name of the machine.
func advertised(l net.Listener) net.Listener {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return l
	}
	host, err := os.Hostname()
	if err != nil {
		return l
	}
	return namedListener{l, namedAddr(net.JoinHostPort(host, fmt.Sprint(tcp.Port)))}
}

type namedListener struct {
	net.Listener
	name namedAddr
}

func (l namedListener) Addr() net.Addr { return l.name }

type namedAddr string

func (namedAddr) Network() string  { return "tcp" }
func (a namedAddr) String() string { return string(a) }

// brokerLog passes on what went wrong.
type brokerLog struct{ to *zap.Logger }

func (b brokerLog) Logf(level kfake.LogLevel, text string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		b.to.Error("in-process kafka", zap.String("detail", fmt.Sprintf(text, args...)))
	case kfake.LogLevelWarn:
		b.to.Warn("in-process kafka", zap.String("detail", fmt.Sprintf(text, args...)))
	}
}
