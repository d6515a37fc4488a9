package command

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/ingestor/rejectlog"
	"bagtrail/internal/config"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/broker"
	"bagtrail/internal/telemetry"
)

// openKafka opens the connection to Kafka, and starts the in-process broker if the settings name no
// brokers. It sets the log and the rejects to topics. If Kafka is off, positions are counted in
// Redis, and rejects are kept in Redis alone.
func (s *service) openKafka(ctx context.Context) (err error) {
	conf := s.conf.Kafka
	if conf.Off {
		s.log.Warn("Kafka is off: messages come by HTTP only, and Redis is the only copy of them")
		if s.redis.InProcess() {
			s.log.Warn("there is nothing to rebuild the index from: it is lost when the process ends")
		}
		s.record = ingestor.NewNumbering(s.store.Count)
		s.keepRejects(nil)
		return nil
	}
	brokers := conf.Brokers
	if conf.InProcess() {
		address, err := s.startBroker()
		if err != nil {
			return err
		}
		brokers = []string{address}
	}
	door := s.doorConfig()
	topics := door.Topics.Names()
	for _, t := range append(s.changeTopics(), s.webhookTopics()...) {
		topics = append(topics, t.Name)
	}
	settings := kafka.Config{
		Brokers: brokers, Topics: topics, Logger: s.log,
		SASL: kafka.SASL{Mechanism: conf.Mechanism, Username: conf.Username, Password: conf.Password},
	}
	if s.isTool() {
		settings.Timing.Produce = kafka.ReadPatience // unlike a service, a tool does not try again
	}
	if conf.TLS {
		settings.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if s.client, err = kafka.Open(settings); err != nil {
		return &exit{Usage, err}
	}
	s.cleanup.add("Kafka", func() error { s.client.Close(); return nil })
	s.readers = newGroup(context.WithoutCancel(ctx), s.log, s.fail)
	s.cleanup.add("readers of topics", s.readers.stop)
	s.kafka = kafkadoor.New(s.client, door)
	s.record = s.kafka
	s.keepRejects(s.kafka)
	s.ready.Add("kafka", s.opens(kafkaDoor), s.kafka.Ping) // queries need no Kafka
	return nil
}

// keepRejects sets where rejected messages are kept: in Redis, and in other unless that is nil.
// They are also logged, except in a demo.
func (s *service) keepRejects(other ingestor.Rejects) {
	var places rejectPlaces
	if s.rejectStore != nil && !(s.isTool() && s.redis.InProcess()) { // the Redis of a tool ends with it
		places = append(places, storedRejects{s.rejectStore, s.log})
	}
	if other != nil {
		places = append(places, other)
	}
	if !s.opens(demoDoor) { // the rejects of a demo are intended, and would hide the line "ready"
		log := rejectlog.New(s.log)
		s.cleanup.add("log of rejected messages", log.Flush)
		places = append(places, log) // the last one, so that a rejection is logged once
	}
	s.rejects = places
}

// rejectPlaces are the places in which rejected messages are kept, in order. After an error the
// caller writes to all places again, which changes nothing in those that have the messages.
type rejectPlaces []ingestor.Rejects

// Reject implements ingestor.Rejects.
func (places rejectPlaces) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	for _, place := range places {
		if err := place.Reject(ctx, rejections); err != nil {
			return err
		}
	}
	return nil
}

// storedPatience is how long a caller waits for a Redis that hangs. A caller may also have to wait
// for the write before its own; both waits together leave time for the rejects topic.
const storedPatience = 300 * time.Millisecond

// storedRejects keeps rejected messages in Redis. A caller of process BIM gets the faults of its
// message even if Redis does not answer; then the rejected message is missing in Redis. A request
// of POST /v1/messages fails in that case, and may be sent again.
type storedRejects struct {
	ingestor.Rejects
	log *zap.Logger
}

// Reject implements ingestor.Rejects. All rejections are of one door, and of one operation.
func (r storedRejects) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	if _, numbered := rejections[0].Position.Number(); numbered || rejections[0].Door != httpDoor {
		return r.Rejects.Reject(ctx, rejections)
	}
	ctx, cancel := context.WithTimeout(ctx, storedPatience)
	defer cancel()
	if err := r.Rejects.Reject(ctx, rejections); err != nil {
		r.log.Warn("rejected messages cannot be stored in Redis, and are missing in /v1/rejects", zap.Int("messages", len(rejections)), zap.Error(err))
	}
	return nil
}

// startBroker starts the in-process broker and returns its address. If a bagtrail serve is using
// the files of the broker, a tool uses the broker of that process instead.
func (s *service) startBroker() (string, error) {
	address, dir := s.conf.Kafka.EmbeddedAddr, filepath.Join(s.conf.DataDir, "kafka")
	running, err := broker.Start(broker.Config{Dir: dir, Addr: address, AcceptLoss: s.conf.Kafka.AcceptLoss, Logger: s.log})
	if s.isTool() && errors.Is(err, syscall.EWOULDBLOCK) {
		return broker.RunningAddr(dir)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = listenError(err, config.Names("embedded-kafka-addr"), address)
	}
	if err != nil {
		return "", err
	}
	s.cleanup.add("in-process broker", running.Close)
	s.ready.Add("data directory", true, func(context.Context) error { return errors.Join(running.Check(), writable(s.conf.DataDir)) })
	s.inProcess("kafka", "a Kafka-protocol broker that keeps its log and offsets", "BAGTRAIL_KAFKA_BROKERS",
		zap.String("address", running.Addr()), zap.String("directory", s.conf.DataDir))
	if s.conf.Kafka.EmbeddedUnauthenticated {
		s.log.Warn("the in-process kafka has no authentication: whoever reaches its address may read and write every topic",
			zap.String("address", running.Addr()))
	}
	return running.Addr(), nil
}

// writable returns an error if no file can be made in a directory.
func writable(dir string) error {
	file, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// topicReserve is how much longer than the retention of bags the topics keep a message. The
// retention of a bag begins with its last event, and most messages of its journey are older.
const topicReserve = 30 * 24 * time.Hour

// doorConfig returns the configuration of the Kafka door.
func (s *service) doorConfig() kafkadoor.Config {
	c := s.conf
	conf := kafkadoor.Config{
		Group:     c.Kafka.Group,
		Topics:    kafkadoor.Topics{Raw: c.Kafka.Topic, Rejects: c.Kafka.RejectsTopic},
		Retention: c.Rules.Retention + topicReserve,
		Logger:    s.log,
	}
	if s.redis != nil && !s.redis.InProcess() {
		conf.Identity = s.redis.Identity
	}
	if c.Kafka.InProcess() {
		conf.Retention = 0 // that broker deletes by timestamp: it would delete a new record with an old time, and all records before it
	}
	return conf
}

// openKafkaDoor opens the door that reads the raw topic.
func (s *service) openKafkaDoor(acceptor *ingestor.Acceptor) runner {
	s.consumer = telemetry.NewConsumer(s.registry, "kafka", []string{"index", "rejects", "marks"}, s.clock)
	consumer := s.kafka.NewConsumer(acceptor, s.consumer)
	s.waited = consumer.Waited
	s.ready.Add("consumer", !s.opens(httpDoor), // queries need no consumer
		func(context.Context) error { return consumer.Member() })
	s.ready.Add("partitions", true, func(context.Context) error { return consumer.Stalled() })
	return consumer.Run
}
