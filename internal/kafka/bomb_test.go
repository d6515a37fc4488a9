package kafka_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A producer may pack a record of any size into a few KiB. It takes no such memory, and holds up no
// other partition.
func TestARecordThatIsPackedVerySmallTakesLittleMemory(t *testing.T) {
	const unpacked = 512 << 20
	c, client := cluster(t, 1)
	produceBomb(t, c.ListenAddrs(), 0, unpacked)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := client.Reader(topic, 0, 0).Fetch(t.Context(), time.Second)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > unpacked/2 {
		t.Errorf("a batch of a few KiB took %d MiB", took>>20)
	}
	if err == nil {
		t.Error("it is read")
	}
	var l log
	l.follow(t, client)
	produce(t, client, 1, "other")
	l.await(t, 1, 1, soon)
	l.want(t)
}

// produceBomb writes a batch with a record whose value is so many zeros.
func produceBomb(t *testing.T, brokers []string, partition, size int) {
	t.Helper()
	body := append([]byte{0, 0, 0, 1}, binary.AppendVarint(nil, int64(size))...) // attributes, time, offset, no key, value
	var packed bytes.Buffer
	packer, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if _, err := packer.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	write(binary.AppendVarint(nil, int64(len(body)+size+1)))
	write(body)
	for zeros := make([]byte, 1<<20); size > 0; size -= len(zeros) {
		write(zeros)
	}
	write([]byte{0}) // no headers
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: 4, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: 1, Records: packed.Bytes(),
	}
	const lengthEnds, crcEnds = 12, 21
	batch.Length = int32(len(batch.AppendTo(nil)) - lengthEnds)
	batch.CRC = int32(crc32.Checksum(batch.AppendTo(nil)[crcEnds:], crc32.MakeTable(crc32.Castagnoli)))
	raw := batch.AppendTo(nil)
	raw = append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
	answer, err := (&kafkago.Client{Addr: kafkago.TCP(brokers...)}).RawProduce(t.Context(), &kafkago.RawProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafkago.RequireAll,
		RawRecords: protocol.RawRecordSet{Reader: bytes.NewReader(raw)},
	})
	if err != nil || answer.Error != nil {
		t.Fatal(err, answer)
	}
}
