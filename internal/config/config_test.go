package config_test

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"bagtrail/internal/config"
	"bagtrail/test/service"
)

// load loads what a command line and an environment say.
func load(t *testing.T, args, env []string, checks ...config.Check) (*config.Effective, error) {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatalf("Parse(%q): %v", args, err)
	}
	return config.Load(fs, env, checks...)
}

func mustLoad(t *testing.T, args, env []string, checks ...config.Check) *config.Effective {
	t.Helper()
	eff, err := load(t, args, env, checks...)
	if err != nil {
		t.Fatalf("Load(%q, %q): %v", args, env, err)
	}
	return eff
}

// faults returns the lines of the error of load.
func faults(t *testing.T, args, env []string, checks ...config.Check) []string {
	t.Helper()
	_, err := load(t, args, env, checks...)
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestDefaultsAreThoseOfTheContract(t *testing.T) {
	want := config.Config{
		HTTP:    config.HTTP{Addr: "127.0.0.1:8080", Drain: 20 * time.Second, AnswerBytes: 64 << 20, Streams: 100, Console: true},
		Ops:     config.Ops{Addr: "127.0.0.1:8081"},
		DataDir: "./bagtrail-data",
		Kafka: config.Kafka{
			EmbeddedAddr: "127.0.0.1:9092",
			Topic:        "bim.raw", RejectsTopic: "bim.rejected", ChangesTopic: "bag.changes", MarksTopic: "bag.dirty", WebhooksTopic: "bag.webhooks", Group: "bagtrail",
		},
		WTR:   config.WTR{Timeout: 10 * time.Second},
		Rules: config.Rules{Retention: 180 * 24 * time.Hour, DuplicateWindow: 10 * time.Minute, RejectsRetention: 14 * 24 * time.Hour, ChangesRetention: 72 * time.Hour},
		Log:   config.Log{Level: "info", Format: "auto"},
	}
	got := mustLoad(t, nil, nil, config.KeysOrLoopback)
	if !reflect.DeepEqual(*got.Config, want) {
		t.Errorf("got  %+v\nwant %+v", *got.Config, want)
	}
	if !got.Kafka.InProcess() || !got.Redis.InProcess() || !got.WTR.InProcess() || got.HTTP.TLS() {
		t.Error("the default is everything in process, without TLS")
	}
}

func TestEveryVariableOfTheContractSetsItsMember(t *testing.T) {
	env := []string{
		"BAGTRAIL_HTTP_ADDR=0.0.0.0:80", "BAGTRAIL_HTTP_TLS_CERT=c.pem", "BAGTRAIL_HTTP_TLS_KEY=k.pem",
		"BAGTRAIL_HTTP_LINGER=5s", "BAGTRAIL_HTTP_DRAIN=1m", "BAGTRAIL_HTTP_ANSWER_BYTES=1GiB", "BAGTRAIL_HTTP_STREAMS=7", "BAGTRAIL_CORS_ORIGINS=https://ops.example,http://127.0.0.1:3000", "BAGTRAIL_TRUSTED_PROXIES=192.0.2.1, 10.0.0.0/8,2001:db8::/32,::1", "BAGTRAIL_CONSOLE=off", "BAGTRAIL_OPS_ADDR=[::1]:81", "BAGTRAIL_DATA_DIR=/d", "BAGTRAIL_SECRET=0123456789abcdef0123456789abcdef", "BAGTRAIL_REDIS_URL=redis+sentinel://a:1,b:2/m",
		"BAGTRAIL_KAFKA_BROKERS=a:1, b:2", "BAGTRAIL_KAFKA_TLS=true", "BAGTRAIL_KAFKA_SASL_MECHANISM=SCRAM-SHA-512",
		"BAGTRAIL_KAFKA_SASL_USERNAME=u", "BAGTRAIL_KAFKA_SASL_PASSWORD=p", "BAGTRAIL_EMBEDDED_KAFKA_ADDR=127.0.0.1:1",
		"BAGTRAIL_EMBEDDED_KAFKA_UNAUTHENTICATED=true", "BAGTRAIL_EMBEDDED_KAFKA_ACCEPT_LOSS=true",
		"BAGTRAIL_KAFKA_TOPIC=t", "BAGTRAIL_KAFKA_REJECTS_TOPIC=r", "BAGTRAIL_KAFKA_CHANGES_TOPIC=", "BAGTRAIL_KAFKA_DIRTY_TOPIC=m", "BAGTRAIL_KAFKA_WEBHOOKS_TOPIC=w", "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.1", "BAGTRAIL_KAFKA_GROUP=g",
		"BAGTRAIL_KEYS_FILE=keys", "BAGTRAIL_AIRPORTS_FILE=airports", "BAGTRAIL_AIRLINES_FILE=airlines", "BAGTRAIL_FLIGHTS_FILE=flights",
		"BAGTRAIL_WTR_URL=https://wtr/x", "BAGTRAIL_WTR_TIMEOUT=3s", "BAGTRAIL_RETENTION=24h", "BAGTRAIL_DUPLICATE_WINDOW=0s", "BAGTRAIL_REJECT_RETENTION=48h", "BAGTRAIL_CHANGES_RETENTION=1h",
		"BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_LOG_FORMAT=console",
	}
	want := config.Config{
		HTTP: config.HTTP{
			Addr: "0.0.0.0:80", TLSCert: "c.pem", TLSKey: "k.pem", Linger: 5 * time.Second, Drain: time.Minute, AnswerBytes: 1 << 30, Streams: 7,
			Origins: []string{"https://ops.example", "http://127.0.0.1:3000"},
			TrustedProxies: []netip.Prefix{
				netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::1/128"),
			},
			WebhookNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		},
		Ops:     config.Ops{Addr: "[::1]:81"},
		DataDir: "/d",
		Secret:  "0123456789abcdef0123456789abcdef",
		Redis:   config.Redis{URL: "redis+sentinel://a:1,b:2/m"},
		Kafka: config.Kafka{
			Brokers: []string{"a:1", "b:2"}, TLS: true, Mechanism: "SCRAM-SHA-512", Username: "u", Password: "p",
			EmbeddedAddr: "127.0.0.1:1", EmbeddedUnauthenticated: true, AcceptLoss: true, Topic: "t", RejectsTopic: "r", ChangesTopic: "", MarksTopic: "m", WebhooksTopic: "w", Group: "g",
		},
		WTR:   config.WTR{URL: "https://wtr/x", Timeout: 3 * time.Second},
		Files: config.Files{Keys: "keys", Airports: "airports", Airlines: "airlines", Flights: "flights"},
		Rules: config.Rules{Retention: 24 * time.Hour, RejectsRetention: 48 * time.Hour, ChangesRetention: time.Hour},
		Log:   config.Log{Level: "debug", Format: "console"},
	}
	got := mustLoad(t, nil, env)
	if !reflect.DeepEqual(*got.Config, want) {
		t.Errorf("got  %+v\nwant %+v", *got.Config, want)
	}
	shown := got.String()
	for line := range strings.Lines(shown) {
		if strings.HasSuffix(line, "default\n") {
			t.Errorf("this test sets no value of %s", line)
		}
	}
	// The same settings as flags and as members of a file say the same.
	var args []string
	var file strings.Builder
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		member := strings.ToLower(strings.TrimPrefix(name, "BAGTRAIL_"))
		args = append(args, "--"+strings.ReplaceAll(member, "_", "-")+"="+value)
		file.WriteString(member + ": '" + value + "'\n")
	}
	if got := mustLoad(t, args, nil); !reflect.DeepEqual(*got.Config, want) {
		t.Errorf("flags: got %+v", *got.Config)
	}
	if got := mustLoad(t, []string{"--config", service.WriteFile(t, "c.yaml", file.String())}, nil); !reflect.DeepEqual(*got.Config, want) {
		t.Errorf("file: got %+v", *got.Config)
	}
}

func TestAFlagCountsOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	file := service.WriteFile(t, "c.yaml", "http_addr: 127.0.0.1:1\nops_addr: 127.0.0.1:2\ndata_dir: three\nkafka_brokers: [a:1, b:2]\n")
	eff := mustLoad(t,
		[]string{"--http-addr", "127.0.0.1:7", "--kafka-tls"},
		[]string{"BAGTRAIL_CONFIG=" + file, "BAGTRAIL_HTTP_ADDR=127.0.0.1:8", "BAGTRAIL_OPS_ADDR=127.0.0.1:9"})
	if eff.HTTP.Addr != "127.0.0.1:7" || eff.Ops.Addr != "127.0.0.1:9" || eff.DataDir != "three" || !eff.Kafka.TLS || eff.Log.Level != "info" {
		t.Errorf("got %+v", *eff.Config)
	}
	if !slices.Equal(eff.Kafka.Brokers, []string{"a:1", "b:2"}) {
		t.Errorf("brokers of a YAML list: %q", eff.Kafka.Brokers)
	}
	shown := eff.String()
	for _, line := range []string{
		`http_addr: 127.0.0.1:7 +# BAGTRAIL_HTTP_ADDR, flag --http-addr`,
		`ops_addr: 127.0.0.1:9 +# BAGTRAIL_OPS_ADDR, environment BAGTRAIL_OPS_ADDR`,
		`data_dir: three +# BAGTRAIL_DATA_DIR, file ` + file,
		`log_level: info +# BAGTRAIL_LOG_LEVEL, default`,
	} {
		want, source, _ := strings.Cut(line, " +")
		if !slices.ContainsFunc(strings.Split(shown, "\n"), func(l string) bool {
			return strings.HasPrefix(l, want+" ") && strings.HasSuffix(l, source)
		}) {
			t.Errorf("no line %q in\n%s", line, shown)
		}
	}
}

