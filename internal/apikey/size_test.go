package apikey_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/test/race"
)

// manyKeys returns a key file of n keys with every member, as `bagtrail keys create` writes it.
func manyKeys(n int) []byte {
	var text strings.Builder
	text.WriteString("# Keys of bagtrail\nkeys:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - name: \"key-%d\"\n    digest: \"%s\"\n    customer: \"SWISS\"\n    airlines: [\"LX\",\"WK\"]\n"+
			"    operations: [\"history\"]\n    expires: \"2099-01-01T00:00:00Z\"\n    rate: 50\n", i, digest(fmt.Sprint(i)))
	}
	return []byte(text.String())
}

// effort returns the processor time of parsing, the least of several runs.
func effort(t *testing.T, text []byte) time.Duration {
	t.Helper()
	spent := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			t.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	least := time.Hour
	for range 5 {
		begun := spent()
		if _, err := apikey.Parse(text); err != nil {
			t.Fatal(err)
		}
		least = min(least, spent()-begun)
	}
	return least
}

// TestTheTimeOfParsingGrowsWithTheNumberOfKeys: eight times the keys take about eight times as
// long, not sixty-four times.
func TestTheTimeOfParsingGrowsWithTheNumberOfKeys(t *testing.T) {
	race.SkipOneGoroutine(t)
	few, many := effort(t, manyKeys(2_500)), effort(t, manyKeys(20_000))
	t.Logf("2,500 keys: %v; 20,000 keys: %v", few, many)
	if many > 20*few {
		t.Errorf("2,500 keys take %v, 20,000 take %v", few, many)
	}
}

func TestAFaultOfALongKeyFileHasItsLine(t *testing.T) {
	text := append(manyKeys(1000), "  - name: key-7\n    digest: "+digest("7")+"\n"...)
	_, err := apikey.Parse(text)
	want := "key file:\nline 7003: keys[1000]: the name key-7 appears twice\nline 7003: keys[1000]: the digest of key-7 appears twice"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
