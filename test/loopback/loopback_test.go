package loopback_test

import (
	"net"
	"testing"

	"bagtrail/test/loopback"
)

func TestAddressesAreFreeAndAllDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		addresses, err := loopback.Addresses(5)
		if err != nil || len(addresses) != 5 {
			t.Fatalf("%q: %v", addresses, err)
		}
		for _, address := range addresses {
			if seen[address] {
				t.Errorf("%s was given twice", address)
			}
			seen[address] = true
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Close() // the address is still reserved
			if a := l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() || a.Port < 10_000 || a.Port >= 30_000 {
				t.Errorf("%s is not below the ports of clients on loopback", address)
			}
		}
	}
}
