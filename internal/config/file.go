package config

import (
	"os"
	"slices"
	"strings"

	"bagtrail/internal/strictyaml"
)

// fromFile reads the YAML file that a flag or the environment names, if any. Its members are the
// settings, with underscores in their names. A comma-separated list may be a YAML list.
func (f *Faults) fromFile(flags, env layer) layer {
	name, found := flags[configName]
	if !found {
		name, found = env[configName]
	}
	if !found {
		return nil
	}
	data, err := os.ReadFile(name.text)
	if err != nil {
		f.unread = true
		f.add(configName, name.source, "cannot be read: %v", err)
		return nil
	}
	file, isYAML := layer{}, false
	known := names(f.settings)[1:] // a file cannot name another file
	err = strictyaml.Read(data, func(document strictyaml.Value) {
		isYAML = true
		document.Entries(func(member string, value strictyaml.Value) {
			i := slices.IndexFunc(known, func(n string) bool { return key(n) == member })
			if i < 0 {
				value.Fault("unknown member%s", didYouMean(member, known, key))
				return
			}
			if text, ok := plain(value); ok {
				file[known[i]] = given{text, "file " + name.text}
			}
		})
	})
	if err != nil {
		f.unread = !isYAML
		for line := range strings.SplitSeq(err.Error(), "\n") {
			f.Add(&Fault{name.text, line, ""})
		}
	}
	return file
}

// plain returns the text of a scalar, or the texts of a list, separated by commas. For any other
// value, which is a fault, it returns false.
func plain(value strictyaml.Value) (string, bool) {
	var items []string
	whole := true
	value.Each(func(item strictyaml.Value) {
		text, ok := item.Text()
		items, whole = append(items, text), whole && ok
	})
	return strings.Join(items, ","), whole
}
