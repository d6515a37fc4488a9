package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/config"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/strictjson"
)

// rejectsClient sends requests about rejects to a service.
type rejectsClient struct {
	process *process
	url     string
	key     secretFlag
	json    bool   // print answers as they are
	service string // URL of the service; "" before the first request
}

// document holds the members of an answer that are printed.
type document struct {
	Verdict     string
	Diagnostics []ingestor.Diagnostic
	Reject      rejectDocument
	Rejects     []rejectDocument
	Next        string
	Title       string // of a problem
	Detail      string
	Errors      []struct{ Parameter, Pointer, Detail, Expected string }
}

type rejectDocument struct {
	ID, State, Received, Door, Key, Airport, Form, Text string
	Codes                                               []string
	Diagnostics                                         []ingestor.Diagnostic
	History                                             []struct{ At, Action, Key, Verdict, Reason string }
}

// message returns the text to which the diagnostics refer: the message in the document, if the
// reject is a document.
func (r *rejectDocument) message() string {
	if r.Form == "json" {
		if text, ok := ingestor.DecodeDocument(r.Text); ok {
			return text
		}
	}
	return r.Text
}

func (p *process) rejects() *cobra.Command {
	d := &rejectsClient{process: p}
	cmd := &cobra.Command{
		Use:   "rejects",
		Short: "List, show, resubmit and dismiss the rejected messages of a running service, over HTTP",
		Long: `rejects asks the service at --url with an API key that has the right "rejects". It reaches the rejects of the
airports that the key covers.`,
		Args: subcommandOnly,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no subcommand is given: list, show, resubmit or dismiss")
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&d.url, "url", "", "`URL` of the service; by default one on this machine with the same settings")
	d.key = apikey.DevelopmentKey
	flags.Var(&d.key, "key", "API `key`, or @ and the name of a file that holds it")
	flags.BoolVar(&d.json, "json", false, "print the answers as JSON")
	cmd.AddCommand(d.list(), d.show(), d.resubmit(), d.dismiss())
	return cmd
}

// rejectFilters are the flags of the filters of rejects, and the parameters that they set.
var rejectFilters = []struct{ name, parameter, usage string }{
	{"state", "state", "`state`: open, resubmitted or dismissed; by default open, and only open ones can be decided on"}, {"code", "code", "`code` of a fault"},
	{"airport", "airport", "`airport` of the message; \"\" for messages without a known airport"}, {"door", "door", "`door` by which it came: kafka, http, file or demo"},
	{"posted-by", "key", "`name` of the API key that posted it"}, {"value", "value", "`value` at the first fault"}, {"q", "q", "part of the `text`"},
	{"since", "since", "only messages that were received at this `time` or later, such as 2026-03-14T12:00:00Z"}, {"until", "until", "only messages that were received before this `time`"},
}

// addFilters adds the flags of the filters to a command.
func addFilters(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	for _, f := range rejectFilters {
		cmd.Flags().String(f.name, "", f.usage)
	}
}

// filtersOf returns the parameters that the flags of a command set.
func filtersOf(cmd *cobra.Command) url.Values {
	set := url.Values{}
	for _, f := range rejectFilters {
		if given := cmd.Flags().Lookup(f.name); given.Changed {
			set.Set(f.parameter, given.Value.String())
		}
	}
	return set
}

func (d *rejectsClient) list() *cobra.Command {
	most := 100
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List rejected messages, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return &exit{Usage, errors.New("--most is less than 1")}
			}
			return d.printList(cmd, filtersOf(cmd), most)
		},
	}
	addFilters(cmd)
	cmd.Flags().IntVar(&most, "most", most, "how many are listed at most")
	return cmd
}

