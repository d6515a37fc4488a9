package changefeed_test

import (
	"fmt"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"bagtrail/internal/changefeed"
)

// The change of a plate is too large for the topic of changes even without its bags, and is published
// without its flights and PNRs. A stream must not pass over it because of what is published after it.
func TestAStreamIsToldAChangeThatIsTooLargeForTheTopic(t *testing.T) {
	w := newWorld(t)
	admin := &kafkago.Client{Addr: kafkago.TCP(w.brokers...), Timeout: 5 * time.Second}
	answer, err := admin.AlterConfigs(t.Context(), &kafkago.AlterConfigsRequest{Resources: []kafkago.AlterConfigRequestResource{{
		ResourceType: kafkago.ResourceTypeTopic, ResourceName: "bag.changes",
		Configs: []kafkago.AlterConfigRequestConfig{{Name: "max.message.bytes", Value: "800"}},
	}}})
	if err != nil {
		t.Fatal(answer, err)
	}
	plates := platesOfOnePartition(2)
	r := w.reader(key("*", "*"), changefeed.Filter{})
	l := r.stream()
	follower := w.feed.Follow(r.asker)
	defer follower.Leave()
	w.eventually("the topic is read", func() bool {
		w.send(bsm("0724999999", "LX100", "MUELLER", "ABC123"), sorting("0724999999", "LX100"))
		published, _ := follower.Take()
		return len(published) > 0
	})
	l.beat()
	var messages []string
	for i := range 40 {
		messages = append(messages, bsm(plates[0], fmt.Sprintf("LX%d", 100+i), "MUELLER", fmt.Sprintf("ABC1%02d", i)))
	}
	w.received = w.received.Add(time.Minute)
	w.now.Store(w.received.Unix())
	w.file(w.received, messages...) // all at once
	w.file(w.received, bsm(plates[1], "LX100", "MEIER", "GHI789"))
	w.settle()
	told := map[string]bool{}
	for !told[plates[1]] { // it is published behind the large one
		told[l.change(l.next()).Plate] = true
	}
	for _, e := range l.beat() {
		told[l.change(e).Plate] = true
	}
	asked := map[string]bool{}
	for _, c := range r.all() {
		asked[c.Plate] = true
	}
	if !asked[plates[0]] || !told[plates[0]] {
		t.Errorf("told by a delta query: %t; by the stream after the next heartbeat: %t", asked[plates[0]], told[plates[0]])
	}
}
