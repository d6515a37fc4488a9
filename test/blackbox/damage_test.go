package blackbox_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// One damaged value in Redis stops neither the partition nor the bag. It is moved aside, counted,
// and logged without the plate; replay restores its message.
func TestADamagedValueInRedisStallsNobody(t *testing.T) {
	ownServers(t)
	t.Parallel()
	redis := startRedis(t)
	s := service.Start(t, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr())
	const plate, metric = "0724910031", "bagtrail_store_damaged_values_total"
	day := today().Format(time.DateOnly)
	figures := func(want string) bool {
		_, body := s.TryGet(s.Ops + "/metrics")
		return strings.Contains(body, "\n"+metric+" "+want+"\n")
	}
	if !figures("0") {
		t.Errorf("%s does not begin at 0", metric)
	}
	expect(t, "POST", s.Process(bsmOn(plate, today())), 200, processed)
	// The consumer files the message as well, and would mend the damage if it did so later.
	if !s.Until(patience, func() bool { return s.Metric("bagtrail_messages_total", `door="kafka"`) > 0 }) {
		t.Fatal("the consumer did not handle the message")
	}
	fields, err := redis.HKeys("b:" + plate)
	if err != nil || len(fields) != 1 {
		t.Fatalf("%q %v", fields, err)
	}
	value := []byte(redis.HGet("b:"+plate, fields[0]))
	value[len(value)/2] ^= 4
	redis.HSet("b:"+plate, fields[0], string(value))

	// For the change of a BSM the owner of its partition reads the bag, and so finds the damage.
	chg := strings.Replace(bsmOn(plate, today()), "BSM\n", "BSM\nCHG\n", 1)
	feed(t, s, record{time.Now().UTC().Format(time.RFC3339), chg})
	historyOf(t, s, plate, day, "EXPECTED")
	if !s.Until(patience, func() bool { return figures("1") }) {
		t.Error("the damage is not counted")
	}
	if log := s.Log(); !strings.Contains(log, `"key_digest"`) || strings.Contains(log, plate) {
		t.Error("the log names no digest, or the plate")
	}
	if status, body := s.TryGet(s.Ops + "/readyz"); status != 200 {
		t.Errorf("/readyz: %d %s", status, body)
	}
	settings := []string{"BAGTRAIL_KAFKA_BROKERS=" + s.Kafka, "BAGTRAIL_REDIS_URL=redis://" + redis.Addr()}
	if stdout, stderr, code := run(t, "", []string{"replay"}, settings...); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	historyOf(t, s, plate, day, "EXPECTED EXPECTED")
}
