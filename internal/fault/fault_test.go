package fault_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
)

// codes are the codes of interface 7.2 to 7.6 and of rules §4, by right.
var codes = map[operation.Right]string{
	operation.BagsForFlight:    "SVCGBF001-015 SVCSRV0016 SVCSRV002 SVCSRV007 SVCSRV008",
	operation.History:          "SVCGBH001-015 SVCSRV001 SVCSRV002 SVCSRV007 SVCSRV008",
	operation.BagsForPassenger: "SVCGBP001-006 SVCGBH002 SVCSRV001 SVCSRV002 SVCSRV007 SVCSRV008",
	operation.DelayedBags:      "SVCGBH003 SVCGBH004 SVCDBR005 SVCSRV001 SVCSRV002 SVCSRV003 SVCSRV005 SVCSRV007 SVCSRV008 SVCSRV009",
	operation.ProcessBIM:       "SVCPRB001-023 SVCPRB025 SVCPRB027 SVCPRB039-041 SVCSRV001 SVCSRV003 SVCSRV004 SVCSRV007 SVCSRV008",
}

func expand(list string) map[string]bool {
	all := map[string]bool{}
	for item := range strings.FieldsSeq(list) {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			all[item] = true
			continue
		}
		from, _ := strconv.Atoi(first[6:])
		to, _ := strconv.Atoi(last)
		for n := from; n <= to; n++ {
			all[fmt.Sprintf("%s%03d", first[:6], n)] = true
		}
	}
	return all
}

func TestRegisterHoldsEveryCodeOfTheInterfaceForItsOperationAndNoOther(t *testing.T) {
	for right, list := range codes {
		want := expand(list)
		for _, e := range fault.Register() {
			if !e.Gives(right) {
				continue
			}
			if isWarning := right == operation.ProcessBIM && e.Status == 200; isWarning && e.Code == "SVCPRB023" {
				continue // it is an error as well
			}
			if e.Code == "SVCSRV001" && e.Operations[0] == operation.DelayedBags && len(e.Operations) == 1 {
				continue // said a second time, if nobody knows whether a report was created
			}
			if !want[e.Code] {
				t.Errorf("%s gives %s, which is not its own or is there twice", right, e.Code)
			}
			delete(want, e.Code)
		}
		for code := range want {
			t.Errorf("%s does not give %s", right, code)
		}
	}
}

func TestEveryEntryHasStatusTextAndExample(t *testing.T) {
	for _, e := range fault.Register() {
		switch {
		case e.Text == "" || strings.HasSuffix(e.Text, "."):
			t.Errorf("%s: text %q", e.Code, e.Text)
		case http.StatusText(e.Status) == "":
			t.Errorf("%s: status %d", e.Code, e.Status)
		case e.Example.Target == "" && e.Code != "SVCPRB010":
			t.Errorf("%s has no example", e.Code)
		case strings.HasPrefix(e.Code, "SVCPRB") && strings.Contains(e.Example.Body, "^"):
			t.Errorf("%s: the mark stands in the example", e.Code)
		}
	}
}

func TestStatusesAreThoseOfTheInterface(t *testing.T) {
	for _, e := range fault.Register() {
		for _, right := range e.Operations {
			post := right == operation.DelayedBags || right == operation.ProcessBIM
			allowed := map[int]bool{200: !post || e.Code == "SVCPRB023" || e.Code == "SVCPRB025", 400: true, 401: post, 404: right == operation.DelayedBags, 413: post, 429: true, 500: true, 503: true}
			if !allowed[e.Status] {
				t.Errorf("%s answers %s with %d", right, e.Code, e.Status)
			}
		}
	}
}
