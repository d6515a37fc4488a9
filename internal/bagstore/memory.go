package bagstore

import (
	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
)

// Estimates of the memory that a question takes, in bytes, see budget.Question.
const (
	bytesPerHash    = 2 << 10 // for the hash of a usual plate or container
	bytesPerVersion = 512     // if only the version is read
	bytesPerByte    = 4       // of a reply: the reply itself, texts, messages, and garbage
)

// largeReply is the number of bytes above which the size of a reply is remembered. Then the next
// query for the same plate waits for that memory before it is sent, and is sent alone.
const largeReply = 256 << 10

// maxLarge is how many sizes of large replies a generation of their cache holds.
const maxLarge = 1 << 10

// estimate returns about how many bytes a question takes, and whether the last reply for one of its
// plates was large.
func (r *Reader) estimate(w *trail.Wanted) (bytes int64, large bool) {
	versions := len(w.PlateVersions) + len(w.StowageVersions)
	bytes = bytesPerHash*int64(w.Size()-versions) + bytesPerVersion*int64(versions)
	for _, plate := range w.PlateMessages {
		if size, noted := r.large.Get(plate); noted {
			bytes, large = bytes+bytesPerByte*size, true
		}
	}
	return bytes, large
}

// measure returns about how many bytes a question takes, now that its replies are known. For a
// question about one flight the number includes the messages of its new plates, which are read
// next. So the question waits for that memory while it holds only the list of plates. A question
// about several flights only searches their lists for plates, and then reads few plates.
func (q *query) measure(w *trail.Wanted, flights []*goredis.StringSliceCmd) (bytes int64) {
	if len(flights) == 1 {
		bytes = bytesPerHash * int64(max(0, len(flights[0].Val())-len(w.PlateVersions)))
	}
	for _, reply := range q.replies {
		bytes += bytesPerByte * sizeOf(reply)
	}
	return bytes
}

// remember records which of the plates have large replies.
func (r *Reader) remember(plates []bag.Plate, replies []*goredis.StringSliceCmd) {
	for i, reply := range replies {
		if size := sizeOf(reply); size > largeReply {
			r.large.Put(plates[i], size, 1)
		} else {
			r.large.Remove(plates[i])
		}
	}
}

// sizeOf returns the size of a reply in bytes.
func sizeOf(reply *goredis.StringSliceCmd) (bytes int64) {
	for _, word := range reply.Val() {
		bytes += int64(len(word))
	}
	return bytes
}
