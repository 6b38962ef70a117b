package firm

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	kills    = flag.Int("kills", 50, "how `often` TestKill kills the program, over all directories")
	killSeed = flag.Uint64("kill-seed", 0, "`seed` of the moments of TestKill; 0 is a new one each time")
)

const (
	// killedDirectories are used at the same time.
	killedDirectories = 2
	// resultsBehind is how long a result may take until no kill loses it.
	resultsBehind = time.Second
)

// TestKill kills the program at random moments while objects are created, applied
// and deleted, files imported, pods scheduled and configurations changed; also while
// it starts. Each restart is clean, and has everything that was acknowledged.
func TestKill(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for d := range killedDirectories {
		t.Run(fmt.Sprintf("directory %d", d), func(t *testing.T) {
			t.Parallel()
			t.Logf("again with -kill-seed %d", seed)
			random := rand.New(rand.NewPCG(seed, uint64(d)))
			killAndRestart(t, random, *kills/killedDirectories)
		})
	}
}

func killAndRestart(t *testing.T, random *rand.Rand, times int) {
	h := newHome(t)
	l := newLedger()
	var slowest, slowestStop time.Duration
	for turn := range times {
		if turn%6 == 3 {
			killWhileItStarts(t, h, random)
		} else {
			p := start(t, h)
			slowest = max(slowest, p.started)
			l.check(t, p)
			writeUntilKilled(t, p, l, time.Duration(random.Int64N(int64(2500*time.Millisecond))))
			checkStderr(t, p)
		}
		if t.Failed() {
			t.Fatalf("at kill %d of %d", turn+1, times)
		}
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
	t.Logf("%d kills; ready after at most %v, stopped after %v; %s", times, slowest, slowestStop, l)
	l.checkEnough(t, times)
}

// killWhileItStarts kills before or shortly after the ready line.
func killWhileItStarts(t *testing.T, h home, random *rand.Rand) {
	t.Helper()
	p := launch(t, h)
	select {
	case <-time.After(time.Duration(random.Int64N(int64(2 * time.Second)))):
	case <-p.exited:
		t.Fatalf("it does not start: %v\n%s", p.exit, p.stderr)
	}
	p.kill()
	checkStderr(t, p)
}

// writeUntilKilled lets the writers write for some time, kills the program, and
// returns when the writers have noticed.
func writeUntilKilled(t *testing.T, p *program, l *ledger, after time.Duration) {
	t.Helper()
	done := l.write(t, p)
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

// checkStderr: a kill is no reason to say anything at the next start, unless it hit
// the write of a block of results.
func checkStderr(t *testing.T, p *program) {
	t.Helper()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.Contains(line, "results is damaged and was set aside") {
			t.Errorf("it said: %s", line)
		}
	}
}

// checkNothingHalf looks for what only a write that was cut off leaves, in a
// directory that was used again since.
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
	// A start removes what the one before left, but for a kill between making it
	// and noting it.
	if len(left) > 2 {
		t.Errorf("left behind: %v", left)
	}
}
