package servers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func TestAKilledRedisComesBackWithItsAddressAndItsData(t *testing.T) {
	t.Parallel()
	p := servers.PrivateRedis(t, "appendfsync always")
	addr := p.Addr
	redis(t, addr, "SET", "bag", "0220208212")
	must(t, p.Kill())
	if answers(t.Context(), addr) {
		t.Fatal("it still runs")
	}
	must(t, p.Start(servers.Context(t)))
	if got := redis(t, addr, "GET", "bag"); got != "0220208212" {
		t.Errorf("bag is %q", got)
	}
	if err := p.Start(servers.Context(t)); err == nil {
		t.Error("a running server was started once more")
	}
}

func TestAStoppedRedisIsSilentUntilItGoesOn(t *testing.T) {
	t.Parallel()
	p := servers.PrivateRedis(t)
	must(t, p.Stop())
	if answers(t.Context(), p.Addr) {
		t.Error("a stopped server answers")
	}
	must(t, p.Cont())
	if got := redis(t, p.Addr, "PING"); got != "PONG" {
		t.Errorf("PING was answered %q", got)
	}
}

func TestAReplicaTakesOverFromALostMaster(t *testing.T) {
	t.Parallel()
	c := servers.PrivateCluster(t)
	lose := map[string]func(*program.Process) error{"killed": (*program.Process).Kill, "stopped": (*program.Process).Stop}
	again := map[string]func(*program.Process) error{
		"killed":  func(p *program.Process) error { return p.Start(servers.Context(t)) },
		"stopped": (*program.Process).Cont,
	}
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			ctx := servers.Context(t)
			master, err := c.Master(ctx)
			must(t, err)
			must(t, lose[how](master))
			must(t, c.AwaitFailover(ctx, master))
			must(t, again[how](master))
			must(t, c.AwaitWhole(ctx))
			if role := redis(t, master.Addr, "ROLE"); !strings.HasPrefix(role, "[slave") {
				t.Errorf("the lost master is %s now", role)
			}
		})
	}
}

func TestAKilledKafkaComesBackWithItsAddressAndItsData(t *testing.T) {
	t.Parallel()
	p := servers.PrivateKafka(t)
	produce(t, p.Addr, "topic", "BSM\r\nENDBSM")
	must(t, p.Kill())
	if _, err := net.Dial("tcp", p.Addr); err == nil {
		t.Error("something listens in its place")
	}
	must(t, p.Start(servers.Context(t)))
	if got := fetch(t, p.Addr, "topic"); got != "BSM\r\nENDBSM" {
		t.Errorf("fetched %q", got)
	}
	must(t, p.Stop())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if program.KafkaReady(ctx, p.Addr) == nil {
		t.Error("a stopped broker answers")
	}
	must(t, p.Cont())
	produce(t, p.Addr, "another", "BPM\r\nENDBPM")
}

func TestASecuredKafkaAsksWhoComes(t *testing.T) {
	t.Parallel()
	right, wrong := scramOf(t, program.Password), scramOf(t, "wrong")
	s := servers.SecuredKafka(t)
	for name, door := range map[string]struct {
		addr      string
		mechanism sasl.Mechanism
		open      bool
	}{
		"plain":          {s.Addr, nil, true},
		"nobody":         {s.SASL, nil, false},
		"wrong password": {s.SASL, wrong, false},
		"right password": {s.SASL, right, true},
	} {
		d := kafka.Dialer{SASLMechanism: door.mechanism, Timeout: 2 * time.Second}
		c, err := d.DialContext(t.Context(), "tcp", door.addr)
		if err == nil {
			_ = c.SetDeadline(time.Now().Add(2 * time.Second))
			_, err = c.Brokers()
			_ = c.Close()
		}
		if (err == nil) != door.open {
			t.Errorf("%s: %v, want it open: %t", name, err, door.open)
		}
	}
}

// scramOf is how the user of a secured server says who he is, with a password.
func scramOf(t *testing.T, password string) sasl.Mechanism {
	t.Helper()
	mechanism, err := scram.Mechanism(scram.SHA512, program.User, password)
	must(t, err)
	return mechanism
}

