package command

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/feeds"
)

func TestASilentFeedIsLoggedOnceAndCounted(t *testing.T) {
	core, logged := observer.New(zap.InfoLevel)
	registry := prometheus.NewRegistry()
	w := newFeedWatch(zap.New(core), registry)
	feed := func(airport string, state feeds.State) feeds.Feed {
		return feeds.Feed{Name: feeds.Name{Airport: airport, Door: "kafka"}, State: state, Gap: time.Minute}
	}
	for i, step := range []struct {
		all  []feeds.Feed
		err  error
		log  string
		want string
	}{
		{nil, nil, "[]", "flowing 0, new 0, silent 0"},
		{[]feeds.Feed{feed("ZRH", feeds.Flowing), feed("GVA", feeds.New)}, nil, "[]", "flowing 1, new 1, silent 0"},
		{[]feeds.Feed{feed("ZRH", feeds.Silent), feed("GVA", feeds.New)}, nil, "[a feed is silent ZRH]", "ZRH 1, flowing 0, new 1, silent 1"},
		{nil, errors.New("away"), "[feeds cannot be read <nil>]", "ZRH 1, flowing 0, new 1, silent 1"},
		{nil, errors.New("away"), "[]", "ZRH 1, flowing 0, new 1, silent 1"},
		{[]feeds.Feed{feed("ZRH", feeds.Silent), feed("GVA", feeds.Silent)}, nil, "[a feed is silent GVA]", "GVA 1, ZRH 1, flowing 0, new 0, silent 2"},
		{[]feeds.Feed{feed("ZRH", feeds.Flowing), feed("GVA", feeds.Silent)}, nil, "[a feed sends again ZRH]", "GVA 1, flowing 1, new 0, silent 1"},
		{nil, nil, "[]", "flowing 0, new 0, silent 0"},
	} {
		w.look(step.all, step.err)
		var log []string
		for _, entry := range logged.TakeAll() {
			log = append(log, fmt.Sprint(entry.Message, " ", entry.ContextMap()["airport"]))
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, family := range families {
			for _, m := range family.GetMetric() {
				got += fmt.Sprintf(", %s %v", m.GetLabel()[0].GetValue(), m.GetGauge().GetValue())
			}
		}
		if fmt.Sprint(log) != step.log || got != ", "+step.want {
			t.Errorf("step %d: %v, %s", i, log, got)
		}
	}
}
