package branch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	// stopTime is how long a child may take to stop in order, a little more than the program
	// promises.
	stopTime = 6 * time.Second
	// unlockTime is how long the child of a killed program may keep its data directory.
	unlockTime = 10 * time.Second
	// pollTime is how often to try a lock.
	pollTime = 50 * time.Millisecond
)

// child is the process of a branch. It stops when its standard input ends, and thus when the trunk
// is killed.
type child struct {
	token string
	// cancel ends the start and the loading.
	cancel context.CancelFunc
	// exited is closed when the process has ended, or will not begin.
	exited chan struct{}

	// The lock of Branches guards the rest.

	// process and stdin are nil until it runs.
	process *os.Process
	stdin   io.Closer
	// address is the child's, such as http://127.0.0.1:43211; nil until it answers.
	address *url.URL
	// asked: a caller asked it to end.
	asked bool
}

// Target is where a branch answers.
type Target struct {
	URL *url.URL
	// Token is the bearer token that every request must carry.
	Token string
}

// run is the life of a child, from its start to its end.
func (b *Branches) run(ctx context.Context, k *kept, c *child) {
	defer c.cancel()
	last := &lastLine{to: b.opts.Stderr, prefix: "[branch " + k.name + "] "}
	err := b.attend(ctx, k, c, last)
	b.mu.Lock()
	defer b.mu.Unlock()
	k.child = nil
	switch {
	case c.asked:
		k.state, k.message = Stopped, k.note.Remark
	default:
		k.state, k.message = Failed, failure(err, last.text())
		b.opts.Logger.Info("Warning: a branch has failed", "branch", k.name, "why", k.message)
	}
	close(c.exited)
}

// failure says why a child has ended, if possible in the child's words.
func failure(err error, last string) string {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && last != "":
		return strings.TrimPrefix(last, "simulator: ")
	case errors.As(err, &exit):
		return "its process ended: " + exit.Error()
	case err != nil:
		return err.Error()
	}
	return "its process ended without being asked to"
}

// attend starts the process, loads its initial state, and returns when the process has ended.
func (b *Branches) attend(ctx context.Context, k *kept, c *child, stderr io.Writer) error {
	dir := b.dirOf(k.name)
	data := filepath.Join(dir, dataName)
	if err := b.awaitUnlocked(ctx, data); err != nil {
		return err
	}
	if err := datadir.WriteFile(filepath.Join(dir, tokenFile), []byte(c.token+"\n")); err != nil {
		return err
	}
	args := []string{"--branch", k.name, "--listen", "127.0.0.1:0", "--data-dir", data, "--token-file", filepath.Join(dir, tokenFile)}
	args = append(append(args, b.opts.Flags...), k.note.Flags...)
	if k.note.KubernetesVersion != "" { // the last flag counts
		args = append(args, "--min-compatibility-version=", "--kubernetes-version="+k.note.KubernetesVersion)
	}
	cmd := b.opts.Command(args)
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	// A signal of the terminal reaches only this process, which stops its children in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the branch: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the branch: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the branch: %w", err)
	}
	b.mu.Lock()
	c.process, c.stdin = cmd.Process, stdin
	asked := c.asked
	b.mu.Unlock()
	if asked {
		stdin.Close()
	}

	var loading sync.WaitGroup
	var loadErr error
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		address, ok := readyAddress(lines.Text())
		if !ok {
			continue
		}
		loading.Go(func() {
			if loadErr = b.becomeReady(ctx, k, c, address); loadErr != nil {
				stdin.Close()
			}
		})
	}
	_, _ = io.Copy(io.Discard, stdout)
	err = cmd.Wait()
	c.cancel()
	loading.Wait()
	if loadErr != nil && !errors.Is(loadErr, context.Canceled) {
		return loadErr
	}
	return err
}

// readyAddress reads the line that a simulator prints when it is up: "ready: URL kubeconfig PATH".
func readyAddress(line string) (*url.URL, bool) {
	text, ok := strings.CutPrefix(line, "ready: ")
	if !ok {
		return nil, false
	}
	text, _, _ = strings.Cut(text, " ")
	address, err := url.Parse(text)
	return address, err == nil && address.Host != ""
}

// becomeReady makes the child reachable and loads its initial state, which happens once.
func (b *Branches) becomeReady(ctx context.Context, k *kept, c *child, address *url.URL) error {
	b.mu.Lock()
	c.address = &url.URL{Scheme: address.Scheme, Host: address.Host}
	b.mu.Unlock()
	to := Target{c.address, c.token}
	remark, err := b.load(ctx, k, to)
	if err != nil {
		return err
	}
	if err := b.setUp(ctx, k, to); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k.note.Remark = remark
	if !c.asked {
		k.state, k.message = Running, remark
	}
	return nil
}

// load imports the initial state unless an earlier start did. remark says what it could not load.
func (b *Branches) load(ctx context.Context, k *kept, to Target) (remark string, err error) {
	dir := b.dirOf(k.name)
	path := filepath.Join(dir, startFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k.note.Remark, nil
	}
	if err != nil {
		return "", fmt.Errorf("loading the state of the branch: %w", err)
	}
	defer file.Close()
	if remark, err = b.importInto(ctx, k, to, file); err != nil {
		return "", fmt.Errorf("loading the state of the branch: %w", err)
	}
	n := k.note
	n.Remark = remark
	if err := n.write(dir); err != nil {
		return "", err
	}
	return remark, datadir.Remove(path)
}

