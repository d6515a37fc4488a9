package ingestor_test

import (
	"encoding/json"
	"testing"

	"bagtrail/ingestor"
)

func FuzzDecodeDocument(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `{"bim_message":"BSM\r\nENDBSM"}`, `{"bim_message":"a","bim_message":"b"}`, `{"bim_message":"a"} x`,
		`{"x":[{}],"bim_message":"\ud83d\ude00"}`, `{"bim_message":"\ud83d"}`, `{"bim_message":null}`, "{\"bim_message\":\"\xff\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, document string) {
		message, ok := ingestor.DecodeDocument(document)
		if !ok {
			return
		}
		var lenient struct {
			Message *string `json:"bim_message"`
		}
		if err := json.Unmarshal([]byte(document), &lenient); err != nil || lenient.Message == nil {
			t.Fatalf("%q was taken, but is no such document: %v", document, err)
		}
		canonical, err := json.Marshal(map[string]string{"bim_message": message})
		if err != nil {
			t.Fatal(err)
		}
		if again, ok := ingestor.DecodeDocument(string(canonical)); !ok || again != message {
			t.Fatalf("%q became %q", message, again)
		}
	})
}
