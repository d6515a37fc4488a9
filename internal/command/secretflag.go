package command

import (
	"strings"

	"bagtrail/internal/config"
)

// secretFlag is the value of a flag that is a secret. Other users of the machine see the arguments
// of a process, so "@" and the name of a file stand for the secret in that file. It implements
// pflag.Value.
type secretFlag string

// Set implements pflag.Value.
func (f *secretFlag) Set(text string) error {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if text, err = config.ReadSecret(name); err != nil {
			return err
		}
	}
	*f = secretFlag(text)
	return nil
}

// String implements pflag.Value.
func (f *secretFlag) String() string { return string(*f) }

// Type implements pflag.Value.
func (*secretFlag) Type() string { return "string" }
