package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/strictyaml"
)

// pet is the content of the documents in these tests.
type pet struct {
	name  string
	legs  float64
	tame  bool
	born  time.Time
	likes []string
}

func read(text string) (p pet, err error) {
	err = strictyaml.Read([]byte(text), func(document strictyaml.Value) {
		document.Object(strictyaml.Members{
			"name": func(v strictyaml.Value) { p.name, _ = v.Text() },
			"legs": func(v strictyaml.Value) { p.legs = v.Number(0, 8) },
			"tame": func(v strictyaml.Value) { p.tame = v.Bool() },
			"born": func(v strictyaml.Value) { p.born = v.Time() },
			"likes": func(v strictyaml.Value) {
				v.List(func(v strictyaml.Value) {
					text, _ := v.Text()
					p.likes = append(p.likes, text)
				})
			},
		})
	})
	return p, err
}

func TestValuesAreReadAsWritten(t *testing.T) {
	for name, text := range map[string]string{
		"block": "# a pet\nname: 0117\nlegs: 4\ntame: true\nborn: 2026-11-21T13:10:00+01:00\nlikes: [NO, 1e3, '7', \"*\"]\n",
		"json":  `{"name": "0117", "legs": 4, "tame": true, "born": "2026-11-21T13:10:00+01:00", "likes": ["NO", "1e3", "7", "*"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := read(text)
			if err != nil {
				t.Fatal(err)
			}
			born := time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)
			if p.name != "0117" || p.legs != 4 || !p.tame || !p.born.Equal(born) || fmt.Sprint(p.likes) != "[NO 1e3 7 *]" {
				t.Errorf("read %+v", p)
			}
		})
	}
}

func TestATextWithoutContentIsAnEmptyObject(t *testing.T) {
	for _, text := range []string{"", "# only a remark\n", "---\n"} {
		if _, err := read(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEveryFaultIsReportedWithItsLine(t *testing.T) {
	_, err := read("name: [x]\nlegs: 9\ntame: maybe\nborn: yesterday\nlikes:\n  - a\n  - {b: c}\ncolour: red\n")
	want := `line 1: name: not a plain value
line 2: legs: "9" is not a number from 0 to 8
line 3: tame: neither true nor false
line 4: born: "yesterday" is not a time like 2026-11-21T13:10:00+01:00
line 7: likes[1]: not a plain value
line 8: colour: unknown member`
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
}

// The log has the faults of a file in one record.
func TestOfAFileWithVeryManyFaultsTheFirstHundredAreReported(t *testing.T) {
	for faults, last := range map[int]string{100: "line 101: likes[99]: not a plain value", 2000: "and 1900 more"} {
		_, err := read("likes:\n" + strings.Repeat("- {}\n", faults))
		if err == nil {
			t.Fatal("no faults")
		}
		lines := strings.Split(err.Error(), "\n")
		if lines[99] != "line 101: likes[99]: not a plain value" || lines[len(lines)-1] != last || len(lines) > 101 {
			t.Errorf("%d faults: %d lines, the last one is %q", faults, len(lines), lines[len(lines)-1])
		}
	}
}

func TestAmbiguousYAMLIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"name:\n":                   "line 1: name: no value",
		"name: ~\n":                 "line 1: name: no value",
		"name: a\nname: b\n":        "line 2: ",
		"legs: .nan\n":              "line 1: legs: ",
		"likes: a\n":                "line 1: likes: not a list",
		"name: &x a\n":              "line 1: name: not a plain value",
		"name: !!str a\n":           "line 1: name: not a plain value",
		"<<: {name: a}\n":           "line 1: <<: a repeated or merged member",
		"!!str name: a\n":           "line 1: name: a name with a tag",
		"&x name: a\n":              "line 1: name: a name with a tag",
		"- a\n":                     "line 1: not an object of members",
		"just text\n":               "line 1: not an object of members",
		"name: a\n---\nname: b\n":   "line 3: a second document",
		"name: a\nlikes: [a\n":      "line 3: ", // where the text ends
		"name: a\n\tlegs: 4\n":      "line 2: ",
		"name: a: b\n":              "line 1: ",
		"likes:\n  - a\n b: 2\n":    "line ",
		"tame: 'true'\n":            "line 1: tame: neither true nor false",
		"born: 2026-11-21\n":        "line 1: born: ",
		"likes: [a, , b]\n":         "line 1: ",
		"\xef\xbb\xbfname: a\nx: 1": "line 2: x: unknown member",
	} {
		if _, err := read(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s…", text, err, want)
		}
	}
}

func TestAMandatoryMemberIsMissedOnce(t *testing.T) {
	for text, want := range map[string]string{
		"b: 1\n":       "line 1: a is missing",
		"":             "a is missing\nb is missing",
		"a: [1]\nb: 1": "line 1: a: not a plain value",
		"a:\nb: 1":     "line 1: a: no value",
	} {
		err := strictyaml.Read([]byte(text), func(document strictyaml.Value) {
			scalar := func(v strictyaml.Value) { v.Text() }
			document.Object(strictyaml.Members{"a": scalar, "b": scalar}, "a", "b")
		})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A stack that overflows would end the process.
func TestDeepNestingIsRefused(t *testing.T) {
	const depth = 1_000_000
	for _, text := range []string{
		strings.Repeat("[", depth), strings.Repeat("[", depth) + strings.Repeat("]", depth), strings.Repeat("{a: ", depth), strings.Repeat("- ", depth) + "a",
	} {
		if _, err := read(text); err == nil {
			t.Errorf("%.20s… is read", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("name: a\nlegs: 4\nlikes: [a, b]\n")
	f.Add("{\"name\": \"a\"}")
	f.Add("a: &x [*x]\n<<: {b: |-\n  c}\n? d\n: - e\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = read(text) // must not panic
	})
}
