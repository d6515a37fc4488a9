package program

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// A lifeline ends a server when the process that holds it ends, even by kill -9. A shell waits for
// the end of a pipe, which ends when its writer dies. The shell is in a process group of its own,
// so that Ctrl-C does not reach it.
type lifeline struct {
	keeper *exec.Cmd
	hold   io.WriteCloser
}

const keeper = `read -r release || { kill -s KILL -- "-$1"; rm -rf -- "$2"; }`

// tie ties the process group to the calling process. dir is removed with it.
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

// release lets go of a server that has ended.
func (l *lifeline) release() {
	if l == nil {
		return
	}
	_, _ = io.WriteString(l.hold, "release\n")
	_ = l.keeper.Wait()
}
