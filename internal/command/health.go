package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthPatience is how long health waits for an answer; /readyz takes up to one second.
const healthPatience = 2 * time.Second

func (p *process) health() *cobra.Command {
	var alive bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the process at the ops address whether it is ready: exit code 0 if it is, else 1",
		Long: `health asks /readyz of BAGTRAIL_OPS_ADDR, for the health check of a container.

It reads the environment and the file of --config. It does not see the flags of the process that it asks.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eff, err := p.load(cmd)
			if err != nil {
				return err
			}
			path := "/readyz"
			if alive {
				path = "/livez"
			}
			answer, err := askHealth(cmd.Context(), "http://"+eff.Ops.Addr+path)
			if err != nil {
				return &exit{Rejected, err}
			}
			_, err = fmt.Fprintf(p.stdout, "%s\n", answer)
			return err
		},
	}
	cmd.Flags().BoolVar(&alive, "alive", false, "ask /livez instead: whether the process runs, ready or not")
	return cmd
}

// askHealth returns the body of the answer of url; any status but 200 is an error. A server that
// listens on all addresses, as :8081, is reached at that address from the same machine.
func askHealth(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := new(http.Transport).RoundTrip(req) // unlike the default client, it uses no proxy
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	defer func() { _ = resp.Body.Close() }() // the body has been read
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	body = bytes.TrimSpace(body)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("unhealthy: GET %s: %s: %s", url, resp.Status, body)
	}
	return body, nil
}
