package hostile_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// The service works with the rights on Redis and Kafka that docs/security.md grants.
func TestTheseRightsAreEnough(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) string {
		found := regexp.MustCompile("(?s)```" + kind + "\n(.*?)\n```").FindSubmatch(page)
		if found == nil {
			t.Fatalf("docs/security.md has no block %s", kind)
		}
		return string(found[1])
	}
	t.Parallel()
	redis := servers.SecuredRedis(t, "user "+strings.TrimPrefix(block("redis"), "ACL SETUSER "))
	broker := servers.SecuredKafka(t, "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer")
	admin := &kafka.Client{Addr: kafka.TCP(broker.Addr), Transport: &kafka.Transport{}}
	grant(t, admin, block("kafka"))

	s := service.Start(t, "SSL_CERT_FILE="+redis.CA,
		fmt.Sprintf("BAGTRAIL_REDIS_URL=rediss://%s:%s@%s", program.User, program.Password, redis.TLS),
		"BAGTRAIL_KAFKA_BROKERS="+broker.SASL, "BAGTRAIL_KAFKA_SASL_MECHANISM=PLAIN", "BAGTRAIL_KAFKA_SASL_USERNAME="+program.User, "BAGTRAIL_KAFKA_SASL_PASSWORD="+program.Password,
		"BAGTRAIL_SECRET=0123456789abcdef0123456789abcdef")
	d := day(1)
	send(t, s, "BSM", ".V/1LZRH", ".F/LX6900/"+d.bim()+"/JFK", ".N/0724690001001", ".P/RIGHTS", ".L/RIGHT1", "ENDBSM")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX6901/"+d.bim()+"/JFK", ".N/2724690002001", ".M/0724690001", ".P/RIGHTS", ".L/RIGHT1", "ENDBSM")
	send(t, s, "BPM", ".V/1LZRH", ".F/LX6900/"+d.bim()+"/JFK", ".U/AKE12345LX", "ENDBPM")
	if got := s.Process("BSM\r\n.V/1LZRH\r\nENDBSM"); got.Status != http.StatusBadRequest {
		t.Errorf("a message to be rejected: %d %s", got.Status, got.Body)
	}
	if got := report(t, s, service.DelayedBagReport("RIGHTS", []string{"LX"}, []string{"0724690001"})); got.Status != http.StatusOK {
		t.Errorf("a delayed-bag report: %d %s", got.Status, got.Body)
	}
	for _, target := range []string{
		service.HistoryPath("0724690001", d.iso()), service.FlightPath("ZRH", "D", "LX", "6900", d.iso()), service.PassengerPath("RIGHT1", d.iso()),
	} {
		if got := s.Get(target); got.Status != http.StatusOK || !strings.Contains(got.Body, "0724690001") {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
	if !s.Until(patience, func() bool { return messages(t, admin, "bim.rejected") > 0 && messages(t, admin, "bag.changes") >= 2 }) {
		t.Errorf("%d rejects, %d changes", messages(t, admin, "bim.rejected"), messages(t, admin, "bag.changes"))
	}
	useWebhook(t, s)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	_, log, _ := strings.Cut(s.Log(), `"message":"ready"`) // earlier refusals come from rights that were not in force yet
	for _, complaint := range []string{"NOPERM", "Authorization Failed", `"level":"error"`, "cannot be read"} {
		if strings.Contains(log, complaint) {
			t.Errorf("the log says %s", complaint)
		}
	}
}

var operations = map[string]kafka.ACLOperationType{
	"Read": kafka.ACLOperationTypeRead, "Write": kafka.ACLOperationTypeWrite, "Describe": kafka.ACLOperationTypeDescribe, "DescribeConfigs": kafka.ACLOperationTypeDescribeConfigs,
}

// useWebhook makes a webhook, whose receiver does not exist, and posts to it.
func useWebhook(t *testing.T, s *service.Service) {
	t.Helper()
	ask := func(method, path, body string) service.Answer {
		got, err := s.TryDo(method, "/v1/webhooks"+path, strings.NewReader(body), "api_key", service.DevelopmentKey, "Content-Type", "application/json")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var made service.Answer
	if !s.Until(patience, func() bool {
		made = ask(http.MethodPost, "", `{"url":"https://receiver.invalid/"}`)
		return made.Status == http.StatusCreated
	}) {
		t.Fatalf("%d %s", made.Status, made.Body)
	}
	id, _ := decoded(made.Body).(map[string]any)["id"].(string)
	if got := ask(http.MethodPost, "/"+id+"/test", ""); got.Status != http.StatusOK {
		t.Errorf("test: %d %s", got.Status, got.Body)
	}
	if got := ask(http.MethodGet, "/"+id+"/deliveries", ""); got.Status != http.StatusOK || !strings.Contains(got.Body, "bags.test") {
		t.Errorf("deliveries: %d %s", got.Status, got.Body)
	}
}

// grant creates the topics of the list and grants their rights to the user.
func grant(t *testing.T, admin *kafka.Client, list string) {
	t.Helper()
	kinds := map[string]kafka.ResourceType{"topic": kafka.ResourceTypeTopic, "group": kafka.ResourceTypeGroup}
	var topics []kafka.TopicConfig
	var entries []kafka.ACLEntry
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if fields[0] == "topic" {
			topic := kafka.TopicConfig{Topic: fields[1], NumPartitions: 2, ReplicationFactor: 1}
			if topic.Topic == "bag.webhooks" {
				topic.ConfigEntries = []kafka.ConfigEntry{{ConfigName: "cleanup.policy", ConfigValue: "compact"}}
			}
			topics = append(topics, topic)
		}
		for _, operation := range fields[2:] {
			entries = append(entries, kafka.ACLEntry{
				ResourceType: kinds[fields[0]], ResourceName: fields[1], ResourcePatternType: kafka.PatternTypeLiteral,
				Principal: "User:" + program.User, Host: "*", Operation: operations[operation], PermissionType: kafka.ACLPermissionTypeAllow,
			})
		}
	}
	made, err := admin.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		t.Fatal(err)
	}
	for topic, err := range made.Errors {
		if err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
	}
	given, err := admin.CreateACLs(t.Context(), &kafka.CreateACLsRequest{ACLs: entries})
	if err = errors.Join(append(given.Errors, err)...); err != nil {
		t.Fatal(err)
	}
}

// messages returns the number of messages in a topic.
func messages(t *testing.T, admin *kafka.Client, topic string) (n int64) {
	t.Helper()
	offsets, err := admin.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.LastOffsetOf(0), kafka.LastOffsetOf(1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, partition := range offsets.Topics[topic] {
		n += partition.LastOffset
	}
	return n
}
