package apidoc_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const at = "https://bagtrail.invalid/openapi.json"

// compilerOf returns the OpenAPI document that a stack serves, and a compiler that has it at at.
func compilerOf(t *testing.T, s *stack) (document any, compiler *jsonschema.Compiler) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.ask("GET", "/openapi.json", "", "").Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	compiler = jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(at, document); err != nil {
		t.Fatal(err)
	}
	return document, compiler
}

func TestAJobHasIDsOrAFilter(t *testing.T) {
	s := newStack(t)
	_, compiler := compilerOf(t, s)
	for action, bodies := range map[string]map[string]bool{
		"resubmit": {`{}`: false, `{"dry_run":true}`: false, `{"state":"open","dry_run":true}`: true},
		"dismiss":  {`{"reason":"x"}`: false, `{"reason":"x","dry_run":true}`: false, `{"reason":"x","airport":""}`: true},
	} {
		schema, err := compiler.Compile(at + "#/paths/~1v1~1rejects~1" + action + "/post/requestBody/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		for body, want := range bodies {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			fits, taken := schema.Validate(value) == nil, s.ask("POST", "/v1/rejects/"+action, "demo", body).Code == 202
			if fits != want || taken != want {
				t.Errorf("%s %s: fits %t, taken %t", action, body, fits, taken)
			}
		}
	}
}

// Every example of an answer has the members and forms that the schema beside it demands.
func TestExamplesOfAnswersMatchTheirSchemas(t *testing.T) {
	s := newStack(t, exampleWebhooks(t))
	document, compiler := compilerOf(t, s)
	compared := 0
	// compare compares the examples of a content, which is at a pointer of the document.
	compare := func(pointer string, content map[string]any) {
		examples, _ := content["examples"].(map[string]any)
		if content["schema"] == nil || len(examples) == 0 {
			return
		}
		schema, err := compiler.Compile(at + "#" + pointer + "/schema")
		if err != nil {
			t.Errorf("%s: %v", pointer, err)
			return
		}
		for name, example := range examples {
			if err := schema.Validate(example.(map[string]any)["value"]); err != nil {
				t.Errorf("%s, example %s: %v", pointer, name, err)
			}
			compared++
		}
	}
	var walk func(pointer string, value any)
	walk = func(pointer string, value any) {
		object, isObject := value.(map[string]any)
		if !isObject {
			return
		}
		compare(pointer, object)
		for name, member := range object {
			walk(pointer+"/"+url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name)), member)
		}
	}
	walk("/paths", document.(map[string]any)["paths"])
	if compared < 100 {
		t.Errorf("%d examples were compared", compared)
	}
	t.Logf("%d examples were compared", compared)
}
