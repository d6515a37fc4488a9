package bagstore

import (
	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/trail"
)

// What is read for a question, and made of it, in bytes.
const (
	ofHash    = 2 << 10 // of a usual plate, or container
	ofVersion = 512     // of one of which the version is asked for
	ofByte    = 4       // of a byte of a reply: the reply, the texts, the messages, and what is not collected yet
)

// isLarge is how many bytes a reply has that is noted, so that who asks for it next can wait before it is read, and reads it alone.
const isLarge = 256 << 10

// expect returns about how many bytes a question takes that wants this, and whether some of it is known to be large.
func (r *Reader) expect(w *trail.Wanted) (bytes int64, large bool) {
	versions := len(w.TrailVersions) + len(w.StowageVersions)
	bytes = ofHash*int64(w.Size()-versions) + ofVersion*int64(versions)
	for _, plate := range w.Trails {
		if noted := r.large.Get(string(plate)); noted > 0 {
			bytes, large = bytes+ofByte*noted, true
		}
	}
	return bytes, large
}

// measure returns how many bytes a question takes that has these replies, and notes which plates are large. The new plates of a
// flight are counted before they are read, so that who waits for that holds their names only.
func (r *Reader) measure(q *query, w *trail.Wanted, flights, trails []*goredis.StringSliceCmd) (bytes int64) {
	for _, reply := range flights {
		bytes += ofHash * int64(max(0, len(reply.Val())-len(w.TrailVersions)))
	}
	for _, reply := range q.replies {
		bytes += ofByte * bytesOf(reply)
	}
	for i, reply := range trails {
		n := bytesOf(reply)
		if n <= isLarge {
			n = 0
		}
		r.large.Set(n, string(w.Trails[i]))
	}
	return bytes
}

func bytesOf(reply *goredis.StringSliceCmd) (bytes int64) {
	for _, word := range reply.Val() {
		bytes += int64(len(word))
	}
	return bytes
}
