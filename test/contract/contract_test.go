// Package contract_test checks what a running service serves, posts and publishes with tools of
// others: linters, generators of clients, and libraries that read webhooks and changes.
// `.ci/run lint clients` installs these and runs the tests; without them the tests are skipped.
package contract_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// setting returns the variable with the path of a tool, or skips the test.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skip(".ci/run lint clients runs it")
	}
	return value
}

// run runs a program in a folder, with additional variables.
func run(t *testing.T, dir string, env []string, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// save writes a document of the service into a folder.
func save(t *testing.T, s *service.Service, dir, document string) {
	t.Helper()
	answer := s.Get("/"+document, "api_key", "")
	if answer.Status != 200 {
		t.Fatalf("%s: %d", document, answer.Status)
	}
	if err := os.WriteFile(filepath.Join(dir, document), []byte(answer.Body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// here returns the path of a file of this folder.
func here(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDocumentsPassTheLintersOfOthers(t *testing.T) {
	linters := setting(t, "BAGTRAIL_TEST_LINTERS")
	s, dir := service.Start(t), t.TempDir()
	documents := []string{"openapi.json", "asyncapi.json"}
	for _, document := range documents {
		save(t, s, dir, document)
	}
	quiet := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"} // no requests to the vendor
	run(t, dir, quiet, filepath.Join(linters, "redocly"), append([]string{"lint", "--config", here(t, "redocly.yaml")}, documents...)...)
	run(t, dir, nil, filepath.Join(linters, "spectral"), append([]string{"lint", "--fail-severity=hint", "--ruleset", here(t, "spectral.yaml")}, documents...)...)
}

// It writes the clients to .cache, where they can be read afterwards.
func TestGeneratedClientsCallTheOperationsForMessagesBagsAndFlights(t *testing.T) {
	generators := filepath.SplitList(setting(t, "BAGTRAIL_TEST_GENERATORS"))
	python, tsc := setting(t, "BAGTRAIL_TEST_PYTHON"), setting(t, "BAGTRAIL_TEST_TSC")
	clients := here(t, "../../.cache/clients")
	if err := os.RemoveAll(clients); err != nil {
		t.Fatal(err)
	}
	for _, generator := range generators {
		dir := filepath.Join(clients, filepath.Base(filepath.Dir(filepath.Dir(generator))))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s := service.Start(t)
		save(t, s, dir, "openapi.json")
		env := []string{"SERVICE_URL=" + s.URL, "SERVICE_KEY=" + service.DevelopmentKey, "PYTHONPATH=" + filepath.Join(dir, "python")}
		generate := func(language, folder string, properties ...string) {
			run(t, dir, nil, generator, append([]string{"generate", "-i", "openapi.json", "-g", language, "-o", folder}, properties...)...)
		}
		t.Run(filepath.Base(dir)+"/python", func(t *testing.T) {
			generate("python", "python", "--package-name", "bagtrail_client")
			run(t, dir, env, python, here(t, "client.py"))
		})
		t.Run(filepath.Base(dir)+"/typescript", func(t *testing.T) {
			generate("typescript-fetch", "generated")
			text, err := os.ReadFile("client.ts")
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "client.ts"), text, 0o600) // beside the files that it imports
			}
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, nil, tsc, "--strict", "--target", "es2022", "--module", "commonjs", "--lib", "es2022,dom", "--outDir", "compiled", "client.ts")
			run(t, dir, env, "node", filepath.Join("compiled", "client.js"))
		})
	}
}
