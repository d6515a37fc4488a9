// Package webhooks posts changes to the receivers of customers. For each webhook the service keeps
// a cursor, and posts the changes that follow it.
//
// Definitions and positions are records of a compacted topic. Each process reads the whole topic
// into a [Table]. The process that owns a partition, as a member of the consumer group, posts for
// the webhooks whose definitions are in it. Positions are written to all in-sync replicas before
// the next batch, so that a killed process repeats at most one batch. Order is kept: a batch waits
// until the receiver has accepted the batch before it.
package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/operation"
	"bagtrail/internal/secret"
)

// Most is how many webhooks a customer may have.
const Most = 20

// Definition is what a customer wants to be posted, and where to. It is written by the API.
type Definition struct {
	ID          string            `json:"id"`
	Customer    string            `json:"customer"`
	Key         string            `json:"key"` // name of the key whose rights count: that of the last change
	URL         string            `json:"url"`
	Filter      changefeed.Filter `json:"filter"`
	Description string            `json:"description,omitempty"`
	Created     time.Time         `json:"created"`
	Changed     time.Time         `json:"changed"`
	Paused      bool              `json:"paused,omitempty"`  // by the customer
	Resumed     int               `json:"resumed,omitempty"` // how often the customer has resumed it

	Secret    int         `json:"secret"`              // number of the secret, from 1
	Replaced  []time.Time `json:"replaced,omitempty"`  // when the secrets before it were replaced, the last one last
	Started   int         `json:"started"`             // how often a starting point was set: 1, and once for each rewind
	Start     string      `json:"start,omitempty"`     // the starting point, as a cursor
	StartTime time.Time   `json:"start_time,omitzero"` // the starting point, if there is no cursor
}

// Position is how far a webhook has come. It is written by the owner.
type Position struct {
	Started int      `json:"started"` // Definition.Started; if that is higher, the position is void
	Cursor  string   `json:"cursor"`
	Failing *Failing `json:"failing,omitempty"`
	Pause   *Pause   `json:"pause,omitempty"`
}

// Failing is about a batch that its receiver has not taken.
type Failing struct {
	Since    time.Time `json:"since"`    // of the first failed attempt since the last success
	Attempts int       `json:"attempts"` // failed ones
	Next     time.Time `json:"next"`     // of the next attempt
	Reason   string    `json:"reason"`   // of the last one
}

// Pause says why the service has paused a webhook. It ends once the customer resumes the webhook.
type Pause struct {
	Since   time.Time `json:"since"`
	Reason  string    `json:"reason"`
	Resumed int       `json:"resumed"` // Definition.Resumed at that moment
}

// Webhook is a definition and its position.
type Webhook struct {
	Definition
	At Position
}

// PausedBy returns why the service has paused the webhook, or nil.
func (w *Webhook) PausedBy() *Pause {
	if p := w.At.Pause; p != nil && p.Resumed == w.Resumed {
		return p
	}
	return nil
}

// Feed tells what changed; *changefeed.Feed is one, but for the type of its followers.
type Feed interface {
	Now(ctx context.Context, a changefeed.Asker) (changes.Cursor, error)
	Since(ctx context.Context, a changefeed.Asker, since time.Time) (changes.Cursor, error)
	Next(ctx context.Context, a changefeed.Asker, c changes.Cursor, limits changefeed.Limits) (changefeed.Batch, error)
	Follow(a changefeed.Asker) Follower
}

// Follower notices that something changes; *changes.Follower implements it.
type Follower interface {
	// Changed has an element if something may have changed since the follower was made.
	Changed() <-chan struct{}
	// Leave ends the following.
	Leave()
}

// Deliveries keeps the last deliveries of each webhook. They may be lost.
type Deliveries interface {
	// Add adds a delivery, a JSON document.
	Add(ctx context.Context, webhook string, delivery []byte) error
	// List returns the deliveries, the latest first.
	List(ctx context.Context, webhook string) ([]string, error)
}

