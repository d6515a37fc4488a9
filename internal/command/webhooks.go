package command

import (
	"cmp"
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"strings"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/deliverystore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/webhooks"
)

// noWebhooks says why there are no webhooks. It returns "" if there are webhooks.
func (s *service) noWebhooks() string {
	c := s.conf.Kafka
	switch {
	case c.Off || c.ChangesTopic == "":
		return s.noChanges()
	case c.WebhooksTopic == "":
		return "Webhooks are off: BAGTRAIL_KAFKA_WEBHOOKS_TOPIC is empty"
	case s.conf.Secret == "" && !c.InProcess():
		return "There are no webhooks without BAGTRAIL_SECRET"
	}
	return ""
}

// webhookTopics returns the topic of webhooks, or none if the process has no webhooks. The
// in-process broker does not compact it, since a kill during its compaction would lose records.
func (s *service) webhookTopics() []kafka.Topic {
	if !s.opens(httpDoor) || s.noWebhooks() != "" {
		return nil
	}
	c := s.conf.Kafka
	return []kafka.Topic{{Name: c.WebhooksTopic, Partitions: changePartitions, Compacted: !c.InProcess()}}
}

// openWebhooks opens the webhooks over a feed. It returns nil if there are none.
func (s *service) openWebhooks(feed *changefeed.Feed) *webhooks.Service {
	if s.noWebhooks() != "" {
		return nil
	}
	c := s.conf.Kafka
	s.webhooks = webhooks.New(webhooks.Config{
		Kafka: s.client, Topic: c.WebhooksTopic, Group: c.Group + "-webhooks",
		Feed: feed, Keys: s.keys, Airlines: s.airlines, Secret: s.secret, Guard: webhooks.Guard{Allowed: s.conf.HTTP.WebhookNetworks},
		Deliveries: deliverystore.New(s.redis), FoldBytes: s.conf.HTTP.AnswerBytes, Count: telemetry.NewWebhooks(s.registry, webhooks.Results...),
		Metrics: telemetry.NewConsumer(s.registry, "webhooks", nil, s.clock),
		Logger:  s.log, Now: s.clock, Random: mathrand.Float64,
		NewID: func() string { return "wh_" + strings.ToLower(rand.Text()) }, // nobody can guess it
	})
	s.readers.start("topic of webhooks", s.webhooks.Read)
	s.ready.Add("webhooks", false, // queries and messages do not need them
		func(context.Context) error { return cmp.Or(s.webhooks.Member(), s.webhooks.Stalled()) })
	return s.webhooks
}
