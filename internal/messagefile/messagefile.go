// Package messagefile reads messages from files, directories and the standard input.
//
// It does not judge them. The bytes of a message are not changed, and text that is no message is
// returned as one, so that the caller can report what is wrong with it. Files are read as streams,
// so memory does not grow with them. A message longer than [capture.Longest] is cut; it is too long
// to be accepted in any case.
package messagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"bagtrail/ingestor/capture"
)

// Message is a message of a file.
type Message struct {
	File   string // name of the file, or Stdin
	Number int    // 1-based, in the file
	Line   int    // of the file, 1-based, on which Text begins
	Text   string // as sent; cut if it is longer than capture.Longest
}

// Stdin is the name of the standard input.
const Stdin = "-"

// extensions are those of the files in a directory that are read.
var extensions = []string{".txt", ".bim"}

// Reader reads the messages of files.
type Reader struct {
	Stdin io.Reader // the standard input
	Split bool      // whether a file is a capture of many messages, or one message
}

// Messages yields the messages of each name in turn. A name is [Stdin], a file, a named pipe, a
// device, or a directory. Of a directory, the files whose names end in .txt or .bim are read, in
// the order of their names. Directories in it are skipped. Named pipes and devices in it are not
// opened, and yield an error; so do a directory without files, and a file that cannot be read.
// After an error Messages goes on with the next file.
//
// When ctx ends, reading stops at once, even while it waits for input. The last value is then the
// error of ctx.
func (r Reader) Messages(ctx context.Context, names []string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, name := range names {
			if ctx.Err() != nil {
				break
			}
			files, faults := expand(name)
			for _, err := range faults {
				if !yield(Message{File: name}, err) {
					return
				}
			}
			for _, file := range files {
				if ctx.Err() == nil && !r.file(ctx, file, yield) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Message{}, fmt.Errorf("stopped early: %w", err))
		}
	}
}

// expand returns the files of a name, and the errors of those that cannot be read.
func expand(name string) (files []string, faults []error) {
	if name == Stdin {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, []error{fmt.Errorf("find messages: %w", err)}
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, []error{fmt.Errorf("list directory: %w", err)}
	}
	for _, entry := range entries {
		if !slices.Contains(extensions, filepath.Ext(entry.Name())) {
			continue
		}
		path := filepath.Join(name, entry.Name())
		info, err := os.Stat(path) // follows links
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("find messages: %w", err))
		case info.Mode().IsRegular():
			files = append(files, path)
		case !info.IsDir():
			faults = append(faults, fmt.Errorf("%s: not a regular file", path))
		}
	}
	if len(files) == 0 && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("%s: no message files: no name ends in .txt or .bim", name))
	}
	return files, faults
}

// file yields the messages of a file. It returns false if the loop has ended.
func (r Reader) file(ctx context.Context, name string, yield func(Message, error) bool) bool {
	in, stop := r.open(ctx, name)
	defer stop()
	if !r.Split {
		text, err := io.ReadAll(io.LimitReader(in, capture.Longest))
		switch {
		case ctx.Err() != nil:
			return true
		case err != nil:
			return yield(Message{File: name}, fmt.Errorf("read messages: %w", err))
		}
		return yield(Message{File: name, Number: 1, Line: 1, Text: string(text)}, nil)
	}
	messages := capture.NewReader(in)
	for number := 1; ; number++ {
		m, err := messages.Next()
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return true
		case err != nil:
			return yield(Message{File: name}, fmt.Errorf("%s: %w", name, err))
		}
		if !yield(Message{name, number, m.Line, m.Text}, nil) {
			return false
		}
	}
}

// open returns a reader of a file, which reports errors of opening too. When ctx ends, reading
// fails, even while it waits for input from a terminal or a named pipe.
func (r Reader) open(ctx context.Context, name string) (text io.Reader, stop func()) {
	out, in := io.Pipe()
	unhook := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() { in.CloseWithError(r.pour(in, name)) }()
	return out, func() {
		unhook()
		_ = out.Close()
	}
}

// pour copies a file to w.
func (r Reader) pour(w io.Writer, name string) error {
	in := r.Stdin
	if name != Stdin {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	_, err := io.Copy(w, in)
	return err
}