// Config is what a Service needs.
type Config struct {
	Kafka      *kafka.Client
	Topic      string
	Group      string // the consumer group of the owners
	Feed       Feed
	Keys       apikey.ByName
	Secret     secret.Secret // of the installation
	Guard      Guard
	Client     *http.Client // nil: Guard.Client
	Deliveries Deliveries
	Count      func(result string) // counts attempts by their result, see Results
	Logger     *zap.Logger
	Now        func() time.Time
	Random     func() float64 // from 0 up to, and without, 1: spreads attempts
	NewID      func() string  // of a webhook
}

// Results are the results of attempts.
var Results = []string{taken, failed}

const (
	taken  = "taken"
	failed = "failed"
)

// Service holds the webhooks, and posts for those that this process owns.
type Service struct {
	conf     Config
	table    *Table
	consumer *kafka.Consumer
	writing  sync.Mutex    // held while this process changes a definition
	folding  chan struct{} // one for each sender that folds a batch: it bounds their memory
}

// foldsAtOnce is how many batches are folded at the same time.
const foldsAtOnce = 4

// New returns a Service. It connects to nothing yet.
func New(conf Config) *Service {
	if conf.Client == nil {
		conf.Client = conf.Guard.Client()
	}
	s := &Service{conf: conf, table: newTable(conf.Kafka, conf.Topic, conf.Logger), folding: make(chan struct{}, foldsAtOnce)}
	s.consumer = conf.Kafka.NewConsumer(kafka.ConsumerConfig{
		Group: conf.Group, Topic: conf.Topic,
		Handler: func(partition int) kafka.Handler { return &owner{Service: s, partition: partition} },
	})
	return s
}

// Member returns nil while the process is a member of the group of owners, see
// [kafka.Consumer.Member].
func (s *Service) Member() error { return s.consumer.Member() }

// Run reads the topic, and posts for the webhooks that the process owns, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	var table sync.WaitGroup
	table.Go(func() { s.table.run(reading) })
	err := s.consumer.Run(ctx)
	stop()
	table.Wait()
	return err
}

// A secret that is replaced is good for rotation more, but only the latest mostReplaced are.
const (
	rotation     = 24 * time.Hour
	mostReplaced = 4
)

// secrets returns the secrets that sign for a webhook now, the present one first.
func (s *Service) secrets(d *Definition) []Secret {
	list := []Secret{DeriveSecret(s.conf.Secret, d.ID, d.Secret)}
	for _, at := range slices.Backward(d.Replaced) {
		if s.conf.Now().Sub(at) >= rotation {
			break
		}
		list = append(list, DeriveSecret(s.conf.Secret, d.ID, d.Secret-len(list)))
	}
	return list
}

// asker returns who is told what a webhook posts. The error says why the key may not be used. A
// process that has not yet read the latest key file may not know the key of a new webhook.
func (s *Service) asker(d *Definition) (a changefeed.Asker, err error) {
	key, active := s.conf.Keys.Named(d.Key, s.conf.Now())
	switch {
	case key == nil:
		return a, errUnknownKey
	case !active:
		return a, errors.New("the key is revoked or expired")
	case key.Customer != d.Customer:
		return a, errors.New("the key belongs to another customer")
	case !key.MayUse(operation.Webhooks):
		return a, errors.New("the key may not use webhooks")
	}
	return changefeed.Asker{Key: key, Filter: d.Filter, Fields: bagdoc.Events}, nil
}

// messageID returns the id of a delivery: a function of the webhook and of what is told.
func messageID(webhook string, told ...string) string {
	hash := sha256.New()
	for _, text := range append([]string{webhook}, told...) {
		hash.Write([]byte(text))
		hash.Write([]byte{0})
	}
	return "msg_" + hex.EncodeToString(hash.Sum(nil)[:16])
}

// ErrMost says that the customer has as many webhooks as allowed.
var ErrMost = errors.New("the customer has as many webhooks as allowed")

var errUnknownKey = errors.New("the key is unknown")
