// Package webhooks posts changes to the receivers of customers. For each webhook the service keeps
// a cursor, and posts the changes that follow it.
//
// Definitions and positions are records of a compacted topic. Each process reads the whole topic
// into a table. The process that owns a partition, as a member of the consumer group, posts for
// the webhooks whose definitions are in it. It writes the position to all in-sync replicas before
// it posts the next batch, so that after a crash at most one batch is repeated. Order is kept: a
// batch waits until the receiver has accepted the batch before it.
package webhooks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"bagtrail/enricher/airline"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/budget"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/collector"
	"bagtrail/internal/kafka"
	"bagtrail/internal/operation"
	"bagtrail/internal/secret"
)

// MaxOfCustomer is how many webhooks a customer may have.
const MaxOfCustomer = 20

// Definition says which changes a customer wants, and where to post them. The API writes it.
type Definition struct {
	ID          string            `json:"id"`
	Customer    string            `json:"customer"`
	Key         string            `json:"key"` // name of the key that created the webhook or sent the last PATCH: its rights count
	URL         string            `json:"url"`
	Filter      changefeed.Filter `json:"filter"`
	Description string            `json:"description,omitempty"`
	Created     time.Time         `json:"created"`
	Changed     time.Time         `json:"changed"`           // when it was last changed, by the API
	Paused      bool              `json:"paused,omitempty"`  // by the customer
	Resumed     int               `json:"resumed,omitempty"` // how often the customer has resumed it

	Secret    int         `json:"secret"`              // number of the secret, from 1
	Replaced  []time.Time `json:"replaced,omitempty"`  // when earlier secrets were replaced, the latest last
	Started   int         `json:"started"`             // how often a starting point was set: 1, and once for each rewind
	Start     string      `json:"start,omitempty"`     // the starting point, as a cursor
	StartTime time.Time   `json:"start_time,omitzero"` // the starting point, if Start is ""
}

// Position is the progress of a webhook. The owner writes it.
type Position struct {
	Started int      `json:"started"` // Definition.Started when Cursor was set; if they differ, Cursor is void
	Cursor  string   `json:"cursor"`
	Failing *Failing `json:"failing,omitempty"`
	Pause   *Pause   `json:"pause,omitempty"`
}

// Failing describes the failed attempts to post a batch.
type Failing struct {
	Since    time.Time `json:"since"`    // time of the first failed attempt since the last success
	Attempts int       `json:"attempts"` // how many attempts have failed
	Next     time.Time `json:"next"`     // time of the next attempt
	Reason   string    `json:"reason"`   // why the last attempt failed
	Tried    time.Time `json:"tried"`    // Definition.Changed at the last attempt
}

// Pause says why the service has paused a webhook. It ends once the customer resumes the webhook.
type Pause struct {
	Since   time.Time `json:"since"`
	Reason  string    `json:"reason"`
	Resumed int       `json:"resumed"` // Definition.Resumed when the pause began
}

// Webhook is a definition and its position.
type Webhook struct {
	Definition
	At Position
}

// PausedBy returns the pause if the service has paused the webhook, or nil.
func (w *Webhook) PausedBy() *Pause {
	if p := w.At.Pause; p != nil && p.Resumed == w.Resumed {
		return p
	}
	return nil
}

// Feed reads changes; *changefeed.Feed implements it.
type Feed interface {
	Now(ctx context.Context, a changefeed.Asker) (changes.Cursor, error)
	Since(ctx context.Context, a changefeed.Asker, since time.Time) (changes.Cursor, error)
	Next(ctx context.Context, a changefeed.Asker, c changes.Cursor, limits changefeed.Limits) (changefeed.Batch, error)
	News(a changefeed.Asker) (news <-chan struct{}, leave func())
}

// Deliveries stores the last deliveries of each webhook. They may be lost.
type Deliveries interface {
	// Add adds a delivery, a JSON document.
	Add(ctx context.Context, webhook string, delivery []byte) error
	// List returns the deliveries, the latest first.
	List(ctx context.Context, webhook string) ([]string, error)
}

