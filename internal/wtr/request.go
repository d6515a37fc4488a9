// Package wtr knows the downstream delayed-bag system: what bagtrail reads of its documents, the client that forwards a
// request, and a simulator.
//
// Of a document it reads what authorisation and the answer need, and requires nothing else; a request goes out byte for byte.
// The client never sends a request twice, unless the first attempt provably never left this machine.
package wtr

import (
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
)

// Request is what bagtrail reads of a request to create a delayed-bag report.
type Request struct {
	Vendors []string    // every AirlineVendorID, in order; "" for one that is no text
	Station string      // airport that is to own the report, or ""
	Plates  []bag.Plate // of its bags, in order, each once
	Surname string      // the first name of Names, or ""
}

const requestRoot = "WTR_DelayedBagsCreateRQ"

// ReadRequest reads a request. It is false where the document is not one JSON object to the letter that holds the root
// WTR_DelayedBagsCreateRQ, an object, and nothing else.
func ReadRequest(document string) (Request, bool) {
	text := node(document)
	members := 0
	err := strictjson.Object(text, func(strictjson.Member) { members++ })
	root := text.member(requestRoot)
	if err != nil || members != 1 || len(root) == 0 || root[0] != '{' {
		return Request{}, false
	}
	r := Request{Vendors: vendors(root), Station: root.member("RefStationAirline", "StationCode").text()}
	for _, delayed := range root.member("DelayedBagGroup", "DelayedBags", "DelayedBag").list() {
		if p := plate(delayed.member("BagTag")); p.Valid() && !slices.Contains(r.Plates, p) {
			r.Plates = append(r.Plates, p)
		}
	}
	for _, name := range root.member("Passengers", "Names", "Name").list() {
		r.Surname = strings.TrimSpace(name.text())
		break
	}
	return r, true
}

// vendors collects every AirlineVendorID, however often, deep and in whatever case it is written: the key must cover all that
// the other side could take for one.
func vendors(root node) []string {
	var found []string
	_ = strictjson.Walk(root, func(_ int, m strictjson.Member) { // root has been read before
		if name, _ := strictjson.Unquote(m.Name); strings.EqualFold(name, "AirlineVendorID") {
			found = append(found, node(m.Value).text())
		}
	})
	return found
}

// plate makes a plate of a BagTag, or "" where it has none: its licence number is that of an airline's name, or its sequence
// ends in X.
func plate(tag node) bag.Plate {
	licence := tag.member("LicenseNumber")
	issuer := licence.member("IssuerCode").text()
	if issuer == "" {
		return ""
	}
	kind := licence.member("TagType").text()
	if kind == "" {
		kind = "0"
	}
	return bag.Plate(kind + issuer + tag.member("TagSequence").text())
}
