package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"
)

// Topic is a topic as EnsureTopics creates it.
type Topic struct {
	Name       string
	Partitions int
	Retention  time.Duration // 0 means for ever
	MaxBytes   int           // of a batch of records; 0 means the default of the broker
	LeastBytes int           // EnsureTopics refuses a Log or Compacted topic with a smaller limit of a batch, unless it may not read the limit
	// Log marks a topic from which a consumer group needs every record. EnsureTopics refuses it if
	// it is compacted. It logs a warning if it has fewer partitions than Partitions, keeps its
	// records for a shorter time than Retention, overwrites their times, may have a single copy of
	// them although there are more brokers, or may lose the last ones to a leader that was not in
	// sync.
	Log bool
	// Fixed marks a topic whose number of partitions must never change, and is the same for all Fixed
	// topics of a call: EnsureTopics refuses other numbers.
	Fixed bool
	Most  int // EnsureTopics refuses a Fixed topic with more partitions; 0 means that any number is allowed
	// Compacted marks a topic that keeps the last record of each key for ever. EnsureTopics refuses it
	// if it is not compacted.
	Compacted bool
}

// createTime is the message.timestamp.type of a topic that keeps the times that producers set.
const createTime = "CreateTime"

// uncleanElection is the setting of a topic that lets a broker that is not in sync become a leader.
const uncleanElection = "unclean.leader.election.enable"

// compactedSegment is the segment.bytes of a Compacted topic. The newest segment of a partition is
// not compacted, and a reader that needs the last record of each key must read all of it. The
// default is 1 GiB.
const compactedSegment = 16 << 20

func (t Topic) settings() []kafkago.ConfigEntry {
	policy, retention := "delete", int64(-1)
	if t.Compacted {
		policy = "compact"
	}
	if t.Retention > 0 {
		retention = t.Retention.Milliseconds()
	}
	list := []kafkago.ConfigEntry{
		{ConfigName: "cleanup.policy", ConfigValue: policy}, {ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(retention, 10)},
	}
	if t.Compacted {
		list = append(list, kafkago.ConfigEntry{ConfigName: "segment.bytes", ConfigValue: strconv.Itoa(compactedSegment)})
	}
	if t.Log { // whatever the default of the broker is
		list = append(list, kafkago.ConfigEntry{ConfigName: "message.timestamp.type", ConfigValue: createTime})
	}
	if t.MaxBytes > 0 {
		list = append(list, kafkago.ConfigEntry{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(t.MaxBytes)})
	}
	return list
}

