package command_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/command"
	"bagtrail/internal/redis/redistest"
)

// reaching is an empty reader that calls a function when it is reached.
type reaching func()

func (r reaching) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}

func TestAReplayOfFilesThatFailsSaysHowToRepeatIt(t *testing.T) {
	redis := redistest.StartServer(t)
	client := redis.Client(t)
	memory := func(bytes string) {
		if err := client.ConfigSet(t.Context(), "maxmemory", bytes).Err(); err != nil {
			t.Error(err)
		}
	}
	env := []string{"BAGTRAIL_REDIS_URL=" + redis.URL("")}
	args := []string{"replay", "--kafka-brokers=off", "--split", "-"}
	first, rest := strings.Repeat(bsm, 2010), strings.Repeat(bsm, 10) // the first batch has 2000 messages
	var stderr strings.Builder
	full := reaching(func() {
		redistest.Eventually(t, 20*time.Second, "the first batch is not filed", func() bool {
			return client.HLen(t.Context(), "b:0724123456").Val() >= 2000
		})
		memory("1")
	})
	input := io.MultiReader(strings.NewReader(first), full, strings.NewReader(rest))
	code := command.Run(t.Context(), args, env, input, io.Discard, &stderr)
	hint := regexp.MustCompile(`\(to repeat: (--received) (\S+Z)\)`).FindStringSubmatch(stderr.String())
	if code != command.Failed || hint == nil {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	memory("0")
	for _, known := range []string{"known before: 2000,", "known before: 2020,"} {
		if got := run(t, first+rest, env, append(args, hint[1:]...)...); got.code != command.Done || !strings.Contains(got.stdout, known) {
			t.Errorf("%+v, want %q", got, known)
		}
	}
}

// Otherwise nothing, or not what is meant, would be filed without a word.
func TestAReplayFromBehindTheEndOfAPartitionIsRefused(t *testing.T) {
	s := serve(t, "BAGTRAIL_REDIS_URL="+redistest.StartServer(t).URL(""))
	for from, want := range map[string]string{
		"1:0,3:1": "--from: 1 is after the end of bim.raw/3, which is 0", "3:0,99:0": "--from: bim.raw has no partition 99",
	} {
		if got := run(t, "", s.env, "replay", "--from="+from); got.code != command.Usage || !strings.Contains(got.stderr, want) {
			t.Errorf("%+v", got)
		}
	}
	if got := run(t, "", s.env, "replay", "--from=3:0"); got.code != command.Done {
		t.Errorf("at the end: %+v", got)
	}
}
