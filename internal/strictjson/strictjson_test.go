package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"bagtrail/internal/strictjson"
)

func TestAppendStringEscapesWhatAScriptOrAParserCouldMisread(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"", `""`},
		{"MUELLER", `"MUELLER"`},
		{`a"b\c`, `"a\"b\\c"`},
		{"BSM\r\n.V/1LZRH\tx", `"BSM\r\n.V/1LZRH\tx"`},
		{"\x00\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\x7f\""},
		{"</script>&", `"\u003c/script\u003e\u0026"`},
		{"a\u2028b\u2029c", `"a\u2028b\u2029c"`},
		{"\xffZ\xc3", `"\ufffdZ\ufffd"`},
		{"\ufffd", "\"\ufffd\""},
		{"Zürich \U0001f9f3", "\"Zürich \U0001f9f3\""},
	} {
		if got := string(strictjson.AppendString(nil, tc.in)); got != tc.want {
			t.Errorf("AppendString(%q) = %s, want %s", tc.in, got, tc.want)
		}
	}
}

func TestObjectReadsMembersInOrderAsTheyStand(t *testing.T) {
	var got []string
	err := strictjson.Object([]byte(" {\"a\" : 1, \"b\":[ {\"a\":2} ],\n\"c\":\"x\\\"y\",\"a\":null} \r\n"), func(m strictjson.Member) {
		got = append(got, string(m.Name)+"="+string(m.Value))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `"a"=1|"b"=[ {"a":2} ]|"c"="x\"y"|"a"=null`
	if strings.Join(got, "|") != want {
		t.Errorf("members = %s, want %s", strings.Join(got, "|"), want)
	}
}

func TestMemberNamesCompareUnescapedAndWithCase(t *testing.T) {
	for name, want := range map[string]bool{`"bim_message"`: true, `"bim\u005fmessage"`: true, `"Bim_Message"`: false, `"bim_message "`: false} {
		if _, err := strictjson.Only([]byte("{"+name+":1}"), "bim_message"); (err == nil) != want {
			t.Errorf("%s is bim_message: %v, want %v", name, err == nil, want)
		}
	}
}

func TestObjectRefusesWhatIsNotExactlyOneObject(t *testing.T) {
	for _, text := range []string{
		"", " ", "null", "[]", `"x"`, "{", "}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1}x`, `{"a":1}{}`, `{"a":1}]`,
		`{'a':1}`, `{a:1}`, `{"a":01}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+-5}`, `{"a":-}`, `{"a":NaN}`, `{"a":tru}`,
		"{\"a\":\"\n\"}", `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\ud800"}`, `{"a":"\ud800\u0041"}`, `{"a":"\ud83e_uddf3"}`, `{"a":"\udc00"}`, "{\"a\":\"\xff\"}",
		"\ufeff{}", "{}\x00", `{"a":"x`, "{\"a\":1}//", strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000), strings.Repeat("[", 1<<20),
	} {
		if err := strictjson.Object([]byte(text), func(strictjson.Member) {}); err == nil {
			t.Errorf("%.40q was read as an object", text)
		}
	}
}

func TestWalkSeesEveryMember(t *testing.T) {
	var got []string
	err := strictjson.Walk([]byte(`{"a":{"b":[{"c":1},[{"d":2}]]},"e":3}`), func(depth int, m strictjson.Member) {
		got = append(got, fmt.Sprint(depth, string(m.Name)))
	})
	if want := `3"c" 4"d" 1"b" 0"a" 0"e"`; err != nil || strings.Join(got, " ") != want {
		t.Errorf("saw %s, want %s, %v", strings.Join(got, " "), want, err)
	}
}

func TestTheOnlyMemberIsThereExactlyOnce(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"x"}`: `"x"`, `{"b":[{"a":"y"}],"a": 1 }`: "1", `{"a":""}`: `""`, `{"\u0061":null}`: "null",
	} {
		if got, err := strictjson.Only([]byte(text), "a"); err != nil || string(got.Value) != want || text[got.At:][:len(want)] != want {
			t.Errorf("%s: %s at %d, %v", text, got.Value, got.At, err)
		}
	}
	for _, text := range []string{`{}`, `{"A":"x"}`, `{"a":"x","a":"x"}`, `{"a":"x","a":1}`, `{"a":1,"a":"x"}`, `{"a":"x"}x`, `["a"]`, ``} {
		if got, err := strictjson.Only([]byte(text), "a"); err == nil || got.Value != nil {
			t.Errorf("%s: %s, %v", text, got.Value, err)
		}
	}
}

// The mark ^ stands where the fault is; it is no part of the text.
func TestFaultSaysWhereAndWhatWasExpected(t *testing.T) {
	for _, tc := range []struct{ text, expected string }{
		{"^", "{"}, {" ^[]", "{"}, {"^\ufeff{}", "{"}, {`{^`, "a string"}, {`{^a:1}`, "a string"}, {`{"a"^}`, ":"}, {`{"a":^}`, "a value"},
		{`{"a":^tru}`, "a value"}, {`{"a":-^}`, "a digit"}, {`{"a":1.^}`, "a digit"}, {`{"a":0^1}`, ", or }"}, {`{"a":"x"^`, ", or }"},
		{`{"a":"x",^}`, "a string"}, {`{"b":[1,^]}`, "a value"}, {`{"b":[1^}`, ", or ]"}, {"{\"a\":\"x^\n\"}", "control characters to be escaped"},
		{`{"a":"x^`, "the end of the string"}, {`{"a":"x^\q"}`, "an escape sequence of JSON"}, {`{"a":"^\ud800"}`, "an escape sequence of JSON"},
		{"{\"ü\":\"^\xff\"}", "UTF-8"}, {`{"a":"x"} ^y`, "the end"}, {`{"b":1^}  `, "the member a"}, {`{"a":"x","a":^"y","a":1}`, "a once"},
		{strings.Repeat("{\"a\":", 513) + "^" + strings.Repeat("{\"a\":", 513), "at most 512 levels"},
	} {
		text := strings.Replace(tc.text, "^", "", 1)
		_, err := strictjson.Only([]byte(text), "a")
		var fault *strictjson.Fault
		if !errors.As(err, &fault) || fault.Offset != strings.Index(tc.text, "^") || fault.Expected != tc.expected {
			t.Errorf("%.60s: %+v", tc.text, err)
		}
	}
}

func TestElementsReadsAnArray(t *testing.T) {
	var got []string
	if err := strictjson.Elements([]byte(` [1, {"a":[]} ,"x",[[2],3]] `), func(v []byte) { got = append(got, string(v)) }); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, "|"); s != `1|{"a":[]}|"x"|[[2],3]` {
		t.Errorf("elements = %s", s)
	}
	for _, text := range []string{"", "{}", "[", "[1,]", "[1]2", "[\"\xff\"]"} {
		if strictjson.Elements([]byte(text), nil) == nil {
			t.Errorf("%q was read as an array", text)
		}
	}
}

func TestUnquoteKeepsEveryCharacter(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		ok       bool
	}{
		{`"BSM\r\n\u0000\/\b\f\t"`, "BSM\r\n\x00/\b\f\t", true},
		{`"\ud83e\uddf3\u00FC"`, "\U0001f9f3ü", true},
		{`"\ud83e"`, "", false},
		{`12`, "", false},
		{`null`, "", false},
		{`"`, "", false},
		{`"x`, "", false},
	} {
		if got, ok := strictjson.Unquote([]byte(tc.in)); got != tc.want || ok != tc.ok {
			t.Errorf("Unquote(%s) = %q, %v, want %q, %v", tc.in, got, ok, tc.want, tc.ok)
		}
	}
}

func FuzzAppendStringIsReadBackByEncodingJSON(f *testing.F) {
	for _, s := range []string{"", "ZRH", "\xff\u2028<", "\x00\"\\", "\U0001f9f3\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := strictjson.AppendString(nil, s)
		var got string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != s || len([]rune(s)) != len([]rune(got)) {
			t.Fatalf("%q came back as %q, want %q", s, got, want)
		}
		if strings.ContainsAny(string(text), "<>&\u2028\u2029") {
			t.Fatalf("%q is not safe inside a script", text)
		}
		if own, ok := strictjson.Unquote(text); !ok || own != got {
			t.Fatalf("Unquote(%q) = %q, %v; encoding/json reads %q", text, own, ok, got)
		}
	})
}

