package bagstore_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/deliverystore"
	"bagtrail/internal/feeds"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/requeststore"
	"bagtrail/internal/sessionstore"
	"bagtrail/internal/status"
	"bagtrail/internal/statusstore"
	"bagtrail/internal/trail"
)

// rights returns what follows the name of a user in the ACL line of the documentation.
func rights(t *testing.T, user string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^user ` + user + ` (on >bagtrail-secret .*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/operations.md has no ACL line of " + user)
	}
	return strings.Fields(string(found[1]))
}

// grant gives the user bagtrail these rights alone, on every server of an address, and returns the
// URL for him.
func grant(t *testing.T, url string, rights []string) string {
	t.Helper()
	a, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	command := []any{"acl", "setuser", "bagtrail", "reset"}
	for _, right := range rights {
		command = append(command, right)
	}
	for _, host := range a.Addrs {
		client := goredis.NewClient(&goredis.Options{Addr: host})
		err := client.Do(context.Background(), command...).Err()
		if err := errors.Join(err, client.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Replace(url, "://", "://bagtrail:bagtrail-secret@", 1)
}

// The rights that the documentation names are enough for every store.
func TestLeastRights(t *testing.T) {
	useAll(t, grant(t, redistest.StartServer(t).URL(""), rights(t, "bagtrail")))
}

func TestLeastRightsOnACluster(t *testing.T) {
	useAll(t, grant(t, redistest.StartCluster(t), append(rights(t, "bagtrail"), "+cluster|slots", "+command", "+asking")))
}

// A setting that the user may not read is a finding, which says how to grant the right.
func TestSettingsThatMayNotBeReadAreFindings(t *testing.T) {
	ctx, server, all := context.Background(), redistest.StartServer(t), rights(t, "bagtrail")
	url := grant(t, server.URL(""), slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == "+info" || r == "+config|get" }))
	client := redistest.Open(t, url)
	found, err := client.Check(ctx)
	if err != nil || len(found) != 4 {
		t.Fatalf("found %q, %v", found, err)
	}
	for i, text := range []string{"version cannot be read", "maxmemory-policy cannot be read", "hash-max-listpack-value", "hash-max-listpack-entries"} {
		if !strings.Contains(found[i].String(), text) || !strings.Contains(found[i].Fix, "ACL SETUSER <user> +") {
			t.Errorf("finding %d is %q", i, found[i])
		}
	}
	grant(t, server.URL(""), all)
	if found, err := client.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("found %q, %v", found, err)
	}
	_, err = redistest.Open(t, strings.Replace(url, "secret", "wrong", 1)).Check(ctx)
	if !errors.Is(err, redis.ErrUnavailable) || strings.Contains(err.Error(), "bagtrail-wrong") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// A right that is missing is a finding of every master, which names it.
func TestEachMissingRightIsAFinding(t *testing.T) {
	checked := slices.DeleteFunc(rights(t, "bagtrail"), func(r string) bool {
		return strings.Trim(r[:1], "~+") != "" || r == "+ping" || r == "+info" || r == "+config|get"
	})
	var keys []string
	for _, right := range checked {
		if key, found := strings.CutPrefix(right, "~"); found {
			keys = append(keys, key)
		}
	}
	server := redistest.StartServer(t)
	kept := strings.TrimSuffix(keys[0], "*")
	if err := server.Client(t).Set(t.Context(), kept, "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for url, masters := range map[string]int{server.URL(""): 1, redistest.StartCluster(t): 3} {
		all := append(rights(t, "bagtrail"), "+cluster|slots", "+command", "+asking")
		client := redistest.Open(t, grant(t, url, all))
		for _, right := range checked {
			grant(t, url, slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == right }))
			found, err := client.Check(t.Context(), keys...)
			if err != nil || len(found) != masters || !found[0].Fatal || !strings.HasSuffix(found[0].String(), ": ACL SETUSER <user> "+right) {
				t.Errorf("without %s: found %v, %v", right, found, err)
			}
		}
		grant(t, url, all)
		if found, err := client.Check(t.Context(), keys...); err != nil || len(found) > 0 {
			t.Errorf("found %v, %v", found, err)
		}
	}
	if left, err := server.Client(t).DBSize(t.Context()).Result(); err != nil || left != 1 {
		t.Errorf("the check leaves %d keys, %v", left, err)
	}
	if value, err := server.Client(t).Get(t.Context(), kept).Result(); err != nil || value != "kept" {
		t.Errorf("the check has changed a key: %q, %v", value, err)
	}
}

