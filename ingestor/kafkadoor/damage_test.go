package kafkadoor_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
)

// keptLog is the directory of a broker that was stopped, with 60 records in batches of ten on
// partition 0.
func keptLog(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w, inside := startEmbedded(t, dir)
	for first := 0; first < 60; first += 10 {
		w.produce(0, records(first, 10)...)
	}
	stop := w.consume()
	w.waitCommitted(60)
	stop()
	closed(t, inside)
	return dir
}

func segmentFile(dir string, base int) string {
	return filepath.Join(dir, "log", "partitions", "bim.raw-0", fmt.Sprintf("%d.dat", base))
}

// batchesOf returns where the batches of a segment begin.
func batchesOf(t *testing.T, path string) (at []int) {
	t.Helper()
	data := contents(t, path)
	for i := 0; i < len(data); i += 12 + int(binary.BigEndian.Uint32(data[i+8:])) {
		at = append(at, i)
	}
	return at
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// flip changes one byte of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	data := contents(t, path)
	data[at] ^= 0x40
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// allFiles returns the contents of every file below a directory, but for the lock.
func allFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != "lock" {
			all[path] = string(contents(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantRefused fails unless the broker refuses to start, says these words, and leaves every file as
// it is.
func wantRefused(t *testing.T, dir string, words ...string) {
	t.Helper()
	before := allFiles(t, dir)
	_, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"})
	if err == nil {
		t.Fatal("it starts")
	}
	for _, word := range append(words, "BAGTRAIL_EMBEDDED_KAFKA_ACCEPT_LOSS") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	if !maps.Equal(before, allFiles(t, dir)) {
		t.Error("files have changed")
	}
}

// accept starts the broker with what is readable, and returns which of the 60 messages it has, and
// what its log says.
func accept(t *testing.T, dir string) (have []int, said string) {
	t.Helper()
	core, logs := observer.New(zap.ErrorLevel)
	inside, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0", AcceptLoss: true, Logger: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, index: newIndex(), metrics: &metrics{}, kafka: embeddedKafka(inside), conf: embeddedDoor}
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.door.Rebuild(t.Context(), w.rebuilder(), kafka.Start{}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if len(w.index.stored(plate(i))) == 1 {
			have = append(have, i)
		}
	}
	closed(t, inside)
	for _, entry := range logs.All() {
		said += fmt.Sprintf("%s %v: %v\n", entry.Message, entry.ContextMap()["where"], entry.ContextMap()["lost"])
	}
	again, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatalf("what was accepted is refused at the next start: %v", err)
	}
	closed(t, again)
	return have, said
}

// wantAccepted fails unless the first n of the 60 messages, and no others, are readable.
func wantAccepted(t *testing.T, dir string, n int) {
	t.Helper()
	if have, _ := accept(t, dir); !slices.Equal(have, span(0, n)) {
		t.Errorf("has %v, want the first %d", have, n)
	}
}

func span(first, end int) (list []int) {
	for i := first; i < end; i++ {
		list = append(list, i)
	}
	return list
}

func TestOneFlippedByteInASegmentIsNoSilentLoss(t *testing.T) {
	for name, at := range map[string]int{"offset": 3, "length": 9, "magic": 16, "checksum": 18, "attributes": 22, "record": 100} {
		t.Run(name, func(t *testing.T) {
			dir := keptLog(t)
			segment := segmentFile(dir, 0)
			whole := contents(t, segment)
			third := batchesOf(t, segment)[2]
			flip(t, segment, third+at)
			wantRefused(t, dir, "bim.raw/0: missing records: 20 to 29", fmt.Sprintf("%s is damaged at byte %d", segment, third))

			have, said := accept(t, dir)
			if want := append(span(0, 20), span(30, 60)...); !slices.Equal(have, want) {
				t.Errorf("has %v, want %v", have, want)
			}
			if !strings.Contains(said, "bim.raw/0: missing records: 20 to 29") {
				t.Errorf("the log says %q", said)
			}
			aside := contents(t, segment+".damaged")
			if aside[third+at] ^= 0x40; string(aside) != string(whole) {
				t.Error("the damaged segment was not kept aside")
			}
		})
	}
}

func TestAnyFlippedByteCostsNoMoreThanItsBatch(t *testing.T) {
	whole := keptLog(t)
	starts := batchesOf(t, segmentFile(whole, 0))
	size := len(contents(t, segmentFile(whole, 0)))
	for at := 0; at < size; at += size/24 - 1 { // not in step with the batches
		dir := filepath.Join(t.TempDir(), "kafka")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		flip(t, segmentFile(dir, 0), at)
		batch, _ := slices.BinarySearch(starts, at+1)
		have, said := accept(t, dir)
		for i := range 60 {
			if i/10 != batch-1 && !slices.Contains(have, i) {
				t.Fatalf("byte %d, in batch %d: message %d is lost; the log says %s", at, batch-1, i, said)
			}
		}
	}
}

func TestADamagedLastBatchIsNoSilentLossAndGroupsBeginAgain(t *testing.T) {
	dir := keptLog(t)
	segment := segmentFile(dir, 0)
	flip(t, segment, batchesOf(t, segment)[5]+100)
	wantRefused(t, dir, "bim.raw/0: missing records: 50 to 59")
	wantAccepted(t, dir, 50)
	w, inside := startEmbedded(t, dir)
	defer closed(t, inside)
	if got := w.committed()[0]; got > 0 {
		t.Errorf("the group goes on at %d, where other records will be", got)
	}
}

func TestASegmentThatIsCutOffIsNoSilentLoss(t *testing.T) {
	dir := keptLog(t)
	segment := segmentFile(dir, 0)
	at := batchesOf(t, segment)
	for _, size := range []int{at[5] + 30, at[5], at[4] + 90} { // within a batch, between two, within the one before
		if err := os.Truncate(segment, int64(size)); err != nil {
			t.Fatal(err)
		}
		missing := "missing records: 50 to 59"
		if size < at[5] {
			missing = "missing records: 40 to 59"
		}
		wantRefused(t, dir, "bim.raw/0: "+missing)
	}
	wantAccepted(t, dir, 40)
}

// The broker writes to the last segment only, so no other one may end within a batch.
func TestASegmentThatIsCutOffBeforeAnotherIsDamaged(t *testing.T) {
	dir := keptLog(t)
	first, second := segmentFile(dir, 0), segmentFile(dir, 30)
	whole, cut := contents(t, first), batchesOf(t, first)[3]
	if err := errors.Join(os.WriteFile(first, whole[:cut+80], 0o600), os.WriteFile(second, whole[cut:], 0o600)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, fmt.Sprintf("bim.raw/0: %s is damaged at byte %d\n", first, cut))
	wantAccepted(t, dir, 60)
}

func TestASegmentThatIsGoneIsNoSilentLoss(t *testing.T) {
	dir := keptLog(t)
	if err := os.Remove(segmentFile(dir, 0)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, "bim.raw/0: missing records: 0 to 59")
	wantAccepted(t, dir, 0)
}

func TestAMissingOrDamagedDescriptionOfTheTopicsLosesNothing(t *testing.T) {
	for _, name := range []string{"topics.json", "meta.json"} {
		for what, spoil := range map[string]func(path string) error{
			"missing": os.Remove,
			"damaged": func(path string) error { return os.WriteFile(path, []byte(`{"version":1,"topi`), 0o600) },
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				dir := keptLog(t)
				path := filepath.Join(dir, "log", name)
				if err := spoil(path); err != nil {
					t.Fatal(err)
				}
				wantRefused(t, dir, path+": the file is missing or cannot be read")
				wantAccepted(t, dir, 60)
			})
		}
	}
}

func TestATopicThatIsNotDescribedIsNamed(t *testing.T) {
	dir := keptLog(t)
	path := filepath.Join(dir, "log", "topics.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"topics":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, "bim.raw/0: the partition is missing in topics.json", "bim.raw/1:", "bim.rejected/0:")
	wantAccepted(t, dir, 60)
}

func TestADamagedNoteIsNamed(t *testing.T) {
	dir := keptLog(t)
	note := filepath.Join(dir, "note.json")
	flip(t, note, 0)
	wantRefused(t, dir, note)
	wantAccepted(t, dir, 60)
}

func TestALossOfTheWholeLogCanBeAccepted(t *testing.T) {
	dir := keptLog(t)
	if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, "bim.raw/0")
	if have, said := accept(t, dir); len(have) != 0 || !strings.Contains(said, "bim.raw/0") {
		t.Errorf("has %v, says %s", have, said)
	}
}

// A file that cannot be read, such as one of another user, is not a loss that could be accepted.
func TestANoteThatCannotBeReadIsNoLoss(t *testing.T) {
	dir := keptLog(t)
	note := filepath.Join(dir, "note.json")
	if err := errors.Join(os.Remove(note), os.Mkdir(note, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, accept := range []bool{false, true} {
		_, err := broker.Start(broker.Config{Dir: dir, Addr: "127.0.0.1:0", AcceptLoss: accept})
		if err == nil || !strings.Contains(err.Error(), note) || strings.Contains(err.Error(), "lost") {
			t.Errorf("losses accepted %t: %v", accept, err)
		}
	}
}

func TestALogWithoutANoteIsTakenAsItIs(t *testing.T) {
	dir := keptLog(t)
	if err := os.Remove(filepath.Join(dir, "note.json")); err != nil {
		t.Fatal(err)
	}
	w, inside := startEmbedded(t, dir)
	if got := len(w.all(w.conf.Topics.Raw)); got != 60 {
		t.Errorf("%d records", got)
	}
	closed(t, inside)
	// Damage in the middle needs no note to be seen.
	segment := segmentFile(dir, 0)
	flip(t, segment, batchesOf(t, segment)[1]+100)
	if err := os.Remove(filepath.Join(dir, "note.json")); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, "bim.raw/0: missing records: 10 to 19")
}

func TestWhatWasBegunToBeWrittenWhenTheProcessWasKilledIsNoLoss(t *testing.T) {
	dir := keptLog(t)
	segment := segmentFile(dir, 0)
	data := contents(t, segment)
	torn := append(slices.Clone(data), data[:80]...) // the beginning of a batch, which nobody was told is kept
	binary.BigEndian.PutUint64(torn[len(data):], 60)
	if err := os.WriteFile(segment, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	w, inside := startEmbedded(t, dir)
	defer closed(t, inside)
	w.produce(0, records(60, 10)...)
	if got := len(w.all(w.conf.Topics.Raw)); got != 70 {
		t.Errorf("%d records, want 70", got)
	}
}

func TestADirectoryThatCannotBeWrittenIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kafka")
	w, inside := startEmbedded(t, dir)
	w.eventually("the note is written", func() bool { _, err := os.Stat(filepath.Join(dir, "note.json")); return err == nil })
	if err := inside.Check(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is said", func() bool { return inside.Check() != nil })
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is well again", func() bool { return inside.Check() == nil })
	closed(t, inside)
}

func TestASnapshotWithWrongOffsetsHidesNoRecord(t *testing.T) {
	whole := keptLog(t)
	for _, change := range [][2]string{
		{`"last_stable_offset":60`, `"last_stable_offset":20`}, {`"last_stable_offset"`, `"last_stable_offseu"`},
		{`"high_watermark":60`, `"high_watermark":40`}, {`"log_start_offset":0`, `"log_start_offset":8`},
	} {
		t.Run(change[1], func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "kafka")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(filepath.Dir(segmentFile(dir, 0)), "snapshot.json")
			text := string(contents(t, path))
			if !strings.Contains(text, change[0]) {
				t.Fatalf("%s is not in %s", change[0], text)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(text, change[0], change[1], 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if have, said := accept(t, dir); !slices.Equal(have, span(0, 60)) || said != "" {
				t.Errorf("has %v, and the log says %q", have, said)
			}
		})
	}
}

// A process that has created no topic deletes old records too.
func TestRecordsAreDeletedAfterTheRetentionOfTheirTopic(t *testing.T) {
	dir := keptLog(t)
	w, inside := startEmbedded(t, dir)
	w.set(w.conf.Topics.Raw, "retention.ms", "1")
	closed(t, inside)
	for range 2 { // the deletion is no loss for the next start
		w, inside = startEmbedded(t, dir)
		w.eventually("the old records are deleted", func() bool {
			return strings.Contains(string(contents(t, filepath.Join(dir, "note.json"))), `"first":60`)
		})
		closed(t, inside)
	}
}

func TestAPartitionWhoseRecordsWereAllDeletedGoesOnAtItsEnd(t *testing.T) {
	dir := keptLog(t)
	w, inside := startEmbedded(t, dir)
	w.deleteBefore(0, 60)
	deleted := func() bool {
		return strings.Contains(string(contents(t, filepath.Join(dir, "note.json"))), `"first":60`)
	}
	w.eventually("the note says so", deleted)
	killed := filepath.Join(t.TempDir(), "kafka")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	closed(t, inside)
	for what, dir := range map[string]string{"stopped": dir, "killed": killed} {
		t.Run(what, func(t *testing.T) {
			for round := range 2 { // empty, then with records
				w, inside := startEmbedded(t, dir)
				w.produce(0, records(60+10*round, 10)...)
				all := w.all(w.conf.Topics.Raw)
				if n := len(all); n != 10*(round+1) || all[0].Offset != 60 {
					t.Errorf("round %d: %d records, want %d from offset 60 on", round, n, 10*(round+1))
				}
				closed(t, inside)
			}
		})
	}
}

func TestAnAcceptedLossTakesNoOffsetsFromAnEmptyPartition(t *testing.T) {
	dir := keptLog(t)
	w, inside := startEmbedded(t, dir)
	w.deleteBefore(0, 60)
	closed(t, inside)
	if err := os.Remove(filepath.Join(dir, "log", "meta.json")); err != nil {
		t.Fatal(err)
	}
	if _, said := accept(t, dir); !strings.Contains(said, "meta.json") {
		t.Errorf("the log says %q", said)
	}
	w, inside = startEmbedded(t, dir)
	defer closed(t, inside)
	w.produce(0, records(0, 1)...)
	if all := w.all(w.conf.Topics.Raw); len(all) != 1 || all[0].Offset != 60 {
		t.Errorf("%d records, the first at %d", len(all), all[0].Offset)
	}
}
