package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
)

// startCheck compares the files of the broker with the note when it starts, so that no loss goes
// unnoticed.
type startCheck struct {
	conf  Config
	dir   string // of the log
	path  string // of the note
	note  note
	files *files
}

// beforeLoad compares the files with the note. It must run before the broker starts, which removes
// everything that it cannot read.
func (c *startCheck) beforeLoad() (err error) {
	if c.note, err = readNote(c.path); err != nil {
		if _, unreadable := errors.AsType[*fs.PathError](err); unreadable { // the file may be whole
			return err
		}
		if err := c.accept([]loss{{c.path, err.Error()}}); err != nil {
			return err
		}
		if err := setAside(c.path); err != nil {
			return err
		}
	}
	if c.files, err = inspect(c.dir); err != nil {
		return err
	}
	noted, lost := c.note, c.files.losses(c.note)
	if len(lost) > 0 {
		if err := c.accept(lost); err != nil {
			return err
		}
		if err := c.files.salvage(c.note); err != nil {
			return err
		}
		c.note = note{}
		if c.files, err = inspect(c.dir); err != nil {
			return err
		}
	}
	return c.files.mendSnapshots(noted) // also after a loss, so that empty partitions keep their ends
}

// afterLoad compares the offsets that the broker has loaded with the note and the files.
func (c *startCheck) afterLoad(cluster *kfake.Cluster) error {
	var lost []loss
	for _, p := range c.files.known(c.note) {
		want, noted := c.note.of(p)
		want.End = max(want.End, span(c.files.partitions[p].extents).End)
		loaded := cluster.PartitionInfo(p.topic, int32(p.number))
		switch {
		case loaded == nil:
			lost = append(lost, loss{p.String(), "the broker has not loaded the partition"})
		case noted && loaded.LogStartOffset > want.First || loaded.HighWatermark < want.End:
			lost = append(lost, loss{p.String(), fmt.Sprintf("the broker has loaded the offsets from %d up to %d, but the log holds those from %d up to %d",
				loaded.LogStartOffset, loaded.HighWatermark, want.First, want.End)})
		}
	}
	return c.accept(lost)
}

// gaps returns the offsets that are missing between the first and the last record of each
// partition.
func (c *startCheck) gaps() map[partitionID][]extent {
	gaps := make(map[partitionID][]extent)
	for p, partition := range c.files.partitions {
		gaps[p] = subtract([]extent{span(partition.extents)}, partition.extents)
	}
	return gaps
}

// accept logs losses if they are accepted. If not, it returns an error that says what is lost and
// what to do.
func (c *startCheck) accept(lost []loss) error {
	if len(lost) > 0 && !c.conf.AcceptLoss {
		var text strings.Builder
		text.WriteString("a part of the log is lost:\n")
		for _, l := range lost {
			fmt.Fprintf(&text, "  %s\n", l)
		}
		text.WriteString("Nothing was changed. Bring the files back from a copy, or start with what is readable: BAGTRAIL_EMBEDDED_KAFKA_ACCEPT_LOSS=true")
		return errors.New(text.String())
	}
	for _, l := range lost {
		c.conf.Logger.Error("a part of the log of the in-process kafka is lost; going on with what is readable",
			zap.String("where", l.where), zap.String("lost", l.what))
	}
	return nil
}
