package apidoc

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"bagtrail/internal/web"
)

// homeText is the page at the root.
//
//go:embed home.html
var homeText string

var homePage = template.Must(template.New("home").Parse(homeText))

// Home holds the facts of the service that the page at the root shows.
type Home struct {
	Proxies  web.Proxies                // those that say whether the caller uses TLS
	Ready    func(context.Context) bool // asked once a second at most; nil is ready
	Console  string                     // path of the console, or ""
	KnownKey string                     // the API key that everybody knows, or ""
	Demo     func() *Bag                // returns a bag of the simulated traffic, or nil; if Demo is nil, traffic is real
}

// Bag is the bag in the example requests of the page.
type Bag struct {
	Airport, Airline, Flight string // of its departure
	Date                     string // YYYY-MM-DD
	Plate, PNR               string
}

// homePolicy lets the page load only its icon.
const homePolicy = "default-src 'none'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// handler serves the page at the root, which links to the others.
func (h Home) handler(clock func() time.Time) http.Handler {
	lately := remembered{ask: h.Ready, clock: clock}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page bytes.Buffer
		if err := homePage.Execute(&page, h.page(r, clock(), lately.answer(r.Context()))); err != nil {
			http.Error(w, "the page cannot be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Security-Policy", homePolicy)
		w.Header().Set("Cache-Control", "no-store")
		write(w, "text/html", page.Bytes())
	})
}

// homeContent is the data of the template of the page.
type homeContent struct {
	Home
	Ready   bool
	Base    string // URL of the service, without a path
	Key     string // of the commands
	Message string // a message about the bag, as a part of a JSON string; "" if none should be sent
	Bag     Bag
}

func (h Home) page(r *http.Request, now time.Time, ready bool) homeContent {
	today := now.UTC()
	c := homeContent{Home: h, Ready: ready, Base: "http://" + r.Host, Key: cmp.Or(h.KnownKey, "YOUR-KEY")}
	if h.Proxies.Secure(r) {
		c.Base = "https://" + r.Host
	}
	c.Bag = Bag{Airport: "ZRH", Airline: "LX", Flight: "100", Date: today.Format(time.DateOnly), Plate: "0724100001", PNR: "ABC123"}
	switch {
	case h.Demo != nil:
		if b := h.Demo(); b != nil {
			c.Bag = *b
		}
	case h.KnownKey != "":
		c.Message = fmt.Sprintf(`BSM\r\n.V/1L%s\r\n.F/%s%s/%s/JFK\r\n.N/%s001\r\n.P/1MUELLER/ANNAMRS\r\n.L/%s\r\nENDBSM\r\n`,
			c.Bag.Airport, c.Bag.Airline, c.Bag.Flight, strings.ToUpper(today.Format(messageDay)), c.Bag.Plate, c.Bag.PNR)
	}
	return c
}

// remembered asks at most once a second. Anybody may load the page, and the answer costs a round
// trip to Redis and Kafka.
type remembered struct {
	ask   func(context.Context) bool // nil is ready
	clock func() time.Time

	mu    sync.Mutex
	asked time.Time
	last  bool
}

func (r *remembered) answer(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked.IsZero() || r.clock().Sub(r.asked).Abs() >= time.Second {
		r.last = r.ask == nil || r.ask(context.WithoutCancel(ctx))
		r.asked = r.clock() // after the answer, which may take a second: callers that waited for it share it
	}
	return r.last
}
