package chaos_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// The processes run with exactly the rights that docs/operations.md lists.
func TestTheDocumentedRightsAreEnoughUnderLoad(t *testing.T) {
	needsReal(t)
	lines := operations(t)
	index := servers.SecuredRedis(t, append(durable, linesWith(t, lines, "user bagtrail ")...)...)
	broker := servers.SecuredKafka(t, "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer")
	w := newWorld(t, broker.Addr, "rediss://"+program.User+":"+program.Password+"@"+index.TLS+"?ca="+url.QueryEscape(index.CA))
	w.name = "bim.raw"
	w.grant(linesWith(t, lines, "kafka-acls.sh "))
	for _, topic := range []string{"bim.raw", "bim.rejected", "bag.dirty", "bag.changes"} {
		w.create(topic, 3, "retention.ms", "-1") // records have old timestamps
	}
	w.create("bag.webhooks", 3, "cleanup.policy", "compact")

	as := []string{
		"BAGTRAIL_KAFKA_BROKERS=" + broker.SASL, "BAGTRAIL_KAFKA_SASL_MECHANISM=SCRAM-SHA-512",
		"BAGTRAIL_KAFKA_SASL_USERNAME=" + program.User, "BAGTRAIL_KAFKA_SASL_PASSWORD=" + program.Password,
		"BAGTRAIL_KAFKA_REJECTS_TOPIC=bim.rejected", "BAGTRAIL_KAFKA_CHANGES_TOPIC=bag.changes", "BAGTRAIL_KAFKA_DIRTY_TOPIC=bag.dirty", "BAGTRAIL_KAFKA_WEBHOOKS_TOPIC=bag.webhooks", "BAGTRAIL_KAFKA_GROUP=bagtrail",
		"BAGTRAIL_RETENTION=15m", "BAGTRAIL_LOG_LEVEL=info", // the sweeper runs every five seconds
	}
	ingest, api := w.start("ingest", as...), w.start("api", as...)
	stream := w.startStream(500)
	stream.allow(500)
	stream.finish(w)
	hook := &follower{name: "webhook", key: service.DevelopmentKey, states: make(map[string]change)}
	hook.hook(w, api)
	useOperations(t, api)
	w.startPosts(50, api)
	swept := ingest.Until(time.Minute, func() bool { return w.posts.accepted() > 0 && strings.Contains(ingest.Log(), `"index swept"`) })
	w.posts.stop()
	target := historyOf(api, w.posts.any())
	if status, text := api.TryGet(target); status != http.StatusOK || !strings.HasPrefix(text, success) {
		t.Errorf("GET %s: %d %s", target, status, text)
	}
	posted := until(t.Context(), time.Minute, beat, func(context.Context) bool { return hook.count() > 0 })
	for _, args := range [][]string{{"replay"}, {"replay", "--rejects"}} {
		if out, errs, code := service.Run(servers.Context(t), t, "", args, append(w.settings(), as...)...); code > 1 {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	rejected, told := 0, 0
	w.read("bim.rejected", func(kafka.Message) { rejected++ })
	w.read("bag.changes", func(kafka.Message) { told++ })
	denied := w.denied(index.Addr)
	t.Logf("with the rights of docs/operations.md: %d POSTs answered 200, %d rejects, %d changes told, %d of them to a webhook, swept: %t; Redis denied %d commands %v",
		len(w.posts.acked), rejected, told, hook.count(), swept, len(denied), denied)
	if len(w.posts.acked) == 0 || rejected == 0 || told == 0 || !posted || !swept || len(denied) > 0 {
		t.Error("that is not all that there is to do")
	}
	for _, s := range []*service.Service{ingest, api} {
		if code := s.Stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if log := s.Log(); strings.Contains(log, "uthoriz") || strings.Contains(log, "NOPERM") {
			t.Errorf("the log tells of rights that are missing:\n%s", log)
		}
	}
}

// useOperations sends and asks what the load does not: a rush bag, a container, a delayed-bag report,
// queries, and the only webhook.
func useOperations(t *testing.T, api *service.Service) {
	t.Helper()
	today := time.Now().UTC()
	day, flight := today.Format(time.DateOnly), ".V/1LZRH\r\n.F/LX6900/"+strings.ToUpper(today.Format("02Jan"))+"/JFK\r\n"
	ask := func(method, target, body, wanted string) string {
		t.Helper()
		got := api.Do(method, target, strings.NewReader(body), "Content-Type", "application/json")
		if got.Status != http.StatusOK || !strings.Contains(got.Body, wanted) {
			t.Errorf("%s %s: %d %s", method, target, got.Status, got.Body)
		}
		return got.Body
	}
	for _, text := range []string{
		"BSM\r\n" + flight + ".N/0724690001001\r\n.P/RIGHTS\r\n.L/RIGHT1\r\nENDBSM", "BSM\r\n" + flight + ".N/2724690002001\r\n.M/0724690001\r\n.P/RIGHTS\r\n.L/RIGHT1\r\nENDBSM",
		"BPM\r\n" + flight + ".U/AKE12345LX\r\nENDBPM",
	} {
		if got := api.Process(text); got.Status != http.StatusOK {
			t.Errorf("%q: %d %s", text, got.Status, got.Body)
		}
	}
	ask(http.MethodPost, "/baggage/delayedbags/v1.0/", `{"Request":`+service.Quoted(service.DelayedBagReport("RIGHTS", []string{"LX"}, []string{"0724690001"}))+`}`, success)
	ask(http.MethodGet, service.FlightPath("ZRH", "D", "LX", "6900", day), "", "0724690001")
	ask(http.MethodGet, service.PassengerPath("RIGHT1", day), "", "0724690001")
	_, id, _ := strings.Cut(ask(http.MethodGet, "/v1/webhooks", "", `"id":"`), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	ask(http.MethodPost, "/v1/webhooks/"+id+"/test", "", "")
	ask(http.MethodGet, "/v1/webhooks/"+id+"/deliveries", "", "bags.test")
}

func operations(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

func linesWith(t *testing.T, lines []string, prefix string) (found []string) {
	t.Helper()
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no line %q in docs/operations.md", prefix)
	}
	return found
}

// grant grants the rights in lines of kafka-acls.sh.
func (w *world) grant(lines []string) {
	w.t.Helper()
	operations := map[string]kafka.ACLOperationType{
		"Read": kafka.ACLOperationTypeRead, "Write": kafka.ACLOperationTypeWrite, "DescribeConfigs": kafka.ACLOperationTypeDescribeConfigs,
	}
	var entries []kafka.ACLEntry
	for _, line := range lines {
		var allowed []kafka.ACLOperationType
		entry := kafka.ACLEntry{ResourcePatternType: kafka.PatternTypeLiteral, Host: "*", PermissionType: kafka.ACLPermissionTypeAllow}
		words := strings.Fields(line)
		for i := 2; i+1 < len(words); i += 2 {
			switch value := words[i+1]; words[i] {
			case "--allow-principal":
				entry.Principal = value
			case "--operation":
				allowed = append(allowed, operations[value])
			case "--topic":
				entry.ResourceType, entry.ResourceName = kafka.ResourceTypeTopic, value
			case "--group":
				entry.ResourceType, entry.ResourceName = kafka.ResourceTypeGroup, value
			default:
				w.t.Fatalf("%s: what is %s?", line, words[i])
			}
		}
		for _, operation := range allowed {
			entry.Operation = operation
			entries = append(entries, entry)
		}
	}
	res, err := w.client.CreateACLs(servers.Context(w.t), &kafka.CreateACLsRequest{ACLs: entries})
	if err == nil {
		err = errors.Join(res.Errors...)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// denied returns the commands that the user of a Redis was not allowed.
func (w *world) denied(addr string) (commands []string) {
	w.t.Helper()
	reply, err := dial(w.t, addr).Do(w.t.Context(), "ACL", "LOG").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, entry := range reply.([]any) {
		fields := entry.([]any)
		for i := 0; i+1 < len(fields); i += 2 {
			if name, _ := fields[i].(string); name == "object" {
				object, _ := fields[i+1].(string)
				commands = append(commands, object)
			}
		}
	}
	return commands
}

// success is how the answer begins that has a bag.
const success = `{"success":true`

// historyOf returns where the history of a bag is found: its flight left yesterday or leaves today.
func historyOf(s *service.Service, plate string) (target string) {
	for _, day := range []time.Time{time.Now().UTC(), time.Now().UTC().AddDate(0, 0, -1)} {
		target = s.URL + service.HistoryPath(plate, day.Format(time.DateOnly))
		if _, text := s.TryGet(target); strings.HasPrefix(text, success) {
			break
		}
	}
	return target
}
