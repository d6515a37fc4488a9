package statusstore_test

import (
	"reflect"
	"testing"
	"time"

	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/status"
	"bagtrail/internal/statusstore"
)

func TestTheReportOfAProcessIsReplacedAndForgottenAMinuteAfterItsEnd(t *testing.T) {
	client := redistest.Open(t, "")
	store := statusstore.New(client)
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		process string
		own     status.Report
		count   int
	}{
		{"one", status.Report{At: now, Messages: 1}, 1},
		{"two", status.Report{At: now, Messages: 2}, 2},
		{"two", status.Report{At: now.Add(time.Minute), Messages: 3, Consumer: &status.Backlog{Works: true, Records: 4, Seconds: 5}}, 2},
		{"two", status.Report{At: now.Add(time.Minute + time.Second)}, 1},
	} {
		got, err := store.Exchange(t.Context(), tc.process, tc.own)
		found := false
		for _, r := range got {
			found = found || reflect.DeepEqual(r, tc.own)
		}
		if err != nil || len(got) != tc.count || !found {
			t.Errorf("%s: %+v %v, want %d and among them %+v", tc.process, got, err, tc.count, tc.own)
		}
	}
	if left, err := client.ReadClient().HLen(t.Context(), "status").Result(); err != nil || left != 1 {
		t.Errorf("%d reports are left, %v", left, err)
	}
}
