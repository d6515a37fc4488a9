package program

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
)

// ReadPartition calls each with every record that a partition holds now. It uses no code of the
// service.
func ReadPartition(ctx context.Context, broker, topic string, partition int, each func(kafka.Message)) error {
	conn, err := kafka.DialLeader(ctx, "tcp", broker, topic, partition)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	offset, end, err := conn.ReadOffsets()
	if err != nil {
		return err
	}
	for offset < end {
		if _, err := conn.Seek(offset, kafka.SeekAbsolute); err != nil {
			return err
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
		batch := conn.ReadBatch(1, 10<<20)
		for offset < end {
			m, err := batch.ReadMessage()
			if err != nil {
				break // the end of this fetch; closing it reports an error
			}
			m.Topic, m.Partition = topic, partition
			offset = m.Offset + 1
			each(m)
		}
		if err := batch.Close(); err != nil {
			return err
		}
	}
	return nil
}
