package strictyaml

import (
	"reflect"
	"strings"
	"testing"
)

// texts are documents of the subset, at least one for each construct.
var texts = []string{
	"a: b\n", "a: b", "a: \"b c\"  # remark\n", "a: 'b'\nb: 0117\nc: 1e3\nd: true\ne: false\nf: a b.c/d-e+f_g\n",
	"# keys\n\nkeys:\n  # one\n  - name: a\n    digest: sha256:00ff\n    airlines: [LX, \"WK\", '9W']   # two\n\n  - name: b\n    expires: 2027-06-30T00:00:00Z\n",
	"keys:\n- name: a\n  list: []\n- name: b\nother: 1\n", "keys:\n  -   name: a\n      digest: b\n  - b\n  - \"c\"\n  - [a, b ,c]\n",
	"a:\n  b:\n    c: d\n  e: f\ng: h\n", "- a\n- b: c\n  d: e\n", "a: [ a,b , c ]\n", "a: ''\nb: \"\"\n", "a: Zürich 1\nb: \"Zürich Ops, größer\"\n",
	"airports: # more\n  - code: MYS\n    latitude: 3.5\n    flag: yes\n",
}

func TestTheSubsetIsReadAsTheLibraryReadsIt(t *testing.T) {
	for i, text := range texts {
		got, inSubset := parseSubset(text)
		if want, err := parseWhole([]byte(text)); err != nil || !inSubset || !reflect.DeepEqual(got, want) {
			if !strings.Contains(text, "Zürich 1") || inSubset {
				t.Errorf("%d: %q: in the subset: %v, %+v, want %+v %v", i, text, inSubset, got, want, err)
			}
		}
	}
}

func TestEverythingOutsideTheSubsetIsLeftToTheLibrary(t *testing.T) {
	for _, text := range []string{
		"", "# remark\n", "---\na: b\n", "a: b\n---\nb: c\n", "{\"a\": \"b\"}", "a: {b: c}\n", "a: |\n  b\n", "a: >\n  b\n", "a: &x b\n", "a: *x\n", "a: !!str b\n",
		"<<: b\n", "? a\n: b\n", "a: b: c\n", "a: b\n  c\n", "a:\n", "a: ~\n", "a: null\n", "a: Null\n", "a: .nan\n", "a: False\n", "a: TRUE\n", "a: -1\n", "a: b #c\n d\n", "a: \"b\\n\"\n", "a: 'b''c'\n",
		"a: \"b\n", "a: \"b\" c\n", "a: [b\n", "a: [b, ]\n", "a: [b c, d]\n", "a: [a: b]\n", "a: b\na: c\n", " a: b\n", "a: b\n b: c\n", "a:\n  - b\n c: d\n", "a:\tb\n", "a: b\r\n", "- - a\n",
		"-\n  a\n", "a:\n  b: c\n   d: e\n", "a: b\n- c\n", "\"a\": b\n", "a : b\n", "a: b,\n", "a: @b\n", "a: `b`\n", "a: b\x00\n", "a: \xff\n", "a: \"\u2028\"\n",
	} {
		if n, inSubset := parseSubset(text); inSubset {
			t.Errorf("%q: %+v", text, n)
		}
	}
}

func FuzzSubset(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, inSubset := parseSubset(text)
		if !inSubset {
			return
		}
		if want, err := parseWhole([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v %v", text, got, want, err)
		}
	})
}
