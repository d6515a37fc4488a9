// Package deploy_test checks the files in deploy/ and docker-compose.yml: every variable in them is
// a setting with a valid value, and every alert is tested.
package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"bagtrail/internal/command"
)

const root = "../../"

// secrets is the folder of containers in which secrets are mounted.
const secrets = "/etc/bagtrail/"

func TestContainersSetOnlySettings(t *testing.T) {
	mounted := t.TempDir() + "/"
	for name, text := range map[string]string{"redis-url": "rediss://redis:6379/0", "wtr-url": "https://wtr.example/", "secret": "0123456789abcdef0123456789abcdef"} {
		if err := os.WriteFile(filepath.Join(mounted, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	image := imageVariables(t)
	for name, variables := range map[string]map[string]string{
		"Dockerfile": nil, "docker-compose.yml": composeVariables(t), "bagtrail.yaml": kubernetesVariables(t),
	} {
		var env []string
		for _, set := range []map[string]string{image, variables} { // of two values of a variable the last one counts
			for variable, value := range set {
				if value, found := strings.CutPrefix(value, secrets); found {
					env = append(env, variable+"="+mounted+value)
					continue
				}
				env = append(env, variable+"="+value)
			}
		}
		shown := config(t, name, env)
		for _, entry := range env {
			if variable, _, _ := strings.Cut(entry, "="); !strings.Contains(shown, "# "+strings.TrimSuffix(variable, "_FILE")) {
				t.Errorf("%s: %s is no setting", name, entry)
			}
		}
	}
}

// imageVariables returns the variables of the Dockerfile.
func imageVariables(t *testing.T) map[string]string {
	t.Helper()
	variables := map[string]string{}
	for _, m := range regexp.MustCompile(`(BAGTRAIL_\w+)=(\S+)`).FindAllStringSubmatch(string(read(t, "deploy/Dockerfile")), -1) {
		variables[m[1]] = m[2]
	}
	if len(variables) == 0 {
		t.Fatal("the Dockerfile sets nothing")
	}
	return variables
}

// composeVariables returns the variables of the services of the image, which must be the same for
// each.
func composeVariables(t *testing.T) map[string]string {
	t.Helper()
	var file struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
		}
	}
	parse(t, "docker-compose.yml", &file)
	variables := map[string]string{}
	for name, service := range file.Services {
		if service.Image != "bagtrail" {
			continue
		}
		if len(service.Environment) == 0 {
			t.Errorf("the service %s is given nothing", name)
		}
		maps.Copy(variables, service.Environment)
	}
	return variables
}

// kubernetesVariables returns the variables of the config map.
func kubernetesVariables(t *testing.T) map[string]string {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(read(t, "deploy/kubernetes/bagtrail.yaml"))); ; {
		var object struct {
			Kind string
			Data map[string]string
		}
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			t.Fatal("no config map")
		} else if err != nil {
			t.Fatal(err)
		}
		if object.Kind == "ConfigMap" {
			return object.Data
		}
	}
}

// A port without an address is open to the network, past the firewall of the machine.
func TestComposePublishesPortsOnLoopbackOnly(t *testing.T) {
	var file struct {
		Services map[string]struct{ Ports []string }
	}
	parse(t, "docker-compose.yml", &file)
	published := 0
	for name, service := range file.Services {
		for _, port := range service.Ports {
			published++
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s", name, port)
			}
		}
	}
	if published == 0 {
		t.Error("no port is published")
	}
}

// The comment of docker-compose.yml makes a folder that other users of the machine cannot enter. In it
// is the folder that is mounted, which the container's user can read.
func TestTheInstructionsKeepTheSecretFromOtherUsers(t *testing.T) {
	compose, script := read(t, "docker-compose.yml"), "umask 077; docker() { test $1 != run || touch private/keys/keys.yaml; }; openssl() { echo; }\n"
	for _, line := range regexp.MustCompile(`(?m)^#   (.*\n)`).FindAllSubmatch(compose, -1) {
		script += string(line[1])
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(compose, []byte(" ./private/keys:"+strings.TrimSuffix(secrets, "/")+":ro\n")) {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]os.FileMode{"private": 0o700, "private/keys": 0o755, "private/keys/keys.yaml": 0o644, "private/keys/secret": 0o644} {
		if file, err := os.Stat(filepath.Join(cmd.Dir, name)); err != nil || file.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, file, err)
		}
	}
}

