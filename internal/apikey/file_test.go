package apikey_test

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/apikey"
)

// digest returns the digest of a key as the key file writes it.
func digest(key string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key))) }

func parse(t *testing.T, text string) []*apikey.Key {
	t.Helper()
	keys, err := apikey.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAKeyFileIsRead(t *testing.T) {
	keys := parse(t, `
keys:
  - name: swiss-app            # shown in logs; the key never is
    digest: `+digest("a")+`
    customer: SWISS
    airlines: [LX, WK, 9W, SWR]
    airports: ["*"]
    operations: [processbim, history]
    expires: 2027-06-30T00:00:00Z
    rate: 2.5
    burst: 7
  - {name: Zürich Ops, digest: "`+digest("b")+`", airlines: [], airports: "*", conceal: true, revoked: true, rate: 2.5}
`)
	if len(keys) != 2 {
		t.Fatalf("%d keys", len(keys))
	}
	first, second := keys[0], keys[1]
	if first.Name != "swiss-app" || first.Customer != "SWISS" || !first.Expires.Equal(time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)) ||
		first.Rate != 2.5 || first.Burst != 7 || first.Revoked ||
		!reflect.DeepEqual(first.Airlines.Codes, []string{"LX", "WK", "9W", "SWR"}) || !first.Airports.All ||
		!reflect.DeepEqual(first.Operations.Codes, []string{"processbim", "history"}) {
		t.Errorf("first key %+v", first)
	}
	if second.Name != "Zürich Ops" || second.Customer != "" || !second.Expires.IsZero() || !second.Revoked || first.Conceal || !second.Conceal || second.Burst != 3 ||
		second.Airlines.All || second.Airlines.Has("LX") || !second.Airports.All || !second.Operations.All {
		t.Errorf("second key %+v", second)
	}
}

func TestEveryFaultOfAKeyFileIsReported(t *testing.T) {
	empty := digest("")
	_, err := apikey.Parse([]byte(`keys:
  - {name: a, digest: ` + digest("a") + `, airline: [LX]}
  - {name: a, digest: ` + digest("a") + `}
  - {name: "", digest: my-secret-key}
  - {name: " b", digest: ` + empty + `}
  - {name: c}
  - name: d
    digest: ` + digest("d") + `
    airlines: [lx, LX1X, "*"]
    airports: [ZR1]
    operations: [fly]
    expires: tomorrow
    rate: 0
    customer:
  - {name: e, digest: ` + digest("e") + `, burst: 1.5, revoked: yes, airports: {}}
extra: 1
`))
	want := `key file:
line 2: keys[0].airline: unknown member
line 3: keys[1]: the name a appears twice
line 3: keys[1]: the digest of a appears twice
line 4: keys[2].name: not 1-64 printable characters
line 4: keys[2].digest: not sha256: and 64 hexadecimal digits
line 5: keys[3].name: not 1-64 printable characters
line 5: keys[3].digest: the digest of an empty text
line 6: keys[4]: digest is missing
line 9: keys[5].airlines[0]: "lx" is not an airline code of 2 or 3 capitals or digits
line 9: keys[5].airlines[1]: "LX1X" is not an airline code of 2 or 3 capitals or digits
line 10: keys[5].airports[0]: "ZR1" is not an airport of three capitals
line 11: keys[5].operations[0]: "fly" is not one of processbim, bagsforflight, history, bagsforpassenger, delayedbags, bags, flights, messages, feeds, rejects, changes, webhooks
line 12: keys[5].expires: "tomorrow" is not a time like 2026-11-21T13:10:00+01:00
line 13: keys[5].rate: "0" is not a number from 0.001 to 1e+06
line 14: keys[5].customer: no value
line 15: keys[6].burst: not a whole number
line 15: keys[6].revoked: neither true nor false
line 15: keys[6].airports: not a plain value
line 15: keys[6]: burst without rate
line 16: extra: unknown member`
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
}

// A list without a value could mean everything or nothing, and a file without keys may be half
// written.
func TestWhatCouldMeanTwoThingsIsAFault(t *testing.T) {
	for text, want := range map[string]string{
		"":            "keys is missing",
		"# remark\n":  "keys is missing",
		"keys:\n":     "line 1: keys: no value",
		"keys: all\n": "line 1: keys: not a list",
		"keys: [a]\n": "line 1: keys[0]: not an object of members",
		"keys:\n  - name: a\n    digest: " + digest("a") + "\n    airlines:\n": "line 4: keys[0].airlines: no value",
	} {
		if _, err := apikey.Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "key file:\n"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if keys := parse(t, "keys: []"); len(keys) != 0 {
		t.Errorf("keys %v", keys)
	}
}
