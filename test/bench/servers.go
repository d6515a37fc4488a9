package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/twmb/franz-go/pkg/kfake"

	"bagtrail/internal/kafka/broker"
	"bagtrail/test/servers/inprocess"
	"bagtrail/test/servers/program"
)

// redisServer is the Redis that all lines share, one after the other.
type redisServer struct {
	addr   string
	real   bool
	client *redis.Client // for what is no part of a measurement
}

func (r *redisServer) url() string { return "redis://" + r.addr }

// empty deletes everything.
func (r *redisServer) empty(ctx context.Context) error { return r.client.FlushAll(ctx).Err() }

// memory is how many bytes Redis says that it uses.
func (r *redisServer) memory(ctx context.Context) (float64, error) {
	info, err := r.client.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, "used_memory:"); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no used_memory in %q", info)
}

// processorTime is what Redis has used so far.
func (r *redisServer) processorTime() (used time.Duration) {
	info, err := r.client.Info(context.Background(), "cpu").Result()
	if err != nil {
		return 0
	}
	for line := range strings.Lines(info) {
		for _, name := range []string{"used_cpu_sys:", "used_cpu_user:"} {
			if value, found := strings.CutPrefix(line, name); found {
				if seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
					used += time.Duration(seconds * float64(time.Second))
				}
			}
		}
	}
	return used
}

// needRedis starts redis-server, or one inside this process where there is none.
func (b *bench) needRedis(ctx context.Context) (*redisServer, error) {
	if b.redis != nil {
		return b.redis, nil
	}
	r := &redisServer{}
	if _, err := exec.LookPath(program.RedisServer); err != nil {
		server, err := inprocess.StartRedis("127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		b.suite.Cleanup(server.Close)
		r.addr = server.Addr()
		b.used = append(b.used, "Redis: in this process, for there is no redis-server on PATH")
	} else {
		process, err := b.start(ctx, func(home program.Home) (*program.Process, error) {
			return program.NewRedis(home, "appendonly no")
		})
		if err != nil {
			return nil, err
		}
		r.addr, r.real = process.Addr, true
		version, err := exec.CommandContext(ctx, program.RedisServer, "--version").Output()
		if err != nil {
			return nil, err
		}
		b.used = append(b.used, "Redis: "+strings.Join(strings.Fields(string(version))[:3], " ")+", without persistence")
	}
	r.client = redis.NewClient(clientOptions(r.addr))
	b.suite.Cleanup(func() { r.client.Close() })
	b.redis = r
	return r, nil
}

// clientOptions are those of every client here; the store's are the same.
func clientOptions(addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 16,
		ReadBufferSize: 16 << 10, WriteBufferSize: 128 << 10, PipelinePoolSize: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// start starts a program in a folder of its own.
func (b *bench) start(ctx context.Context, prepare func(program.Home) (*program.Process, error)) (*program.Process, error) {
	process, err := prepare(program.Home{Dir: b.suite.TempDir()})
	if err != nil {
		return nil, err
	}
	if err := process.Start(ctx); err != nil {
		return nil, err
	}
	b.suite.Cleanup(func() { process.Close() })
	return process, nil
}

// kafkaServer is the Kafka that all lines share.
type kafkaServer struct {
	brokers []string
	real    bool
	pid     int // 0: not a process of its own
	topics  int // made so far
}

// name makes a name for topics and groups that nobody has used.
func (k *kafkaServer) name(prefix string) string {
	k.topics++
	return fmt.Sprintf("bench-%d-%s-%d", os.Getpid(), prefix, k.topics)
}

// needKafka uses the broker that BAGTRAIL_TEST_KAFKA names, else starts one from its jars, else one in this process.
func (b *bench) needKafka(ctx context.Context) (*kafkaServer, error) {
	if b.broker != nil {
		return b.broker, nil
	}
	k := &kafkaServer{real: true}
	if given := os.Getenv("BAGTRAIL_TEST_KAFKA"); given != "" {
		k.brokers = strings.Split(given, ",")
		b.used = append(b.used, "Kafka: the one that BAGTRAIL_TEST_KAFKA names")
	} else if _, err := program.KafkaLibs(program.Kafka4); err == nil {
		process, err := b.start(ctx, func(home program.Home) (*program.Process, error) {
			return program.NewKafka(ctx, home, program.Kafka4)
		})
		if err != nil {
			return nil, err
		}
		k.brokers, k.pid = []string{process.Addr}, process.Pid()
		b.used = append(b.used, "Kafka: "+program.Kafka4+", one Java process, without its optimizing compiler")
	} else {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			return nil, err
		}
		b.suite.Cleanup(cluster.Close)
		k.brokers, k.real = cluster.ListenAddrs(), false
		b.used = append(b.used, "Kafka: in this process, for there are no jars of it (.ci/servers install kafka)")
	}
	b.broker = k
	return k, nil
}

// embeddedKafka starts the in-process broker of bagtrail, with its files in a folder of its own, and returns its address.
func (b *bench) embeddedKafka() (string, error) {
	embedded, err := broker.Start(broker.Config{Dir: b.suite.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		return "", err
	}
	b.suite.Cleanup(func() { embedded.Close() })
	return embedded.Addr(), nil
}