// The comments of docker-compose.yml and of the manifests make these files here, or did so once.
func TestSecretsOfTheInstructionsAreNoSources(t *testing.T) {
	for _, file := range []string{".gitignore", ".dockerignore"} {
		var ignored []string
		for line := range strings.Lines(string(read(t, file))) {
			ignored = append(ignored, strings.Trim(line, "/\n"))
		}
		for _, name := range []string{"private", "keys", "keys.yaml", "secret"} {
			if !slices.Contains(ignored, name) {
				t.Errorf("%s does not name %s", file, name)
			}
		}
	}
}

func TestEveryAlertIsTestedToFireAndNotToFire(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert string }
		}
	}
	parse(t, "deploy/prometheus/alerts.yaml", &rules)
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name string `yaml:"alertname"`
				Want []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	parse(t, "deploy/prometheus/alerts_test.yaml", &tests)
	var fires, rests, all []string
	for _, test := range tests.Tests {
		for _, alert := range test.Alerts {
			if len(alert.Want) > 0 {
				fires = append(fires, alert.Name)
			} else {
				rests = append(rests, alert.Name)
			}
		}
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Alert)
			if !slices.Contains(fires, rule.Alert) || !slices.Contains(rests, rule.Alert) {
				t.Errorf("%s: tested to fire %v, not to fire %v", rule.Alert, slices.Contains(fires, rule.Alert), slices.Contains(rests, rule.Alert))
			}
		}
	}
	for _, name := range slices.Concat(fires, rests) {
		if !slices.Contains(all, name) {
			t.Errorf("%s is tested, and is no alert", name)
		}
	}
	if len(all) == 0 {
		t.Error("no alert")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// parse reads a YAML file.
func parse(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// config returns what bagtrail config prints with these variables. of names them in faults.
func config(t *testing.T, of string, env []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := command.Run(t.Context(), []string{"config"}, env, strings.NewReader(""), &stdout, &stderr); code != command.Done {
		t.Fatalf("%s: exit code %d\n%s", of, code, stderr.String())
	}
	return stdout.String()
}

// TestTheReadmeNamesEverySetting compares the table of settings with the configuration that the
// command shows.
func TestTheReadmeNamesEverySetting(t *testing.T) {
	variable := regexp.MustCompile(`BAGTRAIL_[A-Z_]+`)
	var settings []string
	for line := range strings.Lines(config(t, "defaults", nil)) {
		_, comment, _ := strings.Cut(line, "# ")
		settings = append(settings, variable.FindString(comment))
	}
	var named []string
	for line := range strings.Lines(string(read(t, "README.md"))) {
		if strings.HasPrefix(line, "| `BAGTRAIL_") {
			named = append(named, variable.FindAllString(line, -1)...)
		}
	}
	for _, setting := range settings {
		if !slices.Contains(named, setting) {
			t.Errorf("the README does not name %s", setting)
		}
	}
	for _, name := range named {
		if !slices.Contains(settings, name) {
			t.Errorf("the README names %s, which is not a setting", name)
		}
	}
	if len(settings) < 20 {
		t.Errorf("%d settings are shown", len(settings))
	}
}

// nginx waits for an answer for longer than a request may wait for changes.
func TestTheNginxOfTheInstructionsWaitsForLongPolls(t *testing.T) {
	seconds := func(text []byte, pattern string) int {
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil {
			t.Fatalf("nothing matches %s", pattern)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	_, block, _ := bytes.Cut(read(t, "docs/operations.md"), []byte("```nginx\n"))
	block, _, _ = bytes.Cut(block, []byte("```"))
	patience := seconds(block, `proxy_read_timeout (\d+)s;`)
	wait := seconds(read(t, "internal/apidoc/openapi.json"), `"name": "wait", "in": "query", "schema": \{"type": "integer", "minimum": 0, "maximum": (\d+)`)
	if patience < wait+10 {
		t.Errorf("nginx waits for %d s, a request for up to %d s", patience, wait)
	}
}
