package httpdoor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bagtrail/enricher"
	"bagtrail/ingestor"
)

// Reports brings delayed-bag reports that were created downstream into the pipeline, by the way of messages.
type Reports struct{ Acceptor Acceptor }

// File returns when the report is in the log and in the index. Filing a report again, with the same time, changes nothing.
func (r Reports) File(ctx context.Context, report enricher.Report, received time.Time, id string) error {
	document, err := report.Append(nil)
	if err != nil {
		return err
	}
	env := ingestor.Envelope{Raw: string(document), Report: true, Received: received, Origin: "http/" + id}
	outcome, err := r.Acceptor.Accept(ctx, env, nil)
	if err != nil {
		return fmt.Errorf("file delayed-bag report: %w", err)
	}
	if outcome.Verdict == ingestor.Rejected {
		return errors.New("file delayed-bag report: its document was rejected")
	}
	return nil
}
