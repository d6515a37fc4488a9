// Package broker runs a Kafka-protocol broker inside this process. It stores records and committed
// offsets in a directory, and reads them again after the process was killed. It is for one machine:
// it has no replicas and no users.
//
// A note beside the log says which offsets the log holds. [Start] compares the two. If a part of
// the log is lost, for example because it had not reached the disk when the machine lost its power,
// Start fails with an error that names the loss.
package broker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"go.uber.org/zap"

	"bagtrail/internal/telemetry"
	"bagtrail/internal/wholefile"
)

// Broker is a running broker.
type Broker struct {
	cluster *kfake.Cluster
	lock    wholefile.Lock
	addr    string
	notes   *noteWriter
	stop    context.CancelFunc // ends the note writer
	writing sync.WaitGroup     // for the note writer
}

// Config says where the broker listens, and where its files are.
type Config struct {
	Dir        string // created if it is missing
	Addr       string // host:port
	AcceptLoss bool   // start with the readable part if a part of the log is lost
	Logger     *zap.Logger
}

const clusterID = "bagtrail"

// brokerSettings keep all records, unless the settings of a topic say otherwise, and the committed
// offsets of a group that was away for months.
var brokerSettings = map[string]string{
	"log.retention.ms":          "-1",
	"offsets.retention.minutes": "5256000", // ten years
}

// supportedVersions returns the highest versions of requests in which the answers of the broker
// suit Kafka's own tools. In later versions it answers null instead of a list, or compares the case
// of type names. The tools fall back to the versions given here.
func supportedVersions() *kversion.Versions {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(kmsg.DescribeTopicPartitions.Int16(), -1) // not supported: eligible replicas are null
	versions.SetMaxKeyVersion(kmsg.CreateTopics.Int16(), 4)             // from 5 on, configs are null
	versions.SetMaxKeyVersion(kmsg.ListGroups.Int16(), 4)               // from 5 on, the case of group types counts
	return versions
}

// Start starts the broker. It fails if another process uses the directory or the address. It also
// fails if a part of the log is lost or damaged, unless Config.AcceptLoss is set; the error names
// topics, partitions and offsets.
func Start(conf Config) (*Broker, error) {
	conf.Logger = cmp.Or(conf.Logger, zap.NewNop())
	if err := os.MkdirAll(conf.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("in-process kafka: %w", err)
	}
	lock, err := wholefile.TakeLock(filepath.Join(conf.Dir, lockName))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("the files in %s are in use by another process, stop it or choose another BAGTRAIL_DATA_DIR: %w", conf.Dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("in-process kafka: %w", err)
	}
	listener, err := net.Listen("tcp", conf.Addr)
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("in-process kafka: cannot listen on %s, choose another BAGTRAIL_EMBEDDED_KAFKA_ADDR: %w", conf.Addr, err),
			lock.Close())
	}
	listener = brokerListener{telemetry.RetryAccept(listener, conf.Logger), advertised(listener.Addr())}
	e := &Broker{lock: lock, addr: listener.Addr().String()}
	if err := os.WriteFile(filepath.Join(conf.Dir, lockName), []byte(e.addr), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("in-process kafka: %w", err), listener.Close(), lock.Close())
	}
	if err := e.start(conf, listener); err != nil {
		return nil, errors.Join(fmt.Errorf("in-process kafka: %w", err), lock.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.writing.Go(func() { e.notes.run(ctx) })
	return e, nil
}

// start checks the files, lets the broker load them, and checks what it has loaded.
func (e *Broker) start(conf Config, listener net.Listener) error {
	log := filepath.Join(conf.Dir, "log")
	check := &startCheck{conf: conf, dir: log, path: filepath.Join(conf.Dir, "note.json")}
	if err := check.beforeLoad(); err != nil {
		return errors.Join(err, listener.Close())
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return listener, nil }),
		kfake.DataDir(log),
		kfake.BrokerConfigs(brokerSettings),
		kfake.ClusterID(clusterID),
		kfake.MaxVersions(supportedVersions()),
		kfake.WithLogger(brokerLog{conf.Logger}),
	)
	if err != nil {
		_ = listener.Close() // the broker may have closed it already
		return err
	}
	if err := check.afterLoad(cluster); err != nil {
		cluster.Close()
		return err
	}
	e.cluster = cluster
	e.notes = &noteWriter{path: check.path, topics: filepath.Join(log, topicsFile), cluster: cluster, gaps: check.gaps()}
	return nil
}

