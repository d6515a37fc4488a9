package command

import (
	"errors"
	"strconv"
	"strings"
)

// printable returns s as one line, with the escapes of Go for characters that are not printable.
// Names of files and texts of messages come from outside, and must not control the terminal.
func printable(s string) string {
	quoted := strconv.Quote(s)
	return unquoted.Replace(quoted[1 : len(quoted)-1])
}

// unquoted undoes the escapes that only a quoted text needs.
var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// row returns the row of a table with the printable texts of these cells.
func row(cells ...string) string {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	return strings.Join(cells, "\t")
}

// printableError returns an error with the printable text of err.
func printableError(err error) error { return errors.New(printable(err.Error())) }
