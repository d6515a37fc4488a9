package kafka

import (
	"errors"
	"io"
	"sync"

	"github.com/segmentio/kafka-go/compress"
)

// unpackedMost is the largest size of a record batch after decompression, in bytes. Brokers bound
// only the compressed size, and a few KiB may decompress to gigabytes.
const unpackedMost = 64 << 20

// errUnpacked stops the consumer of one partition. Other partitions continue, and the log names the
// offset.
var errUnpacked = errors.New("a batch has more than 64 MiB unpacked")

// boundCodecs bounds what the codecs decompress of a batch. kafka-go has one table of codecs for
// all clients.
var boundCodecs = sync.OnceFunc(func() {
	for i, codec := range compress.Codecs {
		if codec != nil {
			compress.Codecs[i] = boundedCodec{codec}
		}
	}
})

// boundedCodec decompresses at most unpackedMost bytes.
type boundedCodec struct{ compress.Codec }

// NewReader implements compress.Codec.
func (c boundedCodec) NewReader(r io.Reader) io.ReadCloser {
	return &boundedReader{c.Codec.NewReader(r), unpackedMost}
}

type boundedReader struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.left -= n; r.left < 0 {
		return 0, errUnpacked
	}
	return n, err
}