// Config is the configuration of a Service.
type Config struct {
	Kafka      *kafka.Client
	Topic      string
	Group      string // the consumer group of the owners
	Feed       Feed
	Keys       apikey.ByName
	Airlines   *airline.Library
	Secret     secret.Secret // of the installation
	Guard      Guard
	Client     *http.Client // nil: Guard.Client
	Deliveries Deliveries
	FoldBytes  int64               // memory of the data from which all batches are made, and as much of large changes that are posted; 0: not bounded
	Count      func(result string) // counts attempts by their result, see Results
	Metrics    kafka.Metrics       // of the consumer of owners; nil: none
	Logger     *zap.Logger
	Now        func() time.Time
	Random     func() float64 // returns a number in [0, 1), which spreads attempts
	NewID      func() string  // returns the id of a new webhook
}

// Results are the results of attempts.
var Results = []string{taken, failed}

const (
	taken  = "taken"
	failed = "failed"
)

// Service holds the webhooks. While its Consumer runs, it posts for those that this process owns.
type Service struct {
	*kafka.Consumer // a member of the group of owners

	conf  Config
	table *table
	// writing is held while this process changes a definition. A caller waits for it as long as its
	// context: while Kafka hangs, each change takes that long.
	writing *semaphore.Weighted
	// Each sender that is folding a batch holds folding. If the webhook is late, the sender holds
	// catchingUp too.
	folding, catchingUp *semaphore.Weighted
	memory              *budget.Bytes  // for the data from which batches are made
	posting             *budget.Shares // for messages over maxBytes that are posted, by customer
}

// At most foldsAtOnce batches are folded at the same time, and at most lateFolds of them for
// webhooks that are late: such a fold may read for seconds and find little.
const (
	foldsAtOnce = 4
	lateFolds   = 2
)

// New returns a Service. It connects to nothing yet.
func New(conf Config) *Service {
	conf.Client = cmp.Or(conf.Client, conf.Guard.Client())
	s := &Service{
		conf: conf, table: newTable(conf.Kafka, conf.Topic, conf.Logger), writing: semaphore.NewWeighted(1),
		folding: semaphore.NewWeighted(foldsAtOnce), catchingUp: semaphore.NewWeighted(lateFolds),
		memory: budget.New(conf.FoldBytes, collector.Thrift), posting: budget.NewShares(conf.FoldBytes, collector.Thrift),
	}
	s.Consumer = conf.Kafka.NewConsumer(kafka.ConsumerConfig{
		Group: conf.Group, Topic: conf.Topic, Metrics: conf.Metrics,
		Handler: func(partition int) kafka.Handler { return &owner{Service: s, partition: partition} },
	})
	return s
}

// Read reads the topic until ctx ends. All else needs it, so it must go on until Run has returned and
// no request is served any more.
func (s *Service) Read(ctx context.Context) error {
	s.table.run(ctx)
	return nil
}

const (
	rotation    = 24 * time.Hour // how long a replaced secret still signs
	maxReplaced = 4              // how many replaced secrets sign at most
)

// secrets returns the secrets that sign for a webhook now, the current one first.
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

// asker returns the key, filter and fields with which to read the changes of a webhook. The error
// says why the key may not be used. A process that has not yet read the latest key file may not
// know the key of a new webhook.
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
	return changefeed.Asker{Key: key, Filter: d.Filter.Current(s.conf.Airlines), Fields: bagdoc.Events}, nil
}

// messageID returns the id of a message: a hash of the webhook and of texts that name the content.
func messageID(webhook string, content ...string) string {
	hash := sha256.New()
	for _, text := range append([]string{webhook}, content...) {
		hash.Write([]byte(text))
		hash.Write([]byte{0})
	}
	return "msg_" + hex.EncodeToString(hash.Sum(nil)[:16])
}

// ErrTooMany says that the customer has as many webhooks as allowed.
var ErrTooMany = errors.New("the customer has as many webhooks as allowed")

var errUnknownKey = errors.New("the key is unknown")
