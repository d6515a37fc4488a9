// Package messagefile reads messages out of files, directories and the standard input, as operators have them.
// It judges nothing: the bytes of a message come out as they went in, and text that is no message comes out as one,
// so that whoever reads it can say what is wrong with it. It reads streams: its memory does not grow with a file. Of a
// message that is longer than [capture.Longest], and so too long to be accepted, it keeps the beginning.
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

// Message is one message as it stands in a file.
type Message struct {
	File   string // name of the file, or Stdin
	Number int    // 1-based, in the file
	Line   int    // of the file, 1-based, on which Text begins
	Text   string // as sent; of a message that is longer than capture.Longest, the beginning
}

// Stdin is the name that stands for the standard input.
const Stdin = "-"

// extensions end the names of the files that are read of a directory.
var extensions = []string{".txt", ".bim"}

// What keeps messages from being read.
var (
	ErrNoFiles   = errors.New("no message files: no name ends .txt or .bim")
	ErrIrregular = errors.New("no regular file")
)

// Reader reads the messages of files.
type Reader struct {
	Stdin io.Reader // what Stdin stands for
	Split bool      // a file is a capture of many messages; else it is one
}

// Messages yields the messages of each name in turn: of a file, of [Stdin], or of the files in a directory that end
// .txt or .bim, in the order of their names (directories in it are not entered). A name may be that of a named pipe or a
// device; in a directory these are not opened, and yield [ErrIrregular]. A directory without files yields [ErrNoFiles]. A
// file that cannot be read yields an error. After each of these, reading goes on with the next.
//
// When ctx ends reading stops at once, also where it waits for input; what is yielded last is the error of ctx.
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

// expand returns the files that a name stands for, and what keeps others from being read.
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
		info, err := os.Stat(path) // of what a link leads to
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("find messages: %w", err))
		case info.Mode().IsRegular():
			files = append(files, path)
		case !info.IsDir():
			faults = append(faults, fmt.Errorf("%s: %w", path, ErrIrregular))
		}
	}
	if len(files) == 0 && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("%s: %w", name, ErrNoFiles))
	}
	return files, faults
}

// file yields the messages of one file, and reports whether more are wanted.
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

// open opens a file and returns what it holds; an error of opening is one of reading. When ctx ends reading fails, also
// while there is nothing to read: from a terminal, or a named pipe that nobody writes to.
func (r Reader) open(ctx context.Context, name string) (text io.Reader, stop func()) {
	out, in := io.Pipe()
	unhook := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() { in.CloseWithError(r.pour(in, name)) }()
	return out, func() {
		unhook()
		_ = out.Close()
	}
}

// pour writes what a file holds to w.
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
