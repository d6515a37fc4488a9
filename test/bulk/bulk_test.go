// Package bulk_test kills the process that resubmits many rejected messages.
package bulk_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/ingestor"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
	"bagtrail/test/service"
)

var rejects = flag.Int("rejects", 4000, "how many rejects are resubmitted; a multiple of 500")

const (
	batch    = 500
	patience = 10 * time.Minute
)

// job is a job as the service answers it.
type job struct {
	ID, State                                        string
	Total, Accepted, Rejected, Unauthorised, Skipped int
	LookedAt                                         int `json:"looked_at"`
}

// A job that resubmits rejects goes on after kill -9 of its process, in another process. Each reject
// is decided once, and each message is filed once.
func TestAJobGoesOnAfterKill9(t *testing.T) {
	n := *rejects
	server := redistest.StartServer(t)
	settings := []string{"BAGTRAIL_KAFKA_BROKERS=off", "BAGTRAIL_REDIS_URL=" + server.URL(""), "BAGTRAIL_LOG_LEVEL=warn"}
	first, second := service.Start(t, settings...), service.New(t, []string{"serve"}, settings...)
	store := rejectstore.New(redistest.Open(t, server.URL("")), 24*time.Hour, time.Now)
	fill(t, store, n)

	began := time.Now()
	begun := first.Do(http.MethodPost, "/v1/rejects/resubmit", strings.NewReader(`{"airport":"ZRH"}`), "Content-Type", "application/json")
	var before job
	if err := json.Unmarshal([]byte(begun.Body), &before); err != nil || begun.Status != http.StatusAccepted {
		t.Fatalf("%d %s", begun.Status, begun.Body)
	}
	if !first.Until(patience, func() bool { before = progress(t, first, before.ID); return before.LookedAt >= n/4 }) || before.State != "running" {
		t.Fatalf("the job is not in the middle: %+v", before)
	}
	first.Kill()
	killed := time.Now()
	interrupted, _, err := store.Job(t.Context(), before.ID)
	if err != nil {
		t.Fatal(err)
	}
	second.Up()
	var after job
	if !second.Until(patience, func() bool { after = progress(t, second, before.ID); return after.State != "running" }) {
		t.Fatalf("the job does not end: %+v", after)
	}
	if after.State != "done" || after.LookedAt != n || after.Accepted != n || interrupted.Looked >= int64(n) {
		t.Errorf("at the kill %+v, in the end %+v", interrupted, after)
	}
	once, left := decidedOnce(t, store, after.ID)
	messages := filed(t, server.Client(t))
	t.Logf("bulk resubmission of %d rejects: kill -9 after %d in %.1f s, gone on with by another process and done %.1f s later; decided once: %d, left open: %d, messages filed: %d",
		n, interrupted.Looked, killed.Sub(began).Seconds(), time.Since(killed).Seconds(), once, left, messages)
	if once != n || left != 0 || messages != n {
		t.Errorf("of %d rejects %d are decided once, %d are open, %d messages are filed", n, once, left, messages)
	}
}

// fill keeps messages that are accepted by now as rejects.
func fill(t *testing.T, store *rejectstore.Store, n int) {
	t.Helper()
	now := time.Now()
	day := strings.ToUpper(now.UTC().Format("02Jan"))
	for i := 0; i < n; i += batch {
		list := make([]ingestor.Rejection, batch)
		for j := range list {
			text := fmt.Sprintf("BSM\r\n.V/1LZRH\r\n.F/LX%d/%s/JFK\r\n.N/0724%06d001\r\nENDBSM\r\n", 100+i/batch, day, i+j)
			list[j] = ingestor.Rejection{Airport: "ZRH", Envelope: ingestor.Envelope{
				Door: "kafka", Raw: text, Received: now.Add(time.Duration(i+j-n) * time.Millisecond), Origin: fmt.Sprint("bim.raw/0/", i+j),
			}, Errors: []ingestor.Diagnostic{{Code: "SVCPRB023", Line: 3, Column: 1, EndColumn: 1}}}
		}
		if err := store.Reject(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
}

// progress returns a job.
func progress(t *testing.T, s *service.Service, id string) (j job) {
	t.Helper()
	got := s.Get("/v1/rejects/jobs/" + id)
	if err := json.Unmarshal([]byte(got.Body), &j); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return j
}

// decidedOnce counts the rejects that a job has resubmitted, with one step in their history, and
// those that are open.
func decidedOnce(t *testing.T, store *rejectstore.Store, job string) (once int, open int64) {
	t.Helper()
	var after rejectstore.Position
	for {
		page, err := store.List(t.Context(), rejectstore.Filter{State: rejectstore.Resubmitted, Oldest: true}, after, batch)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		ids := make([]string, len(page))
		for i, p := range page {
			ids[i] = p.ID
		}
		list, err := store.Get(t.Context(), false, ids...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if h := list[i].History; len(h) == 1 && h[0].Job == job && h[0].Verdict == "accepted" && list[i].Claim == "" {
				once++
			}
		}
		after = page[len(page)-1]
	}
	open, err := store.Count(t.Context(), rejectstore.Filter{State: rejectstore.Open})
	if err != nil {
		t.Fatal(err)
	}
	return once, open
}

// filed counts the messages of all plates in the index.
func filed(t *testing.T, client *goredis.Client) (messages int) {
	t.Helper()
	keys := client.Scan(t.Context(), 0, "b:*", 1000).Iterator()
	for keys.Next(t.Context()) {
		n, err := client.HLen(t.Context(), keys.Val()).Result()
		if err != nil {
			t.Fatal(err)
		}
		messages += int(n)
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return messages
}
