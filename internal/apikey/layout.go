package apikey

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// This file edits the text of a key file at one place and leaves every other byte as it is. It does
// not foresee every layout, so edit parses the result and refuses it if it does not hold the
// expected keys.

const emptyFile = "# Keys of bagtrail: see \"bagtrail keys\". A key is stored as its digest only.\nkeys:\n"

// insertEntry returns file with an entry for key added at the end of the list.
func insertEntry(file []byte, key *Key) ([]byte, error) {
	if len(file) == 0 {
		return append([]byte(emptyFile), blockEntry(key, "  ")...), nil
	}
	list, err := keyList(file)
	switch {
	case err != nil:
		return nil, err
	case !list.IsFlowStyle: // the file holds nothing else, so the list ends where the file ends
		indent := strings.Repeat(" ", list.Start.Position.Column-1)
		file = append(bytes.TrimRight(file, " \r\n"), '\n')
		return append(file, blockEntry(key, indent)...), nil
	case len(list.Values) == 0:
		return splice(file, list.End, 0, flowEntry(key)), nil
	default:
		return splice(file, list.End, 0, ", "+flowEntry(key)), nil
	}
}

// markRevoked returns file with the entry at index place of the list marked as revoked.
func markRevoked(file []byte, place int) ([]byte, error) {
	list, err := keyList(file)
	if err != nil {
		return nil, err
	}
	entry, isObject := list.Values[place].(*ast.MappingNode)
	if !isObject || len(entry.Values) == 0 {
		return nil, ErrLayout
	}
	for _, member := range entry.Values {
		if member.Key.GetToken().Value == "revoked" {
			return splice(file, member.Value.GetToken(), len(member.Value.GetToken().Value), "true"), nil
		}
	}
	first := entry.Values[0].Key.GetToken()
	if entry.IsFlowStyle {
		return splice(file, first, 0, `"revoked": true, `), nil
	}
	return splice(file, first, 0, "revoked: true\n"+strings.Repeat(" ", first.Position.Column-1)), nil
}

func keyList(file []byte) (*ast.SequenceNode, error) {
	parsed, err := parser.ParseBytes(file, 0)
	if err != nil || len(parsed.Docs) == 0 {
		return nil, ErrLayout
	}
	object, isObject := parsed.Docs[0].Body.(*ast.MappingNode)
	if !isObject || len(object.Values) != 1 {
		return nil, ErrLayout
	}
	list, isList := object.Values[0].Value.(*ast.SequenceNode)
	if !isList {
		return nil, ErrLayout
	}
	return list, nil
}

// splice replaces size bytes at the token by text.
func splice(file []byte, at *token.Token, size int, text string) []byte {
	offset := 0
	for range at.Position.Line - 1 {
		offset += bytes.IndexByte(file[offset:], '\n') + 1
	}
	for range at.Position.Column - 1 {
		_, width := utf8.DecodeRune(file[offset:])
		offset += width
	}
	return bytes.Join([][]byte{file[:offset], []byte(text), file[min(offset+size, len(file)):]}, nil)
}

// members returns the names and values of the members of key in a key file. The values are JSON,
// which is also YAML.
func members(key *Key) [][2]string {
	quote := func(value any) string {
		text, _ := json.Marshal(value) // never fails for strings and lists of strings
		return string(text)
	}
	all := [][2]string{{"name", quote(key.Name)}, {"digest", quote(key.digestText())}}
	add := func(wanted bool, name, value string) {
		if wanted {
			all = append(all, [2]string{name, value})
		}
	}
	list := func(name string, scope Scope) {
		add(!scope.All, name, quote(append([]string{}, scope.Codes...)))
	}
	add(key.Customer != "", "customer", quote(key.Customer))
	list("airlines", key.Airlines)
	list("airports", key.Airports)
	list("operations", key.Operations)
	add(key.Conceal, "conceal", "true")
	add(!key.Expires.IsZero(), "expires", quote(key.Expires.UTC().Format(time.RFC3339)))
	add(key.Revoked, "revoked", "true")
	add(key.Rate != 0, "rate", strconv.FormatFloat(key.Rate, 'f', -1, 64))
	add(key.Burst != 0, "burst", strconv.Itoa(key.Burst))
	return all
}

func blockEntry(key *Key, indent string) string {
	var text strings.Builder
	lead := indent + "- "
	for _, member := range members(key) {
		text.WriteString(lead + member[0] + ": " + member[1] + "\n")
		lead = indent + "  "
	}
	return text.String()
}

func flowEntry(key *Key) string {
	var parts []string
	for _, member := range members(key) {
		parts = append(parts, `"`+member[0]+`": `+member[1])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
