package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A fetch may begin at the mark that ends an aborted transaction, since a broker cuts its answers
// between record batches. The broker names the transaction then too.
func TestRecordsBehindTheMarkOfAnAbortedTransactionAreReadWhereverAFetchBegins(t *testing.T) {
	c, client := cluster(t, 1)
	producer, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.TransactionalID("feed"), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(producer.Close)
	transaction := func(value string, end kgo.TransactionEndTry) {
		t.Helper()
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := producer.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	transaction("aborted", kgo.TryAbort)    // offset 0, its mark 1
	transaction("committed", kgo.TryCommit) // offset 2, its mark 3
	for offset := range int64(3) {
		b, err := client.Reader(topic, 0, offset).Fetch(t.Context(), time.Second)
		if err != nil || len(b.Records) != 1 || string(b.Records[0].Value) != "committed" || b.Next != 4 {
			t.Errorf("from offset %d: %d records, next %d, %v; want the committed one, next 4", offset, len(b.Records), b.Next, err)
		}
	}
}
