package kafka_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
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
	produceRaw(t, brokers, partition, 4, packed.Bytes())
}
