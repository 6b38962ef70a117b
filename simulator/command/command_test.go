package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/host/process"
)

// execute runs a command line.
func execute(ctx context.Context, args ...string) error {
	c := program(nil)
	c.SetArgs(args)
	return c.ExecuteContext(ctx)
}

// TestUnknownCommands checks that a command with a typing error is refused, in one line that names the nearest one. Without a name, the
// program serves.
func TestUnknownCommands(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"whatifs"}, `unknown command "whatifs"; did you mean whatif? (see --help)`},
		{[]string{"nothing-like-it"}, `unknown command "nothing-like-it" (see --help)`},
		{[]string{"version", "now"}, `unknown argument "now" (see --help)`},
		{[]string{"version", "--now"}, `unknown flag: --now (see --help)`},
		{[]string{"run", "--now"}, `unknown flag: --now (see --help)`},
		{[]string{"lesson", "chek"}, `unknown command "chek"; did you mean check? (see --help)`},
		{[]string{"lesson", "check"}, "name a directory of lessons, or a file of one (see --help)"},
	} {
		err := execute(t.Context(), test.args...)
		if err == nil || err.Error() != test.want {
			t.Errorf("%v: %v, want %s", test.args, err, test.want)
		}
		if exit, is := errors.AsType[*exitError](err); test.args[0] == "run" && (!is || exit.code != exitWrongFile) {
			t.Errorf("%v: another exit code than that of a wrong file", test.args)
		}
	}
}

// TestHeapOf checks that runs in memory have the heap for runs, and other commands that of a server.
func TestHeapOf(t *testing.T) {
	for _, test := range []struct {
		args []string
		want process.Sizes
	}{
		{[]string{"file.yaml"}, process.Runs},
		{[]string{"file.yaml", "--engine", "memory"}, process.Runs},
		{[]string{"file.yaml", "--engine", "full"}, process.Server},
		{[]string{"--engine=full", "file.yaml"}, process.Server},
	} {
		r := newRunning("run FILE…", "Runs.", nil)
		if err := r.flags.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		if got := r.flags.sizes(); got != test.want {
			t.Errorf("%v has the heap %+v, want %+v", test.args, got, test.want)
		}
	}
	if newFlags("bench", "Measures.").sizes() != process.Server {
		t.Error("other commands have another heap than a server")
	}
}

// TestBenchOfOpenbRefusesOtherFlags checks that the bench ignores no flag: the production cluster has its own size, and runs in
// programs of its own, which it cannot profile.
func TestBenchOfOpenbRefusesOtherFlags(t *testing.T) {
	for _, flag := range []string{"--table", "--nodes=5", "--cpuprofile=cpu.pprof", "--memprofile=memory.pprof"} {
		err := execute(t.Context(), "bench", "--openb", t.TempDir(), flag)
		name, _, _ := strings.Cut(flag, "=")
		if err == nil || !strings.Contains(err.Error(), "--openb and "+name+" exclude each other") {
			t.Errorf("with %s: %v", flag, err)
		}
	}
}

// TestBranchesGetTheFlagsThatHoldForThem: they listen elsewhere, and have a directory of their own.
func TestBranchesGetTheFlagsThatHoldForThem(t *testing.T) {
	flags := newFlags("simulator", "Serves a cluster.")
	flags.serve(&app.Options{})
	if err := flags.Parse([]string{"--kueue", "--listen", "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if got := flags.ofBranches(); !slices.Equal(got, []string{"--kueue=on"}) {
		t.Errorf("%q", got)
	}
}
