package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

func findings(t *testing.T, url string) []string {
	t.Helper()
	found, err := redistest.Open(t, url).Check(context.Background())
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

// Each finding holds the command that ends it: after all these commands nothing is found.
func TestFindingsHoldTheCommandThatEndsThem(t *testing.T) {
	ctx := context.Background()
	s := redistest.StartServer(t, "maxmemory-policy allkeys-lru", "hash-max-listpack-value 64", "hash-max-listpack-entries 100")
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
	if found := findings(t, redistest.StartCluster(t)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestAReplicaIsFatal(t *testing.T) {
	replica := redistest.StartServer(t, "replicaof "+strings.Replace(redistest.StartServer(t).Addr, ":", " ", 1))
	found, err := redistest.Open(t, replica.URL("")).Check(context.Background())
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
	found, err := redistest.Open(t, "redis://"+s.Addr()).Check(context.Background())
	if err != nil || len(found) != 4 || !found[0].Fatal || found[0].Found != "6.2.14" || found[1].Fatal || found[1].Found != "" {
		t.Errorf("found %v, %v", found, err)
	}
}

// Such an error must not be taken for that of a Redis whose user may not read its settings.
func TestAServerThatIsNoSentinelDoesNotPassTheCheck(t *testing.T) {
	client := redistest.Open(t, "redis+sentinel://"+redistest.StartServer(t).Addr+"/master")
	if found, err := client.Check(t.Context()); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("found %v, %v", found, err)
	}
}

// Redis refuses PING too while it cannot save its data, but it answers queries.
func TestARedisThatCannotSaveIsReady(t *testing.T) {
	s := miniredis.RunT(t)
	refusal := "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."
	s.Server().SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
		if cmd == "PING" {
			c.WriteError(refusal)
		}
		return cmd == "PING"
	})
	client := redistest.Open(t, "redis://"+s.Addr())
	if err := client.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	refusal = "LOADING Redis is loading the dataset in memory"
	if err := client.Ready(t.Context()); !errors.Is(err, redis.ErrUnavailable) {
		t.Errorf("while it loads its data: %v", err)
	}
}
