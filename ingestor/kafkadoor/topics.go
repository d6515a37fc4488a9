package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go"
	"go.uber.org/zap"
)

// maxRejectBytes is the largest record that a rejects topic of ours takes: the largest message that a raw topic takes
// by default, and the diagnostics.
const maxRejectBytes = 4 << 20

// topicOf is one topic as it is to be.
type topicOf struct {
	name       string
	partitions int
	config     []kafka.ConfigEntry
}

func (d *Door) topics() []topicOf {
	keep := []kafka.ConfigEntry{
		{ConfigName: "cleanup.policy", ConfigValue: "delete"},
		{ConfigName: "retention.ms", ConfigValue: "-1"},
	}
	if d.conf.Retention > 0 {
		keep[1].ConfigValue = strconv.FormatInt(d.conf.Retention.Milliseconds(), 10)
	}
	large := kafka.ConfigEntry{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(maxRejectBytes)}
	list := []topicOf{
		{d.conf.Topics.Raw, d.conf.Partitions, keep},
		{d.conf.Topics.Rejects, 1, append(keep[:len(keep):len(keep)], large)},
	}
	if d.conf.Topics.Events != "" {
		list = append(list, topicOf{d.conf.Topics.Events, d.conf.Partitions, keep})
	}
	return list
}

// EnsureTopics creates the topics that are missing. Where the broker does not allow it, the error says which to create
// and how. It also fails where the raw topic is compacted: that would take messages out of the log of record. A raw topic
// with few partitions is a warning in the log.
func (d *Door) EnsureTopics(ctx context.Context) error {
	missing, err := d.missing(ctx)
	if err != nil {
		return fmt.Errorf("look for topics: %w", err)
	}
	if len(missing) > 0 {
		if err := d.create(ctx, missing); err != nil {
			return err
		}
		if err := d.awaitTopics(ctx); err != nil {
			return err
		}
	}
	if err := d.lookAtPartitions(ctx); err != nil {
		return err
	}
	return d.refuseCompaction(ctx)
}

// lookAtPartitions warns of a raw topic with fewer partitions than it would have been created with: as many consumers
// as it has partitions work at once, and others stand idle. A broker that creates topics by itself makes one or a few.
func (d *Door) lookAtPartitions(ctx context.Context) error {
	raw, err := d.topic(ctx, d.conf.Topics.Raw)
	if err != nil {
		return err
	}
	if found, want := len(raw.Partitions), d.conf.Partitions; found < want {
		d.conf.Logger.Warn("the raw topic was created elsewhere, with few partitions: consumers beyond that number stand idle",
			zap.String("topic", raw.Name), zap.Int("partitions", found), zap.Int("wanted", want),
			zap.String("add", fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --alter --topic %s --partitions %d",
				strings.Join(d.conf.Brokers, ","), raw.Name, want)))
	}
	return nil
}

// missing returns the topics that no broker knows.
func (d *Door) missing(ctx context.Context) ([]topicOf, error) {
	var missing []topicOf
	for _, t := range d.topics() {
		_, err := d.topic(ctx, t.name)
		switch {
		case err == nil:
		case errors.Is(err, kafka.UnknownTopicOrPartition):
			missing = append(missing, t)
		default:
			return nil, err
		}
	}
	return missing, nil
}

func (d *Door) create(ctx context.Context, missing []topicOf) error {
	request := &kafka.CreateTopicsRequest{}
	for _, t := range missing {
		request.Topics = append(request.Topics, kafka.TopicConfig{
			Topic: t.name, NumPartitions: t.partitions, ReplicationFactor: -1, ConfigEntries: t.config,
		})
	}
	answer, err := d.client.CreateTopics(ctx, request)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	var faults []error
	for _, t := range missing {
		err := answer.Errors[t.name]
		switch {
		case err == nil:
			d.conf.Logger.Info("topic created", zap.String("topic", t.name), zap.Int("partitions", t.partitions))
		case errors.Is(err, kafka.TopicAlreadyExists): // somebody was faster
		default:
			faults = append(faults, fmt.Errorf("topic %s is missing and cannot be created from here (%w); create it with: %s",
				t.name, err, t.command(d.conf.Brokers)))
		}
	}
	return errors.Join(faults...)
}

// awaitTopics waits until what was created is known, and has leaders.
func (d *Door) awaitTopics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	return d.persist(ctx, func() error {
		d.Close() // forget what was known before
		for _, t := range d.topics() {
			found, err := d.topic(ctx, t.name)
			if err != nil {
				return err
			}
			if err := d.led(ctx, found); err != nil {
				return err
			}
		}
		return nil
	})
}

// led fails until every partition has a leader, and that one knows: it may be named before it does.
func (d *Door) led(ctx context.Context, topic kafka.Topic) error {
	var ask []kafka.OffsetRequest
	for _, p := range topic.Partitions {
		if p.Error != nil {
			return fmt.Errorf("leader of %s/%d: %w", topic.Name, p.ID, p.Error)
		}
		ask = append(ask, kafka.FirstOffsetOf(p.ID))
	}
	answer, err := d.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic.Name: ask}})
	if err != nil {
		return fmt.Errorf("leaders of %s: %w", topic.Name, err)
	}
	for _, p := range answer.Topics[topic.Name] {
		if p.Error != nil {
			return fmt.Errorf("leader of %s/%d: %w", topic.Name, p.Partition, p.Error)
		}
	}
	return nil
}

// command is the way to create the topic by hand.
func (t topicOf) command(brokers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions %d",
		strings.Join(brokers, ","), t.name, t.partitions)
	for _, c := range t.config {
		fmt.Fprintf(&b, " --config %s=%s", c.ConfigName, c.ConfigValue)
	}
	return b.String()
}

// refuseCompaction looks at the raw topic. Who may not see its settings is believed.
func (d *Door) refuseCompaction(ctx context.Context) error {
	answer, err := d.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: d.conf.Topics.Raw, ConfigNames: []string{"cleanup.policy"},
		}},
	})
	if err != nil {
		d.conf.Logger.Info("cannot see the settings of the raw topic", zap.Error(err))
		return nil
	}
	for _, resource := range answer.Resources {
		for _, entry := range resource.ConfigEntries {
			if entry.ConfigName == "cleanup.policy" && strings.Contains(entry.ConfigValue, "compact") {
				return fmt.Errorf("topic %s is compacted, but every record of it is needed: set its cleanup.policy to delete",
					d.conf.Topics.Raw)
			}
		}
	}
	return nil
}
