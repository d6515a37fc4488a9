package apikey_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"time"

	"bagtrail/internal/apikey"
)

// layouts are key files with the keys "old" (customer O, airlines LX) and, but for the empty ones,
// "other".
var layouts = map[string]string{
	"block": `# who may ask
keys:
  - name: old    # since 2025
    digest: ` + digest("old") + `
    customer: O
    # Swiss only
    airlines:
      - LX

  - name: other
    digest: ` + digest("other") + `
# the end
`,
	"block, not indented, no last line end": "keys:\n- digest: " + digest("old") + "\n  name: old\n  customer: O\n  airlines: [LX]\n- name: other\n  digest: " + digest("other"),
	"block with CRLF":                       "keys:\r\n  - name: old\r\n    digest: " + digest("old") + "\r\n    customer: O\r\n    airlines: [LX]\r\n  - name: other\r\n    digest: " + digest("other") + "\r\n",
	"block of flow":                         "keys:\n  - {name: old, digest: " + digest("old") + ", customer: O, airlines: [LX]}\n  - {name: other, digest: " + digest("other") + "}\n",
	"flow":                                  "keys: [{name: old, digest: " + digest("old") + ", customer: O, airlines: [LX]}, # ü\n  {name: other, digest: " + digest("other") + "}] # end\n",
	"JSON": `{
  "keys": [
    {"name": "old", "digest": "` + digest("old") + `", "customer": "O", "airlines": ["LX"], "revoked": false},
    {"name": "other", "digest": "` + digest("other") + `"}
  ]
}
`,
	"not revoked": "keys:\n  - name: old\n    revoked: false # not yet\n    digest: " + digest("old") + "\n    customer: O\n    airlines: [LX]\n  - name: other\n    digest: " + digest("other") + "\n",
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func list(t *testing.T, path string) []*apikey.Key {
	t.Helper()
	keys, err := apikey.List(path)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var wanted = apikey.Key{
	Name: "Zürich <ops> & \"co\"", Customer: "SWISS", Airlines: apikey.ScopeOf([]string{"LX", "WK"}), Airports: apikey.ScopeOf(nil),
	Operations: apikey.ScopeOf([]string{}), Expires: time.Date(2027, 6, 30, 0, 0, 0, 0, time.FixedZone("", 7200)), Rate: 2.5, Conceal: true,
}

func demandWanted(t *testing.T, path, text string) {
	t.Helper()
	store, err := apikey.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	k, found := store.Lookup(text, now)
	if !found || k.Name != wanted.Name || k.Customer != "SWISS" || !reflect.DeepEqual(k.Airlines, wanted.Airlines) || !k.Airports.All ||
		k.Operations.All || len(k.Operations.Codes) != 0 || !k.Expires.Equal(wanted.Expires) || !k.Conceal || k.Rate != 2.5 || k.Burst != 3 {
		t.Errorf("found %v: %+v", found, k)
	}
}

func TestACreatedKeyOpensWhatItShould(t *testing.T) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			path := file(t, layout)
			text, err := apikey.Create(path, wanted)
			if err != nil {
				t.Fatal(err)
			}
			demandWanted(t, path, text)
			keys := list(t, path)
			if len(keys) != 3 || keys[0].Name != "old" || !keys[0].Airlines.Has("LX") || keys[0].Airlines.All || keys[1].Name != "other" {
				t.Errorf("keys %+v", keys)
			}
			for _, remark := range regexp.MustCompile(`#.*`).FindAllString(layout, -1) {
				if !strings.Contains(content(t, path), remark) {
					t.Errorf("the remark %q is gone", remark)
				}
			}
		})
	}
}

func TestTheFirstKeyMakesTheFile(t *testing.T) {
	for name, layout := range map[string]string{"no file": "none", "empty file": "", "empty list": "# mine\nkeys: []\n", "empty JSON": `{"keys": []}`} {
		t.Run(name, func(t *testing.T) {
			path := file(t, layout)
			if layout == "none" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if layout == "" {
				if _, err := apikey.Create(path, wanted); err == nil {
					t.Error("a file without keys may be half written: it is left alone")
				}
				return
			}
			text, err := apikey.Create(path, wanted)
			if err != nil {
				t.Fatal(err)
			}
			demandWanted(t, path, text)
			if info, _ := os.Stat(path); layout == "none" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			if _, err := apikey.Create(path, apikey.Key{Name: "second", Airlines: apikey.ScopeOf(nil)}); err != nil || len(list(t, path)) != 2 {
				t.Errorf("a second key: %v", err)
			}
		})
	}
}

