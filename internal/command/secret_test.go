package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestServeMakesASecretWithoutKafkaToo(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_DATA_DIR="+data)
	if status, answer := s.ask(http.MethodPost, "/v1/session", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	if _, err := os.Stat(filepath.Join(data, "secret")); err != nil {
		t.Error(err)
	}
}

func TestServeWithoutKafkaNeedsNoDirectory(t *testing.T) {
	file := write(t, t.TempDir(), "file", "")
	for _, dir := range []string{filepath.Join(file, "data"), "/proc/data"} {
		s := serve(t, "BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_DATA_DIR="+dir)
		if status, answer := s.ask(http.MethodPost, "/v1/session", ""); status != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", dir, status, answer)
		}
	}
}
