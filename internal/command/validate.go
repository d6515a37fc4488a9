package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/enricher"
	"bagtrail/ingestor"
	"bagtrail/internal/collector"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/preview"
	"bagtrail/internal/strictjson"
)

// validation holds the flags and the state of the validate command.
type validation struct {
	judge    *ingestor.Judge
	preview  preview.Maker
	received time.Time
	events   bool // show the events that a message would make
	json     bool
	quiet    bool // show rejected messages only, and no totals
	colour   bool

	out      *bufio.Writer
	buffer   []byte // for a JSON line; reused
	messages int
	rejected int
}

func (p *process) validate() *cobra.Command {
	var (
		v        validation
		split    bool
		received string
	)
	cmd := &cobra.Command{
		Use:   "validate [FILE|DIR|-]...",
		Short: "Parse messages and show their faults, without any server",
		Long: `validate parses messages and shows their faults. It marks each fault in its line, and adds a hint if the cause is
known. It uses no server. A FILE is one message as sent. In a DIR it reads the files ending in .txt or .bim, in the order
of their names. "-", or no argument, is the standard input. If there is no message, it fails with exit code 3. On a
terminal the output has colours, unless NO_COLOR is set.

With --json it prints one object per message, each on a line: file, message (its number in the file), kind ("BSM", "BPM",
the identifier found, or ""), accepted, errors, warnings. Each error and warning has the members of a diagnostic of
POST /v1/messages: columns count bytes from 1, and end_column is the first one after the fault.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			eff, err := p.load(cmd)
			if err != nil {
				return err
			}
			if v.received, err = moment("--received", received, time.Now()); err != nil {
				return err
			}
			library, pairs, err := readLibraries(eff.Config)
			if err != nil {
				return err
			}
			filer := enricher.New(library, pairs...)
			v.judge = ingestor.NewJudge(library, filer)
			v.preview = preview.New(filer, library)
			v.out, v.colour = bufio.NewWriter(p.stdout), p.showsColour(p.stdout)
			if len(names) == 0 {
				names = []string{messagefile.Stdin}
			}
			return v.run(cmd, messagefile.Reader{Stdin: p.stdin, Split: split}, names)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&split, "split", false, "read each file as a capture of many messages, each ending with its end line")
	flags.BoolVar(&v.json, "json", false, "print one JSON object per message")
	flags.BoolVar(&v.quiet, "quiet", false, "show rejected messages only, and no totals")
	flags.BoolVar(&v.events, "events", false, "show the events that each message would make")
	flags.StringVar(&received, "received", "", "received `time` (RFC 3339), which gives dates their year; by default now")
	return cmd
}

// run judges every message. It reports files that cannot be read, and goes on with the next.
func (v *validation) run(cmd *cobra.Command, reader messagefile.Reader, names []string) error {
	defer collector.Within(streamingHeap)()
	var faults []error
	for m, err := range reader.Messages(cmd.Context(), names) {
		if err != nil {
			faults = append(faults, printableError(err))
			continue
		}
		if err := v.show(cmd.Context(), m); err != nil {
			faults = append(faults, err)
			break
		}
	}
	if v.messages == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("the input holds no message"))
	}
	if !v.json && !v.quiet {
		fmt.Fprintf(v.out, "messages: %d, rejected: %d\n", v.messages, v.rejected)
	}
	faults = append(faults, v.out.Flush())
	return cmp.Or(errors.Join(faults...), rejectedAny(v.rejected))
}

// show prints the verdict on one message.
func (v *validation) show(ctx context.Context, m messagefile.Message) error {
	outcome := v.judge.Judge(ingestor.Envelope{Raw: m.Text, Received: v.received})
	v.messages++
	if outcome.Verdict == ingestor.Rejected {
		v.rejected++
	} else if v.quiet {
		return nil
	}
	var events []preview.Event
	if v.events && outcome.Verdict == ingestor.Accepted {
		var err error
		if events, err = v.preview.Events(ctx, outcome.Filing); err != nil {
			return err
		}
	}
	if v.json {
		v.buffer = v.appendJSON(v.buffer[:0], m, outcome, events)
		_, err := v.out.Write(v.buffer)
		return err
	}
	verdictWriter{v.out, v.colour}.write(m, outcome)
	for _, e := range events {
		fmt.Fprintf(v.out, "  %s %s (%s)\n", e.Plate, e.Code, e.Description)
	}
	return nil
}

// appendJSON appends the JSON object of one message and a line end.
func (v *validation) appendJSON(dst []byte, m messagefile.Message, outcome ingestor.Outcome, events []preview.Event) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "file", m.File)
	dst = fmt.Appendf(dst, `,"message":%d,"kind":`, m.Number)
	dst = strictjson.AppendString(dst, outcome.Identifier)
	dst = fmt.Appendf(dst, `,"accepted":%t,"errors":`, outcome.Verdict != ingestor.Rejected)
	dst = ingestor.AppendDiagnostics(dst, outcome.Errors)
	dst = append(dst, `,"warnings":`...)
	dst = ingestor.AppendDiagnostics(dst, outcome.Warnings)
	if v.events {
		dst = append(dst, `,"events":[`...)
		for i := range events {
			dst = v.preview.Append(strictjson.AppendComma(dst), &events[i])
		}
		dst = append(dst, ']')
	}
	return append(dst, "}\n"...)
}

// moment parses the text of a flag: a time in RFC 3339, or a day, which stands for 00:00 UTC. If
// text is empty, it returns missing.
func moment(flag, text string, missing time.Time) (time.Time, error) {
	if text == "" {
		return missing, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &exit{Usage, fmt.Errorf("%s: %q is not a time such as 2026-11-21T13:10:00Z", flag, text)}
}