// printList prints the first rejects of a query. most limits their number.
func (d *rejectsClient) printList(cmd *cobra.Command, query url.Values, most int) error {
	table := tabwriter.NewWriter(d.process.stdout, 0, 0, 2, ' ', 0)
	if !d.json {
		fmt.Fprintln(table, "ID\tSTATE\tRECEIVED\tDOOR\tAIRPORT\tCODES")
	}
	for more := true; more && most > 0; {
		query.Set("limit", strconv.Itoa(min(most, 1000)))
		var answer document
		if err := d.fetch(cmd, http.MethodGet, "?"+query.Encode(), nil, &answer); err != nil {
			return err
		}
		for _, r := range answer.Rejects {
			if !d.json {
				fmt.Fprintln(table, row(r.ID, r.State, r.Received, r.Door, cmp.Or(r.Airport, "-"), strings.Join(r.Codes, ",")))
			}
		}
		most -= len(answer.Rejects)
		more = answer.Next != ""
		query.Set("cursor", answer.Next)
	}
	return table.Flush()
}

func (d *rejectsClient) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a rejected message with its faults and its history",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r rejectDocument
			if err := d.fetch(cmd, http.MethodGet, "/"+url.PathEscape(args[0]), nil, &r); err != nil || d.json {
				return err
			}
			out := d.process.stdout
			fmt.Fprintln(out, printable(fmt.Sprintf("%s %s, received %s by %s, airport %s, key %s",
				r.ID, r.State, r.Received, r.Door, cmp.Or(r.Airport, "-"), cmp.Or(r.Key, "-"))))
			if err := d.printVerdict(r.ID, r.message(), "rejected", r.Diagnostics); err != nil {
				return err
			}
			for _, h := range r.History {
				fmt.Fprintln(out, printable(fmt.Sprintf("%s %s by %s %s%s", h.At, h.Action, h.Key, h.Verdict, h.Reason)))
			}
			_, err := fmt.Fprintf(out, "\n%s\n", printableLines(r.Text))
			return err
		},
	}
}

// printableLines returns a text whose lines are printable.
func printableLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// printVerdict prints a verdict with its diagnostics, unless it was printed as JSON.
func (d *rejectsClient) printVerdict(id, text, verdict string, diagnostics []ingestor.Diagnostic) error {
	p := d.process
	if d.json {
		return nil
	}
	if verdict != "rejected" {
		_, err := fmt.Fprintf(p.stdout, "%s: %s\n", id, printable(verdict))
		return err
	}
	out := bufio.NewWriter(p.stdout)
	outcome := ingestor.Outcome{Verdict: ingestor.Rejected, Errors: diagnostics}
	verdictWriter{out, p.showsColour(p.stdout)}.write(messagefile.Message{File: id, Line: 1, Text: text}, outcome)
	return out.Flush()
}

