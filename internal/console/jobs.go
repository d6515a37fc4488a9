package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// jobDoc is a job over rejects of /v1.
type jobDoc struct {
	ID           string `json:"id"`
	Action       string `json:"action"`
	State        string `json:"state"`
	DryRun       bool   `json:"dry_run"`
	Began        string `json:"began"`
	Total        int    `json:"total"`
	LookedAt     int    `json:"looked_at"`
	Accepted     int    `json:"accepted"`
	Rejected     int    `json:"rejected"`
	Unauthorised int    `json:"unauthorised"`
	Dismissed    int    `json:"dismissed"`
	Skipped      int    `json:"skipped"`
}

// jobPage is the data of the screen of a job: of a dry run, or of the job after it.
type jobPage struct {
	jobDoc
	IDs  []string // ids of the selected rejects; empty: all rejects that match the filters
	List string   // query of the list from which the job was started
}

// Counts returns the results of the job, with the number of rejects of each.
func (j jobDoc) Counts() []tally {
	would := ""
	if j.DryRun {
		would = "would be "
	}
	return slices.DeleteFunc([]tally{
		{would + "accepted", j.Accepted}, {would + "dismissed", j.Dismissed}, {would + "rejected again, and left open", j.Rejected},
		{"not allowed for this key", j.Unauthorised}, {"decided by others, or gone", j.Skipped},
	}, func(t tally) bool { return t.Count == 0 })
}

// Effect returns how many rejects the job changes, or would change.
func (j jobDoc) Effect() int { return j.Accepted + j.Dismissed }

// bulk starts a job over the rejects that were selected, or over all that match the filters. First
// it starts a dry run. The page of the dry run has a form that starts the job itself.
func (v *visit) bulk() (view, *problem) {
	if p := v.form(); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	form := v.r.PostForm
	back, _ := url.ParseQuery(form.Get("back")) // a query that cannot be parsed gives no filters
	body, list := map[string]any{"dry_run": !form.Has("start")}, listOf(back)
	list.Del("cursor") // a job is over all pages
	switch {
	case form.Has("all"):
		for name, values := range list {
			body[name] = values[0]
		}
		body["state"] = "open"
		if counted := form.Get("until"); counted != "" { // rejects since the dry run were not counted
			body["until"] = counted
		}
	case len(form["id"]) > 0:
		body["ids"] = form["id"]
		list["id"] = form["id"]
	default:
		return v.done("nothing selected"), nil
	}
	action := "resubmit"
	if form.Get("action") == "dismiss" {
		action, body["reason"] = "dismiss", cmp.Or(strings.TrimSpace(form.Get("reason")), dismissed)
	}
	var job jobDoc
	if p := v.ask("/v1/rejects/"+action, body, &job); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	return view{Redirect: path("rejects", "jobs", job.ID) + "?" + list.Encode()}, nil
}

// job shows the progress of a job and, after a dry run, the form that starts the job itself.
func (v *visit) job() (view, *problem) {
	asked := v.r.URL.Query()
	data := jobPage{IDs: asked["id"], List: listOf(asked).Encode()}
	shown := view{Title: "Rejects", Section: "rejects", Airport: v.airport()}
	p := v.ask("/v1/rejects/jobs/"+url.PathEscape(v.r.PathValue("id")), nil, &data.jobDoc)
	shown.Data = data
	return shown, p
}

// listed returns the address of a list of rejects. A template would escape its query otherwise.
func listed(query string) string { return Path + "rejects?" + query }

// listOf returns the parameters of a list in the values of a query, see filters.
func listOf(asked url.Values) url.Values {
	list := url.Values{}
	for _, name := range filters {
		if asked.Has(name) {
			list.Set(name, asked.Get(name))
		}
	}
	if list.Get("cursor") == "" {
		list.Del("cursor")
	}
	return list
}
