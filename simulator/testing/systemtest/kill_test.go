package systemtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

var (
	kills    = flag.Int("kills", 50, "how `often` TestKill kills the program, over all directories")
	killSeed = flag.Uint64("kill-seed", 1, "`seed` of the moments of TestKill; 0 draws a new one")
)

const (
	// killedDirectories is the number of data directories, which are tested in parallel.
	killedDirectories = 2
	// A kill may lose a result that is younger than resultsBehind, or after which fewer than
	// writesBehind writes were seen: the first of those may have started before the result
	// came, and writes take longer on a busy machine. Writes are at least writesApart from
	// each other.
	resultsBehind = time.Second
	writesBehind  = 2
	writesApart   = 250 * time.Millisecond
)

// killTurns says what each kill interrupts.
const (
	writing   = 'w'
	starting  = 's'
	resetting = 'r'
	replaying = 'p'
	killTurns = "wwwswwrwwswp"
)

// TestKill kills the program at random moments: while clients create, apply and delete objects,
// import files, schedule pods and change the configuration, and while the program starts, resets or
// replays a recording. After each restart, every acknowledged change exists, unless a reset removed
// all of them, and the program logs nothing.
func TestKill(t *testing.T) {
	clustertest.Slow(t)
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	recording := aRecording(t)
	for d := range killedDirectories {
		t.Run(fmt.Sprintf("directory %d", d), func(t *testing.T) {
			t.Parallel()
			t.Logf("again with -kill-seed %d", seed)
			random := rand.New(rand.NewPCG(seed, uint64(d)))
			killAndRestart(t, random, *kills/killedDirectories, recording)
		})
	}
}

func killAndRestart(t *testing.T, random *rand.Rand, times int, recording []byte) {
	h := newHome(t)
	l := newLedger()
	var slowest, slowestStop time.Duration
	turn := 0
	// kill ends one start of the program by a kill in the middle of what.
	kill := func(what byte) {
		t.Helper()
		defer func() { turn++ }()
		if what == starting {
			killWhileItStarts(t, h, random)
		} else {
			p := start(t, h)
			slowest = max(slowest, p.started)
			l.check(t, p)
			// The first round kills after the operation, later ones at a random moment. The
			// operation takes about as long as a start.
			after := patience
			if turn >= len(killTurns) {
				after = upTo(random, p.started)
			}
			switch what {
			case resetting:
				killWhile(t, p, after, func(ctx context.Context) error { return l.reset(ctx, p) })
			case replaying:
				killWhile(t, p, after, func(ctx context.Context) error { return l.replay(ctx, p, recording) })
			default:
				// On a busy machine it also takes longer until results are on disk.
				writeUntilKilled(t, h, p, l, upTo(random, max(2*time.Second, p.started/3)))
			}
			checkStderr(t, p)
		}
		if t.Failed() {
			t.Fatalf("at kill %d", turn+1)
		}
	}
	for turn < times {
		kill(killTurns[turn%len(killTurns)])
	}
	// On a busy machine little may happen between kills. More kills make up for that.
	for turn < 2*times && l.tooFew(times) != "" {
		kill(writing)
	}
	p := start(t, h)
	l.check(t, p)
	l.checkDeletionsEnd(t, p)
	p.schedules(t, "after-the-kills")
	begin := time.Now()
	p.stop(t)
	slowestStop = max(slowestStop, time.Since(begin))
	checkStderr(t, p)
	checkNothingHalf(t, h)
	t.Logf("%d kills; ready after at most %v, stopped after %v; %s", turn, slowest, slowestStop, l)
	if few := l.tooFew(times); few != "" {
		t.Error(few)
	}
}

// killWhileItStarts kills before or shortly after the ready line.
func killWhileItStarts(t *testing.T, h home, random *rand.Rand) {
	t.Helper()
	p := launch(t, h)
	select {
	case <-time.After(upTo(random, 2*time.Second)):
	case <-p.exited:
		t.Fatalf("it does not start: %v\n%s", p.exit, p.stderr)
	}
	p.kill()
	checkStderr(t, p)
}

// upTo returns a random duration of at most most.
func upTo(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(most)))
}

// writeUntilKilled kills the program after a while of writing, and waits until the writers have
// noticed.
func writeUntilKilled(t *testing.T, h home, p *program, l *ledger, after time.Duration) {
	t.Helper()
	done := l.write(t, h, p)
	select {
	case <-time.After(after):
	case <-p.exited:
		t.Fatalf("it ended by itself: %v\n%s", p.exit, p.stderr)
	}
	killed := time.Now()
	p.kill()
	done()
	l.killed(killed)
}

// killWhile kills the program during the operation that ask starts, or right after it.
func killWhile(t *testing.T, p *program, after time.Duration, ask func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	var err error
	go func() {
		defer close(asked)
		err = ask(ctx)
	}()
	select {
	case <-time.After(after):
	case <-asked:
	case <-p.exited:
		t.Errorf("it ended by itself: %v\n%s", p.exit, p.stderr)
	}
	cancel()
	p.kill()
	if <-asked; err != nil {
		t.Error(err)
	}
}

// startRecorder starts to record a program into a file, and waits until the recording has begun. end ends it.
func startRecorder(t *testing.T, p *program, path string) (end func()) {
	t.Helper()
	recorder := exec.Command(clustertest.Program(), "record", "--kubeconfig", p.kubeconfig, "--output", path, "--qps", "100")
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = recorder.Process.Kill() })
	eventually(t, "the recording has begun", func() error {
		at, err := os.Stat(path)
		if err == nil && at.Size() == 0 {
			err = errors.New("it is empty")
		}
		return err
	})
	return func() {
		if err := recorder.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := recorder.Wait(); err != nil {
			t.Fatalf("recording: %v", err)
		}
	}
}

// aRecording returns a recording of a few nodes and pods.
func aRecording(t *testing.T) []byte {
	t.Helper()
	h := passing(t)
	p := start(t, h)
	p.createNodes(t, "recorded", 3)
	path := filepath.Join(h.tmp, "kill.rec")
	end := startRecorder(t, p, path)
	p.createPods(t, 20)
	eventually(t, "all are bound", func() error {
		pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are not", len(pods.Items))
		}
		return err
	})
	end()
	p.stop(t)
	recording, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return recording
}

// checkStderr checks that the program logged nothing after a kill, except that the kill may have
// interrupted the write of a block of results, or a reset.
func checkStderr(t *testing.T, p *program) {
	t.Helper()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.Contains(line, "file of results was cut off") && !strings.Contains(line, "Finishing a reset") {
			t.Errorf("it said: %s", line)
		}
	}
}

// checkNothingHalf looks for the remains of interrupted writes, in a directory that was used again
// after the last kill.
func checkNothingHalf(t *testing.T, h home) {
	t.Helper()
	revisions, err := os.ReadDir(filepath.Join(h.data, "scheduler-configuration"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range revisions {
		if filepath.Ext(file.Name()) == ".damaged" {
			t.Errorf("a revision is %s", file.Name())
		}
	}
	left, err := filepath.Glob(filepath.Join(h.tmp, "*"))
	if err != nil {
		t.Fatal(err)
	}
	// A start removes the previous start's directories. It misses one if a kill came after the
	// directory was made and before it was noted.
	if len(left) > 2 {
		t.Errorf("left behind: %v", left)
	}
}