func TestAUserOfASecuredKafkaHasNoRightButThoseGranted(t *testing.T) {
	t.Parallel()
	s := servers.SecuredKafka(t,
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer")
	transport := &kafka.Transport{SASL: scramOf(t, program.Password)}
	user := &kafka.Client{Addr: kafka.TCP(s.SASL), Transport: transport}
	admin := &kafka.Client{Addr: kafka.TCP(s.Addr)}
	create := func(ctx context.Context) error {
		res, err := user.CreateTopics(ctx, &kafka.CreateTopicsRequest{
			Topics: []kafka.TopicConfig{{Topic: "bim.raw", NumPartitions: 1, ReplicationFactor: 1}},
		})
		if err != nil {
			return err
		}
		return res.Errors["bim.raw"]
	}
	if err := create(servers.Context(t)); !errors.Is(err, kafka.TopicAuthorizationFailed) {
		t.Errorf("without a right: %v", err)
	}
	res, err := admin.CreateACLs(t.Context(), &kafka.CreateACLsRequest{ACLs: []kafka.ACLEntry{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: "bim.raw", ResourcePatternType: kafka.PatternTypeLiteral,
		Principal: "User:" + program.User, Host: "*",
		Operation: kafka.ACLOperationTypeAll, PermissionType: kafka.ACLPermissionTypeAllow,
	}}})
	must(t, errors.Join(append(res.Errors, err)...))
	must(t, program.Await(servers.Context(t), create))
}

func TestASecuredRedisAsksWhoComes(t *testing.T) {
	t.Parallel()
	s := servers.SecuredRedis(t, "user "+program.User+" on >"+program.Password+" resetkeys ~bag:* nocommands +get +set")
	if _, err := tls.Dial("tcp", s.TLS, &tls.Config{}); err == nil {
		t.Error("a certificate that is not trusted was taken")
	}
	c, err := tls.Dial("tcp", s.TLS, trust(t, s.CA))
	must(t, err)
	r, ctx := program.NewRedisClient(c), servers.Context(t)
	defer func() { _ = r.Close() }()
	if r.Do(ctx, "AUTH", program.User, "wrong").Err() == nil {
		t.Error("a wrong password was taken")
	}
	for _, command := range [][]any{{"AUTH", program.User, program.Password}, {"SET", "bag:1", "x"}} {
		if err := r.Do(ctx, command...).Err(); err != nil {
			t.Errorf("%v: %v", command, err)
		}
	}
	for _, command := range [][]any{{"SET", "other", "x"}, {"FLUSHALL"}} {
		if err := r.Do(ctx, command...).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("%v: %v, want it not permitted", command, err)
		}
	}
}

// TestOwner is run by TestServersEndWithAKilledTest.
func TestOwner(t *testing.T) {
	file := os.Getenv("BAGTRAIL_TEST_OWNER")
	if file == "" {
		t.Skip("is part of another test")
	}
	p := servers.PrivateRedis(t)
	must(t, os.WriteFile(file+".new", []byte(p.Addr+"\n"+redis(t, p.Addr, "CONFIG", "GET", "dir")), 0o600))
	must(t, os.Rename(file+".new", file))
	select {}
}

func TestServersEndWithAKilledTest(t *testing.T) {
	t.Parallel()
	servers.PrivateRedis(t) // else the test would show nothing
	file := t.TempDir() + "/owner"
	owner := exec.Command(os.Args[0], "-test.run=^TestOwner$")
	owner.Env = append(os.Environ(), "BAGTRAIL_TEST_OWNER="+file, "TMPDIR="+t.TempDir())
	must(t, owner.Start())
	var addr, dir string
	must(t, program.Await(servers.Context(t), func(context.Context) error {
		text, err := os.ReadFile(file)
		addr, dir, _ = strings.Cut(string(text), "\n")
		return err
	}))
	dir = strings.TrimSuffix(strings.TrimPrefix(dir, "[dir "), "]")
	if !answers(t.Context(), addr) {
		t.Fatal("the owner's server does not answer")
	}
	must(t, owner.Process.Kill())
	_ = owner.Wait()
	must(t, program.Await(servers.Context(t), func(ctx context.Context) error {
		if answers(ctx, addr) {
			return errors.New("the server runs on without its owner")
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return errors.New("its data is still there")
		}
		return nil
	}))
}

func trust(t *testing.T, file string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return &tls.Config{RootCAs: pool}
}
