package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/webhooks"
	"bagtrail/test/loopback"
)

// A receiver that switches protocols keeps its connection open for ever: the attempt ends all the same.
func TestAReceiverThatSwitchesProtocolsHoldsNobody(t *testing.T) {
	receiver := loopback.SwitchingServer(t)
	w := newWorld(t, nil, "t")
	s := w.guarded(kafkaOfNobody(t), "t", webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
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

// An answer that is packed, and unpacks to nothing without end, costs no processor time: it is not
// unpacked, and so no more is read of it than of any other.
func TestAnAnswerIsNotUnpacked(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
		nothing := strings.Repeat("\x00\x00\x00\xff\xff", 10000)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, nothing); err != nil {
				return
			}
		}
	}))
	t.Cleanup(receiver.Close)
	w := newWorld(t, nil, "t")
	s := w.guarded(kafkaOfNobody(t), "t", webhooks.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w.store.Definition.URL = receiver.URL
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if d := s.Test(ctx, &w.store.Definition); ctx.Err() != nil || d.Status != http.StatusOK {
		t.Errorf("%v, %+v", ctx.Err(), d)
	}
}
