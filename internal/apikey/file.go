package apikey

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"bagtrail/internal/operation"
	"bagtrail/internal/strictyaml"
	"bagtrail/parser"
)

const digestPrefix = "sha256:"

// Parse reads the text of a key file. Only name and digest are mandatory:
//
//	keys:
//	  - name: swiss-app            # 1-64 printable characters, unique; never give it to another key
//	    digest: sha256:9f86d0…     # of the key, unique
//	    customer: SWISS            # without it the key gets no histories, and little of /v1
//	    airlines: [LX, WK]         # by IATA or ICAO code; a list left out or "*" is everything, [] is nothing
//	    airports: ["*"]
//	    operations: [history]
//	    conceal: false             # true: what is out of scope is answered as if it were not there
//	    expires: 2027-06-30T00:00:00Z
//	    revoked: false
//	    rate: 50                   # requests a second; left out: no limit
//	    burst: 100                 # requests at once; left out: those of one second
//
// It returns the keys in the order of the file, including expired and revoked ones. The error joins
// the faults of the file, each with its line. No fault repeats a digest, since people put the key
// itself there by mistake.
func Parse(text []byte) ([]*Key, error) {
	var keys []*Key
	names, digests := map[string]bool{}, map[[sha256.Size]byte]string{} // of the keys so far
	read := func(v strictyaml.Value) {
		key := readKey(v)
		if keys = append(keys, key); names[key.Name] {
			v.Fault("the name %s appears twice", key.Name)
		}
		names[key.Name] = key.Name != ""
		if other, shared := digests[key.digest]; shared {
			v.Fault("the digest of %s appears twice", other)
		} else if key.digest != [sha256.Size]byte{} {
			digests[key.digest] = key.Name
		}
	}
	err := strictyaml.Read(text, func(document strictyaml.Value) {
		document.Object(strictyaml.Members{"keys": func(list strictyaml.Value) { list.List(read) }}, "keys")
	})
	if err != nil {
		return nil, fmt.Errorf("key file:\n%w", err)
	}
	return keys, nil
}

func readKey(v strictyaml.Value) *Key {
	everything := Scope{All: true}
	key := &Key{Airlines: everything, Airports: everything, Operations: everything}
	v.Object(strictyaml.Members{
		"name":     func(v strictyaml.Value) { key.Name = readName(v) },
		"digest":   func(v strictyaml.Value) { key.digest = readDigest(v) },
		"customer": func(v strictyaml.Value) { key.Customer = readCustomer(v) },
		"airlines": func(v strictyaml.Value) {
			key.Airlines = readScope(v, parser.IsAirline, "an airline code of 2 or 3 capitals or digits")
		},
		"airports": func(v strictyaml.Value) {
			key.Airports = readScope(v, parser.IsThreeCapitals, "an airport of three capitals")
		},
		"operations": func(v strictyaml.Value) {
			key.Operations = readScope(v, isOperation, "one of "+strings.Join(operation.Rights(), ", "))
		},
		"conceal": func(v strictyaml.Value) { key.Conceal = v.Bool() },
		"expires": func(v strictyaml.Value) { key.Expires = v.Time() },
		"revoked": func(v strictyaml.Value) { key.Revoked = v.Bool() },
		"rate":    func(v strictyaml.Value) { key.Rate = v.Number(0.001, 1e6) },
		"burst":   func(v strictyaml.Value) { key.Burst = readBurst(v) },
	}, "name", "digest")
	if key.Rate == 0 && key.Burst != 0 {
		v.Fault("burst without rate")
	}
	key.setBurst()
	return key
}

// setBurst sets a burst of 0 to the requests of one second.
func (k *Key) setBurst() {
	if k.Burst == 0 {
		k.Burst = int(math.Ceil(k.Rate))
	}
}

func readName(v strictyaml.Value) string {
	name, plain := v.Text()
	if !plain {
		return ""
	}
	if length := len([]rune(name)); length < 1 || length > 64 || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.Fault("not 1-64 printable characters")
		return ""
	}
	return name
}

func readCustomer(v strictyaml.Value) string {
	text, _ := v.Text()
	return strings.TrimSpace(text)
}

func readDigest(v strictyaml.Value) (digest [sha256.Size]byte) {
	text, plain := v.Text()
	if !plain {
		return digest
	}
	text, prefixed := strings.CutPrefix(text, digestPrefix)
	decoded, err := hex.DecodeString(text)
	switch {
	case !prefixed || err != nil || len(decoded) != sha256.Size:
		v.Fault("not sha256: and 64 hexadecimal digits")
	case [sha256.Size]byte(decoded) == sha256.Sum256(nil):
		v.Fault("the digest of an empty text")
	default:
		digest = [sha256.Size]byte(decoded)
	}
	return digest
}

func readScope(v strictyaml.Value, valid func(string) bool, what string) Scope {
	codes := []string{}
	v.Each(func(v strictyaml.Value) {
		code, plain := v.Text()
		if plain && code != "*" && !valid(code) {
			v.Fault("%q is not %s", code, what)
		}
		codes = append(codes, code)
	})
	return ScopeOf(codes)
}

func readBurst(v strictyaml.Value) int {
	number := v.Number(1, 1e6)
	if number != math.Trunc(number) {
		v.Fault("not a whole number")
	}
	return int(number)
}

func isOperation(s string) bool { return slices.Contains(operation.Rights(), s) }
