package command_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStatusTellsLagMessagesAndPartsWithoutAddresses(t *testing.T) {
	s := serve(t)
	if !strings.Contains(s.metrics(), `bagtrail_messages_total{door="http",verdict="rejected"} 0`+"\n") {
		t.Error("the first rejected message would not be an increase")
	}
	var got struct {
		Messages float64           `json:"messages_per_second"`
		Lag      *int64            `json:"lag_records"`
		Seconds  *float64          `json:"lag_seconds"`
		Delay    *float64          `json:"changes_delay_seconds"`
		Parts    map[string]string `json:"parts"`
	}
	s.until("messages are counted and every part works", func() bool {
		s.ask("POST", "/v1/messages", `{"messages":[{"text":"BSM\r\n.V/1LZR\r\nENDBSM\r\n"}]}`)
		_, text := s.ask("GET", "/v1/status", "")
		if err := json.Unmarshal([]byte(text), &got); err != nil || strings.Contains(text, "127.0.0.1") {
			t.Fatalf("%v: %s", err, text)
		}
		for _, part := range []string{"kafka", "redis", "consumer", "changes", "delayed_bags"} {
			if got.Parts[part] != "ok" {
				return false
			}
		}
		return got.Messages > 0 && got.Lag != nil && got.Seconds != nil && got.Delay != nil
	})
}
