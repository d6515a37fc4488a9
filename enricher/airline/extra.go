package airline

import (
	"fmt"

	"bagtrail/internal/strictyaml"
	"bagtrail/parser"
)

// ReadPairs reads an airlines file in YAML:
//
//	airlines:
//	  - {iata: LX, icao: SWR}
//
// The error joins the faults of the file, each with its line.
func ReadPairs(text []byte) ([]Pair, error) {
	var pairs []Pair
	seen := map[string]bool{}
	err := strictyaml.Read(text, func(document strictyaml.Value) {
		document.Object(strictyaml.Members{"airlines": func(list strictyaml.Value) {
			list.List(func(v strictyaml.Value) {
				var p Pair
				v.Object(strictyaml.Members{
					"iata": func(v strictyaml.Value) { p.IATA = v.Pattern(isIATA, "an IATA code of 2 capitals or digits") },
					"icao": func(v strictyaml.Value) { p.ICAO = v.Pattern(parser.IsThreeCapitals, "an ICAO code of 3 capitals") },
				}, "iata", "icao")
				if p.ICAO != "" && seen[p.ICAO] {
					v.Fault("%s appears twice", p.ICAO)
				}
				seen[p.ICAO] = true
				pairs = append(pairs, p)
			})
		}})
	})
	if err != nil {
		return nil, fmt.Errorf("airlines:\n%w", err)
	}
	return pairs, nil
}

func isIATA(s string) bool { return len(s) == 2 && parser.IsAirline(s) }
