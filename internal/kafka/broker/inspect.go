package broker

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files of the broker in its directory: meta.json, topics.json, other JSON files, and for each
// partition a directory partitions/TOPIC-NUMBER with segments OFFSET.dat, their indexes OFFSET.idx
// and snapshot.json.
const (
	metaFile      = "meta.json"
	topicsFile    = "topics.json"
	partitionsDir = "partitions"
	segmentSuffix = ".dat"
	indexSuffix   = ".idx"
)

// partitionID names a partition.
type partitionID struct {
	topic  string
	number int
}

func (p partitionID) String() string { return p.topic + "/" + strconv.Itoa(p.number) }

// files describes the files of a broker that is not running.
type files struct {
	dir        string
	topics     topicsDocument
	unreadable []string // names of JSON files that are damaged or missing
	partitions map[partitionID]partitionFiles
}

// partitionFiles describes the files of a partition.
type partitionFiles struct {
	extents []extent // the readable offsets
	damaged []damagedSegment
}

type damagedSegment struct {
	path string
	base int64
	segment
}

// topicsDocument is topics.json.
type topicsDocument struct {
	Version int             `json:"version"`
	Topics  []topicDocument `json:"topics"`
}

type topicDocument struct {
	Name       string            `json:"name"`
	ID         []byte            `json:"id"`
	Partitions int               `json:"partitions"`
	Replicas   int               `json:"replicas"`
	Configs    map[string]string `json:"configs,omitempty"`
}

func (d *topicsDocument) has(p partitionID) bool {
	t := d.topic(p.topic)
	return t != nil && p.number < t.Partitions
}

func (d *topicsDocument) topic(name string) *topicDocument {
	for i := range d.Topics {
		if d.Topics[i].Name == name {
			return &d.Topics[i]
		}
	}
	return nil
}

// add adds the partition and its topic, if they are missing.
func (d *topicsDocument) add(p partitionID) {
	t := d.topic(p.topic)
	if t == nil {
		id := make([]byte, 16)
		_, _ = rand.Read(id) // it never fails
		d.Topics = append(d.Topics, topicDocument{Name: p.topic, ID: id, Replicas: 1})
		t = &d.Topics[len(d.Topics)-1]
	}
	t.Partitions = max(t.Partitions, p.number+1)
}

// inspect reads the files of a broker that is not running. It changes nothing.
func inspect(dir string) (*files, error) {
	f := &files{dir: dir, topics: topicsDocument{Version: 1}, partitions: make(map[partitionID]partitionFiles)}
	if err := f.readDocuments(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, partitionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look at the log: %w", err)
	}
	for _, entry := range entries {
		at := strings.LastIndex(entry.Name(), "-")
		if at < 0 || !entry.IsDir() {
			continue
		}
		topic, err := url.PathUnescape(entry.Name()[:at])
		n, err2 := strconv.Atoi(entry.Name()[at+1:])
		if err != nil || err2 != nil {
			continue
		}
		t := f.topics.topic(topic)
		gaps := t != nil && strings.Contains(t.Configs["cleanup.policy"], "compact")
		partition, err := readPartition(filepath.Join(dir, partitionsDir, entry.Name()), gaps)
		if err != nil {
			return nil, err
		}
		f.partitions[partitionID{topic, n}] = partition
	}
	return f, nil
}

// readDocuments reads topics.json, and checks that the other JSON files are valid.
func (f *files) readDocuments() error {
	paths, err := filepath.Glob(filepath.Join(f.dir, "*.json"))
	if err != nil {
		return fmt.Errorf("look at the log: %w", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("look at the log: %w", err)
		}
		name := filepath.Base(path)
		if !json.Valid(data) {
			f.unreadable = append(f.unreadable, name)
		} else if name == topicsFile && json.Unmarshal(data, &f.topics) != nil {
			f.topics = topicsDocument{Version: 1}
			f.unreadable = append(f.unreadable, name)
		}
	}
	for _, name := range []string{metaFile, topicsFile} { // without them the broker would start an empty log over the old one
		if _, err := os.Stat(filepath.Join(f.dir, name)); errors.Is(err, fs.ErrNotExist) {
			f.unreadable = append(f.unreadable, name)
		}
	}
	return nil
}

// readPartition reads the segments of a partition. With gaps set, missing offsets between the first
// and the last record do not count, as in a compacted topic.
func readPartition(dir string, gaps bool) (p partitionFiles, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p, fmt.Errorf("look at the log: %w", err)
	}
	var bases []int64
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), segmentSuffix); found {
			if base, err := strconv.ParseInt(name, 10, 64); err == nil {
				bases = append(bases, base)
			}
		}
	}
	slices.Sort(bases)
	var runs []run
	for i, base := range bases {
		path := filepath.Join(dir, strconv.FormatInt(base, 10)+segmentSuffix)
		data, err := os.ReadFile(path)
		if err != nil {
			return p, fmt.Errorf("look at the log: %w", err)
		}
		s := scanSegment(data, base, gaps, i == len(bases)-1)
		if s.damaged >= 0 {
			p.damaged = append(p.damaged, damagedSegment{path, base, s})
		}
		runs = append(runs, s.runs...)
	}
	if p.extents = extentsOf(runs); gaps && len(p.extents) > 0 {
		p.extents = []extent{span(p.extents)}
	}
	return p, nil
}

// loss is a part of the files that is missing or damaged.
type loss struct {
	where string // a partition, or a file
	what  string
}

func (l loss) String() string { return l.where + ": " + l.what }

// losses compares the files with the note. An empty directory without a note is a first start, not
// a loss.
func (f *files) losses(n note) (list []loss) {
	if len(n.Topics) == 0 && len(f.partitions) == 0 {
		return nil
	}
	for _, name := range f.unreadable {
		list = append(list, loss{filepath.Join(f.dir, name), "the file is missing or cannot be read"})
	}
	for _, p := range f.known(n) {
		var what []string
		if !f.topics.has(p) {
			what = append(what, "the partition is missing in "+topicsFile)
		}
		if missing := f.missing(p, n); len(missing) > 0 {
			what = append(what, "missing records: "+describe(missing))
		}
		for _, d := range f.partitions[p].damaged {
			what = append(what, fmt.Sprintf("%s is damaged at byte %d", d.path, d.segment.damaged))
		}
		if len(what) > 0 {
			list = append(list, loss{p.String(), strings.Join(what, "; ")})
		}
	}
	return list
}

// known returns every partition of the files and of the note, in order.
func (f *files) known(n note) (list []partitionID) {
	list = slices.Collect(maps.Keys(f.partitions))
	for topic, partitions := range n.Topics {
		for number := range partitions {
			list = append(list, partitionID{topic, number})
		}
	}
	slices.SortFunc(list, func(a, b partitionID) int {
		return cmp.Or(strings.Compare(a.topic, b.topic), a.number-b.number)
	})
	return slices.Compact(list)
}

// missing returns the offsets of a partition that are in the note and not in the files, and the
// gaps in the files that are not in the note.
func (f *files) missing(p partitionID, n note) []extent {
	noted, _ := n.of(p)
	return subtract(subtract([]extent{f.whole(p, n)}, noted.Gaps), f.partitions[p].extents)
}

// whole returns the offsets that a partition holds by the note, which may be older than the files: it
// begins where the note says, and ends where the later of both does.
func (f *files) whole(p partitionID, n note) extent {
	held := span(f.partitions[p].extents)
	if noted, isNoted := n.of(p); isNoted {
		return extent{noted.First, max(noted.End, held.End)}
	}
	return held
}
