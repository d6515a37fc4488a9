package bagstore_test

import (
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/bagstore/bagstoretest"
	"bagtrail/internal/trail"
)

// findings returns what Check finds.
func findings(t *testing.T, url string) []redis.Finding {
	t.Helper()
	found, err := redistest.Open(t, url).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// leastRights is what the service needs of Redis, no more; on a cluster it must also read where the slots are.
const leastRights = "+ping +hello +select +incrby +hset +hdel +hkeys +hgetall +zadd +zrange +zremrangebyscore +expireat +scan +get +set" +
	" +hget +type +expiretime +rename +zrem +watch +unwatch +multi +exec"

// A user with no more rights than the service needs can do everything; what he may not read is said.
func TestLeastRights(t *testing.T) {
	ctx := context.Background()
	s := redistest.StartServer(t)
	grant(t, "redis://"+s.Addr, leastRights)
	url := "redis://bagtrail:p%40ss@" + s.Addr + "?prefix=x:"
	useAll(t, url)
	found := findings(t, url)
	if len(found) != 4 {
		t.Fatalf("found %q", found)
	}
	for i, text := range []string{"version cannot be read", "maxmemory-policy cannot be read", "hash-max-listpack-value", "hash-max-listpack-entries"} {
		if !strings.Contains(found[i].String(), text) || !strings.Contains(found[i].Fix, "ACL SETUSER <user> +") {
			t.Errorf("finding %d is %q", i, found[i])
		}
	}
	grant(t, "redis://"+s.Addr, "+info +config|get")
	if found := findings(t, url); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	_, err := redistest.Open(t, strings.Replace(url, "p%40ss", "wrong", 1)).Check(ctx)
	if !errors.Is(err, redis.ErrUnavailable) || strings.Contains(err.Error(), "wrong@") || strings.Contains(err.Error(), "p@ss") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestLeastRightsOnACluster(t *testing.T) {
	url := redistest.StartCluster(t)
	grant(t, url, leastRights+" +cluster|slots")
	useAll(t, strings.Replace(url, "://", "://bagtrail:p%40ss@", 1)+"?prefix=x:")
}

// grant lets the user bagtrail do something on every server of an address.
func grant(t *testing.T, url, rights string) {
	t.Helper()
	a, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range a.Hosts {
		client := goredis.NewClient(&goredis.Options{Addr: host})
		err := client.Do(context.Background(), append([]any{"acl", "setuser", "bagtrail", "on", ">p@ss", "~x:*"}, words(rights)...)...).Err()
		if err := errors.Join(err, client.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// useAll does with a store what a service does.
func useAll(t *testing.T, url string) {
	t.Helper()
	ctx, store, filings := context.Background(), open(t, url, bagstore.Config{Retention: 180 * time.Second}), oneBag(3)
	if _, err := store.Writer().File(ctx, filings); err != nil {
		t.Fatal(err)
	}
	if err := complete(t, store, filings); err != nil {
		t.Error(err)
	}
	if _, err := store.Count(ctx, 1); err != nil {
		t.Error(err)
	}
	if _, err := store.Reader().Read(ctx, trail.Wanted{Originals: []bag.Plate{"0220123456"}}); err != nil {
		t.Error(err)
	}
	meetDamage(t, url)
	holding, release := context.WithCancel(ctx)
	if err := store.HoldSweeps(holding); err != nil {
		t.Error(err)
	}
	release()
	sweeping, stop := context.WithCancel(ctx)
	swept := make(chan error, 1)
	go store.Sweeper(nil, 0, func(_ bagstore.Swept, err error) {
		select {
		case swept <- err:
		default:
		}
	}).Run(sweeping)
	select { // the first is due after a second
	case err := <-swept:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing was swept")
	}
	stop()
	if _, err := store.Sweeper(nil, 0, nil).Sweep(ctx); err != nil {
		t.Error(err)
	}
	if err := redistest.Open(t, url).Ready(ctx); err != nil {
		t.Error(err)
	}
}

// meetDamage has damage of every sort moved aside.
func meetDamage(t *testing.T, url string) {
	t.Helper()
	told := make(chan error, 10)
	store := open(t, url, bagstore.Config{Retention: 180 * time.Second, Damaged: func(_ string, err error) { told <- err }})
	a, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, client := context.Background(), goredis.NewUniversalClient(&goredis.UniversalOptions{
		Addrs: a.Hosts, IsClusterMode: a.Cluster, Username: a.User, Password: a.Password,
	})
	err = errors.Join(
		client.HSet(ctx, a.Prefix+"b:0220999999", "field", "no message").Err(),
		client.ZAdd(ctx, a.Prefix+"p:DAMAGE", goredis.Z{Score: 4e9, Member: "no plate"}).Err(),
		client.Set(ctx, a.Prefix+"r:0220999999", "no set", 0).Err(),
		client.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	found, err := store.Reader().Read(ctx, trail.Wanted{
		Trails: []bag.Plate{"0220999999"}, PNRs: []string{"DAMAGE"}, Originals: []bag.Plate{"0220999999"},
	})
	if err != nil || len(bagstoretest.Messages(t, found.Trails[0]))+len(found.PNRs[0])+len(found.Originals[0]) > 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	for range 3 {
		if err := <-told; err != nil {
			t.Error(err)
		}
	}
}

func words(text string) []any {
	var all []any
	for _, w := range strings.Fields(text) {
		all = append(all, w)
	}
	return all
}
