package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/decide"
	"kube-scheduler-simulator/scheduler/versions/proxy"
	"kube-scheduler-simulator/scheduler/versions/wire"
	"kube-scheduler-simulator/scheduler/whatif"
)

// TestVersionsAgreeWithHypotheses runs random clusters and makes every decision twice more: hypothetically, with our recorder, and as the
// program for other versions of Kubernetes does, which here is compiled with our own version. All answers about nodes must be the same.
func TestVersionsAgreeWithHypotheses(t *testing.T) {
	compared, proxied := comparedDecisions{}, comparedDecisions{}
	rounds := fewer(*hypotheses, 2*schedulertest.Themes)
	for n := range rounds {
		cluster := schedulertest.Generate(*seed + 5000 + uint64(n))
		t.Run(cluster.Name, func(t *testing.T) {
			setGates(t, cluster.Gates)
			program := serveVersion(t)
			started := program.ask(wire.Request{Begin: &wire.Begin{Configuration: cluster.Configuration}})
			if started.Failed != nil && started.Failed.Kind == wire.UnknownPlugins {
				t.Skip("its plugins are not Kubernetes' own")
			}
			if started.Failed != nil {
				t.Fatal(started.Failed.Message)
			}
			ops, _ := runFollowed(t, cluster)
			compareVersion(t, cluster, ops, program, compared, proxied)
		})
	}
	t.Logf("compared %v, by proxies %v", compared, proxied)
	for _, kind := range []string{"all", "scored", "unschedulable", "preempting", "nominated", "several rejections", "rejected in PreFilter", "several best"} {
		if compared[kind] == 0 || proxied[kind] == 0 {
			t.Errorf("no decision was %s", kind)
		}
	}
}

// serves is set in the environment of this test's program where it stands in for the program of our own version.
const serves = "SIMULATOR_TEST_SERVES_VERSION"

// ownVersion returns what starts this test's program as the program of our own version.
func ownVersion(t *testing.T, gates map[string]bool) *proxy.Options {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "scheduler-"+versions.Own)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(serves, "1")
	return &proxy.Options{Minor: versions.Own, Dir: dir, Gates: gates, Every: true}
}

// serving returns what the program reads. "dying" makes it die soon after it has begun.
func serving(how string) io.Reader {
	if how == "dying" {
		return &dying{2000}
	}
	return os.Stdin
}

type dying struct{ left int }

func (d *dying) Read(p []byte) (int, error) {
	if d.left <= 0 {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	}
	n, err := os.Stdin.Read(p[:min(len(p), d.left)])
	d.left -= n
	return n, err
}

// servedVersion is decide.Serve in this process.
type servedVersion struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
}

func serveVersion(t *testing.T) *servedVersion {
	requests, in := newPipe(t)
	out, answers := newPipe(t)
	done := make(chan error, 1)
	go func() {
		done <- decide.Serve(requests, answers)
		_ = answers.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		<-done
	})
	return &servedVersion{t, json.NewEncoder(in), json.NewDecoder(out)}
}

// newPipe returns a pipe of the system, which has a buffer.
func newPipe(t *testing.T) (*os.File, *os.File) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	return out, in
}

func (p *servedVersion) tell(r wire.Request) {
	p.t.Helper()
	if err := p.in.Encode(r); err != nil {
		p.t.Fatal(err)
	}
}

// ask returns the answer to a request. The version knows all objects.
func (p *servedVersion) ask(r wire.Request) wire.Answer {
	p.t.Helper()
	p.tell(r)
	var answer wire.Answer
	if err := p.out.Decode(&answer); err != nil {
		p.t.Fatal(err)
	}
	if answer.Object != nil {
		p.t.Fatalf("not known: %+v", answer.Object)
	}
	return answer
}

func (p *servedVersion) decide(pod *v1.Pod) *wire.Decision {
	p.t.Helper()
	answer := p.ask(wire.Request{Decide: &wire.Decide{Pod: withKind(p.t, pod), Full: true, Every: true}})
	if answer.Failed != nil {
		p.t.Fatalf("deciding about %s: %s", pod.Name, answer.Failed.Message)
	}
	return answer.Decision
}

