package bagstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/bagstore/bagstoretest"
	"bagtrail/internal/trail"
)

func findings(t *testing.T, url string) []string {
	t.Helper()
	found, err := open(t, bagstore.Config{URL: url}).Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range found {
		if f.Fatal {
			t.Errorf("%v is fatal", f)
		}
		all = append(all, f.String())
	}
	return all
}

// Each finding holds the command that ends it: once all have been given, nothing is found.
func TestFindingsHoldTheCommandThatEndsThem(t *testing.T) {
	ctx := context.Background()
	s := bagstoretest.StartServer(t, "--maxmemory-policy", "allkeys-lru", "--hash-max-listpack-value", "64", "--hash-max-listpack-entries", "100")
	found := findings(t, s.URL(""))
	want := []string{
		"maxmemory-policy is allkeys-lru, and should be noeviction",
		"hash-max-listpack-value is 64, and should be 1024 or more",
		"hash-max-listpack-entries is 100, and should be 128 or more",
	}
	if len(found) != len(want) {
		t.Fatalf("found %q", found)
	}
	for i, text := range found {
		_, command, _ := strings.Cut(text, "Set it: ")
		if !strings.Contains(text, want[i]) || command == "" {
			t.Errorf("finding %d is %q", i, text)
			continue
		}
		words := strings.Fields(command)
		if err := s.Client(t).Do(ctx, words[0], words[1], words[2], words[3]).Err(); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if found := findings(t, s.URL("")); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestEveryMasterOfAClusterIsChecked(t *testing.T) {
	if found := findings(t, bagstoretest.StartCluster(t)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// leastRights is what the service needs of Redis, no more; on a cluster it must also read where the slots are.
const leastRights = "+ping +hello +select +incrby +hset +hdel +hkeys +hgetall +zadd +zrange +zremrangebyscore +expireat +scan +get +set" +
	" +hget +type +expiretime +rename +zrem +watch +unwatch +multi +exec"

// A user with no more rights than the service needs can do everything; what he may not read is said.
func TestLeastRights(t *testing.T) {
	ctx := context.Background()
	s := bagstoretest.StartServer(t)
	grant(t, "redis://"+s.Addr, leastRights)
	url := "redis://bagtrail:p%40ss@" + s.Addr + "?prefix=x:"
	useAll(t, url)
	found := findings(t, url)
	if len(found) != 4 {
		t.Fatalf("found %q", found)
	}
	for i, text := range []string{"version cannot be read", "maxmemory-policy cannot be read", "hash-max-listpack-value", "hash-max-listpack-entries"} {
		if !strings.Contains(found[i], text) || !strings.Contains(found[i], "ACL SETUSER <user> +") {
			t.Errorf("finding %d is %q", i, found[i])
		}
	}
	grant(t, "redis://"+s.Addr, "+info +config|get")
	if found := findings(t, url); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	_, err := open(t, bagstore.Config{URL: strings.Replace(url, "p%40ss", "wrong", 1)}).Check(ctx)
	if !errors.Is(err, bagstore.ErrUnavailable) || strings.Contains(err.Error(), "wrong@") || strings.Contains(err.Error(), "p@ss") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestLeastRightsOnACluster(t *testing.T) {
	url := bagstoretest.StartCluster(t)
	grant(t, url, leastRights+" +cluster|slots")
	useAll(t, strings.Replace(url, "://", "://bagtrail:p%40ss@", 1)+"?prefix=x:")
}

// grant lets the user bagtrail do something on every server of an address.
func grant(t *testing.T, url, rights string) {
	t.Helper()
	a, err := bagstore.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range a.Hosts {
		client := redis.NewClient(&redis.Options{Addr: host})
		err := client.Do(context.Background(), append([]any{"acl", "setuser", "bagtrail", "on", ">p@ss", "~x:*"}, words(rights)...)...).Err()
		if err := errors.Join(err, client.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// useAll does with a store what a service does.
func useAll(t *testing.T, url string) {
	t.Helper()
	ctx, store, filings := context.Background(), open(t, bagstore.Config{URL: url, Retention: 180 * time.Second}), oneBag(3)
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
	if err := store.Ready(ctx); err != nil {
		t.Error(err)
	}
}

// meetDamage has damage of every sort moved aside.
func meetDamage(t *testing.T, url string) {
	t.Helper()
	told := make(chan error, 10)
	store := open(t, bagstore.Config{URL: url, Retention: 180 * time.Second, Damaged: func(_ string, err error) { told <- err }})
	a, err := bagstore.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, client := context.Background(), redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: a.Hosts, IsClusterMode: a.Cluster, Username: a.User, Password: a.Password,
	})
	err = errors.Join(
		client.HSet(ctx, a.Prefix+"b:0220999999", "field", "no message").Err(),
		client.ZAdd(ctx, a.Prefix+"p:DAMAGE", redis.Z{Score: 4e9, Member: "no plate"}).Err(),
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

func TestAReplicaIsFatal(t *testing.T) {
	host, port, _ := strings.Cut(bagstoretest.StartServer(t).Addr, ":")
	replica := bagstoretest.StartServer(t, "--replicaof", host+" "+port)
	found, err := open(t, bagstore.Config{URL: replica.URL("")}).Check(context.Background())
	if err != nil || len(found) != 1 || !found[0].Fatal || found[0].Setting != "role" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestAnOldServerIsFatal(t *testing.T) {
	s := miniredis.RunT(t)
	s.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		switch cmd {
		case "INFO":
			if len(args) != 1 {
				c.WriteError("ERR syntax error") // as 6.2 says to several sections
				return true
			}
			c.WriteBulk("# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n")
		case "CONFIG":
			c.WriteError("ERR unknown command 'CONFIG', with args beginning with: 'GET'")
		default:
			return false
		}
		return true
	})
	found, err := open(t, bagstore.Config{URL: "redis://" + s.Addr()}).Check(context.Background())
	if err != nil || len(found) != 4 || !found[0].Fatal || found[0].Found != "6.2.14" || found[1].Fatal || found[1].Found != "" {
		t.Errorf("found %v, %v", found, err)
	}
}
