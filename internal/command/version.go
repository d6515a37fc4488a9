package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build describes the binary.
type build struct{ version, commit string }

// thisBuild returns the version and the commit that the Go toolchain has written into the binary.
// "unknown" replaces a missing one.
func thisBuild() build {
	info, found := debug.ReadBuildInfo()
	if !found {
		return build{"unknown", "unknown"}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := cmp.Or(settings["vcs.revision"], "unknown")
	if settings["vcs.modified"] == "true" {
		commit += " (modified)"
	}
	return build{cmp.Or(info.Main.Version, "unknown"), commit}
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
	_, err := fmt.Fprintf(p.stdout, "bagtrail %s\ncommit %s\n%s %s/%s\n", b.version, b.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return &exit{Failed, err} // also for bagtrail --version, which runs no subcommand
	}
	return nil
}
