package broker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
)

// keeper sees to it at the start of the in-process broker that no part of its log is missing without a word.
type keeper struct {
	conf Config
	dir  string // of the log
	path string // of the note
	note note
	held *files
}

// before compares the files with the note before the broker touches them, which would cut off what it cannot read.
func (k *keeper) before() (err error) {
	if k.note, err = readNote(k.path); err != nil {
		if !k.conf.AcceptLoss {
			return lostError([]loss{{k.path, err.Error()}})
		}
		k.say([]loss{{k.path, err.Error()}})
		if err := setAside(k.path); err != nil {
			return err
		}
	}
	if k.held, err = inspect(k.dir); err != nil {
		return err
	}
	lost := k.held.losses(k.note)
	if len(lost) == 0 {
		return nil
	}
	if !k.conf.AcceptLoss {
		return lostError(lost)
	}
	k.say(lost)
	if err := k.held.salvage(k.note); err != nil {
		return err
	}
	k.note = note{}
	k.held, err = inspect(k.dir)
	return err
}

// after compares what the broker has loaded with the note and the files.
func (k *keeper) after(cluster *kfake.Cluster) error {
	var lost []loss
	for _, p := range k.held.known(k.note) {
		want, noted := k.note.of(p)
		if held := k.held.partitions[p]; held != nil && len(held.held) > 0 {
			want.End = max(want.End, held.held[len(held.held)-1].End)
		}
		loaded := cluster.PartitionInfo(p.topic, int32(p.number))
		switch {
		case loaded == nil:
			lost = append(lost, loss{p.String(), "the broker has not loaded the partition"})
		case noted && loaded.LogStartOffset > want.First || loaded.HighWatermark < want.End:
			lost = append(lost, loss{p.String(), fmt.Sprintf("the broker has loaded the offsets from %d on up to %d, of %d to %d",
				loaded.LogStartOffset, loaded.HighWatermark, want.First, want.End)})
		}
	}
	if len(lost) > 0 && !k.conf.AcceptLoss {
		return lostError(lost)
	}
	k.say(lost)
	return nil
}

// gaps returns what is missing between the first and the last record of each partition.
func (k *keeper) gaps() map[partitionID][]extent {
	gaps := make(map[partitionID][]extent)
	for p, files := range k.held.partitions {
		if n := len(files.held); n > 1 {
			gaps[p] = subtract([]extent{{files.held[0].First, files.held[n-1].End}}, files.held)
		}
	}
	return gaps
}

// say logs what is lost and accepted.
func (k *keeper) say(lost []loss) {
	for _, l := range lost {
		k.conf.Logger.Error("a part of the log of the in-process kafka is lost; going on with what is readable",
			zap.String("where", l.where), zap.String("lost", l.what))
	}
}

// lostError says what is lost, and what to do.
func lostError(lost []loss) error {
	var text strings.Builder
	text.WriteString("a part of the log is lost:\n")
	for _, l := range lost {
		fmt.Fprintf(&text, "  %s\n", l)
	}
	text.WriteString("Nothing was changed. Bring the files back from a copy, or start with what is readable: BAGTRAIL_EMBEDDED_KAFKA_ACCEPT_LOSS=true")
	return errors.New(text.String())
}
