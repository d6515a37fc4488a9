package httpdoor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bagtrail/enricher"
	"bagtrail/ingestor"
)

// Reports stores delayed-bag reports that the delayed-bag system has created. They are logged and
// filed like messages.
type Reports struct{ Acceptor *ingestor.Acceptor }

// File returns when the report is in the log and in the index. If the report was filed before with
// the same received time, File changes nothing. id is the unique id of the request.
func (r Reports) File(ctx context.Context, report enricher.Report, received time.Time, id string) error {
	env := ingestor.Envelope{Raw: report.Document(), Report: true, Received: received, Origin: "http/" + id}
	outcome, err := r.Acceptor.Accept(ctx, env)
	if err != nil {
		return fmt.Errorf("file delayed-bag report: %w", err)
	}
	if outcome.Verdict == ingestor.Rejected {
		return errors.New("file delayed-bag report: its document was rejected")
	}
	return nil
}
