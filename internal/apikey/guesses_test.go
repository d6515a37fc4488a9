package apikey_test

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"bagtrail/internal/apikey"
)

func TestGuessesOfAnIPv6AddressCountForItsNetwork(t *testing.T) {
	g, now := apikey.NewGuesses(), time.Unix(1_800_000_000, 0)
	address := netip.MustParseAddr("2001:db8:0:1::")
	for i := range 20 {
		if wait := g.Take(address, now); wait != 0 {
			t.Fatalf("guess %d has to wait %d s", i, wait)
		}
		address = address.Next()
	}
	if g.Take(address, now) == 0 {
		t.Error("an address of the same network need not wait")
	}
	if g.Take(netip.MustParseAddr("2001:db8:0:2::"), now) != 0 {
		t.Error("another network has to wait")
	}
}

func TestAMappedIPv4AddressCountsAsThatAddress(t *testing.T) {
	g, now := apikey.NewGuesses(), time.Unix(1_800_000_000, 0)
	for range 20 {
		g.Take(netip.MustParseAddr("::ffff:192.0.2.1"), now)
	}
	if g.Take(netip.MustParseAddr("192.0.2.1"), now) == 0 {
		t.Error("the same address need not wait")
	}
	if g.Take(netip.MustParseAddr("::ffff:192.0.2.2"), now) != 0 {
		t.Error("another address has to wait")
	}
}

func TestGuessesFromManyAddressesTakeConstantMemory(t *testing.T) {
	g, now := apikey.NewGuesses(), time.Unix(1_800_000_000, 0)
	address := netip.MustParseAddr("10.0.0.0")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	waits := 0
	for range 1_000_000 {
		if g.Take(address, now) > 0 {
			waits++
		}
		address = address.Next()
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes for a million addresses", grown)
	}
	if waits < 600_000 {
		t.Errorf("%d of a million guesses had to wait", waits)
	}
}
