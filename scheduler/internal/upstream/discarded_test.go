package upstream

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// lines collects what is logged.
type lines struct {
	mu  sync.Mutex
	all []string
	// one is filled when a line was logged.
	one chan struct{}
}

func logged(t *testing.T) (context.Context, *lines) {
	l := &lines{one: make(chan struct{}, 1000)}
	return klog.NewContext(t.Context(), funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, args)
		l.one <- struct{}{}
	}, funcr.Options{})), l
}

func (l *lines) with(part string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.all {
		if strings.Contains(line, part) {
			out = append(out, line)
		}
	}
	return out
}

func TestTheDebuggerDumpsTheQueueThatIsUsed(t *testing.T) {
	ctx, log := logged(t)
	sched, err := Build(ctx, parts(configurationWith(t), nil), passing{}, &Gate{})
	if err != nil {
		t.Fatal(err)
	}
	sched.SchedulingQueue.Add(ctx, st.MakePod().Name("queued").UID("queued").Namespace("default").SchedulerName(v1.DefaultSchedulerName).Obj())
	timeout := time.After(10 * time.Second)
	// The debugger of the discarded queue ends as soon as its goroutine runs.
	for tick := time.Tick(time.Millisecond); debuggers() > 1; {
		select {
		case <-tick:
		case <-timeout:
			t.Fatalf("%d debuggers listen", debuggers())
		}
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	for len(log.with("Dump of scheduling queue")) == 0 {
		select {
		case <-log.one:
		case <-timeout:
			t.Fatal("the queue is not dumped")
		}
	}
	for _, dump := range log.with("Dump of scheduling queue") {
		if !strings.Contains(dump, "queued") {
			t.Errorf("the dump of another queue: %s", dump)
		}
	}
}

// debuggers counts the goroutines that wait for the signal to dump a queue.
func debuggers() int {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return strings.Count(stacks.String(), "created by k8s.io/kubernetes/pkg/scheduler/backend/cache/debugger.(*CacheDebugger).ListenForSignal")
}

func TestPlaceholdersDoNotLogThatPluginsAreMissing(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	const missing = "GangScheduling plugin is not set"
	for _, tc := range []struct {
		plugins []string
		want    int
	}{{[]string{names.GangScheduling}, 0}, {nil, 1}} {
		ctx, log := logged(t)
		if _, err := Build(ctx, parts(configurationWith(t, tc.plugins...), nil), passing{}, &Gate{}); err != nil {
			t.Fatal(err)
		}
		if got := log.with(missing); len(got) != tc.want {
			t.Errorf("with the plugins %q: %q is logged %d times, want %d", tc.plugins, missing, len(got), tc.want)
		}
	}
}
