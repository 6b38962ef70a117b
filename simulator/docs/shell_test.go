package docs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// commandTimeout bounds a block of commands, including the build of a program on a busy machine.
const commandTimeout = 15 * time.Minute

// shell is one bash that runs the commands of a page, as a reader's terminal does.
type shell struct {
	process *exec.Cmd
	stdin   io.WriteCloser
	lines   chan string // of stdout; closed at the end
	stderr  *os.File
}

// over is the line that the shell prints after the output of a block.
const over = "-- the block is over --"

func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	process := exec.Command("bash", "-euo", "pipefail")
	process.Dir, process.Env = dir, env
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	process.Stderr = stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	s := &shell{process: process, stdin: stdin, lines: make(chan string), stderr: stderr}
	go func() {
		defer close(s.lines)
		scan(out, func(line string) { s.lines <- line })
	}()
	t.Cleanup(func() {
		stdin.Close()
		for range s.lines {
		}
		process.Wait()
	})
	return s
}

// run types the commands and returns what they print to stdout. The shell exits at
// the first command that fails; the error holds everything written to stderr.
func (s *shell) run(commands string) (string, error) {
	if _, err := fmt.Fprintf(s.stdin, "%s\necho '%s'\n", commands, over); err != nil {
		return "", fmt.Errorf("typing: %w", err)
	}
	timeout := time.NewTimer(commandTimeout)
	defer timeout.Stop()
	var output strings.Builder
	for {
		select {
		case line, more := <-s.lines:
			switch {
			case !more:
				said, _ := os.ReadFile(s.stderr.Name())
				return output.String(), fmt.Errorf("a command failed: %s", said)
			case strings.HasSuffix(line, over):
				// The last output may not end with a newline.
				return output.String() + strings.TrimSuffix(line, over), nil
			}
			output.WriteString(line + "\n")
		case <-timeout.C:
			return output.String(), fmt.Errorf("not over after %v", commandTimeout)
		}
	}
}

// server is a command that keeps running until it is stopped.
type server struct {
	process *exec.Cmd
	ended   chan struct{}
}

// startServer returns when the simulator is ready.
func startServer(t *testing.T, dir string, env []string, command string) *server {
	t.Helper()
	process := exec.Command("bash", "-c", "exec "+command)
	process.Dir, process.Env = dir, env
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	process.Stderr = log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{process: process, ended: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(s.ended)
		scan(out, func(line string) {
			if strings.HasPrefix(line, "ready: ") {
				close(ready)
			}
		})
		process.Wait()
	}()
	t.Cleanup(s.stop)
	select {
	case <-ready:
	case <-s.ended:
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("%s ended before it was ready: %s", command, said)
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s is not ready", command)
	}
	return s
}

// stop interrupts the process and its children, as Ctrl-C does, and waits for it.
func (s *server) stop() {
	syscall.Kill(-s.process.Process.Pid, syscall.SIGINT)
	<-s.ended
}

func scan(r io.Reader, each func(line string)) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		each(lines.Text())
	}
}
