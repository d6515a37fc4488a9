// Package wtr is the client of the downstream delayed-bag system, and a simulator of that system.
//
// It reads only the members of a document that authorisation and the answer need, checks nothing
// else, and forwards a request byte for byte. The client sends a request again only if the first
// attempt made no connection.
package wtr

import (
	"cmp"
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
)

// Request holds the members that bagtrail reads of a request to create a delayed-bag report.
type Request struct {
	Vendors []string    // every AirlineVendorID, in order; "" for one that is not a string
	Station string      // airport that will own the report, or ""
	Plates  []bag.Plate // plates of its bags, in order, each once
	Surname string      // first element of Names, or ""
}

const requestRoot = "WTR_DelayedBagsCreateRQ"

// ReadRequest reads a request. It returns false if the document is not a valid JSON object with
// exactly one member, the object WTR_DelayedBagsCreateRQ.
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
	if names := root.member("Passengers", "Names", "Name").list(); len(names) > 0 {
		r.Surname = strings.TrimSpace(names[0].text())
	}
	return r, true
}

// vendors returns every AirlineVendorID, at any depth and in upper or lower case: the downstream
// system may read any of them, and the caller's key must cover all.
func vendors(root node) []string {
	var found []string
	_ = strictjson.Walk(root, func(_ int, m strictjson.Member) { // root was parsed before
		if name, _ := strictjson.Unquote(m.Name); strings.EqualFold(name, "AirlineVendorID") {
			found = append(found, node(m.Value).text())
		}
	})
	return found
}

// plate returns the plate of a BagTag. If the tag names the airline instead of its number, or its
// sequence ends in X, the result is empty or not valid.
func plate(tag node) bag.Plate {
	licence := tag.member("LicenseNumber")
	issuer := licence.member("IssuerCode").text()
	if issuer == "" || tag.member("AirlineCode").text() != "" {
		return ""
	}
	kind := cmp.Or(licence.member("TagType").text(), "0")
	return bag.Plate(kind + issuer + tag.member("TagSequence").text())
}
