package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// row is one row of the table, as it is printed.
type row struct {
	number    string
	what      string
	ours      string
	reference string
	ratio     string
	target    string
	met       verdict
}

// verdict says whether a target is met.
type verdict string

const (
	met      verdict = "yes"
	missed   verdict = "NO"
	reported verdict = "–" // there is no target
)

func verdictOf(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// writeTable writes the table in columns, with a rule below the header.
func writeTable(w io.Writer, table []row) {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "#\twhat\tours\treference\tratio\ttarget\tmet")
	for _, r := range table {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.number, r.what, r.ours, r.reference, r.ratio, r.target, r.met)
	}
	columns.Flush()
	header, rows, _ := strings.Cut(text.String(), "\n")
	fmt.Fprintf(w, "%s\n%s\n%s", header, strings.Repeat("─", utf8.RuneCountInString(header)), rows)
}

// thousands writes a number with commas.
func thousands(x float64) string {
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
