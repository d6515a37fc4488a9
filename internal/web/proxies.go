package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the addresses of the proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.
type Proxies []netip.Prefix

// caller returns the address of the caller. If the peer is a trusted proxy, this is the rightmost
// address in X-Forwarded-For that is not a trusted proxy; addresses to its left may be forged. It
// is the zero address if the address of the peer cannot be read.
func (p Proxies) caller(r *http.Request) netip.Addr {
	address := addressOf(r.RemoteAddr)
	if !p.trusts(address) {
		return address
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, hop := range slices.Backward(hops) {
		before := addressOf(strings.TrimSpace(hop))
		if !before.IsValid() {
			break
		}
		if address = before; !p.trusts(address) {
			break
		}
	}
	return address
}

// Secure reports whether the caller uses TLS: to this service, or to a trusted proxy before it.
func (p Proxies) Secure(r *http.Request) bool {
	return r.TLS != nil || p.trusts(addressOf(r.RemoteAddr)) && r.Header.Get("X-Forwarded-Proto") == "https"
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// addressOf reads an address, with or without a port.
func addressOf(text string) netip.Addr {
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		withPort, _ := netip.ParseAddrPort(text) // the zero address if text has none
		address = withPort.Addr()
	}
	return address.Unmap().WithZone("")
}
