package blackbox_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// The headers of every record on the three topics match one message of their channel in the
// AsyncAPI document that the service serves. Its schema names each header that is ours, and the
// payload matches it.
func TestTopicsHoldWhatTheAsyncAPIDocumentSays(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	everything := func(kafka.Message) bool { return true }
	produce(t, s, rawTopic,
		kafka.Message{Key: []byte("0724730001"), Value: []byte(bsm("0724730001")), Time: at(t, "2026-03-14T08:00:00.123Z")},
		kafka.Message{Value: []byte(bim(bsm("0724730002"))), Headers: []kafka.Header{{Key: "content-type", Value: []byte("application/json")}}},
		kafka.Message{Key: []byte("bad"), Value: []byte("BSM\n.V/2KZRH\n.N/1\nENDBSM")},
		kafka.Message{Value: []byte(bim("BSM\nENDBSM")), Headers: []kafka.Header{{Key: "content-type", Value: []byte("application/json")}}},
		kafka.Message{Key: []byte("empty"), Value: []byte{}},
	)
	if got := s.Process(bsm("0724730003")); got.Status != http.StatusOK {
		t.Fatalf("process BIM: %d %s", got.Status, got.Body)
	}
	if got := s.Process("BUM\nENDBUM"); got.Status != http.StatusBadRequest {
		t.Fatalf("process BIM: %d %s", got.Status, got.Body)
	}
	post := func(target, body string) service.Answer {
		t.Helper()
		answer := s.Do("POST", target, strings.NewReader(body), "Content-Type", "application/json")
		if answer.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", target, answer.Status, answer.Body)
		}
		return answer
	}
	post("/v1/messages", `{"messages":[{"text":`+service.Quoted(bsm("0724730004"))+`}]}`)
	report, _ := delayedRequest("LX", "0724730003")
	post("/baggage/delayedbags/v1.0/", report)
	rejected := consume(t, s, rejectsTopic, 4, everything)
	sum := sha256.Sum256([]byte(header(rejected[0], "bagtrail-origin")))
	reject := "/v1/rejects/" + hex.EncodeToString(sum[:10])
	s.Until(patience, func() bool { return s.Get(reject).Status == http.StatusOK })
	post(reject+"/resubmit", `{"text":`+service.Quoted(bsm("0724730005"))+`}`)
	sent := map[string][]kafka.Message{
		"changes": consume(t, s, changesTopic, 3, keyed("0724730001", "0724730002", "0724730004")),
		"rejects": rejected,
		"raw":     consume(t, s, rawTopic, 9, everything),
	}
	channels := asyncAPI(t, s)
	for channel, records := range sent {
		for _, m := range records {
			if len(m.Value) == 0 && channel == "raw" {
				continue // the record that this test wrote and that is not a message
			}
			channels[channel].check(t, channel, m)
		}
	}
}

// described is a message of the document.
type described struct {
	headers, payload *jsonschema.Schema
	named            map[string]any // headers
}

// channel holds the messages of a channel.
type channel []described

// check fails unless the headers of a record match one message of the channel, and its payload
// does.
func (c channel) check(t *testing.T, name string, m kafka.Message) {
	t.Helper()
	headers := map[string]any{}
	for _, h := range m.Headers {
		headers[h.Key] = string(h.Value)
	}
	var chosen []described
	for _, message := range c {
		if message.headers.Validate(headers) == nil {
			chosen = append(chosen, message)
		}
	}
	if len(chosen) != 1 {
		t.Errorf("the headers of a record on %s match %d messages of the document: %v", name, len(chosen), headers)
		return
	}
	for header := range headers {
		if chosen[0].named[header] == nil && (header == "content-type" || strings.HasPrefix(header, "bagtrail-")) {
			t.Errorf("a record on %s has the header %s, which its schema does not name", name, header)
		}
	}
	err := chosen[0].payload.Validate(string(m.Value))
	if document, failed := jsonschema.UnmarshalJSON(bytes.NewReader(m.Value)); failed == nil && err != nil {
		err = chosen[0].payload.Validate(document)
	}
	if err != nil {
		t.Errorf("a record on %s is not what its headers say: %v\n%v\n%s", name, err, headers, m.Value)
	}
}

// asyncAPI compiles the document that the service serves.
func asyncAPI(t *testing.T, s *service.Service) map[string]channel {
	t.Helper()
	answer := s.Get("/asyncapi.json", "api_key", "")
	if answer.Status != http.StatusOK {
		t.Fatalf("/asyncapi.json: %d", answer.Status)
	}
	var document struct {
		AsyncAPI string `json:"asyncapi"`
		Channels map[string]struct {
			Address  string                    `json:"address"`
			Messages map[string]map[string]any `json:"messages"`
		} `json:"channels"`
		Components struct {
			Messages map[string]struct {
				Headers struct{ Properties map[string]any }
			}
		}
	}
	if err := json.Unmarshal([]byte(answer.Body), &document); err != nil {
		t.Fatal(err)
	}
	if document.AsyncAPI != "3.0.0" {
		t.Errorf("asyncapi %q, want 3.0.0", document.AsyncAPI)
	}
	for name, topic := range map[string]string{"raw": rawTopic, "rejects": rejectsTopic, "changes": changesTopic} {
		if got := document.Channels[name].Address; got != topic {
			t.Errorf("channel %s is at %q, want %q", name, got, topic)
		}
	}
	// The schemas of AsyncAPI do not know contentSchema, so the document names it as an extension.
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.ReplaceAll(answer.Body, `"x-contentSchema"`, `"contentSchema"`)))
	if err != nil {
		t.Fatal(err)
	}
	const at = "https://bagtrail.invalid/asyncapi.json"
	compiler := jsonschema.NewCompiler()
	compiler.AssertContent()
	compiler.AssertFormat()
	if err := compiler.AddResource(at, whole); err != nil {
		t.Fatal(err)
	}
	channels := map[string]channel{}
	for name, c := range document.Channels {
		for _, reference := range c.Messages {
			pointer, _ := reference["$ref"].(string)
			headers := document.Components.Messages[path.Base(pointer)].Headers.Properties
			channels[name] = append(channels[name], described{compiler.MustCompile(at + pointer + "/headers"), compiler.MustCompile(at + pointer + "/payload"), headers})
		}
	}
	return channels
}
