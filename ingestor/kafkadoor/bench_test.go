package kafkadoor_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
)

// sink is an index that takes no time.
type sink struct {
	filed atomic.Int64
	want  int64
	full  chan struct{}
}

func (s *sink) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	fresh := make([]bool, len(filings))
	for i := range fresh {
		fresh[i] = true
	}
	if n := s.filed.Add(int64(len(filings))); n >= s.want && n-int64(len(filings)) < s.want {
		close(s.full)
	}
	return fresh, nil
}

// conf is the configuration of an Acceptor into an index.
func conf(index ingestor.Index) ingestor.Config {
	airports := airport.New()
	return ingestor.Config{Judge: ingestor.NewJudge(airports, enricher.New(airports)), Index: index, Patience: time.Minute}
}

// realistic is a message of about 300 bytes.
func realistic(i int) string {
	return fmt.Sprintf("BPM\r\n.V/1LZRH\r\n.J/R/SCANNER1/GATE12/12MAR/061500L/ZRHBELT7/ZRHPIER2\r\n.F/LX%04d/12MAR/JFK/Y\r\n.N/0724%06d001\r\n"+
		".U/AKE25219LX/41/T/Y/JFK/N///\r\n.S/Y/23A/C/081//N\r\n.W/K/2/34\r\n.P/1MUSTERMANN/MAXIMILIANMR\r\n.L/AB%04dX\r\n.Y/LX992003%06d/SEN\r\n.E/PRIO\r\nENDBPM\r\n",
		i%10_000, i%1_000_000, i%10_000, i%1_000_000)
}

func benchWorld(b *testing.B) (door *kafkadoor.Door, address, topic string) {
	inside, err := broker.Start(broker.Config{Dir: b.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	conf := kafkadoor.Config{Group: "group", Partitions: 4, Topics: kafkadoor.Topics{Raw: "bim.raw", Rejects: "bim.rejected"}}
	client, door, err := open(kafka.Config{Brokers: []string{inside.Addr()}}, conf)
	if err != nil {
		b.Fatal(err)
	}
	if err := door.EnsureTopics(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		client.Close()
		if err := inside.Close(); err != nil {
			b.Error(err)
		}
	})
	return door, inside.Addr(), conf.Topics.Raw
}

func fill(b *testing.B, door *kafkadoor.Door, n int) {
	const atOnce = 500
	for i := 0; i < n; i += atOnce {
		list := make([]ingestor.Record, atOnce)
		for j := range list {
			list[j] = ingestor.Record{Raw: realistic(i + j), Received: received}
		}
		if err := door.Append(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConsumer is the way of a message from the in-process broker to an index that takes no
// time.
func BenchmarkConsumer(b *testing.B) {
	const n = 300_000
	for b.Loop() {
		b.StopTimer()
		door, _, _ := benchWorld(b)
		fill(b, door, n)
		s := &sink{want: n, full: make(chan struct{})}
		ctx, cancel := context.WithCancel(b.Context())
		b.StartTimer()
		var done sync.WaitGroup
		done.Go(func() {
			if err := door.NewConsumer(ingestor.NewAcceptor(conf(s)), nil).Run(ctx); err != nil {
				b.Error(err)
			}
		})
		<-s.full
		b.StopTimer()
		cancel()
		done.Wait()
		b.StartTimer()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkRebuild is the same for a rebuild.
func BenchmarkRebuild(b *testing.B) {
	const n = 300_000
	door, _, _ := benchWorld(b)
	fill(b, door, n)
	for b.Loop() {
		s := &sink{want: n, full: make(chan struct{})}
		if _, err := door.Rebuild(b.Context(), ingestor.NewAcceptor(conf(s)), kafka.Start{}, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkAcceptorWithLog is what 64 callers at once get through the in-process log.
func BenchmarkAcceptorWithLog(b *testing.B) {
	door, _, _ := benchWorld(b)
	logging := conf(&sink{want: -1})
	logging.Log, logging.Rejects = door, door
	acceptor := ingestor.NewAcceptor(logging)
	var next atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			env := ingestor.Envelope{Raw: realistic(int(next.Add(1))), Received: received, Origin: "http/1"}
			if _, err := acceptor.Accept(context.Background(), env); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkVisible is the time from a record's way to the broker until the index has it, one after
// the other at a steady trickle.
func BenchmarkVisible(b *testing.B) {
	door, address, topic := benchWorld(b)
	arrived := make(chan struct{}, 1000)
	s := &arrivals{arrived: arrived}
	ctx, cancel := context.WithCancel(b.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := door.NewConsumer(ingestor.NewAcceptor(conf(s)), nil).Run(ctx); err != nil {
			b.Error(err)
		}
	})
	client := &kafkago.Client{Addr: kafkago.TCP(address), Transport: &kafkago.Transport{}}
	i := 0
	for b.Loop() {
		_, err := client.Produce(ctx, &kafkago.ProduceRequest{
			Topic: topic, Partition: i % 4, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(record(realistic(i))),
		})
		if err != nil {
			b.Fatal(err)
		}
		<-arrived
		i++
	}
	cancel()
	done.Wait()
}

type arrivals struct{ arrived chan struct{} }

func (s *arrivals) File(_ context.Context, filings []bag.Filing) ([]bool, error) {
	for range filings {
		s.arrived <- struct{}{}
	}
	return make([]bool, len(filings)), nil
}
