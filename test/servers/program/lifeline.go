package program

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// A lifeline ends a server when the process that holds the line ends, even by
// kill -9: a shell of its own waits on a pipe, and a pipe whose writer has died
// reads as ended. It is in no process group of ours, or Ctrl-C would reach it
// as well.
type lifeline struct {
	keeper *exec.Cmd
	hold   io.WriteCloser
}

const keeper = `read -r release || { kill -s KILL -- "-$1"; rm -rf -- "$2"; }`

// tie ties the process group to the calling process; dir goes with it.
func tie(group int, dir string) (*lifeline, error) {
	cmd := exec.Command("/bin/sh", "-c", keeper, "keeper", strconv.Itoa(group), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &lifeline{keeper: cmd, hold: hold}, nil
}

// release lets go of a server that has ended by itself or been ended.
func (l *lifeline) release() {
	if l == nil {
		return
	}
	_, _ = io.WriteString(l.hold, "release\n")
	_ = l.keeper.Wait()
}
