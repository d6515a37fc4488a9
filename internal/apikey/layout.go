package apikey

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"bagtrail/internal/strictjson"
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
	if err != nil {
		return nil, err
	}
	if list.Style&yaml.FlowStyle == 0 { // the file holds nothing else, so the list ends where the file ends
		indent := strings.Repeat(" ", list.Column-1)
		file = append(bytes.TrimRight(file, " \r\n"), '\n')
		return append(file, blockEntry(key, indent)...), nil
	}
	entry := flowEntry(key)
	if len(list.Content) > 0 {
		entry = ", " + entry
	}
	end := bytes.LastIndexByte(file, ']')
	return slices.Concat(file[:end], []byte(entry), file[end:]), nil
}

// markRevoked returns a file that Parse accepts with the entry at index of its list marked as
// revoked.
func markRevoked(file []byte, index int) ([]byte, error) {
	list, err := keyList(file)
	if err != nil {
		return nil, err
	}
	entry := list.Content[index]
	for member := range slices.Chunk(entry.Content, 2) {
		if member[0].Value == "revoked" {
			return splice(file, member[1], len(member[1].Value), "true"), nil
		}
	}
	first := entry.Content[0]
	if entry.Style&yaml.FlowStyle != 0 {
		return splice(file, first, 0, `"revoked": true, `), nil
	}
	return splice(file, first, 0, "revoked: true\n"+strings.Repeat(" ", first.Column-1)), nil
}

// keyList returns the list of keys in a key file that Parse accepts. It reads only the first document
// of the file, and returns errLayout if that one is empty.
func keyList(file []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errLayout
	}
	return document.Content[0].Content[1], nil // its only member is the list
}

// splice replaces size bytes at the beginning of a node by text.
func splice(file []byte, at *yaml.Node, size int, text string) []byte {
	offset := 0
	for range at.Line - 1 {
		offset += bytes.IndexByte(file[offset:], '\n') + 1
	}
	for range at.Column - 1 {
		_, width := utf8.DecodeRune(file[offset:])
		offset += width
	}
	return slices.Concat(file[:offset], []byte(text), file[min(offset+size, len(file)):])
}

// members returns the names and values of the members of key in a key file. The values are JSON,
// which is also YAML.
func members(key *Key) [][2]string {
	quote := func(value any) string { return string(strictjson.Encode(value)) }
	all := [][2]string{{"name", quote(key.Name)}, {"digest", quote(digestPrefix + hex.EncodeToString(key.digest[:]))}}
	add := func(wanted bool, name, value string) {
		if wanted {
			all = append(all, [2]string{name, value})
		}
	}
	list := func(name string, scope Scope) {
		add(!scope.All, name, quote(append([]string{}, scope.Codes...))) // an empty list is [], not null
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
