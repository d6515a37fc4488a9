package console

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bagRow is a bag in the list of a flight.
type bagRow struct {
	*listedDoc
	id      string // of the element
	class   string
	status  status
	age     time.Duration // since the last event; 0 if the key does not see it
	minutes int           // the age in whole minutes
	order   int           // by status, then by the last event, the oldest first
}

// bagRows returns the rows of the bags whose plates are wanted, in the order of the table. risk is
// the class of rows whose bags are Not Loaded or Offloaded.
func bagRows(bags []listedDoc, wanted func(plate string) bool, risk string, now time.Time) []bagRow {
	rows, seen := make([]bagRow, 0, len(bags)), make(map[string]int, len(bags))
	for i := range bags {
		b := &bags[i]
		if seen[b.Plate]++; wanted(b.Plate) {
			rows = append(rows, newBagRow(b, seen[b.Plate], risk, now))
		}
	}
	slices.SortStableFunc(rows, func(a, b bagRow) int { return a.order - b.order })
	return rows
}

// newBagRow returns the row of a bag. n numbers the bags of one plate, from 1.
func newBagRow(b *listedDoc, n int, risk string, now time.Time) bagRow {
	r := bagRow{listedDoc: b, id: "b-" + b.Plate, status: statusOf(b.leg().Status)}
	if n > 1 {
		r.id += "-" + strconv.Itoa(n)
	}
	if r.status.Order <= statuses[offloaded].Order {
		r.class = risk
	}
	if b.Rush {
		r.class = strings.TrimSpace(r.class + " rush")
	}
	if b.Last != nil {
		r.age = now.Sub(b.Last.Happened)
		r.minutes = int(r.age.Minutes())
	}
	r.order = r.status.Order*1_000_000 - r.minutes
	return r
}

// literal is HTML that this package has written. Without a conversion only constants have this
// type.
type literal string

// markup is a buffer for HTML. It replaces a template if a page repeats the same element hundreds
// of times, since a template takes a microsecond for each value.
type markup []byte

// put appends HTML, and then a text, which it escapes for the content of elements and for quoted
// attributes.
func (m *markup) put(html literal, text string) {
	*m = append(append(*m, html...), template.HTMLEscapeString(text)...)
}

// rowsOfGroup is how many rows a browser lays out together when they come into view. The stylesheet
// uses the same number.
const rowsOfGroup = 20

// markupOf returns the rows of a table, in several groups.
func markupOf(rows []bagRow) template.HTML {
	m := make(markup, 0, 640*len(rows))
	for i := range rows {
		if i > 0 && i%rowsOfGroup == 0 {
			m.put("</tbody><tbody>", "")
		}
		m.bag(&rows[i])
	}
	return template.HTML(m) //nolint:gosec // put escapes
}

// bag appends a row. It has no space between cells, since each space would be a node.
func (m *markup) bag(r *bagRow) {
	var where, stamp string
	if r.Last != nil {
		where, stamp = r.Last.Airport+" "+r.Last.Read, r.Last.Happened.Format(time.RFC3339)
	}
	seat, stowed := r.leg().Seat, strings.TrimSpace(r.Device+" "+r.Compartment)
	prefix, serial := r.Plate[:min(4, len(r.Plate))], r.Plate[min(4, len(r.Plate)):]
	p := &r.Passenger

	m.put("\n<tr id=\"", r.id)
	m.put(`" class="`, r.class)
	m.put(`" data-s="`, r.status.Class)
	m.put(`" data-f="`, strings.ToLower(strings.Join([]string{r.Plate, p.LastName, p.FirstName, p.PNR, seat, stowed, where}, " ")))
	m.put(`"><td data-v="`, strconv.Itoa(r.order))
	m.put(`">`, r.status.Word)
	m.put(`</td><th scope="row"><a class="row plate" href="`, path("bags", r.Plate))
	m.put(`"><span>`, prefix)
	m.put(`</span> `, serial)
	m.put(`</a></th><td class="c-m who">`, "")
	if p.LastName == "" {
		m.put(`<span class="dim">not named</span>`, "")
	} else {
		m.put(`<b>`, p.LastName)
		m.put(`</b> `, p.FirstName)
	}
	m.put(`</td><td class="c-m">`, "")
	if r.Rush {
		m.put(`<span class="tag"><svg class="i ic-rush" aria-hidden="true"><use href="#i-rush"/></svg>Rush</span>`, "")
	}
	m.put(`</td><td class="c-l">`, seat)
	m.put(`</td><td class="c-l mono">`, p.PNR)
	m.put(`</td><td class="c-m">`, "")
	if r.Last != nil {
		m.put(``, r.Last.Word())
		m.put(` <span class="dim">`, where)
		m.put(`</span></td><td class="num c-m when" data-v="`, strconv.Itoa(r.minutes))
		m.put(`"><time datetime="`, stamp)
		m.put(`" data-ago title="`, r.Last.Local.Format("15:04 ")+r.Last.Airport+r.Last.Happened.UTC().Format(", 15:04Z"))
		m.put(`">`, span(r.age))
		m.put(`</time>`, "")
	} else {
		m.put(`</td><td class="num c-m when" data-v="0">`, "")
	}
	m.put(`</td><td class="c-l mono">`, stowed)
	m.put(`</td></tr>`, "")
}
