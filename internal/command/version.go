package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build describes the binary.
type build struct{ version, commit, runtime string }

// thisBuild returns what the Go toolchain has written into the binary; "unknown" replaces what is
// missing.
func thisBuild() build {
	b := build{"unknown", "unknown", runtime.Version()}
	info, found := debug.ReadBuildInfo()
	if !found {
		return b
	}
	if info.Main.Version != "" {
		b.version = info.Main.Version
	}
	var dirty bool
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty {
		b.commit += " (modified)"
	}
	return b
}

func (p *process) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show version, commit and Go",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return p.showVersion() },
	}
}

func (p *process) showVersion() error {
	b := thisBuild()
	_, err := fmt.Fprintf(p.stdout, "bagtrail %s\ncommit %s\n%s %s/%s\n", b.version, b.commit, b.runtime, runtime.GOOS, runtime.GOARCH)
	return failed(err)
}
