package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"bagtrail/internal/webhooks"
)

func (p *process) webhookReceiver() *cobra.Command {
	var address string
	var signing secretFlag
	cmd := &cobra.Command{
		Use:   "webhook-receiver",
		Short: "Receive the deliveries of a webhook, verify their signatures and print them",
		Long: `webhook-receiver takes the deliveries of one webhook, for trials. Each delivery whose signature is right
becomes a line of JSON on stdout, and is answered with 204. Others are answered with 401.

To post to an address that is not public, the service needs BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret := webhooks.Secret(signing)
			if !secret.Valid() {
				return &exit{Usage, errors.New("--signing-secret is not the secret of a webhook: whsec_ and Base64")}
			}
			return p.serveTrial(cmd, address, "webhook receiver: use it as the url ", func(log *zap.Logger) http.Handler {
				return &receiver{secret: secret, out: p.stdout, log: log}
			})
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:8083", "`address` to listen on")
	cmd.Flags().Var(&signing, "signing-secret", "`secret` of the webhook, such as whsec_…, as it was shown when the webhook was created, or @ and the name of a file that holds it")
	return cmd
}

// maxReceived is the size of the largest body that a receiver reads, in bytes. A single change may
// be larger than a batch.
const maxReceived = 16 << 20

// receiver verifies and prints deliveries.
type receiver struct {
	secret webhooks.Secret
	out    io.Writer
	log    *zap.Logger
	mu     sync.Mutex
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxReceived))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err := webhooks.Verify(r.secret, request.Header.Get, body, time.Now()); err != nil {
		r.log.Warn("a delivery is refused", zap.Error(err))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	line.WriteByte('\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.out.Write(line.Bytes()); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
