package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"bagtrail/internal/strictjson"
	"bagtrail/internal/wholefile"
)

// snapshotFile is the file in the directory of a partition in which the broker writes, when it
// stops, which offsets the partition holds. The file has no checksum, and the broker believes it.
const snapshotFile = "snapshot.json"

// snapshot is the part of a snapshot that this package reads and writes.
type snapshot struct {
	Version int `json:"version"`
	offsets
	Segments []snapshotSegment `json:"segments"`
}

// offsets are the offsets between which clients read.
type offsets struct {
	First     int64 `json:"log_start_offset"`
	End       int64 `json:"high_watermark"`
	Committed int64 `json:"last_stable_offset"`
}

type snapshotSegment struct {
	Base int64 `json:"base_offset"`
}

// mendSnapshots makes the broker load each partition with the offsets of the note and of the
// segments.
func (f *files) mendSnapshots(n note) error {
	for _, p := range f.known(n) {
		whole := f.whole(p, n)
		dir := filepath.Join(f.dir, partitionsDir, url.PathEscape(p.topic)+"-"+strconv.Itoa(p.number))
		var err error
		if len(f.partitions[p].extents) == 0 && whole.End > 0 {
			err = writeEmptyPartition(dir, whole.End)
		} else {
			err = removeWrongSnapshot(filepath.Join(dir, snapshotFile), offsets{whole.First, whole.End, whole.End})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeEmptyPartition writes the files of a partition whose records were all deleted. Without them
// the broker would begin the partition at offset 0 again.
func writeEmptyPartition(dir string, end int64) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write an empty partition: %w", err)
	}
	s := snapshot{Version: 1, offsets: offsets{end, end, end}, Segments: []snapshotSegment{{Base: end}}}
	return errors.Join(
		wholefile.Write(filepath.Join(dir, strconv.FormatInt(end, 10)+segmentSuffix), nil),
		wholefile.Write(filepath.Join(dir, snapshotFile), strictjson.Encode(s)),
	)
}

// removeWrongSnapshot removes a snapshot that has other offsets. Without it the broker reads the
// segments alone, as after a kill.
func removeWrongSnapshot(path string, want offsets) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the log: %w", err)
	}
	var found snapshot
	if json.Unmarshal(data, &found) == nil && found.offsets == want {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove a wrong snapshot: %w", err)
	}
	return nil
}
