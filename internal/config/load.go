package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds a flag for every setting, for the file of every secret, and --config.
func AddFlags(fs *pflag.FlagSet) {
	fs.String(configName, "", "YAML `file` of settings ("+variable(configName)+")")
	var c Config
	for _, s := range c.settings() {
		fs.Var(&given{text: s.init}, s.name, s.usage+" ("+s.variable()+")")
		if s.toggle {
			fs.Lookup(s.name).NoOptDefVal = "true"
		}
		if s.secret {
			fs.Var(&given{}, s.name+fileSuffix, "`file` that holds what --"+s.name+" would say ("+variable(s.name+fileSuffix)+")")
		}
	}
}

// given is a value as it was given, and where. As a flag's value it takes any text: faults are found by Load,
// so that they are reported together.
type given struct{ text, source string }

func (g *given) String() string        { return g.text }
func (g *given) Set(text string) error { g.text = text; return nil }
func (g *given) Type() string          { return "text" }

// layer is one place from which settings come, by name of the setting ("http-addr", "redis-url-file").
type layer map[string]given

// Load makes the configuration from flags made by [AddFlags] and parsed, and from environ (as of [os.Environ]).
// checks are the demands of the command beside those of [Config.Validate].
// The error joins every [*Fault]; a Config with faults is not returned.
func Load(fs *pflag.FlagSet, environ []string, checks ...Check) (*Effective, error) {
	var (
		l   loader
		eff = &Effective{Config: &Config{}}
	)
	settings := eff.Config.settings()
	flags := fromFlags(fs)
	env := l.fromEnviron(environ, settings)
	file := l.fromFile(flags, env, settings)

	for _, s := range settings {
		value := l.choose(s, flags, env, file)
		eff.rows = append(eff.rows, row{s, value})
		if err := s.set(value.text); err != nil {
			l.fault(s.name, value.source, "%s%v", s.quote(value.text), err)
			_ = s.set(s.init) // a bad text must not cause a second fault
		} else if value.text == "" && !s.empty {
			l.fault(s.name, value.source, "is empty")
			_ = s.set(s.init)
		}
	}
	l.collect(eff, eff.Config.Validate())
	for _, check := range checks {
		l.collect(eff, check(eff.Config))
	}
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return eff, nil
}

// loader gathers faults.
type loader struct{ faults []error }

func (l *loader) fault(name, source, format string, args ...any) {
	l.faults = append(l.faults, &Fault{variable(name), fmt.Sprintf(format, args...), source})
}

// collect adds the faults that err joins, at any depth, each with the source of the value that it is about.
func (l *loader) collect(eff *Effective, err error) {
	switch e := err.(type) { //nolint:errorlint // joins are taken apart here, level by level
	case nil:
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			l.collect(eff, inner)
		}
	case *Fault:
		e.Source = eff.source(e.Variable)
		l.faults = append(l.faults, e)
	default:
		l.faults = append(l.faults, err)
	}
}

// choose returns what the first layer that gives s says, else the default.
func (l *loader) choose(s setting, layers ...layer) given {
	for _, in := range layers {
		value, direct := in[s.name]
		file, indirect := in[s.name+fileSuffix]
		switch {
		case direct && indirect && s.secret:
			l.fault(s.name, value.source, "is given twice: as it is, and as a file")
			return value
		case direct:
			return value
		case indirect && s.secret:
			return l.secret(s, file)
		}
	}
	return given{s.init, "default"}
}

// secret reads the file that holds a secret; one line end after it does not belong to it.
func (l *loader) secret(s setting, file given) given {
	data, err := os.ReadFile(file.text)
	if err != nil {
		l.fault(s.name+fileSuffix, file.source, "cannot be read: %v", err)
		return given{s.init, "default"}
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	return given{text, file.source + ", file " + file.text}
}

func fromFlags(fs *pflag.FlagSet) layer {
	flags := layer{}
	fs.Visit(func(f *pflag.Flag) { flags[f.Name] = given{f.Value.String(), "flag --" + f.Name} })
	return flags
}

// testPrefix begins the variables of the tests, which are nobody's setting.
const testPrefix = prefix + "TEST_"

// serviceLink matches the variables that Kubernetes makes for a Service whose name begins with "bagtrail".
var serviceLink = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$`)

// fromEnviron reads the variables. An empty one, of a setting for which the empty text means nothing, counts as
// absent: that is how container tools pass what they have not.
func (l *loader) fromEnviron(environ []string, settings []setting) layer {
	env := layer{}
	known := names(settings, variable)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		i := slices.IndexFunc(known, func(n spelling) bool { return n.spelt == name })
		switch {
		case i >= 0 && (text != "" || known[i].empty):
			env[known[i].name] = given{text, "environment " + name}
		case i < 0 && !serviceLink.MatchString(name):
			l.faults = append(l.faults, &Fault{name, "is no variable of bagtrail" + didYouMean(name, known), ""})
		}
	}
	return env
}

// spelling is a setting's name as one of the layers spells it.
type spelling struct {
	name, spelt string
	empty       bool
}

// names returns the names that a layer may hold, spelt as that layer does.
func names(settings []setting, spell func(string) string) []spelling {
	all := []spelling{{configName, spell(configName), false}}
	for _, s := range settings {
		all = append(all, spelling{s.name, spell(s.name), s.empty})
		if s.secret {
			all = append(all, spelling{s.name + fileSuffix, spell(s.name + fileSuffix), false})
		}
	}
	return all
}

func didYouMean(written string, known []spelling) string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.spelt
	}
	return DidYouMean(written, names)
}

// DidYouMean suggests the known name that is nearest to the one that was written, as the end of a sentence that says
// that there is no such name; "" if none is near. A name that begins with what was written is near.
func DidYouMean(written string, known []string) string {
	best, nearest := "", len(written)/3+1
	for _, name := range known {
		d := distance(written, name)
		if len(written) >= shortestBeginning && strings.HasPrefix(name, written) {
			d = min(d, 1)
		}
		if d < nearest {
			best, nearest = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// shortestBeginning is how many letters of a name say what was meant.
const shortestBeginning = 3

// distance is the number of letters to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	costs := make([]int, len(b)+1)
	for j := range costs {
		costs[j] = j
	}
	for i := range len(a) {
		diagonal := costs[0]
		costs[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = costs[j+1]
			costs[j+1] = min(replaced, costs[j]+1, diagonal+1)
		}
	}
	return costs[len(b)]
}
