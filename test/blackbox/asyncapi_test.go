package blackbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// Headers and payload of every record on the three topics match the schema of a message of their
// channel in the AsyncAPI document that the service serves.
func TestTopicsHoldWhatTheAsyncAPIDocumentSays(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t)
	produce(t, s, rawTopic,
		kafka.Message{Key: []byte("0724730001"), Value: []byte(bsm("0724730001")), Time: at(t, "2026-03-14T08:00:00.123Z")},
		kafka.Message{Value: []byte(bim(bsm("0724730002"))), Headers: []kafka.Header{{Key: "content-type", Value: []byte("application/json")}}},
		kafka.Message{Key: []byte("bad"), Value: []byte("BSM\n.V/2KZRH\n.N/1\nENDBSM")},
		kafka.Message{Key: []byte("empty"), Value: []byte{}},
	)
	if got := s.Process(bsm("0724730003")); got.Status != http.StatusOK {
		t.Fatalf("process BIM: %d %s", got.Status, got.Body)
	}
	if got := s.Process("BUM\nENDBUM"); got.Status != http.StatusBadRequest {
		t.Fatalf("process BIM: %d %s", got.Status, got.Body)
	}
	everything := func(kafka.Message) bool { return true }
	sent := map[string][]kafka.Message{
		"changes": consume(t, s, changesTopic, 3, everything),
		"rejects": consume(t, s, rejectsTopic, 3, everything),
		"raw":     consume(t, s, rawTopic, 5, everything),
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

// channel holds the schemas of the messages of a channel.
type channel []struct{ headers, payload *jsonschema.Schema }

// check fails if no message of the channel matches the record.
func (c channel) check(t *testing.T, name string, m kafka.Message) {
	t.Helper()
	headers := map[string]any{}
	for _, h := range m.Headers {
		headers[h.Key] = string(h.Value)
	}
	var why []string
	for _, message := range c {
		err := message.headers.Validate(headers)
		if err == nil {
			if err = message.payload.Validate(string(m.Value)); err != nil {
				var document any
				if document, err = jsonschema.UnmarshalJSON(strings.NewReader(string(m.Value))); err == nil {
					err = message.payload.Validate(document)
				}
			}
		}
		if err == nil {
			return
		}
		why = append(why, err.Error())
	}
	t.Errorf("a record on %s is no message of the document:\n%v\n%s\n%s", name, headers, m.Value, strings.Join(why, "\n"))
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
			channels[name] = append(channels[name], struct{ headers, payload *jsonschema.Schema }{
				compiler.MustCompile(at + pointer + "/headers"), compiler.MustCompile(at + pointer + "/payload"),
			})
		}
	}
	return channels
}