// useAll uses all stores as a service does.
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
	useRequests(t, url)
	useChanges(t, url)
	useFeeds(t, url)
	useDeliveries(t, url)
	useSessions(t, url)
	useRejects(t, url)
	if _, err := statusstore.New(redistest.Open(t, url)).Exchange(ctx, "one", status.Report{At: time.Now().Add(-time.Hour)}); err != nil {
		t.Error(err)
	}
	if _, err := statusstore.New(redistest.Open(t, url)).Exchange(ctx, "two", status.Report{At: time.Now()}); err != nil {
		t.Error(err)
	}
	holding, release := context.WithCancel(ctx)
	if err := store.HoldSweeps(holding); err != nil {
		t.Error(err)
	}
	release()
	sweeping, stop := context.WithCancel(ctx)
	swept := make(chan error, 1)
	go store.Sweeper(nil, atOnce, func(_ bagstore.SweepCounts, err error) {
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
	if _, err := store.Sweeper(nil, atOnce, nil).Sweep(ctx); err != nil {
		t.Error(err)
	}
	if err := redistest.Open(t, url).Ready(ctx); err != nil {
		t.Error(err)
	}
}

// meetDamage lets a store move damage of every kind aside.
func meetDamage(t *testing.T, url string) {
	t.Helper()
	told := make(chan error, 10)
	store := open(t, url, bagstore.Config{Retention: 180 * time.Second, Damaged: func(_ string, err error) { told <- err }})
	a, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, client := context.Background(), goredis.NewUniversalClient(&a.UniversalOptions)
	err = errors.Join(
		client.HSet(ctx, a.Prefix+"b:0220999999", "field", "no message").Err(),
		client.ZAdd(ctx, a.Prefix+"p:DAMAGE", goredis.Z{Score: 4e9, Member: "no plate"}).Err(),
		client.SAdd(ctx, a.Prefix+"n:LX1:2026-11-21", "no number").Err(),
		client.Set(ctx, a.Prefix+"r:0220999999", "no set", 0).Err(),
		client.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	found, err := store.Reader().Read(ctx, trail.Wanted{
		PlateMessages: []bag.Plate{"0220999999"}, PNRs: []string{"DAMAGE"}, Originals: []bag.Plate{"0220999999"},
		Named: []bag.Named{{Flight: bag.Flight{Airline: "LX", Number: "1", Day: bag.DayOf(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))}}},
	})
	if err != nil || len(messagesOf(found.PlateMessages[0]))+len(found.PNRs[0])+len(found.Named[0])+len(found.Originals[0]) > 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	for range 4 {
		if err := <-told; err != nil {
			t.Error(err)
		}
	}
}

// useRequests claims a request twice, releases it, and notes it, and begins and ends another one.
func useRequests(t *testing.T, url string) {
	t.Helper()
	ctx, store := context.Background(), requeststore.New(redistest.Open(t, url))
	_, claim, err := store.Claim(ctx, "digest")
	_, _, again := store.Claim(ctx, "digest")
	if err := errors.Join(err, again, store.Release(ctx, "digest", claim), store.Note(ctx, "digest", "note")); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"one", "two"} { // the second time the first one has ended
		if first, err := store.Begin(ctx, "digest", want); first != want || err != nil {
			t.Error(first, err)
		}
		store.End(ctx, "digest", want)
	}
}

// useRejects adds rejects, asks for them, decides on them, and removes them.
func useRejects(t *testing.T, url string) {
	t.Helper()
	now := time.Now()
	ctx, store := context.Background(), rejectstore.New(redistest.Open(t, url), time.Hour, func() time.Time { return now })
	id := rejectstore.ID("origin")
	rejected := ingestor.Rejection{Envelope: ingestor.Envelope{Raw: "x", Received: now, Origin: "origin"}, Errors: []ingestor.Diagnostic{{Code: "SVCPRB001"}}}
	if err := store.Reject(ctx, []ingestor.Rejection{rejected}); err != nil {
		t.Fatal(err)
	}
	filter := rejectstore.Filter{State: rejectstore.Open, Since: now.Add(-time.Hour)}
	if found, err := store.List(ctx, filter, rejectstore.Position{}, 10); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	for _, since := range []time.Time{{}, filter.Since} {
		if sum, err := store.Summarize(ctx, rejectstore.Filter{State: rejectstore.Open, Since: since}); err != nil || sum.States[0].Count != 1 {
			t.Errorf("summary %v, %v", sum, err)
		}
	}
	if was, err := store.Claim(ctx, []string{id}, []string{"claim"}); err != nil || was[0].State != rejectstore.Open {
		t.Errorf("%+v, %v", was, err)
	}
	if state, _, err := store.Decide(ctx, id, "claim", rejectstore.Resubmitted, rejectstore.Step{}); err != nil || state != rejectstore.Open {
		t.Errorf("%s, %v", state, err)
	}
	if found, err := store.Get(ctx, true, id); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if n, err := store.Count(ctx, rejectstore.Filter{State: rejectstore.Resubmitted}); err != nil || n != 1 {
		t.Errorf("%d resubmitted, %v", n, err)
	}
	if err := store.AddJob(ctx, &rejectstore.Job{ID: "job", Began: now}, 1, 1); err != nil {
		t.Error(err)
	}
	if ids, err := store.RunningJobs(ctx); err != nil || len(ids) != 1 {
		t.Errorf("jobs %q, %v", ids, err)
	}
	job, held, err := store.HoldJob(ctx, "job", "process")
	if err != nil || !held {
		t.Errorf("held %t, %v", held, err)
	}
	if done, err := store.AdvanceJob(ctx, &job, &rejectstore.Advance{State: rejectstore.Done}); err != nil || !done {
		t.Errorf("advanced %t, %v", done, err)
	}
	if job, _, err = store.Job(ctx, "job"); err != nil || job.State != rejectstore.Done {
		t.Errorf("%+v, %v", job, err)
	}
	now = now.Add(2 * time.Hour)
	if n, err := store.Trim(ctx); err != nil || n != 1 {
		t.Errorf("%d removed, %v", n, err)
	}
}

