package webhooks

import (
	"testing"
	"time"

	"bagtrail/internal/secret"
)

func TestEachSecretIsGoodForADayAfterItsReplacement(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &Service{conf: Config{Secret: secret.Secret("0123456789012345678901234567890123456789"), Now: func() time.Time { return at }}}
	d := &Definition{ID: "wh_1", Secret: 1}
	for _, step := range []struct {
		after   time.Duration
		replace bool
		want    []int
	}{
		{0, false, []int{1}},
		{0, true, []int{2, 1}},
		{time.Hour, true, []int{3, 2, 1}}, // a customer whose first answer was lost asks again
		{22 * time.Hour, false, []int{3, 2, 1}},
		{time.Hour, false, []int{3, 2}},
		{time.Hour, false, []int{3}},
		{0, true, []int{4, 3}},
		{0, true, []int{5, 4, 3}},
		{0, true, []int{6, 5, 4, 3}},
		{0, true, []int{7, 6, 5, 4, 3}},
		{0, true, []int{8, 7, 6, 5, 4}}, // no more than the latest four
	} {
		at = at.Add(step.after)
		if step.replace {
			d.replaceSecret(at)
		}
		got := s.secrets(d)
		if len(got) != len(step.want) {
			t.Fatalf("%v: %d secrets, want %v", step, len(got), step.want)
		}
		for i, n := range step.want {
			if got[i] != DeriveSecret(s.conf.Secret, "wh_1", n) {
				t.Errorf("%v: secret %d is not number %d", step, i, n)
			}
		}
	}
}