func TestAKeyIsThirtyTwoRandomBytesAndStoredAsItsDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.yaml")
	drawn := make([]byte, 32)
	cryptotest.SetGlobalRandom(t, 1)
	_, _ = rand.Read(drawn)
	cryptotest.SetGlobalRandom(t, 1)
	text, err := apikey.Create(path, apikey.Key{Name: "app"})
	if want := "bagtrail_" + base64.RawURLEncoding.EncodeToString(drawn); err != nil || text != want {
		t.Errorf("key %q, want %q, %v", text, want, err)
	}
	stored := content(t, path)
	if strings.Contains(stored, text) || strings.Contains(stored, text[9:]) || !strings.Contains(stored, digest(text)) {
		t.Errorf("the file holds\n%s", stored)
	}
}

func TestWhatCannotBeAddedChangesNothing(t *testing.T) {
	for what, c := range map[string]struct {
		layout string
		key    apikey.Key
		want   string
	}{
		"name taken":   {layouts["block"], apikey.Key{Name: "other"}, "the name other appears twice"},
		"no name":      {layouts["JSON"], apikey.Key{}, "name: not 1-64 printable characters"},
		"bad airline":  {layouts["flow"], apikey.Key{Name: "new", Airlines: apikey.ScopeOf([]string{"swiss"})}, `"swiss" is not an airline`},
		"broken file":  {"keys: [", apikey.Key{Name: "new"}, "did not find expected node content"},
		"empty first":  {"---\n---\n" + layouts["block"], apikey.Key{Name: "new"}, "edit the file by hand"},
		"end marker":   {layouts["block"] + "...\n", apikey.Key{Name: "new"}, ""},
		"flow, remark": {"keys: [{name: a, digest: " + digest("a") + "} # end\n, ]", apikey.Key{Name: "new"}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			path := file(t, c.layout)
			text, err := apikey.Create(path, c.key)
			if err == nil || text != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("key %q, %v", text, err)
			}
			if got := content(t, path); got != c.layout {
				t.Errorf("the file is now\n%s", got)
			}
			if names, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(names) != 1 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

func TestARevokedKeyStaysInTheFileAndIsUnknown(t *testing.T) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			path := file(t, layout)
			for range 2 { // the second time changes nothing
				if err := apikey.Revoke(path, "old"); err != nil {
					t.Fatal(err)
				}
			}
			keys := list(t, path)
			if len(keys) != 2 || keys[0].Name != "old" || keys[0].State(now) != "revoked" || keys[0].Customer != "O" || keys[1].State(now) != "active" {
				t.Errorf("keys %+v", keys)
			}
			store, err := apikey.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, found := store.Lookup("old", now); found {
				t.Error("the revoked key is found")
			}
			if _, found := store.Lookup("other", now); !found {
				t.Error("the other key is gone")
			}
		})
	}
}

func TestOnlyAKeyThatIsThereCanBeRevoked(t *testing.T) {
	path := file(t, layouts["block"])
	if err := apikey.Revoke(path, "nobody"); !errors.Is(err, apikey.ErrNoSuchKey) {
		t.Errorf("error %v", err)
	}
	if err := apikey.Revoke(filepath.Join(t.TempDir(), "none"), "old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := apikey.List(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestAnEditKeepsPermissionsAndFollowsLinks(t *testing.T) {
	path := file(t, layouts["block"])
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := apikey.Revoke(link, "old"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is now a file")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 || list(t, path)[0].State(now) != "revoked" {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestEditsAtOneMomentLoseNothing(t *testing.T) {
	path := file(t, layouts["block"])
	var editors sync.WaitGroup
	for i := range 20 {
		editors.Go(func() {
			if _, err := apikey.Create(path, apikey.Key{Name: fmt.Sprint("app-", i)}); err != nil {
				t.Error(err)
			}
		})
		editors.Go(func() {
			if err := apikey.Revoke(path, []string{"old", "other"}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	editors.Wait()
	keys := list(t, path)
	if len(keys) != 22 || !keys[0].Revoked || !keys[1].Revoked {
		t.Errorf("%d keys", len(keys))
	}
}
