package hostile_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"bagtrail/test/service"
)

// harness is the script of a page that uses a callback. It defines the function under that name,
// runs the answer as a script, and reports the calls, their arguments and new global names.
const harness = `
function run(callback, script) {
	var calls = [], parts = callback.split('.'), at = globalThis;
	for (var i = 0; i < parts.length - 1; i++) {
		if (typeof at[parts[i]] !== 'object' && typeof at[parts[i]] !== 'function' || at[parts[i]] === null) at[parts[i]] = {};
		at = at[parts[i]];
	}
	var last = parts[parts.length - 1];
	var before = Object.getOwnPropertyDescriptor(at, last);
	Object.defineProperty(at, last, {value: function () { calls.push([].slice.call(arguments)); }, configurable: true});
	var globals = Object.getOwnPropertyNames(globalThis).length;
	var indirect = eval;
	try {
		indirect(script);
		indirect('"use strict";' + script);
	} catch (e) {
		calls.push(String(e));
	}
	var appeared = Object.getOwnPropertyNames(globalThis).length - globals;
	delete at[last];
	if (before) Object.defineProperty(at, last, before);
	return {calls: calls, appeared: appeared};
}
function runAll(json) { return JSON.stringify(JSON.parse(json).map(function (s) { return run(s.callback, s.text); })); }
`

// script is an answer to evaluate, with the result.
type script struct {
	Callback string `json:"callback"`
	Text     string `json:"text"`
	plain    string // the same answer without callback
}

type evaluated struct {
	Calls    []any `json:"calls"`
	Appeared int   `json:"appeared"`
}

// engines returns functions that evaluate scripts: a Go engine, which is always there, and that of
// browsers if it is installed.
func engines(t *testing.T) map[string]func(input string) string {
	t.Helper()
	all := map[string]func(string) string{"goja": func(input string) string {
		vm := goja.New()
		if _, err := vm.RunString(harness); err != nil {
			t.Fatal(err)
		}
		run, _ := goja.AssertFunction(vm.Get("runAll"))
		output, err := run(goja.Undefined(), vm.ToValue(input))
		if err != nil {
			t.Fatal(err)
		}
		return output.String()
	}}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("node is not installed: evaluated by goja alone")
		return all
	}
	all["node"] = func(input string) string {
		cmd := exec.CommandContext(t.Context(), node, "-e", harness+`process.stdout.write(runAll(require('fs').readFileSync(0, 'utf8')))`)
		cmd.Stdin = strings.NewReader(input)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("node: %v\n%s", err, errs.String())
		}
		return string(output)
	}
	return all
}

// callbacks are callbacks as they are written in a query, and their decoded names. Those without a
// name are refused.
var callbacks = []struct {
	query string
	name  string // decoded; "" if it is refused
}{
	{"cb", "cb"}, {"a", "a"}, {"$", "$"}, {"_", "_"}, {"$1", "$1"}, {"_0._1", "_0._1"}, {"a.b", "a.b"}, {"a.b.c.d", "a.b.c.d"}, {"jQuery1124_1700000000000", "jQuery1124_1700000000000"},
	{"%63b", "cb"}, {"a%2Eb", "a.b"}, {"%24", "$"},
	{"classes", "classes"}, {"of", "of"}, {"async", "async"}, {"get", "get"}, {"undefined_", "undefined_"}, {"Class", "Class"}, {"NULL", "NULL"},
	{"JSON.cb", "JSON.cb"}, {"Object.assign", "Object.assign"}, {"toString", "toString"}, {"a.constructor", "a.constructor"}, {"a.prototype.b", "a.prototype.b"},
	{strings.Repeat("a", 127), strings.Repeat("a", 127)}, {strings.Repeat("a", 128), strings.Repeat("a", 128)},
	{strings.Repeat("a.", 63) + "ab", strings.Repeat("a.", 63) + "ab"},
	{strings.Repeat("a", 129), ""}, {strings.Repeat("a.", 64) + "b", ""}, {strings.Repeat("a", 8000), ""},
	// empty ones
	{"%20", ""}, {"%00", ""}, {".", ""}, {"..", ""}, {".a", ""}, {"a.", ""}, {"a..b", ""}, {"a.%20b", ""},
	// not identifiers
	{"1", ""}, {"1a", ""}, {"a.1", ""}, {"a-b", ""}, {"a%20b", ""}, {"a+b", ""}, {"%20a", ""}, {"a%20", ""}, {"a%09", ""}, {"a%0A", ""}, {"a%0D%0A", ""}, {"a%00", ""}, {"a%7F", ""},
	{"a%23", ""}, {"%40a", ""}, {"a?b", ""}, {"a:b", ""}, {"a,b", ""}, {"a=b", ""}, {"!a", ""}, {"~a", ""}, {"a*", ""},
	// calls, members, comments, further statements
	{"a()", ""}, {"alert(1)", ""}, {"a(1).b", ""}, {"a[0]", ""}, {"a[%27b%27]", ""}, {"a%5B0%5D", ""}, {"a;b", ""}, {"a%3Bb", ""}, {"a//", ""}, {"a/**/", ""}, {"/**/a", ""}, {"*/a", ""},
	{"a=1;b", ""}, {"(a)", ""}, {"a`b`", ""}, {"a?.b", ""}, {"new.target", ""}, {"import.meta", ""}, {"a=>b", ""}, {"%7Ba%7D", ""}, {"'a'", ""}, {"%22a%22", ""}, {"...a", ""}, {"a%26%26b", ""},
	// markup
	{"%3Cscript%3E", ""}, {"%3C/script%3E", ""}, {"a%3C/script%3E%3Cscript%3Ealert(1)//", ""}, {"%3C!--", ""}, {"--%3E", ""}, {"%3Csvg/onload=a%3E", ""}, {"a%3Cb", ""}, {"%26lt;a", ""},
	// Unicode: escapes, letters that JavaScript accepts and other languages do not, byte order
	// marks, other charsets, invalid bytes
	{"%5Cu0061", ""}, {"a%5Cu002Eb", ""}, {"%5Cu%7B61%7D", ""}, {"%5Cx61", ""}, {"%EF%BB%BFa", ""}, {"a%EF%BB%BF", ""}, {"%FE%FFa", ""}, {"%FF%FEa%00", ""}, {"%2B%2Fv8-a", ""}, {"+/v8-a", ""},
	{"%C3%A4", ""}, {"ä", ""}, {"caf%C3%A9", ""}, {"%CF%80", ""}, {"%E2%80%A8a", ""}, {"a%E2%80%A9", ""}, {"a%C2%A0", ""}, {"a%E2%80%8D", ""}, {"%D0%B0lert", ""}, {"%EF%BD%81", ""}, {"%F0%9D%92%B6", ""},
	{"%FF", ""}, {"a%C3", ""}, {"%C0%AEa", ""}, {"%ED%A0%80", ""}, {"%u0061", ""}, {"%zz", ""}, {"a%", ""}, {"a%2", ""}, {"a%252Eb", ""},
	// given twice
	{"a&callback=b", ""}, {"a&callback=a", ""}, {"a&callback=", ""}, {"&callback=a", ""}, {"a&%63allback=b", ""}, {"a&x=1&callback=a", ""},
	// other parameters
	{"cb&callbacks=x", "cb"}, {"cb&Callback=(", "cb"}, {"cb&callback%20=(", "cb"}, {"cb&x=callback=(", "cb"}, {"cb&callback[]=x", "cb"},
}

