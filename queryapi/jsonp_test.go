package queryapi_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"bagtrail/internal/bag"
)

// evaluate runs each script in a real JavaScript engine, with functions of the given names, and
// returns the arguments of their calls.
func evaluate(t *testing.T, scripts map[string]string) map[string]json.RawMessage {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node on this machine")
	}
	const program = `
const vm = require('vm'), fs = require('fs'), out = {};
for (const [name, script] of Object.entries(JSON.parse(fs.readFileSync(0, 'utf8')))) {
  const world = {}, parts = name.split('.'), last = parts.pop();
  let at = world;
  for (const part of parts) at = at[part] = {};
  at[last] = function (answer) { if (name in out || arguments.length !== 1) throw new Error(name + ' was called wrongly'); out[name] = answer; };
  vm.runInNewContext(script, world);
}
process.stdout.write(JSON.stringify(out));`
	input, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, "-e", program)
	command.Stdin = bytes.NewReader(input)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	text, err := command.Output()
	if err != nil {
		t.Fatalf("node: %v: %s", err, complaint.String())
	}
	var called map[string]json.RawMessage
	if err := json.Unmarshal(text, &called); err != nil {
		t.Fatal(err)
	}
	return called
}

func TestScriptsCallTheirCallbackWithTheAnswer(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "</script><script>alert(1)//\u2028\u2029\"'\\`${x}", "LX", "100", "ZRH", "JFK")
	b.Events[0].Message.Raw = "BSM\x00\r\n\xff*/-->]]><!--"
	s := site(&answers{plate: []*bag.Bag{b}, passenger: []*bag.Bag{b}})
	targets := map[string]string{
		"cb": historyPath + "?include_bim=true", "a.b.c": passengerPath, "$": flightPath, "_x9": historyPath + "?pnr=1",
		"jQuery_1.done": "/baggage/history/v1.0/tag//flightdate/",
	}
	scripts, plain := map[string]string{}, map[string]string{}
	for name, target := range targets {
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		scripts[name] = get(s, "demo", target+separator+"callback="+name)[4:]
		plain[name] = get(s, "demo", target)[4:]
		if strings.ContainsAny(scripts[name], "<>\u2028\u2029\x00") || !utf8.ValidString(scripts[name]) || !strings.HasPrefix(scripts[name], "/**/"+name+"(") {
			t.Errorf("%s", scripts[name])
		}
	}
	for name, answer := range evaluate(t, scripts) {
		var got, want any
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(plain[name]), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s was called with %s, the plain answer is %s", name, answer, plain[name])
		}
		delete(plain, name)
	}
	if len(plain) > 0 {
		t.Errorf("not called: %v", plain)
	}
}
