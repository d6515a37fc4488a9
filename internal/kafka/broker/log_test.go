package broker_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/internal/kafka/broker"
	"bagtrail/internal/telemetry"
)

// A file in the place of the directory of partitions stands for a disk that takes no writes.
func TestABrokerThatCannotWriteLogsAFewOfItsFailures(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	b, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0", Logger: telemetry.NewLogger(&log, "info", "json")})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := kafkago.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.CreateTopics(kafkago.TopicConfig{Topic: "t", NumPartitions: 1, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	partitions := filepath.Join(dir, "log", "partitions")
	if err := errors.Join(os.RemoveAll(partitions), os.WriteFile(partitions, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	client := &kafkago.Client{Addr: kafkago.TCP(b.Addr()), Timeout: 30 * time.Second}
	for range 50 {
		answer, err := client.Produce(t.Context(), &kafkago.ProduceRequest{
			Topic: "t", RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(kafkago.Record{Value: kafkago.NewBytes([]byte("text"))}),
		})
		if err != nil || answer.Error == nil {
			t.Fatalf("error %v of the request, and %+v of the partition, which cannot be written", err, answer)
		}
	}
	_ = b.Close() // from now on nobody writes to the log
	if n := bytes.Count(log.Bytes(), []byte(`"message":"in-process kafka"`)); n == 0 || n > 20 {
		t.Errorf("%d lines about 50 writes that fail, want at least one and about ten a minute:\n%s", n, log.Bytes())
	}
}