// reserved are the words of ECMAScript that cannot be identifiers, in sloppy, strict and module
// code.
const reserved = `arguments await break case catch class const continue debugger default delete do else enum eval export extends
	false finally for function if implements import in instanceof interface let new null package private protected public
	return static super switch this throw true try typeof var void while with yield`

// Each callback has its exact answer, on all four operations, for successes and failures. A script
// calls the callback once with the answer and does nothing else.
func TestEveryCallbackHasItsExactAnswer(t *testing.T) {
	s := service.Start(t, noKafka, "BAGTRAIL_LOG_LEVEL=warn")
	d := day(1)
	send(t, s, "BSM", ".V/1LZRH", ".F/LX3900/"+d.bim()+"/JFK", ".N/0724390001001", ".P/M\u2028\u2029</SCRIPT><!--\"'\\/LLER/A\uFEFF*/", ".L/JSNP01",
		".R/</script><script>alert(1)</script>", ".R/\u2028alert(1)//", ".R/]]>*/);alert(1)/*", "ENDBSM")
	corpus := callbacks
	for word := range strings.FieldsSeq(reserved) {
		for _, query := range []string{word, "a." + word, word + ".a"} {
			corpus = append(corpus, struct{ query, name string }{query, ""})
		}
	}
	var scripts []script
	for _, target := range []string{
		service.HistoryPath("0724390001", d.iso()) + "?include_bim=true",
		service.FlightPath("ZRH", "D", "LX", "3900", d.iso()) + "?",
		service.PassengerPath("JSNP01", d.iso()) + "?",
		service.HistoryPath("0724399999", d.iso()) + "?",
		service.PassengerPath("JSNP01", "tomorrow") + "?",
		delayedPath + "?",
	} {
		plain := ask(t, s, target)
		for _, c := range corpus {
			got := ask(t, s, target+"&callback="+c.query)
			status, body, kind := plain.Status, "/**/"+c.name+"("+plain.Body+");", "application/javascript; charset=utf-8"
			if c.name == "" {
				status, body, kind = http.StatusBadRequest, badCallback, "application/json; charset=utf-8"
				if plain.Status != http.StatusOK { // reported together with the other faults
					body = strings.TrimSuffix(plain.Body, "]}") + "," + strings.TrimPrefix(badCallback, `{"success":false,"errors":[`)
				}
			} else {
				scripts = append(scripts, script{c.name, got.Body, plain.Body})
			}
			expect(t, target+"&callback="+c.query, got, status, body)
			if got.Header.Get("Content-Type") != kind || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", c.query, got.Header)
			}
		}
	}
	t.Logf("%d callbacks, %d scripts", len(corpus), len(scripts))
	evaluate(t, scripts)
}

// ask calls an operation; delayed bags with a body that is not a request.
func ask(t *testing.T, s *service.Service, target string) service.Answer {
	t.Helper()
	if strings.HasPrefix(target, delayedPath) {
		return s.Do(http.MethodPost, target, strings.NewReader("{}"), "Content-Type", jsonType)
	}
	return s.Get(target)
}

func evaluate(t *testing.T, scripts []script) {
	t.Helper()
	input, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	for name, engine := range engines(t) {
		var results []evaluated
		if err := json.Unmarshal([]byte(engine(string(input))), &results); err != nil || len(results) != len(scripts) {
			t.Fatalf("%s: %v, %d results", name, err, len(results))
		}
		for i, got := range results {
			argument := []any{decoded(scripts[i].plain)}
			if want := []any{argument, argument}; !reflect.DeepEqual(got.Calls, want) || got.Appeared != 0 { // once in sloppy mode, once in strict mode
				t.Errorf("%s: %.200s: %d globals more, calls %.300v", name, scripts[i].Text, got.Appeared, got.Calls)
			}
		}
		t.Logf("%s: %d scripts", name, len(results))
	}
}