func (p *servedVersion) apply(op feed.Operation) {
	switch {
	case op.Set != nil:
		p.tell(wire.Request{Set: withKind(p.t, op.Set)})
	case op.Delete != nil:
		apiVersion, kind := op.Delete.GVK.ToAPIVersionAndKind()
		p.tell(wire.Request{Delete: &wire.Reference{APIVersion: apiVersion, Kind: kind, Namespace: op.Delete.Namespace, Name: op.Delete.Name}})
	case op.Allocate != nil:
		p.tell(wire.Request{Allocate: withKind(p.t, op.Allocate)})
	case op.Release != "":
		p.tell(wire.Request{Release: string(op.Release)})
	}
}

// withKind returns an object as JSON with its kind, which informers leave out.
func withKind(t *testing.T, o runtime.Object) json.RawMessage {
	t.Helper()
	if kinds, _, err := scheme.Scheme.ObjectKinds(o); err == nil {
		o = o.DeepCopyObject()
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func compareVersion(t *testing.T, cluster *schedulertest.Cluster, ops []feed.Operation, program *servedVersion, compared, proxied comparedDecisions) {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	replica, err := whatif.NewReplica(t.Context(), c.Internal, whatif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	proxies, err := whatif.NewReplica(t.Context(), c.Internal, whatif.Options{Version: ownVersion(t, cluster.Gates)})
	if err != nil {
		t.Fatal(err)
	}
	defer proxies.Close()
	for _, op := range ops {
		if op.Mark == nil {
			if err := errors.Join(replica.Apply(op), proxies.Apply(op)); err != nil {
				t.Fatal(err)
			}
			program.apply(op)
			continue
		}
		if op.Mark.Spec.SchedulingGroup != nil {
			continue
		}
		var asked, repeated *result.Cycle
		err := replica.Try(t.Context(), func(ctx context.Context, trial *whatif.Trial) (err error) {
			asked, err = trial.Decide(ctx, op.Mark, "")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = proxies.Try(t.Context(), func(ctx context.Context, trial *whatif.Trial) (err error) {
			repeated, err = trial.Decide(ctx, op.Mark, "")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := program.decide(op.Mark)
		compareDecision(t, asked, got, compared)
		compareDecision(t, repeated, got, proxied)
		said := func(c *result.Cycle) []string {
			return []string{string(c.Outcome), c.SelectedNode, c.NominatedNode, c.Message}
		}
		if diff := cmp.Diff(said(asked), said(repeated)); diff != "" {
			t.Errorf("%s: the recorder and the proxies disagree: %s", op.Mark.Name, diff)
		}
	}
}

func compareDecision(t *testing.T, asked *result.Cycle, got *wire.Decision, compared comparedDecisions) {
	t.Helper()
	compared["all"]++
	fail := func(format string, args ...any) {
		t.Helper()
		data, _ := json.Marshal(got)
		t.Errorf("%s: %s\nrecorder: %s\nprogram: %s", asked.Pod.Name, fmt.Sprintf(format, args...), inShort(asked), data)
	}
	if got.Nodes != asked.Nodes.Total {
		fail("nodes")
	}
	if (asked.SelectedNode == "") != (len(got.Best) == 0) {
		fail("a node was selected in one of them")
		return
	}
	if got.Unscored == wire.Nominated {
		compared["nominated"]++
		if got.Best[0] != asked.SelectedNode {
			fail("the nominated node")
		}
		return
	}
	compareVersionVerdicts(fail, asked, got, compared)
	compareVersionScores(fail, asked, got, compared)
	if asked.SelectedNode != "" {
		return
	}
	compared["unschedulable"]++
	if got.Preemption != nil && len(got.Preemption.Candidates) > 0 {
		compared["preempting"]++
	}
	if diff := cmp.Diff(recordedCandidates(asked), versionCandidates(got)); diff != "" {
		fail("candidates: %s", diff)
	}
	if asked.Preemption == nil && got.Status != nil && asked.Outcome == result.Unschedulable && strings.Join(got.Status.Reasons, ", ") != asked.Message {
		fail("messages:\n%s\n%s", asked.Message, got.Status.Reasons)
	}
}

func compareVersionVerdicts(fail func(string, ...any), asked *result.Cycle, got *wire.Decision, compared comparedDecisions) {
	if got.PreFilter != nil {
		compared["rejected in PreFilter"]++
		found := slices.ContainsFunc(asked.PreFilter, func(p result.PluginResult) bool {
			return p.Plugin == got.PreFilter.Plugin && p.Status == got.PreFilter.Code && cmp.Equal(sortedReasons(p.Reasons), got.PreFilter.Reasons)
		})
		if !found {
			fail("PreFilter")
		}
		return
	}
	if asked.Filter == nil {
		if got.Feasible > 0 || len(got.Rejections) > 0 {
			fail("the recorder saw no Filter")
		}
		return
	}
	if got.Feasible != asked.Nodes.Feasible {
		fail("feasible")
	}
	want, have := map[string][]string{}, map[string][]string{}
	for _, r := range got.Rejections {
		for _, node := range r.Nodes {
			have[node] = append(have[node], fmt.Sprint(r.Plugin, r.Code, sortedReasons(r.Reasons)))
			slices.Sort(have[node])
		}
	}
	for i, node := range asked.Filter.Nodes.All() {
		// A nominated node is tried first, even if PreFilter leaves it out.
		if got.Restricted != nil && !slices.Contains(got.Restricted, node) && have[node] == nil {
			continue
		}
		v := asked.Filter.Verdict(i)
		for _, r := range v.Rejections() {
			want[node] = append(want[node], fmt.Sprint(r.Plugin, r.Status, sortedReasons(r.Reasons)))
		}
		if len(want[node]) > 1 {
			compared["several rejections"]++
		}
		slices.Sort(want[node])
	}
	if diff := cmp.Diff(want, have); diff != "" {
		fail("verdicts: %s", diff)
	}
}

func sortedReasons(reasons []string) []string { return slices.Sorted(slices.Values(reasons)) }

type scoreRow struct {
	Raw, Normalized map[string]int64
	Total           int64
}

func compareVersionScores(fail func(string, ...any), asked *result.Cycle, got *wire.Decision, compared comparedDecisions) {
	if got.Scores == nil {
		if asked.Score != nil && len(asked.Score.Plugins) > 0 {
			fail("no scores")
		}
		return
	}
	compared["scored"]++
	if got.BestCount > 1 {
		compared["several best"]++
	}
	for _, node := range got.Best {
		if !sharesBest(asked, node) {
			fail("%s is not best", node)
		}
	}
	want, have := map[string]scoreRow{}, map[string]scoreRow{}
	weights, own := map[string]int64{}, map[string]int64{}
	best, count := int64(-1), 0
	for i, node := range asked.Score.Nodes.All() {
		row := scoreRow{map[string]int64{}, map[string]int64{}, asked.Score.Totals.At(i)}
		for j, p := range asked.Score.Plugins {
			weights[p.Name] = p.Weight
			row.Raw[p.Name], row.Normalized[p.Name] = asked.Score.Raw[j].At(i), asked.Score.Normalized[j].At(i)
		}
		want[node] = row
		if row.Total > best {
			best, count = row.Total, 0
		}
		if row.Total == best {
			count++
		}
	}
	for i, node := range got.Scores.Nodes {
		row := scoreRow{map[string]int64{}, map[string]int64{}, got.Scores.Totals[i]}
		for j, p := range got.Scores.Plugins {
			own[p.Name] = int64(p.Weight)
			row.Raw[p.Name], row.Normalized[p.Name] = got.Scores.Raw[i][j], got.Scores.Normalized[i][j]
		}
		have[node] = row
	}
	if diff := cmp.Diff(want, have); diff != "" {
		fail("scores: %s", diff)
	}
	if diff := cmp.Diff(weights, own); diff != "" {
		fail("weights: %s", diff)
	}
	if got.BestCount != count {
		fail("%d nodes are best, not %d", count, got.BestCount)
	}
}

func recordedCandidates(asked *result.Cycle) map[string][]string {
	out := map[string][]string{}
	if asked.Preemption != nil {
		for _, c := range asked.Preemption.Candidates {
			for _, v := range c.Victims {
				out[c.Node] = append(out[c.Node], v.Pod.Name)
			}
			slices.Sort(out[c.Node])
		}
	}
	return out
}

func versionCandidates(got *wire.Decision) map[string][]string {
	out := map[string][]string{}
	if got.Preemption != nil {
		for _, c := range got.Preemption.Candidates {
			for _, v := range c.Victims {
				out[c.Node] = append(out[c.Node], v.Name)
			}
			slices.Sort(out[c.Node])
		}
	}
	return out
}
