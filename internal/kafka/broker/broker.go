package broker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"go.uber.org/zap"
)

// Broker is a Kafka-protocol broker inside this process. It keeps records and committed offsets in a directory, and
// has them again after the process was killed. A loss is seen at the next start: what a machine had not yet written to its disk
// when it lost its power, or what a disk has lost since. It is for one machine: no replicas, no users.
type Broker struct {
	cluster *kfake.Cluster
	lock    lock
	addr    string
	notes   *noteTaker
	stop    chan struct{} // closed, it ends the taking of notes
	stopped chan struct{}
}

// Config says where the in-process broker listens, and where its files are.
type Config struct {
	Dir        string // is made where it is missing
	Addr       string // host:port
	AcceptLoss bool   // start although a part of the log is lost, with what is readable
	Logger     *zap.Logger
}

const clusterID = "bagtrail"

// brokerSettings keep everything until a topic says otherwise, and offsets also of a group that was away for months.
var brokerSettings = map[string]string{
	"log.retention.ms":          "-1",
	"offsets.retention.minutes": "5256000", // ten years
}

// served are the requests that the broker takes, in the versions in which its answers suit Kafka's own tools. In later ones it has
// null where the tools rely on a list, or compares names of types by their case; the tools fall back to these.
func served() *kversion.Versions {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(kmsg.DescribeTopicPartitions.Int16(), -1) // not at all: eligible replicas are null
	versions.SetMaxKeyVersion(kmsg.CreateTopics.Int16(), 4)             // from 5 on: configs are null
	versions.SetMaxKeyVersion(kmsg.ListGroups.Int16(), 4)               // from 5 on: types of groups
	return versions
}

// Start starts the broker. It fails where another process uses the directory or the address, and where a part of the log is
// lost or damaged, unless that is accepted; the error names topics, partitions and offsets, and nothing has been changed then.
func Start(conf Config) (*Broker, error) {
	if conf.Logger == nil {
		conf.Logger = zap.NewNop()
	}
	if err := os.MkdirAll(conf.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("in-process kafka: %w", err)
	}
	lock, err := lockFile(filepath.Join(conf.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("in-process kafka: the files in %s are in use by another process: %w", conf.Dir, err)
	}
	listener, err := net.Listen("tcp", conf.Addr)
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("in-process kafka: cannot listen on %s, choose another BAGTRAIL_EMBEDDED_KAFKA_ADDR: %w", conf.Addr, err),
			lock.Close())
	}
	e := &Broker{lock: lock, addr: advertised(listener).Addr().String(), stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := e.start(conf, listener); err != nil {
		return nil, errors.Join(fmt.Errorf("in-process kafka: %w", err), lock.Close())
	}
	go func() {
		defer close(e.stopped)
		e.notes.run(e.stop)
	}()
	return e, nil
}

// start looks at the files, and lets the broker load them.
func (e *Broker) start(conf Config, listener net.Listener) error {
	log := filepath.Join(conf.Dir, "log")
	keeper := &keeper{conf: conf, dir: log, path: filepath.Join(conf.Dir, "note.json")}
	if err := keeper.before(); err != nil {
		return errors.Join(err, listener.Close())
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return advertised(listener), nil }),
		kfake.DataDir(log),
		kfake.BrokerConfigs(brokerSettings),
		kfake.ClusterID(clusterID),
		kfake.MaxVersions(served()),
		kfake.WithLogger(brokerLog{conf.Logger}),
	)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := keeper.after(cluster); err != nil {
		cluster.Close()
		return err
	}
	e.cluster = cluster
	e.notes = &noteTaker{path: keeper.path, topics: filepath.Join(log, topicsFile), cluster: cluster, gaps: keeper.gaps()}
	return nil
}

// Addr returns the address by which clients reach the broker.
func (e *Broker) Addr() string { return e.addr }

// Check returns an error while the broker cannot write to its directory.
func (e *Broker) Check() error { return e.notes.check() }

// Close writes what is open and stops the broker.
func (e *Broker) Close() error {
	close(e.stop)
	<-e.stopped
	e.cluster.Close()
	if err := errors.Join(e.Check(), e.lock.Close()); err != nil {
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
