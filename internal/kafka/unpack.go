package kafka

import (
	"errors"
	"io"
	"sync"

	"github.com/segmentio/kafka-go/compress"
)

// unpackedMost is how many bytes a batch may have unpacked. Brokers bound its packed size only, and a
// few KiB may hold gigabytes.
const unpackedMost = 64 << 20

// errUnpacked keeps a partition where it is: other partitions go on, and the log names the offset.
var errUnpacked = errors.New("a batch has more than 64 MiB unpacked")

// boundCodecs bounds what is unpacked of a batch. kafka-go has one table of codecs for all clients.
var boundCodecs = sync.OnceFunc(func() {
	for i, codec := range compress.Codecs {
		if codec != nil {
			compress.Codecs[i] = boundedCodec{codec}
		}
	}
})

// boundedCodec unpacks at most unpackedMost bytes.
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
