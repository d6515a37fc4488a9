package kafkadoor_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/kafka"
)

// setting returns a setting of a topic.
func (w *world) setting(topic, name string) string {
	w.t.Helper()
	answer, err := w.client.DescribeConfigs(w.t.Context(), &kafkago.DescribeConfigsRequest{
		Resources: []kafkago.DescribeConfigRequestResource{{ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{name}}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.Resources[0].ConfigEntries[0].ConfigValue
}

// createRaw creates the raw topic.
func (w *world) createRaw(partitions, replicas int, settings ...kafkago.ConfigEntry) {
	w.t.Helper()
	topic := kafkago.TopicConfig{Topic: w.conf.Topics.Raw, NumPartitions: partitions, ReplicationFactor: replicas, ConfigEntries: settings}
	if _, err := w.client.CreateTopics(w.t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{topic}}); err != nil {
		w.t.Fatal(err)
	}
}

func TestMissingTopicsAreCreated(t *testing.T) {
	w := newBroker(t, kfake.BrokerConfigs(map[string]string{"log.message.timestamp.type": "LogAppendTime"}))
	w.conf.Retention = 4320 * time.Hour
	w.open()
	for range 2 { // the second time there is nothing to do
		if err := w.door.EnsureTopics(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for topic, want := range map[string]int{w.conf.Topics.Raw: 12, w.conf.Topics.Rejects: 1} {
		if got := len(w.partitions(topic)); got != want {
			t.Errorf("topic %s has %d partitions, want %d", topic, got, want)
		}
		if got := w.setting(topic, "retention.ms"); got != "15552000000" {
			t.Errorf("topic %s keeps records for %s ms", topic, got)
		}
	}
	if got := w.setting(w.conf.Topics.Raw, "message.timestamp.type"); got != "CreateTime" {
		t.Errorf("the raw topic has times of type %s", got)
	}
	if got := w.setting(w.conf.Topics.Rejects, "max.message.bytes"); got != "4194304" {
		t.Errorf("the rejects topic takes records of %s bytes", got)
	}
}

func TestTheServicesOwnQuestionsDoNotCreateTheRawTopic(t *testing.T) {
	w := newBroker(t, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1))
	w.open()
	if err := w.door.Ping(t.Context()); !errors.Is(err, kafkago.UnknownTopicOrPartition) {
		t.Errorf("before the topic is created Ping says %v", err)
	}
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.door.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if got := len(w.partitions(w.conf.Topics.Raw)); got != 12 {
		t.Errorf("the broker, which creates topics by itself, has a raw topic of %d partitions, want 12", got)
	}
}

// brokerWithFewPartitions returns a broker whose raw topic has five partitions, and what is logged about it.
func brokerWithFewPartitions(t *testing.T) (*world, *observer.ObservedLogs) {
	t.Helper()
	w := newBroker(t)
	core, logs := observer.New(zap.WarnLevel)
	w.kafka.Logger = zap.New(core)
	w.open()
	w.createRaw(5, 1)
	return w, logs
}

func TestTopicsThatAreThereAreLeftAloneAndFewPartitionsAreSaid(t *testing.T) {
	w, logs := brokerWithFewPartitions(t)
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(w.partitions(w.conf.Topics.Raw)); got != 5 {
		t.Errorf("%d partitions, want 5", got)
	}
	said := logs.All()
	if len(said) != 1 {
		t.Fatalf("%d warnings, want one: %v", len(said), said)
	}
	add := "kafka-topics.sh --bootstrap-server " + strings.Join(w.kafka.Brokers, ",") + " --alter --topic " + w.conf.Topics.Raw + " --partitions 12"
	if f := said[0].ContextMap(); f["topic"] != w.conf.Topics.Raw || f["partitions"] != int64(5) || f["wanted"] != int64(12) || f["add"] != add {
		t.Errorf("the warning says %v", f)
	}
}

// More partitions end every cursor of changes, or stop the changes.
func TestNobodyIsToldToAddPartitionsToAFixedTopic(t *testing.T) {
	w, logs := brokerWithFewPartitions(t)
	if err := w.own.EnsureTopics(t.Context(), kafka.Topic{Name: w.conf.Topics.Raw, Partitions: 12, Log: true, Fixed: true}); err != nil {
		t.Fatal(err)
	}
	said := logs.All()
	if len(said) != 1 {
		t.Fatalf("%d warnings, want one: %v", len(said), said)
	}
	if f := said[0].ContextMap(); f["partitions"] != int64(5) || f["add"] != nil || f["keep"] == nil {
		t.Errorf("the warning says %v", f)
	}
}

func TestATopicThatMayLoseRecordsOrTimesIsWarnedOf(t *testing.T) {
	type fields = map[string]any
	for _, test := range []struct {
		brokers, replicas int
		setting, value    string
		want              fields // of the one warning, beside the topic; nil: none
	}{
		{1, 1, "retention.ms", "3600000", fields{"retention.ms": "3600000", "wanted": int64(86400000)}},
		{1, 1, "retention.ms", "86400000", nil},
		{1, 1, "retention.ms", "-1", nil},
		{1, 1, "retention.bytes", "1000000", fields{"retention.bytes": "1000000"}},
		{1, 1, "retention.bytes", "-1", nil},
		{1, 1, "message.timestamp.type", "LogAppendTime", fields{"message.timestamp.type": "LogAppendTime"}},
		{1, 1, "message.timestamp.type", "CreateTime", nil},
		{1, 1, "min.insync.replicas", "1", nil},
		{3, 1, "min.insync.replicas", "1", fields{"replication.factor": int64(1), "min.insync.replicas": "1"}},
		{3, 3, "min.insync.replicas", "1", fields{"replication.factor": int64(3), "min.insync.replicas": "1"}},
		{3, 3, "min.insync.replicas", "2", nil},
		{1, 1, "unclean.leader.election.enable", "true", fields{"unclean.leader.election.enable": "true"}},
		{1, 1, "unclean.leader.election.enable", "false", nil},
	} {
		w := newBroker(t, kfake.NumBrokers(test.brokers))
		core, logs := observer.New(zap.WarnLevel)
		w.kafka.Logger = zap.New(core)
		w.open()
		w.createRaw(1, test.replicas, kafkago.ConfigEntry{ConfigName: test.setting, ConfigValue: test.value})
		if err := w.own.EnsureTopics(t.Context(), kafka.Topic{Name: w.conf.Topics.Raw, Partitions: 1, Retention: 24 * time.Hour, Log: true}); err != nil {
			t.Fatalf("%+v: %v", test, err)
		}
		var said []fields
		for _, line := range logs.All() {
			said = append(said, line.ContextMap())
		}
		var want []fields
		if test.want != nil {
			test.want["topic"] = w.conf.Topics.Raw
			want = append(want, test.want)
		}
		if !reflect.DeepEqual(said, want) {
			t.Errorf("%+v: warnings %v", test, said)
		}
	}
}

func TestATopicWhoseSettingsMayNotBeReadIsWarnedOf(t *testing.T) {
	w := newBroker(t)
	w.needsFaults()
	core, logs := observer.New(zap.WarnLevel)
	w.kafka.Logger = zap.New(core)
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := logs.FilterMessage("the settings of a topic cannot be read, and are not checked").FilterField(zap.String("topic", w.conf.Topics.Raw)).Len(); n != 1 {
		t.Errorf("%d warnings, want one: %v", n, logs.All())
	}
}

func TestErrorSaysWhichTopicToCreateAndHow(t *testing.T) {
	w := newBroker(t)
	w.needsFaults()
	w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: w.conf.Topics.Rejects, Err: kerr.TopicAuthorizationFailed, Count: -1})
	w.open()
	err := w.door.EnsureTopics(t.Context())
	want := "create it with: kafka-topics.sh --bootstrap-server " + w.kafka.Brokers[0] + " --create --topic bim.rejected --partitions 1" +
		" --config cleanup.policy=delete --config retention.ms=-1 --config max.message.bytes=4194304"
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "topic bim.raw") {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestALogOfRecordThatWouldLoseOrRefuseMessagesIsRefused(t *testing.T) {
	for _, test := range []struct{ setting, value, want string }{
		{"cleanup.policy", "compact", "set its cleanup.policy to delete"},
		{"max.message.bytes", "69631", "takes only 69631 bytes at once, but a record may be longer: set its max.message.bytes to 69632 or more"},
		{"max.message.bytes", "69632", ""},
	} {
		w := newBroker(t)
		w.open()
		w.createRaw(1, 1, kafkago.ConfigEntry{ConfigName: test.setting, ConfigValue: test.value})
		if err := w.door.EnsureTopics(t.Context()); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v", test, err)
		}
	}
}

func TestTopicsOfABrokerThatIsAwayAreAnError(t *testing.T) {
	w := newBroker(t)
	w.needsFaults()
	w.open()
	w.cluster.Close()
	if err := w.door.EnsureTopics(t.Context()); err == nil {
		t.Error("no error")
	}
}