// loader is the user agent of that import. To the branch's time line, it is the simulator itself.
const loader = "simulator"

const ndjson = "application/x-ndjson"

// streamed is a line of the answer to an import, or to a scenario that is played.
type streamed struct {
	Progress *struct {
		Step  string `json:"step"`
		Done  int    `json:"done"`
		Total int    `json:"total"`
	} `json:"progress"`
	Report *importReport `json:"report"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type importReport struct {
	Read        int `json:"read"`
	FailedTotal int `json:"failedTotal"`
	Failed      []struct {
		Kind    string `json:"kind"`
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"failed"`
	Configuration *struct {
		Applied bool   `json:"applied"`
		Message string `json:"message"`
	} `json:"configuration"`
}

func (r importReport) remark() string {
	var remarks []string
	if len(r.Failed) > 0 {
		first := r.Failed[0]
		remarks = append(remarks, fmt.Sprintf("%d of %d objects could not be loaded; the first is %s %s: %s", r.FailedTotal, r.Read, first.Kind, first.Name, first.Message))
	}
	if r.Configuration != nil && !r.Configuration.Applied {
		remarks = append(remarks, "the scheduler configuration was not applied: "+r.Configuration.Message)
	}
	return strings.Join(remarks, "; ")
}

func (b *Branches) importInto(ctx context.Context, k *kept, to Target, state io.Reader) (remark string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL.JoinPath("/api/v1/import").String()+"?mode=merge", state)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", ndjson)
	r.Header.Set("User-Agent", loader)
	answer, err := b.do(to, r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	reported := false
	err = lines(answer.Body, func(line streamed) (last bool) {
		switch {
		case line.Report != nil:
			remark, reported = line.Report.remark(), true
		case line.Progress != nil && line.Progress.Total > 0:
			b.tell(k, fmt.Sprintf("loading its state: %d of %d objects", line.Progress.Done, line.Progress.Total))
		}
		return reported
	})
	if err == nil && !reported {
		err = errors.New("the answer to the import ended early")
	}
	return remark, err
}

// lines reads a stream until it ends, or until read says that a line was the last. It returns the
// error that a line reports.
func lines(from io.Reader, read func(streamed) (last bool)) error {
	for stream := json.NewDecoder(from); ; {
		var line streamed
		switch err := stream.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the answer ended early: %w", err)
		case line.Error != nil:
			return errors.New(line.Error.Message)
		case read(line):
			return nil
		}
	}
}

// do returns an error for an answer that is not a success.
func (b *Branches) do(to Target, r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+to.Token)
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	var refused struct {
		Message string `json:"message"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&refused); err != nil || refused.Message == "" {
		refused.Message = answer.Status
	}
	if answer.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s: %w", refused.Message, fs.ErrNotExist)
	}
	return nil, errors.New(refused.Message)
}

func (b *Branches) tell(k *kept, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k.state == Starting {
		k.message = message
	}
}

// awaitUnlocked returns when no program holds the data directory, which need not exist.
func (b *Branches) awaitUnlocked(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, unlockTime)
	defer cancel()
	for {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		lock, err := datadir.Lock(dir)
		if err == nil {
			return lock.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollTime):
		}
	}
}

// ask makes a child stop in order. The caller holds the lock.
func (c *child) ask() {
	c.asked = true
	c.cancel()
	if c.stdin != nil {
		c.stdin.Close()
	}
}

// end returns when a child that was asked to stop has ended. It kills the child when ctx ends.
func (b *Branches) end(ctx context.Context, c *child) {
	select {
	case <-c.exited:
		return
	case <-ctx.Done():
	}
	b.mu.Lock()
	process := c.process
	b.mu.Unlock()
	if process != nil {
		_ = process.Kill() // it may have ended meanwhile
	}
	<-c.exited
}

// lastLine passes on a child's standard error, and remembers its last line.
type lastLine struct {
	to     io.Writer
	prefix string

	mu   sync.Mutex
	part []byte
	last string
}

const maxLine = 4 << 10

// Write implements io.Writer.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range bytes.SplitAfter(p, []byte("\n")) {
		l.part = append(l.part, part[:min(len(part), maxLine-min(len(l.part), maxLine))]...)
		if bytes.HasSuffix(part, []byte("\n")) {
			l.last = strings.TrimSpace(string(l.part))
			l.part = l.part[:0]
			fmt.Fprintf(l.to, "%s%s\n", l.prefix, l.last)
		}
	}
	return len(p), nil
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// thisProgram runs the executable of this process, which Linux still has when a newer build, for
// example, has replaced the file.
func thisProgram(args []string) *exec.Cmd {
	const running = "/proc/self/exe"
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	onDisk, _ := os.Stat(path)
	if of, err := os.Stat(running); err == nil && !os.SameFile(of, onDisk) {
		path = running
	}
	return exec.Command(path, args...)
}

func newToken() string { return rand.Text() }
