package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/command"
	"bagtrail/internal/operation"
)

func TestKeysCreatesListsAndRevokes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.yaml")
	env := []string{"BAGTRAIL_KEYS_FILE=" + path}
	created := run(t, "", env, "keys", "create", "swiss-app", "--customer", "SWISS", "--airlines", "LX,WK", "--airports=",
		"--operations", "history", "--expires", "2099-06-30T00:00:00Z", "--rate", "5")
	text := strings.TrimSpace(created.stdout)
	if created.code != command.Done || created.stderr != "" || text == "" || strings.ContainsAny(text, " \n") {
		t.Fatalf("%+v", created)
	}
	if file, err := os.ReadFile(path); err != nil || strings.Contains(string(file), text) || !strings.Contains(string(file), "sha256:") {
		t.Errorf("the file holds the digest, not the key: %s %v", file, err)
	}
	store, err := apikey.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, found := store.Lookup(text, time.Now())
	if !found || key.Customer != "SWISS" || !key.Airline("WK") || key.Airline("BA") || key.Airport("ZRH") || !key.MayUse(operation.History) || key.MayUse(operation.ProcessBIM) {
		t.Errorf("%v %+v", found, key)
	}

	if got := run(t, "", env, "keys", "create", "everything"); got.code != command.Done {
		t.Fatalf("%+v", got)
	}
	want := `NAME        STATE   CUSTOMER  AIRLINES  AIRPORTS  OPERATIONS  RATE  EXPIRES
swiss-app   active  SWISS     LX,WK     -         history     5/s   2099-06-30T00:00:00Z
everything  active  -         *         *         *           -     never
`
	if got := run(t, "", env, "keys", "list"); got.code != command.Done || got.stdout != want {
		t.Errorf("%+v", got)
	}
	if got := run(t, "", env, "keys", "revoke", "swiss-app"); got.code != command.Done || got.stdout != "" {
		t.Errorf("%+v", got)
	}
	if got := run(t, "", env, "keys", "list"); !strings.Contains(got.stdout, "swiss-app   revoked") {
		t.Errorf("%+v", got)
	}
}

func TestACustomerDoesNotControlTheTerminal(t *testing.T) {
	env := []string{"BAGTRAIL_KEYS_FILE=" + filepath.Join(t.TempDir(), "keys.yaml")}
	run(t, "", env, "keys", "create", "app", "--customer", "red \x1b[31m")
	if got := run(t, "", env, "keys", "list"); got.code != command.Done || !strings.Contains(got.stdout, `red \x1b[31m`) {
		t.Errorf("%+v", got)
	}
}

func TestKeysSaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.yaml")
	env := []string{"BAGTRAIL_KEYS_FILE=" + path}
	for _, args := range [][]string{{"keys", "list"}, {"keys", "revoke", "app"}} {
		if got := run(t, "", env, args...); got.code != command.Failed {
			t.Errorf("%q of a file that is not there: %+v", args, got)
		}
	}
	run(t, "", env, "keys", "create", "app")
	for _, args := range [][]string{
		{"keys", "create", "app"},
		{"keys", "create"},
		{"keys", "create", "other", "--operations", "everything"},
		{"keys", "create", "other", "--expires", "soon"},
		{"keys", "revoke", "other"},
	} {
		if got := run(t, "", env, args...); got.code != command.Usage || got.stdout != "" || got.stderr == "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
