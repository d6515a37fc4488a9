package config

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds a flag for every setting, one for the file of every secret, and --config.
func AddFlags(fs *pflag.FlagSet) {
	fs.String(configName, "", "YAML `file` of settings ("+variable(configName)+")")
	var c Config
	for _, s := range c.settings() {
		fs.Var(&flagValue{s.init, s.value.kind}, s.name, s.usage+" ("+variable(s.name)+")")
		if s.value.kind == "bool" {
			fs.Lookup(s.name).NoOptDefVal = "true"
		}
		if s.secret {
			fs.Var(&flagValue{}, s.name+fileSuffix, "`file` that holds the value of --"+s.name+" ("+variable(s.name+fileSuffix)+")")
		}
	}
}

// flagValue is the value of a flag. It takes any text: faults are found by Load, so that they are
// reported together.
type flagValue struct{ text, kind string }

func (v *flagValue) String() string        { return v.text }
func (v *flagValue) Set(text string) error { v.text = text; return nil }
func (v *flagValue) Type() string          { return v.kind }

// given is the text of a setting, and its source, such as "flag --http-addr". The source is "" if
// the text is the default.
type given struct{ text, source string }

// layer holds the settings that one source gives: the flags, the environment or the file. The names
// are those of flags: "http-addr", and "redis-url-file" for the file of a secret.
type layer map[string]given

// Load returns the configuration from these sources: the parsed flags, which [AddFlags] has added;
// environ, in the form of [os.Environ]; and the file that one of them names. checks are called
// after the checks of the sections. If there are faults, Load returns no configuration, and an
// error that joins all of them, those of settings as [*Fault]. If the file of settings cannot be
// read or is no YAML, only the form of the other settings is checked.
func Load(fs *pflag.FlagSet, environ []string, checks ...Check) (*Effective, error) {
	conf := &Config{}
	f := &Faults{settings: conf.settings()}
	flags := fromFlags(fs)
	env := f.fromEnviron(environ)
	file := f.fromFile(flags, env)

	for i := range f.settings {
		s := &f.settings[i]
		s.given = f.choose(s, flags, env, file)
		if err := s.value.set(s.given.text); err != nil {
			f.add(s.name, s.given.source, "%s%v", s.quote(), err)
			_ = s.value.set(s.init) // so that a malformed text causes no second fault
		} else if s.given.text == "" && !s.empty {
			f.add(s.name, s.given.source, "is empty")
			_ = s.value.set(s.init)
		}
	}
	if !f.unread { // else they would miss settings that were given
		conf.validate(f)
		for _, check := range checks {
			check(conf, f)
		}
	}
	if err := errors.Join(f.all...); err != nil {
		return nil, err
	}
	return &Effective{conf, f.settings}, nil
}

// choose returns the value of the first layer that has one, else the default.
func (f *Faults) choose(s *setting, layers ...layer) given {
	for _, in := range layers {
		value, direct := in[s.name]
		file, indirect := in[s.name+fileSuffix]
		switch {
		case direct && indirect && s.secret:
			f.add(s.name, value.source, "is given twice: directly and as a file")
			return value
		case direct:
			return value
		case indirect && s.secret:
			return f.secret(s, file)
		}
	}
	return given{text: s.init}
}

// secret reads the file that holds a secret.
func (f *Faults) secret(s *setting, file given) given {
	text, err := ReadSecret(file.text)
	if err != nil {
		f.add(s.name+fileSuffix, file.source, "cannot be read: %v", err)
		return given{text: s.init}
	}
	if text == "" { // the empty value means that there is no secret, but a file was named
		f.add(s.name+fileSuffix, file.source, "names an empty file: %s", file.text)
	}
	return given{text, file.source + ", file " + file.text}
}

// ReadSecret returns the secret that a file holds, without a byte order mark before it and one line
// end after it.
func ReadSecret(path string) (string, error) {
	data, err := os.ReadFile(path)
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(string(data), "\ufeff"), "\n"), "\r"), err
}

// fromFlags reads the flags that were set.
func fromFlags(fs *pflag.FlagSet) layer {
	flags := layer{}
	fs.Visit(func(f *pflag.Flag) { flags[f.Name] = given{f.Value.String(), "flag --" + f.Name} })
	return flags
}

// testPrefix begins the variables of the tests, which are not settings.
const testPrefix = prefix + "TEST_"

// serviceLink matches the variables that Kubernetes makes for a Service whose name begins with
// "bagtrail". The one that ends in _PORT holds a URL.
var serviceLink = regexp.MustCompile(`^[^=]+(_SERVICE_HOST=|_SERVICE_PORT(_[A-Z0-9_]+)?=|_PORT_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?=|_PORT=([a-z]+://|$))`)

// fromEnviron reads the variables. An empty variable counts as absent, unless the setting can be
// empty: container tools set one for what they do not have.
func (f *Faults) fromEnviron(environ []string) layer {
	env := layer{}
	known := names(f.settings)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		i := slices.IndexFunc(known, func(n string) bool { return variable(n) == name })
		switch {
		case i >= 0 && (text != "" || slices.ContainsFunc(f.settings, func(s setting) bool { return s.name == known[i] && s.empty })):
			env[known[i]] = given{text, "environment " + name}
		case i < 0 && !serviceLink.MatchString(entry):
			f.Add(&Fault{name, "is not a variable of bagtrail" + didYouMean(name, known, variable), ""})
		}
	}
	return env
}

// names returns the names that a layer may hold.
func names(settings []setting) []string {
	all := []string{configName}
	for _, s := range settings {
		all = append(all, s.name)
		if s.secret {
			all = append(all, s.name+fileSuffix)
		}
	}
	return all
}

// successors maps the names of removed settings, as the environment and the file spell them, to the
// settings that replaced them.
var successors = map[string]string{
	"BAGTRAIL_KAFKA_EVENTS_TOPIC": "kafka-changes-topic", "kafka_events_topic": "kafka-changes-topic",
}

// didYouMean returns the end of a sentence about an unknown name: the setting that replaced it, or
// the suggestion of DidYouMean. spell returns the name of a setting as the source spells it.
func didYouMean(written string, known []string, spell func(string) string) string {
	if name, removed := successors[written]; removed {
		return "; " + spell(name) + " took its place"
	}
	spelt := make([]string, len(known))
	for i, name := range known {
		spelt[i] = spell(name)
	}
	return DidYouMean(written, spelt)
}

// DidYouMean returns the end of a sentence about an unknown name: a suggestion of the nearest known
// name, or "" if none is near. A name that begins with the written one is near.
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

// shortestBeginning is the number of letters of a name that are enough to suggest it.
const shortestBeginning = 3

// distance returns the number of bytes to insert, remove or replace to get from a to b.
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
