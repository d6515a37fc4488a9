package command

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/internal/pause"
)

// bulkJob resubmits or dismisses many rejects.
type bulkJob struct {
	client *rejectsClient
	action string
	dryRun bool
}

// jobDocument is a job in an answer of the service, with the members that are printed.
type jobDocument struct {
	ID, State                                                   string
	Total, Accepted, Rejected, Unauthorised, Dismissed, Skipped int
	DryRun                                                      bool `json:"dry_run"`
	LookedAt                                                    int  `json:"looked_at"`
}

func (j *bulkJob) addFlags(cmd *cobra.Command) {
	addFilters(cmd)
	cmd.Flags().BoolVar(&j.dryRun, "dry-run", false, "only count what would be decided")
}

// wanted reports whether flags or arguments ask for a job. Only a single id, without filters
// and without --dry-run, asks for none.
func (j *bulkJob) wanted(cmd *cobra.Command, args []string) bool {
	return j.dryRun || len(filtersOf(cmd)) > 0 || len(args) != 1
}

// run starts a job over the rejects with these ids, or over those that the filters of cmd select.
// It waits for its end, and prints its result. body holds the other members of the request. If the
// command is interrupted, the job continues.
func (j *bulkJob) run(cmd *cobra.Command, ids []string, body map[string]any) error {
	filters := filtersOf(cmd)
	if len(ids) == 0 && len(filters) == 0 {
		return &exit{Usage, errors.New("no rejects are named: give ids or filters (--state open selects every open reject)")}
	}
	for name := range filters {
		body[name] = filters.Get(name)
	}
	if len(ids) > 0 {
		body["ids"] = ids
	}
	if j.dryRun {
		body["dry_run"] = true
	}
	var job jobDocument
	asJSON := j.client.json
	j.client.json = false // only the last answer is printed
	err := j.client.fetch(cmd, http.MethodPost, "/"+j.action, body, &job)
	for err == nil && job.State == "running" {
		if err = pause.For(cmd.Context(), jobsEvery); err == nil {
			err = j.client.fetch(cmd, http.MethodGet, "/jobs/"+url.PathEscape(job.ID), nil, &job)
		}
	}
	j.client.json = asJSON
	switch {
	case err != nil && job.ID != "":
		return &exit{Failed, fmt.Errorf("job %s goes on: %w", job.ID, err)}
	case err != nil:
		return err
	case asJSON:
		err = j.client.fetch(cmd, http.MethodGet, "/jobs/"+url.PathEscape(job.ID), nil, &job)
	default:
		_, err = fmt.Fprintln(j.client.process.stdout, job.summary(j.action))
	}
	switch {
	case err != nil:
		return err
	case job.State != "done":
		return fmt.Errorf("job %s is %s after %d of %d rejects", job.ID, job.State, job.LookedAt, job.Total)
	case job.Rejected+job.Unauthorised+job.Skipped > 0:
		return &exit{code: Rejected}
	}
	return nil
}

// jobsEvery is the time between two requests for the state of a job.
const jobsEvery = 200 * time.Millisecond

// summary returns the result of the job.
func (j *jobDocument) summary(action string) string {
	counts := fmt.Sprintf("dismissed: %d, skipped: %d", j.Dismissed, j.Skipped)
	if action == "resubmit" {
		counts = fmt.Sprintf("accepted: %d, rejected: %d, not authorised: %d, skipped: %d", j.Accepted, j.Rejected, j.Unauthorised, j.Skipped)
	}
	if j.DryRun {
		counts += " (dry run)"
	}
	return fmt.Sprintf("looked at: %d, %s", j.LookedAt, counts)
}
