// Package messagefile reads messages out of files, directories and the standard input, as operators have them.
// It judges nothing: every byte of a message comes out as it went in, and text that is no message comes out as one,
// so that whoever reads it can say what is wrong with it.
package messagefile

import (
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
	Text   string // as sent
}

// Stdin is the name that stands for the standard input.
const Stdin = "-"

// extensions end the names of the files that are read of a directory.
var extensions = []string{".txt", ".bim"}

// Reader reads the messages of files.
type Reader struct {
	Stdin io.Reader // what Stdin stands for
	Split bool      // a file is a capture of many messages; else it is one
}

// Messages yields the messages of each name in turn: of a file, of [Stdin], or of the files in a directory that end
// .txt or .bim, in the order of their names (directories in it are not entered). A file that cannot be read yields an
// error; reading goes on with the next.
func (r Reader) Messages(names []string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, name := range names {
			files, err := expand(name)
			if err != nil && !yield(Message{File: name}, err) {
				return
			}
			for _, file := range files {
				if !r.file(file, yield) {
					return
				}
			}
		}
	}
}

// expand returns the files that a name stands for.
func expand(name string) ([]string, error) {
	if name == Stdin {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("find messages: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("list directory: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(extensions, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	return files, nil
}

// file yields the messages of one file, and reports whether more are wanted.
func (r Reader) file(name string, yield func(Message, error) bool) bool {
	in := r.Stdin
	if name != Stdin {
		f, err := os.Open(name)
		if err != nil {
			return yield(Message{File: name}, fmt.Errorf("read messages: %w", err))
		}
		defer f.Close()
		in = f
	}
	if !r.Split {
		data, err := io.ReadAll(in)
		if err != nil {
			return yield(Message{File: name}, fmt.Errorf("read messages: %w", err))
		}
		return yield(Message{File: name, Number: 1, Line: 1, Text: string(data)}, nil)
	}
	messages := capture.NewReader(in)
	for number := 1; ; number++ {
		m, err := messages.Next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return yield(Message{File: name}, fmt.Errorf("%s: %w", name, err))
		}
		if !yield(Message{name, number, m.Line, m.Text}, nil) {
			return false
		}
	}
}
