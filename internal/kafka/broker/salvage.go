package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"bagtrail/internal/strictjson"
	"bagtrail/internal/wholefile"
)

// asideSuffix ends the name of a damaged file that is set aside.
const asideSuffix = ".damaged"

// salvage replaces damaged files by files with everything that is readable, so that a broker can
// start. It sets the damaged files aside.
func (f *files) salvage(n note) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil { // it may be lost whole
		return fmt.Errorf("salvage: %w", err)
	}
	for _, name := range f.unreadable {
		if err := setAside(filepath.Join(f.dir, name)); err != nil {
			return err
		}
	}
	for _, p := range f.known(n) {
		for _, d := range f.partitions[p].damaged {
			if err := d.split(); err != nil {
				return err
			}
		}
	}
	if err := f.restoreTopics(n); err != nil {
		return err
	}
	if !f.endsEarly(n) {
		return nil
	}
	// The broker will assign the lost offsets again, so committed offsets would point to other
	// records. The groups start again at the beginning: handling a record again changes nothing.
	return errors.Join(setAside(filepath.Join(f.dir, "groups.log")), setAside(filepath.Join(f.dir, "session_state.json")))
}

// restoreTopics writes topics.json with every known partition, and meta.json if it is missing.
func (f *files) restoreTopics(n note) error {
	for _, p := range f.known(n) {
		f.topics.add(p)
	}
	if err := wholefile.Write(filepath.Join(f.dir, topicsFile), strictjson.Encode(f.topics)); err != nil {
		return err
	}
	if !slices.Contains(f.unreadable, metaFile) {
		return nil
	}
	return wholefile.Write(filepath.Join(f.dir, metaFile), []byte(`{"version":1,"cluster_id":"`+clusterID+`"}`))
}

// endsEarly reports whether a partition ends before its noted end.
func (f *files) endsEarly(n note) bool {
	return slices.ContainsFunc(f.known(n), func(p partitionID) bool {
		noted, _ := n.of(p)
		return span(f.partitions[p].extents).End < noted.End
	})
}

// split writes each run of the segment into a segment of its own, since the broker reads a segment
// only up to the first damaged batch. First it copies the segment aside. It replaces the segment
// itself last, so split can be repeated after a crash.
func (d damagedSegment) split() error {
	data, err := os.ReadFile(d.path)
	if err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	if err := wholefile.Write(asideOf(d.path), data); err != nil {
		return err
	}
	first := run{extent: extent{First: d.base, End: d.base}} // empty if the first batch is damaged
	for _, r := range d.runs {
		if r.First == d.base {
			first = r
		} else if err := d.write(r, data); err != nil {
			return err
		}
	}
	return d.write(first, data)
}

// write writes a run as a segment, its index first.
func (d damagedSegment) write(r run, data []byte) error {
	name := filepath.Join(filepath.Dir(d.path), strconv.FormatInt(r.First, 10))
	batches := data[r.from:r.to]
	if err := wholefile.Write(name+indexSuffix, indexOf(batches)); err != nil {
		return err
	}
	return wholefile.Write(name+segmentSuffix, batches)
}

// setAside renames a file, if it exists.
func setAside(path string) error {
	if err := os.Rename(path, asideOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a damaged file aside: %w", err)
	}
	return nil
}

// asideOf returns an unused name for a file that is set aside.
func asideOf(path string) string {
	aside := path + asideSuffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); err != nil {
			return aside
		}
		aside = path + asideSuffix + "." + strconv.Itoa(n)
	}
}