func (d *rejectsClient) resubmit() *cobra.Command {
	var mended string
	job := bulkJob{client: d, action: "resubmit"}
	cmd := &cobra.Command{
		Use:   "resubmit [ID…]",
		Short: "Judge rejected messages again, one as it is or mended, or many by ids or filters; exit code 1 if any is not accepted",
		RunE: func(cmd *cobra.Command, args []string) error {
			if job.wanted(cmd, args) {
				if mended != "" {
					return &exit{Usage, errors.New("--text needs one ID, without filters and --dry-run")}
				}
				return job.run(cmd, args, map[string]any{})
			}
			body, text := map[string]string{}, ""
			if mended != "" {
				read, err := d.process.readText(cmd.Context(), mended)
				if err == nil && !utf8.Valid(read) { // JSON would carry other bytes
					err = fmt.Errorf("--text: %s is not UTF-8", mended)
				}
				if err != nil {
					return err
				}
				text = string(read)
				body["text"] = text
			}
			var answer document
			if err := d.fetch(cmd, http.MethodPost, "/"+url.PathEscape(args[0])+"/resubmit", body, &answer); err != nil {
				return err
			}
			if mended == "" {
				text = answer.Reject.message()
			}
			if err := d.printVerdict(args[0], text, answer.Verdict, answer.Diagnostics); err != nil {
				return err
			}
			if answer.Verdict != "accepted" && answer.Verdict != "duplicate" {
				return &exit{code: Rejected}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&mended, "text", "", "`file` with the mended message (- is the standard input)")
	job.addFlags(cmd)
	return cmd
}

// readText reads a file, or the standard input for -. It ends with ctx.
func (p *process) readText(ctx context.Context, name string) ([]byte, error) {
	if name != messagefile.Stdin {
		return os.ReadFile(name)
	}
	for m, err := range (messagefile.Reader{Stdin: p.stdin}).Messages(ctx, []string{name}) {
		return []byte(m.Text), err
	}
	return nil, nil
}

func (d *rejectsClient) dismiss() *cobra.Command {
	var reason string
	job := bulkJob{client: d, action: "dismiss"}
	cmd := &cobra.Command{
		Use:   "dismiss [ID…]",
		Short: "Dismiss rejected messages, by ids or filters; exit code 1 if any of several is skipped",
		RunE: func(cmd *cobra.Command, args []string) error {
			if job.wanted(cmd, args) {
				return job.run(cmd, args, map[string]any{"reason": reason})
			}
			body := map[string]string{"reason": reason}
			if err := d.fetch(cmd, http.MethodPost, "/"+url.PathEscape(args[0])+"/dismiss", body, new(document)); err != nil {
				return err
			}
			return d.printVerdict(args[0], "", "dismissed", nil)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`reason` for the decision; mandatory")
	job.addFlags(cmd)
	return cmd
}

// answerLimit bounds an answer, in bytes.
const answerLimit = 128 << 20

// fetch sends a request about rejects, and decodes an answer with a status 2xx into want. Other
// answers are errors.
func (d *rejectsClient) fetch(cmd *cobra.Command, method, target string, body, want any) error {
	if d.service == "" { // the settings are read once, since their files may be named pipes
		eff, err := d.process.load(cmd)
		if err != nil {
			return err
		}
		if d.service, err = serviceURL(d.url, eff.Config); err != nil {
			return err
		}
	}
	status, text, err := d.send(cmd.Context(), method, d.service+"/v1/rejects"+target, body)
	if err != nil {
		return printableError(err)
	}
	if status/100 != 2 {
		var answer document
		if json.Unmarshal(text, &answer) != nil || answer.Title == "" {
			return fmt.Errorf("the service answers with status %d", status)
		}
		return answer.problem(status)
	}
	if err := json.Unmarshal(text, want); err != nil {
		return fmt.Errorf("the answer does not come from a bagtrail service of this version: %w", err)
	}
	if d.json {
		_, err = fmt.Fprintf(d.process.stdout, "%s\n", text)
	}
	return err
}

// problem returns the error for a problem document.
func (a document) problem(status int) error {
	lines := []string{strings.TrimSuffix(a.Title+": "+a.Detail, ": ")}
	for _, e := range a.Errors {
		lines = append(lines, e.Parameter+e.Pointer+": "+e.Detail+", expected "+e.Expected)
	}
	code := Failed
	if status == http.StatusBadRequest {
		code = Usage
	}
	return &exit{code, errors.New(strings.Join(lines, "\n"))}
}

// send sends a request and returns status and body of the answer.
func (d *rejectsClient) send(ctx context.Context, method, target string, body any) (status int, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var sent io.Reader = http.NoBody
	if body != nil {
		sent = bytes.NewReader(strictjson.Encode(body))
	}
	request, err := http.NewRequestWithContext(ctx, method, target, sent)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("X-API-Key", d.key.String())
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	// The key must not follow a redirect to another host.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 == 3 {
		return 0, nil, fmt.Errorf("the service answers with status %d and redirects to %s: if that is the service, give its URL as --url",
			answer.StatusCode, answer.Header.Get("Location"))
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	return answer.StatusCode, text, err
}

// serviceURL returns the URL of a service: given, or the URL of a service on this machine with
// these settings if given is "".
func serviceURL(given string, conf *config.Config) (string, error) {
	if given != "" {
		u, err := url.Parse(given)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", &exit{Usage, fmt.Errorf("--url: %q is not an http:// or https:// URL", given)}
		}
		return strings.TrimSuffix(given, "/"), nil
	}
	return localURL(conf, conf.HTTP.Addr), nil
}
