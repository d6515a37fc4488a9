package command

import (
	"os"
	"strings"
)

// secretFlag is the value of a flag that is a secret. Other users of the machine see the arguments of
// a process, so a secret may also come from a file: "@" and its name. One line end after the secret
// is cut off. It implements pflag.Value.
type secretFlag string

// Set implements pflag.Value.
func (f *secretFlag) Set(text string) error {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	*f = secretFlag(text)
	return nil
}

// String implements pflag.Value.
func (f *secretFlag) String() string { return string(*f) }

// Type implements pflag.Value.
func (*secretFlag) Type() string { return "string" }