// lockName is the name of the file that is locked. It holds the address of the broker that has it
// locked.
const lockName = "lock"

// RunningAddr returns the address of the broker of another process that uses a directory.
func RunningAddr(dir string) (string, error) {
	addr, err := os.ReadFile(filepath.Join(dir, lockName))
	if err == nil && len(addr) == 0 {
		err = errors.New("that broker has not written its address: it is still starting, or is of an older version")
	}
	if err != nil {
		return "", fmt.Errorf("in-process kafka: the address of the running broker: %w", err)
	}
	return string(addr), nil
}

// Addr returns the address at which clients reach the broker.
func (e *Broker) Addr() string { return e.addr }

// Check returns an error while the broker cannot write to its directory.
func (e *Broker) Check() error { return e.notes.check() }

// Close writes the note and stops the broker.
func (e *Broker) Close() error {
	e.stop()
	e.writing.Wait()
	e.cluster.Close()
	if err := errors.Join(e.Check(), e.lock.Close()); err != nil {
		return fmt.Errorf("in-process kafka: %w", err)
	}
	return nil
}

// advertised returns an address that clients can use. If the broker listens on all addresses, it has
// the name of the machine.
func advertised(addr net.Addr) net.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	host, err := os.Hostname()
	if !ok || !tcp.IP.IsUnspecified() || err != nil {
		return addr
	}
	return namedAddr(net.JoinHostPort(host, strconv.Itoa(tcp.Port)))
}

// brokerListener has the address at which clients reach the broker. Its connections check the heads of
// requests. The listener in it must be one of telemetry.RetryAccept, since the broker stops listening
// after an error of Accept.
type brokerListener struct {
	net.Listener
	addr net.Addr
}

// Addr implements net.Listener.
func (l brokerListener) Addr() net.Addr { return l.addr }

// Accept implements net.Listener.
func (l brokerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &checkedConn{Conn: conn, request: bytes.NewReader(nil)}, nil
}

// maxRequest is the size of the largest request in bytes. It is the default of Kafka
// (socket.request.max.bytes).
const maxRequest = 100 << 20

// checkedConn is a connection to the broker. Its Read fails at a request that is too long or of an
// unknown kind, such as one of another protocol. The broker itself would reserve memory for every
// length, and panic at an unknown kind. It still reserves up to maxRequest for a length that is only
// announced.
type checkedConn struct {
	net.Conn
	request io.Reader // what is left of the current request
}

// Read implements net.Conn.
func (c *checkedConn) Read(p []byte) (int, error) {
	n, err := c.request.Read(p)
	if n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	head := make([]byte, 6) // the length of the rest, which begins with the kind
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return 0, err
	}
	size, kind := binary.BigEndian.Uint32(head), int16(binary.BigEndian.Uint16(head[4:]))
	if size < 2 || size > maxRequest || kmsg.RequestForKey(kind) == nil {
		return 0, fmt.Errorf("a request of kind %d with %d bytes", kind, size)
	}
	c.request = io.MultiReader(bytes.NewReader(head), io.LimitReader(c.Conn, int64(size)-2))
	return c.request.Read(p)
}

type namedAddr string

func (namedAddr) Network() string  { return "tcp" }
func (a namedAddr) String() string { return string(a) }

// brokerLog passes the errors and warnings of the broker to a logger. Each is an error, so that the
// logger of a process limits how many warnings it writes: on a full disk, each write makes one.
type brokerLog struct{ to *zap.Logger }

func (b brokerLog) Logf(level kfake.LogLevel, text string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		b.to.Error("in-process kafka", zap.Error(fmt.Errorf(text, args...)))
	case kfake.LogLevelWarn:
		b.to.Warn("in-process kafka", zap.Error(fmt.Errorf(text, args...)))
	}
}
