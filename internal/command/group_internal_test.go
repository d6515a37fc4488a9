package command

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// An error at a stop fails nothing any more, but it may say that requests were cut off.
func TestAnErrorAtTheStopIsLogged(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	g := newGroup(t.Context(), zap.New(core), func(err error) { t.Errorf("failed: %v", err) })
	g.start("http door", func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("drain HTTP")
	})
	if err := g.stop(); err != nil {
		t.Error(err)
	}
	said := logs.All()
	if len(said) != 1 || said[0].ContextMap()["part"] != "http door" || said[0].ContextMap()["error"] != "drain HTTP" {
		t.Errorf("logged %v", said)
	}
}