func TestWhatIsShownIsReadBack(t *testing.T) {
	first := mustLoad(t, []string{"--kafka-brokers=a:1,b:2", "--kafka-changes-topic=", "--kafka-group=it's: #1", "--kafka-topic=null", "--duplicate-window=5m"}, nil)
	shown := first.String()
	second := mustLoad(t, []string{"--config", service.WriteFile(t, "c.yaml", shown)}, nil)
	if !reflect.DeepEqual(first.Config, second.Config) {
		t.Errorf("read back %+v\nfrom\n%s", *second.Config, shown)
	}
}

func TestSecretsComeFromFilesAndAreNeverShown(t *testing.T) {
	password := service.WriteFile(t, "password", "s3cret\n")
	url := service.WriteFile(t, "url", "\ufeffredis://app:hunter2@cache:6379/0?password=hunter3\r\n") // as editors of Windows write it
	eff := mustLoad(t,
		[]string{"--redis-url-file", url, "--kafka-sasl-mechanism=PLAIN", "--kafka-sasl-username=u"},
		[]string{"BAGTRAIL_KAFKA_SASL_PASSWORD_FILE=" + password, "BAGTRAIL_REDIS_URL=redis://loses", "BAGTRAIL_WTR_URL=https://token@wtr/"})
	if eff.Kafka.Password != "s3cret" || eff.Redis.URL != "redis://app:hunter2@cache:6379/0?password=hunter3" {
		t.Errorf("got password %q, URL %q", eff.Kafka.Password, eff.Redis.URL)
	}
	shown := eff.String()
	for _, secret := range []string{"s3cret", "hunter2", "hunter3", "token"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown:\n%s", secret, shown)
		}
	}
	if !strings.Contains(shown, "redis://app:********@cache:6379/0?password=********") || !strings.Contains(shown, ", file "+password) {
		t.Errorf("shown:\n%s", shown)
	}
}

