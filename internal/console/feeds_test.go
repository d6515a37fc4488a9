package console_test

import (
	"strings"
	"testing"
)

func feedsOf() object {
	hour := func(h string, n int) object { return object{"hour": h, "accepted": n} }
	return object{"feeds": []object{
		{"airport": "ZRH", "door": "kafka", "state": "flowing", "last_received": "2026-11-22T11:31:00.000Z", "accepted": 342, "duplicate": 4, "rejected": 4, "delay": object{"p50": 2.4, "p95": 170.0}, "most_frequent_code": "SVCPRB022", "hours": []object{hour("2026-11-22T10:00:00.000Z", 171), hour("2026-11-22T11:00:00.000Z", 171)}},
		{"airport": "JFK", "door": "http", "state": "silent", "last_received": "2026-11-22T09:20:00.000Z", "usual_gap": 21.0, "accepted": 1},
		{"door": "kafka", "state": "new", "last_received": "2026-11-22T11:30:00.000Z", "rejected": 3},
	}}
}

func statusOf() object {
	return object{"messages_per_second": 412.5, "lag_records": 3, "lag_seconds": 0.4, "parts": object{"kafka": "ok", "redis": "failing", "delayed_bags": "off"}}
}

func TestASilentFeedComesFirst(t *testing.T) {
	c := newConsole(newV1(object{"GET /v1/feeds": feedsOf(), "GET /v1/status": statusOf()}))
	text := must(t, get(c, "/console/feeds"), 200, "1 silent:", "JFK by http since 22 Nov 04:20, 09:20Z, usually every 21.0 s.", "400 ms", "3 records", "412.5", "Failing", "<dt>Delayed bags</dt>", "Off", "2.4 s, 3 min", "1.1 %", `aria-label="350 messages in 24 hours"`, "not readable", `<td class="num c-m" data-v="171">171</td>`)
	if silent, flowing := strings.Index(text, `id="feed-JFK-http"`), strings.Index(text, `id="feed-ZRH-kafka"`); silent < 0 || flowing < silent {
		t.Error("the silent feed does not come first")
	}
	must(t, get(c, "/console/feeds?rows="), 200, `id="state"`, `id="feed-ZRH-kafka"`)
}

func TestFeedsOfNoAirportAndWithoutTheRight(t *testing.T) {
	v := newV1(object{"GET /v1/feeds": object{"feeds": []object{}}, "GET /v1/status": object{"parts": object{}}})
	must(t, get(newConsole(v), "/console/feeds"), 200, "No feed yet", "not known")
	v.answers["GET /v1/feeds"] = 403
	must(t, get(newConsole(v), "/console/feeds"), 200, "Not authorised for feeds")
	v.answers["GET /v1/feeds"] = 503
	must(t, get(newConsole(v), "/console/feeds"), 503, "SVCSRV001")
}

// Feeds come in the order of their airports, so that a silent one may be on the last page.
func TestEveryPageOfTheFeedsIsRead(t *testing.T) {
	all := feedsOf()["feeds"].([]object)
	v := newV1(object{"GET /v1/status": statusOf(), "GET /v1/feeds": object{"feeds": all[:1], "next": "more"}, "GET /v1/feeds?cursor=more": object{"feeds": all[1:]}})
	must(t, get(newConsole(v), "/console/feeds"), 200, "1 silent:", `id="feed-ZRH-kafka"`, `id="feed-JFK-http"`)
}
