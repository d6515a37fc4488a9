package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/pause"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/wholefile"
)

// note says which offsets the log holds. It is a file beside the log. The broker itself assumes
// that the files that it finds are the whole log; the note shows if something is missing.
type note struct {
	Topics map[string][]notedPartition `json:"topics"` // partitions by their numbers
}

type notedPartition struct {
	First int64    `json:"first"`
	End   int64    `json:"end"`
	Gaps  []extent `json:"gaps,omitempty"` // missing offsets between First and End, which were accepted as lost
}

// of returns the entry of a partition, if there is one.
func (n note) of(p partitionID) (notedPartition, bool) {
	if partitions := n.Topics[p.topic]; p.number < len(partitions) {
		return partitions[p.number], true
	}
	return notedPartition{}, false
}

// readNote reads the note. If there is no file, as at the first start, the note is empty.
func readNote(path string) (n note, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return note{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return note{}, fmt.Errorf("read the note of what the log holds: %w", err)
	}
	return n, nil
}

const (
	noteEvery      = time.Second     // how often the note is written if it has changed
	probeEvery     = 5 * time.Second // how often it is written in any case, to check that files can be written
	retentionEvery = time.Hour       // how often records that are older than the retention of their topic are deleted
)

// noteWriter writes the note of a running broker.
type noteWriter struct {
	path    string // of the note
	topics  string // path of topics.json
	cluster *kfake.Cluster
	gaps    map[partitionID][]extent

	last    []byte    // the note that was written last
	written time.Time // when it was written
	mu      sync.Mutex
	err     error // of the last attempt
}

// run writes the note regularly until ctx ends, and then once more. The broker itself deletes old
// records only in the process that has created their topics, so run deletes them. It does so just
// before it writes the note: if the process is killed in between, the next start reports a loss.
func (w *noteWriter) run(ctx context.Context) {
	defer w.write()
	var deleted time.Time
	deleteAndWrite := func() {
		if time.Since(deleted) >= retentionEvery {
			w.cluster.ApplyRetention()
			deleted = time.Now()
		}
		w.write()
	}
	deleteAndWrite()
	pause.Every(ctx, noteEvery, deleteAndWrite)
}

// check returns the error of the last attempt to write.
func (w *noteWriter) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// write writes the note if it has changed, or if a probe is due. Otherwise the error of the last
// attempt holds.
func (w *noteWriter) write() {
	current, err := w.currentNote()
	data := strictjson.Encode(current)
	if err == nil && bytes.Equal(data, w.last) && time.Since(w.written) < probeEvery {
		return
	}
	if err == nil {
		err = wholefile.Write(w.path, data)
	}
	if err == nil {
		w.last, w.written = data, time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

// currentNote makes a note of the offsets that the broker holds now.
func (w *noteWriter) currentNote() (note, error) {
	data, err := os.ReadFile(w.topics)
	if err != nil {
		return note{}, fmt.Errorf("make the note of what the log holds: %w", err)
	}
	var document topicsDocument
	if err := json.Unmarshal(data, &document); err != nil {
		return note{}, fmt.Errorf("make the note of what the log holds: %s: %w", filepath.Base(w.topics), err)
	}
	n := note{Topics: make(map[string][]notedPartition)}
	for _, topic := range document.Topics {
		var list []notedPartition
		for i, p := range w.cluster.PartitionInfos(topic.Name) {
			whole := extent{p.LogStartOffset, p.HighWatermark}
			held := subtract([]extent{whole}, w.gaps[partitionID{topic.Name, i}])
			list = append(list, notedPartition{First: p.LogStartOffset, End: p.HighWatermark, Gaps: subtract([]extent{whole}, held)})
		}
		n.Topics[topic.Name] = list
	}
	return n, nil
}
