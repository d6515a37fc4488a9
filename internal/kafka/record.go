package kafka

import (
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Record is one record of a topic. If Key is nil, the record has no key. If Value is nil, it is a
// tombstone.
type Record struct {
	Partition int   // set by Produce and by readers
	Offset    int64 // set by Produce and by readers
	Time      time.Time
	Key       []byte
	Value     []byte
	Headers   []Header
}

// Header is a header of a record.
type Header = kafkago.Header

// Header returns the value of the first header with that key, or "".
func (r *Record) Header(key string) string {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			return string(r.Headers[i].Value)
		}
	}
	return ""
}
