package webhooks_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"bagtrail/internal/kafka"
	"bagtrail/internal/webhooks"
	"bagtrail/test/loopback"
)

// A receiver that switches protocols keeps its connection open for ever: the attempt ends all the same.
func TestAReceiverThatSwitchesProtocolsHoldsNobody(t *testing.T) {
	receiver := loopback.SwitchingServer(t)
	client, err := kafka.Open(kafka.Config{Brokers: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil, "t")
	s := w.guarded(client, "t", webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w.store.Definition.URL = receiver
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	done := make(chan webhooks.Delivery, 1)
	go func() { done <- s.Test(ctx, &w.store.Definition) }()
	select {
	case d := <-done:
		if d.Status != http.StatusSwitchingProtocols {
			t.Errorf("%+v", d)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the attempt outlives its context")
	}
}
