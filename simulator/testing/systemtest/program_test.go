package systemtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(clustertest.RunWithProgram(m))
}

// patience bounds each wait, generously, for busy machines.
const patience = 2 * time.Minute

// stopTimeout is when the program gives up stopping in order. On a very busy machine it may.
const stopTimeout = 4500 * time.Millisecond

// home holds the directories of a program. It outlives the program.
type home struct {
	// data is the data directory; empty to start the program without one.
	data, tmp string
	// environment is added to that of the test.
	environment []string
}

// measured returns the home for a program that collects garbage whenever its heap has doubled, so that the memory of the process
// follows what the program holds. Otherwise a busy program lets garbage grow up to a fixed size.
func (h home) measured() home {
	h.environment = append(h.environment, "GOGC=100")
	return h
}

// passing returns a home without a data directory, so that the program does not wait for the disk.
func passing(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	h.data = ""
	return h
}

func newHome(t *testing.T) home {
	t.Helper()
	// The path is short, because a socket's path must be.
	dir, err := os.MkdirTemp("", "systest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	h := home{data: filepath.Join(dir, "data"), tmp: filepath.Join(dir, "tmp")}
	if err := os.Mkdir(h.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// program is the simulator as a process.
type program struct {
	url, kubeconfig string
	// token is the one in the ready line, if any. Requests do not send it on their own.
	token  string
	config *rest.Config
	client kubernetes.Interface
	// started is the time from launch to the ready line.
	started time.Duration

	cmd    *exec.Cmd
	out    io.Reader
	stderr *lockedBuffer
	// exited is closed when the process has ended; exit is its error.
	exited chan struct{}
	exit   error
}

// launch starts a process and does not wait for it to be ready.
func launch(t *testing.T, h home, flags ...string) *program {
	t.Helper()
	return launchAs(t, h, func(args []string) *exec.Cmd { return exec.Command(clustertest.Program(), args...) }, flags...)
}

// launchAs is launch with another command, which gets the program's arguments.
func launchAs(t *testing.T, h home, command func(args []string) *exec.Cmd, flags ...string) *program {
	t.Helper()
	flags = append([]string{"--listen", "127.0.0.1:0"}, flags...)
	if h.data != "" {
		flags = append(flags, "--data-dir", h.data)
	}
	p := &program{cmd: command(flags), stderr: &lockedBuffer{}, exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "TMPDIR="+h.tmp)
	p.cmd.Env = append(p.cmd.Env, h.environment...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr, p.out = in, p.stderr, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go func() {
		defer close(p.exited)
		p.exit = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		out.Close()
	})
	return p
}

// start returns when the program is ready.
func start(t *testing.T, h home, flags ...string) *program {
	t.Helper()
	p := launch(t, h, flags...)
	if err := p.waitReady(); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	return p
}

// waitReady reads the ready line.
func (p *program) waitReady() error {
	begin := time.Now()
	line, err := bufio.NewReader(p.out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("waiting for the ready line: %w", err)
	}
	p.started = time.Since(begin)
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "ready: ")
	address, kubeconfig, both := strings.Cut(rest, " kubeconfig ")
	u, err := url.Parse(address)
	if !ok || !both || err != nil {
		return fmt.Errorf("the ready line is %q", line)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit
	if p.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	p.token = u.Query().Get("token")
	u.Path, u.RawQuery = "", ""
	p.url, p.kubeconfig, p.config = u.String(), kubeconfig, config
	return nil
}

// kill sends SIGKILL and waits for the process.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop ends the process with SIGTERM and checks its exit code.
func (p *program) stop(t *testing.T) {
	t.Helper()
	begin := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatal("it does not stop")
	}
	if p.exit != nil && time.Since(begin) < stopTimeout {
		t.Errorf("it ended with %v\n%s", p.exit, p.stderr)
	}
}

// alive checks that the process has not ended.
func (p *program) alive(t *testing.T) {
	t.Helper()
	select {
	case <-p.exited:
		t.Fatalf("it ended: %v\n%s", p.exit, p.stderr)
	default:
	}
}

// answer is the response to an HTTP request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// request sends a request to a path of the program. change may modify it first.
func (p *program) request(method, path string, body io.Reader, change func(*http.Request)) (answer, error) {
	r, err := http.NewRequest(method, p.url+path, body)
	if err != nil {
		return answer{}, err
	}
	if change != nil {
		change(r)
	}
	resp, err := direct.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, data}, err
}

// direct follows no redirections and keeps no idle connections, as programs come and go.
var direct = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       patience,
}

// get decodes the JSON at a path.
func (p *program) get(path string, into any) error {
	a, err := p.request(http.MethodGet, path, nil, nil)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		return fmt.Errorf("GET %s: %d: %s", path, a.status, a.body)
	}
	return json.Unmarshal(a.body, into)
}

// resident returns the anonymous memory of the process in bytes. It leaves out pages of files, which
// the system can take back. It skips the test on systems that do not report it.
func (p *program) resident(t *testing.T) int64 {
	t.Helper()
	n, err := p.anonymousMemory()
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system does not say how much memory a process has")
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// anonymousMemory may be called from any goroutine.
func (p *program) anonymousMemory() (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			kB, err := strconv.ParseInt(fields[1], 10, 64)
			return kB << 10, err
		}
	}
	return 0, errors.New("the process has exited")
}

// peak samples the memory of the process until stop is called, which returns by how much it rose
// at most. The home of the program must be measured.
func (p *program) peak(t *testing.T) (stop func() (growth int64)) {
	t.Helper()
	first := p.resident(t)
	most := first
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if now, err := p.anonymousMemory(); err == nil {
					most = max(most, now)
				}
			}
		}
	}()
	stop = sync.OnceValue(func() int64 {
		close(done)
		<-ended
		return most - first
	})
	t.Cleanup(func() { stop() })
	return stop
}

// lockedBuffer takes the output of a process while the test reads it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// eventually waits until condition returns nil. Unlike with clustertest.Eventually, an error
// says what is still missing.
func eventually(t *testing.T, what string, condition func() error) {
	t.Helper()
	var last error
	defer func() {
		if last != nil {
			t.Logf("the last attempt: %v", last)
		}
	}()
	clustertest.EventuallyWithin(t, patience, what, func(context.Context) (bool, error) {
		last = condition()
		return last == nil, nil
	})
}