// useSessions ends a session.
func useSessions(t *testing.T, url string) {
	t.Helper()
	ctx, store := context.Background(), sessionstore.New(redistest.Open(t, url))
	if err := store.End(ctx, "key", "session", time.Now().Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if ended, err := store.Ended(ctx, "key", "session"); err != nil || !ended {
		t.Errorf("ended %t, %v", ended, err)
	}
}

// useFeeds counts a message, reads its feed and forgets it.
func useFeeds(t *testing.T, url string) {
	t.Helper()
	ctx, store := context.Background(), feeds.NewStore(redistest.Open(t, url))
	counter := feeds.NewCounter(store, time.Now)
	counter.Count("kafka", &ingestor.Batch{
		Envelopes: []ingestor.Envelope{{Received: time.Now()}}, Outcomes: []ingestor.Outcome{{Verdict: ingestor.Accepted, Airport: "ZRH"}},
	})
	if err := counter.Flush(ctx); err != nil {
		t.Error(err)
	}
	names, err := store.Names(ctx)
	if err != nil || len(names) != 1 {
		t.Fatalf("feeds %v, %v", names, err)
	}
	if found, err := store.Read(ctx, names, 1, time.Now()); err != nil || len(found) != 1 || found[0].Hours[0].Accepted != 1 {
		t.Errorf("feeds %+v, %v", found, err)
	}
	if err := store.Forget(ctx, time.Now().Add(32*24*time.Hour)); err != nil {
		t.Error(err)
	}
}

// useDeliveries adds a delivery and reads it.
func useDeliveries(t *testing.T, url string) {
	t.Helper()
	ctx, store := context.Background(), deliverystore.New(redistest.Open(t, url))
	if err := store.Add(ctx, "wh_1", []byte("{}")); err != nil {
		t.Error(err)
	}
	if list, err := store.List(ctx, "wh_1"); err != nil || len(list) != 1 {
		t.Errorf("%q, %v", list, err)
	}
}

// useChanges begins an epoch, tells two changes, the second over a floor, and reads them.
func useChanges(t *testing.T, url string) {
	t.Helper()
	ctx, store := context.Background(), changestore.New(redistest.Open(t, url), 72*time.Hour, time.Now)
	epoch, err := store.Begin(ctx, changes.Epoch{}, changes.Epoch{Begun: 1, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := store.Progress(ctx, epoch, 0); err != nil || !p.None() {
		t.Errorf("progress is known before anything is told, or %v", err)
	}
	for _, sequence := range []int64{0, 1} {
		_, err := store.Tell(ctx, epoch, 0, changes.IndexWrite{
			After: changes.AfterAny, Told: sequence, Floor: sequence, Clock: time.Now(), Departed: time.Now(),
			Entries: []changes.Entry{{Plate: "0220123456", Sequence: sequence, Airlines: []string{"LX"}, Airports: []string{"ZRH"}}},
		})
		if err != nil {
			t.Errorf("telling %d: %v", sequence, err)
		}
	}
	now, progress, err := store.State(ctx)
	if err != nil || now != epoch || len(progress) != 1 || progress[0].Told != 1 {
		t.Errorf("epoch %v with %v, %v", now, progress, err)
	}
	found, upTo, err := store.Between(ctx, epoch, []changes.Scope{changes.All, "a:LX"}, []int64{0}, []int64{1}, 10)
	if err != nil || len(found[0]) != 1 || upTo[0] != 1 {
		t.Errorf("found %v up to %v, %v", found, upTo, err)
	}
	if err := store.Note(ctx, "batch", []string{"0220123456"}); err != nil {
		t.Error(err)
	}
	if noted, err := store.Noted(ctx); err != nil || len(noted) != 1 {
		t.Errorf("noted %v, %v", noted, err)
	}
	if err := store.Forget(ctx, "batch"); err != nil {
		t.Error(err)
	}
	if sequences, err := store.Sequences(ctx, epoch, []bag.Plate{"0220123456"}, []int64{0}, []int64{1}); err != nil || sequences[0] != 1 {
		t.Errorf("sequences %v, %v", sequences, err)
	}
}
