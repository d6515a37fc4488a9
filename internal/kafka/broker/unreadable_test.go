package broker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bagtrail/internal/kafka/broker"
)

// A directory in the place of the file of committed offsets stands for a file that cannot be read.
func TestAFileThatCannotBeReadIsTheOnlyFaultOfAStart(t *testing.T) {
	conf := broker.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"}
	b, err := broker.Start(conf)
	if err != nil {
		t.Fatal(err)
	}
	offsets := filepath.Join(conf.Dir, "log", "groups.log")
	if err := errors.Join(b.Close(), os.RemoveAll(offsets), os.Mkdir(offsets, 0o700)); err != nil {
		t.Fatal(err)
	}
	switch b, err := broker.Start(conf); {
	case err == nil:
		_ = b.Close()
		t.Error("it starts")
	case !strings.Contains(err.Error(), offsets) || strings.Contains(err.Error(), "\n"):
		t.Errorf("error %q, want one line that names %s", err, offsets)
	}
}
