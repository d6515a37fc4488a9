package main

import (
	"fmt"
	"io"
	"strings"
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

// print writes the table in columns.
func print(w io.Writer, table []row) {
	cells := [][]string{{"#", "what", "ours", "reference", "ratio", "target", "met"}}
	for _, r := range table {
		cells = append(cells, []string{r.number, r.what, r.ours, r.reference, r.ratio, r.target, string(r.met)})
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, line := range cells {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		if n == 0 {
			fmt.Fprintln(w, strings.Repeat("─", len([]rune(strings.TrimRight(b.String(), " ")))))
		}
	}
}

// thousands writes a number with commas.
func thousands(x float64) string {
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
