package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bagtrail/internal/command"
)

func TestAServiceWhoseLogIsDamagedEndsWith3AndNamesThePartition(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "BAGTRAIL_DATA_DIR="+dir)
	s.post(bsmOfToday(), http.StatusOK, "")
	if code := s.down(); code != command.Done {
		t.Fatalf("exit code %d", code)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "kafka", "log", "partitions", "bim.raw-*", "0.dat"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(segments[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	partition := strings.Replace(filepath.Base(filepath.Dir(segments[0])), "-", "/", 1)
	for range 2 { // until it is accepted
		s.up([]string{"serve"})
		if code := s.wait(); code != command.Failed || !strings.Contains(s.stderr.String(), partition+": missing records: 0") {
			t.Errorf("exit code %d, %s", code, s.stderr)
		}
	}
	s.up([]string{"serve", "--embedded-kafka-accept-loss"})
	s.untilReady()
	if _, answer := s.ask("GET", historyOfToday(), ""); strings.Contains(answer, "EXPECTED") {
		t.Errorf("what is lost is answered: %s", answer)
	}
	if !strings.Contains(s.stderr.String(), `"where":"`+partition+`"`) {
		t.Errorf("what is missing is not said: %s", s.stderr)
	}
}

func TestReadyzSaysNoWhereTheDataDirectoryCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "BAGTRAIL_DATA_DIR="+dir)
	kafka := filepath.Join(dir, "kafka")
	if err := os.Rename(kafka, kafka+"-away"); err != nil {
		t.Fatal(err)
	}
	s.until("readyz says no", func() bool {
		status, body := s.readiness()
		return status == http.StatusServiceUnavailable && strings.Contains(body, `{"name":"data directory","ready":false,"lacks":"`)
	})
	if err := os.Rename(kafka+"-away", kafka); err != nil {
		t.Fatal(err)
	}
	s.untilReady()
}

func TestTheInProcessLogIsKeptWithoutALimitOfTime(t *testing.T) {
	dir := t.TempDir()
	serve(t, "BAGTRAIL_DATA_DIR="+dir)
	topics, err := os.ReadFile(filepath.Join(dir, "kafka", "log", "topics.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(topics), `"retention.ms":"-1"`); got != 3 {
		t.Errorf("%d topics are kept for ever, want the log, the rejects and the webhooks: %s", got, topics)
	}
}