func TestMaskKeepsWhatIsNoSecret(t *testing.T) {
	for secret, want := range map[string]string{
		"":                              `""`,
		"s3cret":                        `"********"`,
		"redis://cache:6379/1":          "redis://cache:6379/1",
		"redis://:pw@cache":             "redis://:********@cache",
		"redis://u:p?a/s@s@cache/0":     "redis://u:********@cache/0",
		"redis+cluster://u:p@a:1,b:2":   "redis+cluster://u:********@a:1,b:2",
		"https://wtr/x?a=1&api_key=abc": "https://wtr/x?a=1&api_key=********",
		"https://wtr/x?code=abc&PWD=d":  "https://wtr/x?code=********&PWD=********",
	} {
		if shown := mustLoad(t, []string{"--redis-url=" + secret}, nil).String(); !strings.Contains(shown, "\nredis_url: "+want+" ") {
			t.Errorf("%q is not shown as %s in\n%s", secret, want, shown)
		}
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	file := service.WriteFile(t, "c.yaml", "retention: soon\nhttp_adr: 127.0.0.1:1\nlog_level: {a: b}\nkafka_topic: a b\n")
	got := faults(t,
		[]string{"--config", file, "--http-tls-cert=c.pem", "--wtr-url=ftp://u:pw@h/", "--ops-addr=", "--kafka-tls=perhaps", "--http-answer-bytes=1MB", "--trusted-proxies=10.0.0.1,proxy", "--cors-origins=https://ops.example/", "--console=yes"},
		[]string{"BAGTRAIL_HTTP_ADDR=:8080", "BAGTRAIL_KAFKA_EVENTS_TOPIC=bag.events", "BAGTRAIL_KAFKA_BROKER=a:1", "BAGTRAIL_KAFKA_BROKERS=a,b:99999", "BAGTRAIL_TEST_X=1", "HOME=/"},
		config.KeysOrLoopback)
	want := []string{
		`BAGTRAIL_KAFKA_EVENTS_TOPIC is not a variable of bagtrail; BAGTRAIL_KAFKA_CHANGES_TOPIC took its place`,
		`BAGTRAIL_KAFKA_BROKER is not a variable of bagtrail; did you mean BAGTRAIL_KAFKA_BROKERS?`,
		file + ` line 2: http_adr: unknown member; did you mean http_addr?`,
		file + ` line 3: log_level: not a plain value`,
		`BAGTRAIL_HTTP_ANSWER_BYTES "1MB" is not a size such as 512KiB, 64MiB or 1GiB (flag --http-answer-bytes)`,
		`BAGTRAIL_CORS_ORIGINS "https://ops.example/" holds "https://ops.example/", which is not an origin such as https://ops.example (flag --cors-origins)`,
		`BAGTRAIL_TRUSTED_PROXIES "10.0.0.1,proxy" holds "proxy", which is neither an address nor a network such as 10.0.0.0/8 (flag --trusted-proxies)`,
		`BAGTRAIL_CONSOLE "yes" is neither on nor off (flag --console)`,
		`BAGTRAIL_OPS_ADDR is empty (flag --ops-addr)`,
		`BAGTRAIL_KAFKA_TLS "perhaps" is neither true nor false (flag --kafka-tls)`,
		`BAGTRAIL_RETENTION "soon" is not a duration such as 10s, 5m or 4320h (file ` + file + `)`,
		`BAGTRAIL_HTTP_TLS_KEY is missing: TLS needs the certificate and its key`,
		`BAGTRAIL_KAFKA_BROKERS "a" is not host:port (environment BAGTRAIL_KAFKA_BROKERS)`,
		`BAGTRAIL_KAFKA_BROKERS "b:99999" has the port "99999", which is none of 0 to 65535 (environment BAGTRAIL_KAFKA_BROKERS)`,
		`BAGTRAIL_KAFKA_TOPIC "a b" is not a topic name: letters, digits, dot, underscore, hyphen, at most 249 (file ` + file + `)`,
		`BAGTRAIL_WTR_URL is not an http:// or https:// URL (flag --wtr-url)`,
		`BAGTRAIL_HTTP_ADDR ":8080" is not a loopback address: without BAGTRAIL_KEYS_FILE only the development key exists, and it opens everything (environment BAGTRAIL_HTTP_ADDR)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFaultsNameTheirVariable(t *testing.T) {
	for _, tc := range []struct {
		args, env []string
		checks    []config.Check
		variables []string
	}{
		{args: []string{"--config=/no/such/file"}, variables: []string{"BAGTRAIL_CONFIG"}},
		{args: []string{"--redis-url-file=/no/such/file"}, variables: []string{"BAGTRAIL_REDIS_URL_FILE"}},
		{args: []string{"--redis-url-file=" + service.WriteFile(t, "empty", "\n")}, variables: []string{"BAGTRAIL_REDIS_URL_FILE"}},
		{args: []string{"--redis-url-file=/dev/null", "--redis-url=redis://a"}, variables: []string{"BAGTRAIL_REDIS_URL"}},
		{args: []string{"--kafka-brokers=:9092"}, variables: []string{"BAGTRAIL_KAFKA_BROKERS"}},
		{args: []string{"--kafka-brokers=a:0"}, variables: []string{"BAGTRAIL_KAFKA_BROKERS"}},
		{args: []string{"--http-tls-key=k"}, variables: []string{"BAGTRAIL_HTTP_TLS_CERT"}},
		{args: []string{"--kafka-sasl-username=u"}, variables: []string{"BAGTRAIL_KAFKA_SASL_MECHANISM"}},
		{args: []string{"--kafka-sasl-mechanism=GSSAPI"}, variables: []string{"BAGTRAIL_KAFKA_SASL_MECHANISM", "BAGTRAIL_KAFKA_SASL_USERNAME", "BAGTRAIL_KAFKA_SASL_PASSWORD"}},
		{args: []string{"--kafka-topic=x", "--kafka-rejects-topic=x"}, variables: []string{"BAGTRAIL_KAFKA_REJECTS_TOPIC"}},
		{args: []string{"--kafka-group= "}, variables: []string{"BAGTRAIL_KAFKA_GROUP"}},
		{args: []string{"--reject-retention=999ms"}, variables: []string{"BAGTRAIL_REJECT_RETENTION"}},
		{args: []string{"--changes-retention=999ms"}, variables: []string{"BAGTRAIL_CHANGES_RETENTION"}},
		{args: []string{"--retention=876000h", "--reject-retention=876000h", "--changes-retention=876000h"}},
		{args: []string{"--retention=876001h", "--reject-retention=876001h", "--changes-retention=876001h"}, variables: []string{"BAGTRAIL_RETENTION", "BAGTRAIL_REJECT_RETENTION", "BAGTRAIL_CHANGES_RETENTION"}},
		{args: []string{"--duplicate-window=-1s"}, variables: []string{"BAGTRAIL_DUPLICATE_WINDOW"}},
		{args: []string{"--duplicate-window=2h", "--retention=1h"}, variables: []string{"BAGTRAIL_DUPLICATE_WINDOW"}},
		{args: []string{"--http-streams=0"}, variables: []string{"BAGTRAIL_HTTP_STREAMS"}},
		{args: []string{"--http-streams=many"}, variables: []string{"BAGTRAIL_HTTP_STREAMS"}},
		{args: []string{"--http-linger=-1s"}, variables: []string{"BAGTRAIL_HTTP_LINGER"}},
		{args: []string{"--wtr-timeout=1m"}, variables: []string{"BAGTRAIL_WTR_TIMEOUT"}},
		{args: []string{"--secret=0123456789abcdef0123456789abcde"}, variables: []string{"BAGTRAIL_SECRET"}},
		{args: []string{"--retention=999ms", "--duplicate-window=0s"}, variables: []string{"BAGTRAIL_RETENTION"}},
		{args: []string{"--log-level=loud", "--log-format=xml"}, variables: []string{"BAGTRAIL_LOG_LEVEL", "BAGTRAIL_LOG_FORMAT"}},
		{args: []string{"--ops-addr=127.0.0.1:8080"}, variables: []string{"BAGTRAIL_OPS_ADDR"}},
		{args: []string{"--embedded-kafka-addr=127.0.0.1:8080"}, variables: []string{"BAGTRAIL_EMBEDDED_KAFKA_ADDR"}},
		{args: []string{"--embedded-kafka-addr=127.0.0.1:8080", "--kafka-brokers=off"}},
		{args: []string{"--embedded-kafka-addr=foo"}, variables: []string{"BAGTRAIL_EMBEDDED_KAFKA_ADDR"}},
		{args: []string{"--http-addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0"}},
		{args: []string{"--http-addr=0.0.0.0:1", "--keys-file=k"}, checks: []config.Check{config.KeysOrLoopback}},
		{args: []string{"--http-addr=0.0.0.0:1"}},
		{args: []string{"--http-addr=localhost:1"}, checks: []config.Check{config.KeysOrLoopback}},
		{checks: []config.Check{config.SharedRedis, config.SharedKafka, config.SomeKafka}, variables: []string{"BAGTRAIL_REDIS_URL", "BAGTRAIL_KAFKA_BROKERS"}},
		{args: []string{"--kafka-brokers=off"}, checks: []config.Check{config.SharedKafka, config.SomeKafka}, variables: []string{"BAGTRAIL_KAFKA_BROKERS"}},
		{env: []string{"BAGTRAIL_HTTP_ADDR=", "BAGTRAIL_REDIS_URL="}},
		{env: []string{"BAGTRAIL_API_SERVICE_HOST=10.0.0.1", "BAGTRAIL_PORT_8080_TCP_ADDR=10.0.0.1", "BAGTRAIL_PORT_8080_TCP_PORT=80", "BAGTRAIL_PORT=tcp://10.0.0.1:80", "BAGTRAIL_SERVICE_PORT_HTTP=80"}},
		{env: []string{"BAGTRAIL_PORT="}},
		{env: []string{"BAGTRAIL_HTTP_PORT=9090"}, variables: []string{"BAGTRAIL_HTTP_PORT"}},
		{args: []string{"--http-answer-bytes=2MiB"}},
		{args: []string{"--http-answer-bytes=2097151"}, variables: []string{"BAGTRAIL_HTTP_ANSWER_BYTES"}},
		{args: []string{"--http-answer-bytes=4294967296"}},
		{args: []string{"--http-answer-bytes=8589934591GiB"}},
		{args: []string{"--http-answer-bytes=8589934592GiB"}, variables: []string{"BAGTRAIL_HTTP_ANSWER_BYTES"}},
	} {
		_, err := load(t, tc.args, tc.env, tc.checks...)
		var got []string
		for _, line := range flatten(err) {
			var f *config.Fault
			if !errors.As(line, &f) {
				t.Errorf("%q: %v is no Fault", tc.args, line)
				continue
			}
			got = append(got, f.Variable)
		}
		if !slices.Equal(got, tc.variables) {
			t.Errorf("%q %q: faults of %q, want of %q: %v", tc.args, tc.env, got, tc.variables, err)
		}
	}
}

func TestNoTwoServersOfAProcessHaveTheSameAddress(t *testing.T) {
	var args []string
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if strings.HasSuffix(f.Name, "-addr") {
			args = append(args, "--"+f.Name+"=127.0.0.1:1")
		}
	})
	if got := faults(t, args, nil); len(args) < 3 || len(got) != len(args)*(len(args)-1)/2 {
		t.Errorf("%q: want a fault for each pair, got %q", args, got)
	}
}

func TestTheInProcessBrokerLeavesLoopbackOnlyWhereItIsKnownToHaveNoAuthentication(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:9092", ":9092", "kafka:9092", "10.0.0.1:9092", "[::]:9092"} {
		got := faults(t, []string{"--embedded-kafka-addr=" + addr}, nil)
		if len(got) != 1 || !strings.HasPrefix(got[0], `BAGTRAIL_EMBEDDED_KAFKA_ADDR "`+addr+`" is not a loopback address: the in-process broker has no authentication`) ||
			!strings.Contains(got[0], "set BAGTRAIL_EMBEDDED_KAFKA_UNAUTHENTICATED") {
			t.Errorf("%s: faults %q", addr, got)
		}
		mustLoad(t, []string{"--embedded-kafka-addr=" + addr, "--embedded-kafka-unauthenticated"}, nil)
		mustLoad(t, []string{"--embedded-kafka-addr=" + addr, "--kafka-brokers=kafka:9092"}, nil) // there is no such broker
	}
	for _, addr := range []string{"127.0.0.1:9092", "localhost:9092", "[::1]:9092"} {
		mustLoad(t, []string{"--embedded-kafka-addr=" + addr}, nil)
	}
}

func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

func TestTheDelayedBagSystemHasAnHTTPAddressThatNoFaultRepeats(t *testing.T) {
	for _, address := range []string{"ftp://u:hunter2@h", "localhost:80", "http://", "http://u:hunter2@[::1", "/path"} {
		got := faults(t, []string{"--wtr-url=" + address}, nil)
		if len(got) != 1 || !strings.HasPrefix(got[0], "BAGTRAIL_WTR_URL is not an http:// or https:// URL") || strings.Contains(got[0], "hunter2") {
			t.Errorf("%q: %q", address, got)
		}
	}
}

func TestAFileThatIsNoMappingOfSettingsIsAFault(t *testing.T) {
	for _, text := range []string{"- a\n", "a: b: c\n", "http_addr: a:1\nhttp_addr: b:1\n", "config: other.yaml\n", "http_addr:\n"} {
		if got := faults(t, []string{"--config", service.WriteFile(t, "c.yaml", text)}, nil); len(got) == 0 {
			t.Errorf("%q: no fault", text)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if got := faults(t, []string{"--config", service.WriteFile(t, "c.yaml", text)}, nil); got != nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
