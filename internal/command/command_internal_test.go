package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// replay that has rejected messages fails with an exit that has no text, and a part that does not
// stop adds its error.
func TestAnErrorThatIsJoinedWithARejectionIsPrinted(t *testing.T) {
	rejected := &exit{code: Rejected}
	for _, c := range []struct {
		err  error
		want string
	}{
		{rejected, ""},
		{errors.Join(rejected, errors.New("redis: close")), "bagtrail: redis: close\n"},
		{errors.Join(&exit{Usage, errors.New("one\ntwo")}, errors.New("three")), "bagtrail: one\nbagtrail: two\nbagtrail: three\n"},
		{fmt.Errorf("replay: %w", errors.New("no broker")), "bagtrail: replay: no broker\n"},
	} {
		var out strings.Builder
		if tell(&out, c.err); out.String() != c.want {
			t.Errorf("%v: printed %q, want %q", c.err, out.String(), c.want)
		}
	}
}
