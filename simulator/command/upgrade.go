package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/standalone"
	"kube-scheduler-simulator/simulator/questions/upgrade"
	"kube-scheduler-simulator/simulator/questions/why"
)

// upgrades compares the decisions of two versions of Kubernetes.
func upgrades(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("upgrade --from VERSION --to VERSION [flags]",
		"Says what an upgrade of Kubernetes does to the decisions about a cluster's pods: the schedulers of both versions decide about each pod in the same state. "+
			"--recording without --at asks each recorded decision again, in the state of its moment. "+
			"Exit code: 0, 1 if there is a decision that --fail-on names, 2 if it could not be told."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	f := a.flags
	var q upgrade.Question
	f.StringVar(&q.From, "from", "", "`version` before the upgrade: "+strings.Join(versions.Minors(), ", ")+" (default: that of the cluster, if it tells)")
	f.StringVar(&q.To, "to", versions.Own, "`version` after it")
	f.StringVar(&a.schedulerConfig, "scheduler-config", "", "`file` with the KubeSchedulerConfiguration for both versions (default: the one of the cluster, or the default of each version)")
	failOn := f.StringSlice("fail-on", nil, "exit with code 1 if there is a decision of one of these `classes`: "+strings.Join(classNames(), ", ")+", or any for all of them but same and tie")
	output := f.StringP("output", "o", "text", "`format`: text, markdown, json or yaml")
	fromGates := f.StringToString("from-gates", nil, "feature `gates` of the version before the upgrade, as A=true,B=false")
	toGates := f.StringToString("to-gates", nil, "feature `gates` of the version after it")
	a.clusters()
	return f.takes(func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown argument %q (see --help)", args[0])
		}
		failing, err := failingClasses(*failOn)
		if err == nil {
			q.FromGates, err = gates("from-gates", *fromGates)
		}
		if err == nil {
			q.ToGates, err = gates("to-gates", *toGates)
		}
		if err == nil {
			err = a.upgrade(ctx, q, *output, failing)
		}
		if none := (*failedOnError)(nil); errors.As(err, &none) {
			return &exitError{code: kubectl.No, err: err}
		}
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		return nil
	})
}

func classNames() (names []string) {
	for _, c := range upgrade.Classes() {
		names = append(names, string(c))
	}
	return names
}

func failingClasses(names []string) (out []upgrade.Class, err error) {
	for _, name := range names {
		switch {
		case name == "any":
			out = append(out, upgrade.Moved, upgrade.Lost, upgrade.Gained, upgrade.Reason)
		case slices.Contains(classNames(), name):
			out = append(out, upgrade.Class(name))
		default:
			return nil, fmt.Errorf("--fail-on: %q is none of %s and any", name, strings.Join(classNames(), ", "))
		}
	}
	return out, nil
}

func gates(flag string, texts map[string]string) (map[string]bool, error) {
	out := map[string]bool{}
	for name, text := range texts {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %s=%s: want true or false", flag, name, text)
		}
		out[name] = on
	}
	return out, nil
}

// failedOnError says which decisions --fail-on does not want.
type failedOnError struct{ found []string }

func (e *failedOnError) Error() string { return "--fail-on: " + strings.Join(e.found, ", ") }

// upgrader answers what an upgrade does.
type upgrader interface {
	Upgrade(ctx context.Context, q upgrade.Question, progress func(upgrade.Progress)) (*upgrade.Answer, error)
}

func (a *asking) upgrade(ctx context.Context, q upgrade.Question, output string, failing []upgrade.Class) error {
	printers := map[string]func(io.Writer, *upgrade.Answer) error{
		"text": upgrade.Print, "markdown": upgrade.Markdown,
		"json": func(w io.Writer, answer *upgrade.Answer) error { return why.WriteDocument(w, answer, false) },
		"yaml": func(w io.Writer, answer *upgrade.Answer) error { return why.WriteDocument(w, answer, true) },
	}
	print := printers[output]
	if print == nil {
		return fmt.Errorf("--output must be text, markdown, json or yaml, not %q", output)
	}
	if a.schedulerConfig != "" {
		document, err := os.ReadFile(a.schedulerConfig)
		if err != nil {
			return fmt.Errorf("reading the scheduler configuration: %w", err)
		}
		q.Configuration = string(document)
	}
	target, err := a.upgrader(ctx)
	if err != nil {
		return err
	}
	bar := &progressBar{w: terminal(os.Stderr), begun: time.Now()}
	answer, err := target.Upgrade(ctx, q, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if err := print(os.Stdout, answer); err != nil {
		return err
	}
	failed := &failedOnError{}
	for _, class := range upgrade.Classes() {
		if n := *answer.Of(class); n > 0 && slices.Contains(failing, class) {
			failed.found = append(failed.found, fmt.Sprintf("%d %s", n, class))
		}
	}
	if len(failed.found) > 0 {
		return failed
	}
	return nil
}

func (a *asking) upgrader(ctx context.Context) (upgrader, error) {
	if a.recording != "" && a.at == "" {
		if a.flags.Changed("server") || a.state != "" || a.kubeconfig != "" {
			return nil, errors.New("--recording excludes --server, --state and --kubeconfig")
		}
		return standalone.History{File: a.recording}, nil
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	asked, ok := target.(upgrader)
	if !ok {
		return nil, fmt.Errorf("%s compares no versions", target.Name())
	}
	return asked, nil
}

// progressBar shows how far a comparison is, on a terminal.
type progressBar struct {
	w           io.Writer // nil without a terminal
	begun, last time.Time
}

const barWidth = 30

func (b *progressBar) show(p upgrade.Progress) {
	if b.w == nil || time.Since(b.last) < 200*time.Millisecond {
		return
	}
	b.last = time.Now()
	what, done, all := "decisions", p.Decided, p.Decisions
	if p.Causes > 0 {
		what, done, all = "causes explained", p.Explained, p.Causes
	}
	filled := barWidth * done / max(all, 1)
	fmt.Fprintf(b.w, "\r[%s%s] %d of %d %s, %.0f s\x1b[K", strings.Repeat("=", filled), strings.Repeat(" ", barWidth-filled), done, all, what, time.Since(b.begun).Seconds())
}

func (b *progressBar) end() {
	if b.w != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
