package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Guard decides to which addresses webhooks may be posted. The zero Guard allows https to public
// addresses.
type Guard struct {
	// Allowed are networks that are allowed beside the public addresses, for tests and intranets.
	// If it is not empty, http is allowed too, also to public addresses.
	Allowed  []netip.Prefix
	Resolver *net.Resolver // nil: that of the system
}

// ErrAddress is the error for an address to which no webhook may be posted.
var ErrAddress = errors.New("the address is not public")

// CheckURL returns an error if a webhook may not have the URL. If the host is a name, its addresses
// are checked later, when the connection is made: see Client.
func (g Guard) CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return errors.New("not an absolute URL")
	case !isPort(u.Port()):
		return errors.New("the port is not from 1 to 65535")
	case u.Scheme != "https" && (u.Scheme != "http" || len(g.Allowed) == 0):
		return errors.New("the scheme is not https")
	case u.User != nil:
		return errors.New("the URL holds user information")
	case strings.Contains(text, "#"):
		return errors.New("the URL holds a fragment")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return g.check(addr)
	}
	return nil
}

// isPort reports whether a port can be connected to. "" is the port of the scheme.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// special lists address blocks that are not public, from the registries of special-purpose
// addresses (RFC 6890), and the address at which Azure answers its virtual machines
// (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16). It leaves out
// the blocks that netip has methods for.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "168.63.129.16/32",
)

// unicast is the block from which public IPv6 addresses are assigned (RFC 4291). Every other
// block is reserved, except that of NAT64, see translated.
var unicast = netip.MustParsePrefix("2000::/3")

// translated lists the IPv6 blocks whose addresses contain an IPv4 address. first is the index of
// the first byte of the IPv4 address.
var translated = []struct {
	prefix netip.Prefix
	first  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4, RFC 3056
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

// check returns ErrAddress unless an address is public or allowed.
func (g Guard) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	contains := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.Allowed, contains) {
		return nil
	}
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || slices.ContainsFunc(special, contains) {
		return ErrAddress
	}
	for _, t := range translated {
		if t.prefix.Contains(addr) {
			b := addr.As16()
			return g.check(netip.AddrFrom4([4]byte(b[t.first : t.first+4])))
		}
	}
	if addr.Is6() && !unicast.Contains(addr) {
		return ErrAddress
	}
	return nil
}

const (
	deliveryLimit = 15 * time.Second // time in which a receiver must answer
	dialLimit     = 5 * time.Second
)

// Client returns an HTTP client that connects only to allowed addresses. It checks the address of
// each connection, since a name may resolve to another address at any time. It follows no redirects
// and uses no proxy. It speaks HTTP/1.1 only: over HTTP/2 all webhooks of a host would share one
// connection, so that receivers that hang would hold up others, and a connection to a machine that is
// gone would be used again.
func (g Guard) Client() *http.Client {
	return &http.Client{
		Timeout: deliveryLimit,
		Transport: &http.Transport{
			DialContext: g.dial, TLSHandshakeTimeout: dialLimit, MaxIdleConnsPerHost: 1,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10,
			DisableCompression: true, // so that limits count the bytes that are received
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// errNoConnection says that no allowed address of a name takes a connection.
var errNoConnection = errors.New("no connection")

// dial connects to an allowed address. The error is ErrAddress only if none of the addresses of a
// name is allowed: of several errors a net.Dialer returns the first.
func (g Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var allowed atomic.Bool // one of the addresses
	dialer := net.Dialer{
		Timeout: dialLimit, Resolver: g.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("connect to %q: %w", address, ErrAddress)
			}
			if err = g.check(addr.Addr()); err == nil {
				allowed.Store(true)
			}
			return err
		},
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, ErrAddress) && allowed.Load() {
		err = errNoConnection
	}
	return conn, err
}
