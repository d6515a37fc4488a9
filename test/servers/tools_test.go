package servers_test

import (
	"regexp"
	"strings"
	"testing"

	"bagtrail/internal/kafka/broker"
	"bagtrail/test/servers"
)

func TestTheInProcessBrokerAnswersKafkasOwnTools(t *testing.T) {
	broker, err := broker.Start(broker.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	must(t, err)
	defer func() { must(t, broker.Close()) }()
	produce(t, broker.Addr(), "bim.raw", "a record")

	const topics, offsets, groups = "TopicCommand", "GetOffsetShell", "consumer.group.ConsumerGroupCommand"
	for _, step := range []struct {
		class string
		args  string
		want  string // a regular expression
	}{
		{topics, "--create --topic made.by.a.tool --partitions 2", `Created topic made\.by\.a\.tool\.`},
		{topics, "--describe", `(?s)Topic: bim\.raw\t.*PartitionCount: 1\t.*Topic: bim\.raw\tPartition: 0\tLeader: 0\t.*Topic: made\.by\.a\.tool\tPartition: 1\t`},
		{offsets, "--topic bim.raw", `^bim\.raw:0:1\n$`},
		{groups, "--reset-offsets --to-latest --topic bim.raw --group readers --execute", `readers +bim\.raw +0 +1 `},
		{groups, "--describe --group readers --offsets", `readers +bim\.raw +0 +1 +1 +0 `},
		{groups, "--list", `(?m)^readers$`},
	} {
		out := servers.KafkaTool(t, broker.Addr(), step.class, strings.Fields(step.args)...)
		if !regexp.MustCompile(step.want).MatchString(out) || strings.Contains(out, "Exception") {
			t.Errorf("%s %s prints\n%s", step.class, step.args, out)
		}
	}
}