// What Object accepts, encoding/json accepts and reads alike. The converse does not hold: Object is stricter about
// UTF-8 and surrogates, and nests less deep.
func FuzzObjectAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"b"}`, `{"a":[1,-2.5e+7,true,null,{"x":"\u0041\ud83e\uddf3"}]}`, `{"a":1}x`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":"\u0000\/"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members := map[string]string{}
		err := strictjson.Object(text, func(m strictjson.Member) {
			name, ok := strictjson.Unquote(m.Name)
			if !ok {
				t.Fatalf("member name %q cannot be unquoted", m.Name)
			}
			members[name] = string(m.Value)
		})
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(text, &want)
		if err == nil && wantErr != nil {
			t.Fatalf("accepted %q, encoding/json says %v", text, wantErr)
		}
		if err != nil {
			if wantErr == nil && want != nil && utf8.Valid(text) && !strings.Contains(strings.ToLower(string(text)), `\ud`) && strings.Count(string(text), "[")+strings.Count(string(text), "{") < 500 {
				t.Fatalf("refused %q, encoding/json reads it", text)
			}
			return
		}
		if len(members) != len(want) {
			t.Fatalf("%q: members %v, encoding/json reads %v", text, members, want)
		}
		for name, value := range want {
			if members[name] != string(value) {
				t.Fatalf("%q: member %q is %q, encoding/json reads %q", text, name, members[name], value)
			}
		}
	})
}

func TestMembersAreAppendedUnlessTheyAreEmpty(t *testing.T) {
	dst := strictjson.AppendMember([]byte("{"), "a", "")
	dst = strictjson.AppendNumber(dst, "b", -1)
	dst = strictjson.AppendMember(dst, "c", "\"x\"")
	dst = strictjson.AppendNumber(dst, "d", 0)
	dst = strictjson.AppendBool(dst, "e", false)
	dst = strictjson.AppendText(dst, "f", "")
	dst = strictjson.AppendTexts(dst, "g", []string{})
	dst = strictjson.AppendTexts(dst, "h", []string{"x", "\""})
	dst = strictjson.AppendGroup(dst, "i", "[]", func(dst []byte) []byte { return dst })
	dst = strictjson.AppendGroup(dst, "j", "{}", func(dst []byte) []byte { return strictjson.AppendMember(dst, "k", "x") })
	if want := `{"c":"\"x\"","d":0,"e":false,"f":"","g":[],"h":["x","\""],"j":{"k":"x"}`; string(dst) != want {
		t.Errorf("%s, want %s", dst, want)
	}
}

func TestACommaIsAppendedUnlessABracketOpens(t *testing.T) {
	for before, want := range map[string]string{
		"[": "[", "{": "{", `{"a":[`: `{"a":[`, `["["`: `["[",`, "[{}": "[{},", "[[]": "[[],", "1": "1,",
		"": ",", // the elements before it are in another buffer
	} {
		if got := string(strictjson.AppendComma([]byte(before))); got != want {
			t.Errorf("after %q: %q, want %q", before, got, want)
		}
	}
}
