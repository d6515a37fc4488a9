package command_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/command"
	"bagtrail/internal/kafka"
)

// rejection is a line of the log about a rejected message.
type rejection struct {
	Level, Message, Door, Origin, Key string
	Faults                            int
	Codes, Elements                   []string
	Lines                             []int
	LeftOut                           int `json:"left_out"`
}

// rejections returns the lines of a log about rejected messages.
func rejections(t *testing.T, log string) (all []rejection) {
	t.Helper()
	for line := range strings.Lines(log) {
		var r rejection
		if !strings.Contains(line, `"message":"a message is rejected"`) && !strings.Contains(line, `"message":"rejected messages were left out of the log"`) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

// variable returns a variable of the environment of the service.
func (s *service) variable(name string) (value string) {
	for _, entry := range s.env {
		if text, found := strings.CutPrefix(entry, name+"="); found {
			value = text
		}
	}
	return value
}

// sendTo writes a message to the raw topic of a service with an in-process broker.
func sendTo(t *testing.T, s *service, text string) {
	t.Helper()
	client, err := kafka.Open(kafka.Config{Brokers: []string{s.variable("BAGTRAIL_EMBEDDED_KAFKA_ADDR")}, Topics: []string{"bim.raw", "bim.rejected"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	door := kafkadoor.New(client, kafkadoor.Config{Group: "test", Topics: kafkadoor.Topics{Raw: "bim.raw", Rejects: "bim.rejected"}})
	if err := door.Append(t.Context(), []ingestor.Record{{Raw: text, Received: time.Now(), NoPosition: true}}); err != nil {
		t.Fatal(err)
	}
}

// secretive is a message with a fault, and with values that belong in no log.
const secretive = "BSM\r\n.V/1LZRH\r\n.F/LX14/31FEB/JFK\r\n.N/0724123456001\r\n.P/1MUELLER/ANNAMRS\r\n.L/PNRX42\r\nENDBSM\r\n"

func TestARejectedMessageIsOneLogLineWithoutItsValues(t *testing.T) {
	for _, kafka := range []string{"", "BAGTRAIL_KAFKA_BROKERS=off"} {
		s := serve(t, kafka)
		s.post(secretive, http.StatusBadRequest, "SVCPRB022")
		doors := []string{"http"}
		if kafka == "" {
			if got := run(t, secretive, append(s.env, "BAGTRAIL_HTTP_ADDR=127.0.0.1:0"), "replay", "-"); got.code != command.Rejected {
				t.Fatalf("%+v", got)
			} else if lines := rejections(t, got.stderr); len(lines) != 1 || lines[0].Door != "file" || !strings.HasPrefix(lines[0].Origin, "file/-/") || lines[0].Key != "" {
				t.Errorf("replay: %+v", lines)
			}
			sendTo(t, s, secretive)
			doors = append(doors, "kafka")
		}
		s.until("each door has logged its rejection", func() bool { return len(rejections(t, s.stderr.String())) >= len(doors) })
		lines := rejections(t, s.stderr.String())
		for i, line := range lines {
			if i >= len(doors) || line.Door != doors[i] || line.Level != "info" || line.Faults != 1 || line.LeftOut != 0 ||
				!slices.Equal(line.Codes, []string{"SVCPRB022"}) || !slices.Equal(line.Lines, []int{3}) || !slices.Equal(line.Elements, []string{".F"}) {
				t.Errorf("%q: line %d: %+v", kafka, i, line)
			}
		}
		if lines[0].Key != "development" || !strings.HasPrefix(lines[0].Origin, "http/") {
			t.Errorf("a POST: %+v", lines[0])
		}
		if len(lines) > 1 && (lines[1].Key != "" || !strings.HasPrefix(lines[1].Origin, "bim.raw/")) {
			t.Errorf("a record: %+v", lines[1])
		}
		for _, value := range []string{"31FEB", "0724123456", "MUELLER", "PNRX42"} {
			if strings.Contains(s.stderr.String(), value) {
				t.Errorf("%s is in the log", value)
			}
		}
		s.down()
	}
}

func TestAFloodOfRejectedMessagesIsCountedInTheLog(t *testing.T) {
	const flood = 5000
	got := run(t, strings.Repeat(secretive, flood), tools(t), "replay", "--kafka-brokers=off", "--split", "-")
	lines := rejections(t, got.stderr)
	logged, leftOut := 0, 0
	for _, line := range lines {
		leftOut += line.LeftOut
		if line.Origin != "" {
			logged++
		}
	}
	if got.code != command.Rejected || logged < 100 || logged+leftOut != flood || leftOut == 0 {
		t.Errorf("exit code %d, %d messages logged, %d left out", got.code, logged, leftOut)
	}
}
