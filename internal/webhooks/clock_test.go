package webhooks_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/webhooks"
)

// The clock of a process was thirty days ahead when an attempt failed. Another process goes on.
func TestAnAttemptIsNotPutOffByAClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, "bag.webhooks")
		var ahead atomic.Int64
		ahead.Store(int64(30 * 24 * time.Hour))
		conf := w.config(kafkaOfNobody(t), "bag.webhooks")
		conf.Client = &http.Client{Transport: w.receiver}
		conf.Now = func() time.Time { return time.Now().Round(0).Add(time.Duration(ahead.Load())) }
		w.Service = webhooks.New(conf)
		w.feed.tell(1)
		w.receiver.answer = func(n int, _ []string) *http.Response { return answer([]int{500, 200}[min(n, 1)]) }
		kill := w.send(t)
		sleep(time.Second)
		kill()
		ahead.Store(0)
		w.send(t)
		sleep(3 * time.Hour)
		if got := w.receiver.attempts(); len(got) != 2 || w.store.Position().Failing != nil {
			t.Errorf("%d attempts, %+v", len(got), w.store.Position().Failing)
		}
	})
}
