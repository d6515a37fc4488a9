package command

import (
	"errors"
	"strconv"
	"strings"
)

// printable returns s for a terminal: in one line, with escapes as in Go for what is not printable. Names of files and
// texts of messages come from strangers, and must not move the cursor or hide what stands there.
func printable(s string) string {
	quoted := strconv.Quote(s)
	return unquoted.Replace(quoted[1 : len(quoted)-1])
}

// unquoted undoes what only quotation marks around a text ask for.
var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// printableError returns an error with the text of err in one printable line.
func printableError(err error) error { return errors.New(printable(err.Error())) }
