package blackbox_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/test/loopback"
	"bagtrail/test/servers/inprocess"
	"bagtrail/test/service"
)

// lazyService is a service that is started for the first test that uses it.
type lazyService struct {
	once    sync.Once
	service *service.Service
	start   func() *service.Service
}

func (l *lazyService) get(t testing.TB) *service.Service {
	t.Helper()
	l.once.Do(func() { l.service = l.start() })
	if l.service == nil {
		t.Fatal("the service did not start")
	}
	return l.service.For(t)
}

// withoutRedis returns a service whose Redis is down.
func withoutRedis(t testing.TB) *service.Service { return redisless.get(t) }

var redisless = lazyService{start: func() *service.Service {
	redis := startRedis(&suite)
	s := service.Start(&suite, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr(), "BAGTRAIL_KEYS_FILE="+keyFile(&suite, keys...))
	redis.Close()
	return s
}}

// startRedis starts a Redis inside the test process.
func startRedis(t service.T) *miniredis.Miniredis {
	t.Helper()
	redis, err := inprocess.StartRedis(loopback.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	return redis
}

// withoutKafka returns a service whose brokers are not reachable.
func withoutKafka(t testing.TB) *service.Service { return kafkaless.get(t) }

var kafkaless = lazyService{start: func() *service.Service {
	broker := newKafka(&suite)
	s := service.Start(&suite, "BAGTRAIL_KAFKA_BROKERS="+broker.ListenAddrs()[0])
	broker.Close()
	return s
}}

// startKafka starts a broker inside the test process and returns its address.
func startKafka(t service.T) string {
	t.Helper()
	broker := newKafka(t)
	t.Cleanup(broker.Close)
	return broker.ListenAddrs()[0]
}

func newKafka(t service.T) *kfake.Cluster {
	t.Helper()
	ports, err := loopback.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(ports...))
	if err != nil {
		t.Fatal(err)
	}
	return broker
}

func TestRedisAwayIs503WithinASecond(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := withoutRedis(t)
	for _, target := range []string{
		"/baggage/bagsforflight/v1.0/" + flightTarget, "/baggage/history/v1.0/" + historyTarget, "/baggage/bagsforpassenger/v1.0/" + passengerTarget,
	} {
		began := time.Now()
		got := s.Get(target)
		if took := time.Since(began); got.Status != 503 || got.Header.Get("Retry-After") != "1" || took > time.Second {
			t.Errorf("GET %s: %d after %v, Retry-After %q", target, got.Status, took, got.Header.Get("Retry-After"))
		}
	}
	began := time.Now()
	got := s.Process(bsm("0724100021"))
	expect(t, "POST", got, 503, failure("SVCSRV001", unavailable))
	if took := time.Since(began); took > time.Second {
		t.Errorf("POST: after %v", took)
	}
	status, body := s.TryGet(s.Ops + "/readyz")
	if status != 503 || !strings.Contains(strings.ToLower(body), "redis") && !strings.Contains(body, "index") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, _ := s.TryGet(s.Ops + "/livez"); status != 200 {
		t.Errorf("/livez: %d", status)
	}
}

func TestRedisAwayStillChecksKeyParametersAndMessage(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := withoutRedis(t)
	expect(t, "no key", s.Get("/baggage/history/v1.0/"+historyTarget, "api_key", ""), 400, failure("SVCGBH003", keyMissing))
	expect(t, "no tag", s.Get("/baggage/history/v1.0/tag//flightdate/2026-03-14"), 400, failure("SVCGBH005", "Bag tag id"+isMissing))
	expect(t, "unknown path", s.Get("/x"), 404, failure("SVCSRV005", "Resource not found"))
	if got := s.Process("BSM\nENDBSM"); got.Status != 400 {
		t.Errorf("faulty message: %d %s", got.Status, got.Body)
	}
}

func TestKafkaAwayRefusesPostsAndQueriesGoOn(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := withoutKafka(t)
	began := time.Now()
	expect(t, "POST", s.Process(bsm("0724100022")), 503, failure("SVCSRV001", unavailable))
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("POST: after %v", took)
	}
	expect(t, "faulty POST", s.Process("XYZ\n.V/1LZRH\nENDXYZ"), 503, failure("SVCSRV001", unavailable))
	expect(t, "history", s.Get(service.HistoryPath("0724100022", "2026-03-14")), 200, failure("SVCGBH002", "No matching bag found"))
	expect(t, "flight", s.Get(service.FlightPath("ZRH", "D", "LX", "100", "2026-03-14")), 200, failure("SVCGBF001", "No bags found for flight"))
	status, body := s.TryGet(s.Ops + "/readyz")
	if status != 503 || !strings.Contains(strings.ToLower(body), "kafka") {
		t.Errorf("/readyz: %d %s", status, body)
	}
}

func TestKafkaOffAppliesPostsToTheIndexAlone(t *testing.T) {
	ownServers(t)
	t.Parallel()
	s := service.Start(t, "BAGTRAIL_KAFKA_BROKERS=off")
	expect(t, "POST", s.Process(bsmOn("0724100023", today())), 200, processed)
	if got := s.Get(service.HistoryPath("0724100023", today().Format(time.DateOnly))); got.Status != 200 || !strings.Contains(got.Body, `"event_code":"EXPECTED"`) {
		t.Errorf("history: %d %s", got.Status, got.Body)
	}
	if !strings.Contains(s.Log(), "nothing to rebuild") {
		t.Errorf("the log does not say that there is nothing to rebuild from:\n%s", s.Log())
	}
}

// If a server does not answer when the service starts, the exit code is 3 within half a minute
// (service §1).
func TestServersThatNeverAnswerEndTheStart(t *testing.T) {
	ownServers(t)
	t.Parallel()
	for name, setting := range map[string]string{
		"Redis": "BAGTRAIL_REDIS_URL=redis://" + loopback.Address(t), "Kafka": "BAGTRAIL_KAFKA_BROKERS=" + loopback.Address(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := service.New(t, []string{"serve"}, setting)
			s.Launch()
			if code := s.Wait(patience); code != 3 {
				t.Errorf("exit code %d, want 3", code)
			}
		})
	}
}