// EnsureTopics creates the topics that are missing, and waits until they can be used. If the broker
// does not allow that, the error says how to create them by hand. EnsureTopics does not change
// topics that exist.
func (c *Client) EnsureTopics(ctx context.Context, topics ...Topic) error {
	missing, err := c.missing(ctx, topics)
	if err != nil {
		return fmt.Errorf("look for topics: %w", err)
	}
	if len(missing) > 0 {
		if err := c.create(ctx, missing); err != nil {
			return err
		}
		if err := c.waitForTopics(ctx, topics); err != nil {
			return err
		}
	}
	partitions := make([]int, len(topics))
	for i, t := range topics {
		numbers, err := c.Partitions(ctx, t.Name)
		if err != nil {
			return err
		}
		partitions[i] = len(numbers)
	}
	if err := c.compareFixed(topics, partitions); err != nil {
		return err
	}
	for i, t := range topics {
		if t.Log && partitions[i] < t.Partitions {
			c.warnOfFewPartitions(t, partitions[i])
		}
		if t.Log || t.Compacted {
			if err := c.checkSettings(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareFixed returns an error if the numbers of partitions of Fixed topics differ, or one is too large.
func (c *Client) compareFixed(topics []Topic, partitions []int) error {
	few, many := -1, -1 // the topics with the fewest and with the most
	for i, t := range topics {
		if !t.Fixed {
			continue
		}
		if n := partitions[i]; t.Most > 0 && n > t.Most {
			return fmt.Errorf("topic %s has %d partitions, but may have at most %d", t.Name, n, t.Most)
		}
		if few < 0 || partitions[i] < partitions[few] {
			few = i
		}
		if many < 0 || partitions[i] > partitions[many] {
			many = i
		}
	}
	if few != many {
		return fmt.Errorf("topic %s has %d partitions and topic %s has %d, but both need the same number: add partitions with %s",
			topics[few].Name, partitions[few], topics[many].Name, partitions[many], c.alter(topics[few].Name, partitions[many]))
	}
	return nil
}

// warnOfFewPartitions logs a warning that a topic has fewer partitions than wanted, since there can
// be no more active consumers than partitions. A broker that creates topics by itself gives them
// one or a few. Unless the topic is Fixed, the warning says how to add partitions.
func (c *Client) warnOfFewPartitions(t Topic, found int) {
	advice := zap.String("add", c.alter(t.Name, t.Partitions))
	if t.Fixed {
		advice = zap.String("keep", "change the number of partitions of this topic only if the start refuses it")
	}
	c.warnOnce(t, "a topic has fewer partitions than bagtrail creates: consumers beyond that number are idle",
		zap.Int("partitions", found), zap.Int("wanted", t.Partitions), advice)
}

// warnOnce logs a warning about a topic, unless the client has logged it before: a start that waits
// calls EnsureTopics again and again.
func (c *Client) warnOnce(t Topic, text string, fields ...zap.Field) {
	if _, again := c.logged.LoadOrStore([2]string{t.Name, text}, nil); !again {
		c.conf.Logger.Warn(text, append(fields, zap.String("topic", t.Name))...)
	}
}

// alter returns the command that adds partitions to a topic by hand.
func (c *Client) alter(topic string, partitions int) string {
	return fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --alter --topic %s --partitions %d",
		strings.Join(c.conf.Brokers, ","), topic, partitions)
}

// missing returns the topics that do not exist. Those that are Fixed get the number of partitions of a
// Fixed topic that exists.
func (c *Client) missing(ctx context.Context, topics []Topic) ([]Topic, error) {
	var missing []Topic
	fixed := 0
	for _, t := range topics {
		found, err := c.topic(ctx, t.Name)
		switch {
		case err == nil && t.Fixed:
			fixed = len(found.Partitions)
		case err == nil:
		case errors.Is(err, kafkago.UnknownTopicOrPartition):
			missing = append(missing, t)
		default:
			return nil, err
		}
	}
	for i := range missing {
		if missing[i].Fixed {
			missing[i].Partitions = cmp.Or(fixed, missing[i].Partitions)
		}
	}
	return missing, nil
}

func (c *Client) create(ctx context.Context, missing []Topic) error {
	request := &kafkago.CreateTopicsRequest{}
	for _, t := range missing {
		request.Topics = append(request.Topics, kafkago.TopicConfig{
			Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: -1, ConfigEntries: t.settings(),
		})
	}
	answer, err := c.client.CreateTopics(ctx, request)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	var faults []error
	for _, t := range missing {
		err := answer.Errors[t.Name]
		switch {
		case err == nil:
			c.conf.Logger.Info("topic created", zap.String("topic", t.Name), zap.Int("partitions", t.Partitions))
		case errors.Is(err, kafkago.TopicAlreadyExists): // another process has created it meanwhile
		default:
			faults = append(faults, fmt.Errorf("topic %s is missing and cannot be created from here (%w); create it with: %s",
				t.Name, err, t.command(c.conf.Brokers)))
		}
	}
	return errors.Join(faults...)
}

// waitForTopics waits until the leader of every partition of the topics answers. Metadata may name a
// leader before that broker leads.
func (c *Client) waitForTopics(ctx context.Context, topics []Topic) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	return c.Retry(ctx, func() error {
		c.Close() // drops the cached metadata
		for _, t := range topics {
			if _, err := c.Bounds(ctx, t.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// command returns the command that creates the topic by hand.
func (t Topic) command(brokers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions %d",
		strings.Join(brokers, ","), t.Name, t.Partitions)
	for _, e := range t.settings() {
		fmt.Fprintf(&b, " --config %s=%s", e.ConfigName, e.ConfigValue)
	}
	return b.String()
}

// checkSettings returns an error if the topic is compacted and must not be, or if it is not
// compacted and must be, or if it takes fewer bytes at once than LeastBytes. It logs a warning if
// the topic keeps its records for a shorter time than wanted or not beyond a size, overwrites their
// times, may have a single copy of them, or may lose the last ones to a leader that was not in
// sync. If DescribeConfigs is denied, it logs a warning, and the check is skipped.
func (c *Client) checkSettings(ctx context.Context, t Topic) error {
	answer, err := c.client.DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{
		Resources: []kafkago.DescribeConfigRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: t.Name,
			ConfigNames: []string{"cleanup.policy", "retention.ms", "retention.bytes", "message.timestamp.type", "min.insync.replicas", "max.message.bytes", uncleanElection},
		}},
	})
	if err == nil && len(answer.Resources) > 0 {
		err = answer.Resources[0].Error
	}
	if err != nil {
		c.warnOnce(t, "the settings of a topic cannot be read, and are not checked", zap.Error(err))
		return nil
	}
	for _, resource := range answer.Resources {
		for _, e := range resource.ConfigEntries {
			switch {
			case e.ConfigName == "retention.ms":
				c.warnOfShortRetention(t, e.ConfigValue)
			case e.ConfigName == "retention.bytes" && !t.Compacted && e.ConfigValue != "-1":
				c.warnOnce(t, "a topic deletes its oldest records beyond a size, whatever their age: set its retention.bytes to -1",
					zap.String("retention.bytes", e.ConfigValue))
			case e.ConfigName == "message.timestamp.type" && t.Log && e.ConfigValue != createTime:
				c.warnOnce(t, "a topic overwrites the times of its records: set its message.timestamp.type to CreateTime",
					zap.String("message.timestamp.type", e.ConfigValue))
			case e.ConfigName == uncleanElection && e.ConfigValue == "true":
				c.warnOnce(t, "a broker that lacks the last records of a topic may become its leader, so that they are lost: set its unclean.leader.election.enable to false",
					zap.String(uncleanElection, e.ConfigValue))
			case e.ConfigName == "max.message.bytes":
				if most, err := strconv.Atoi(e.ConfigValue); err == nil && most < t.LeastBytes {
					return fmt.Errorf("topic %s takes only %d bytes at once, but a record may be longer: set its max.message.bytes to %d or more", t.Name, most, t.LeastBytes)
				}
			case e.ConfigName == "min.insync.replicas":
				if err := c.warnOfSingleCopies(ctx, t, e.ConfigValue); err != nil {
					return err
				}
			case e.ConfigName != "cleanup.policy":
			case !t.Compacted && strings.Contains(e.ConfigValue, "compact"):
				return fmt.Errorf("topic %s is compacted, but every record of it is needed: set its cleanup.policy to delete", t.Name)
			case t.Compacted && e.ConfigValue != "compact":
				return fmt.Errorf("topic %s is not compacted, and old records of it are needed: set its cleanup.policy to compact", t.Name)
			}
		}
	}
	return nil
}

// warnOfShortRetention logs a warning if a topic keeps its records for a shorter time than wanted. kept
// is that time in milliseconds; -1 is for ever.
func (c *Client) warnOfShortRetention(t Topic, kept string) {
	if ms, err := strconv.ParseInt(kept, 10, 64); err != nil || ms < 0 || t.Compacted || ms >= t.Retention.Milliseconds() {
		return
	}
	c.warnOnce(t, "a topic keeps its records for a shorter time than bagtrail needs: older records cannot be rebuilt",
		zap.String("retention.ms", kept), zap.Int64("wanted", t.Retention.Milliseconds()))
}

// warnOfSingleCopies logs a warning if there are several brokers, and a record of a topic may be
// acknowledged while one of them alone has it. insync is the topic's min.insync.replicas.
func (c *Client) warnOfSingleCopies(ctx context.Context, t Topic, insync string) error {
	meta, err := c.client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{t.Name}})
	if err != nil {
		return fmt.Errorf("ask for topic %s: %w", t.Name, err)
	}
	for _, found := range meta.Topics {
		if found.Name != t.Name || len(found.Partitions) == 0 {
			continue
		}
		replicas := len(found.Partitions[0].Replicas)
		if len(meta.Brokers) > 1 && (replicas < 2 || insync == "1") {
			c.warnOnce(t, "a record of a topic may be acknowledged while a single broker has it: if that broker is lost, so is the record",
				zap.Int("replication.factor", replicas), zap.String("min.insync.replicas", insync))
		}
	}
	return nil
}
