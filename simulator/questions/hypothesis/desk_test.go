package hypothesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// newDesk returns a desk whose engine knows the nodes small and large, without what controllers have made of them since,
// and the pod old.
func newDesk(t *testing.T) *Desk {
	t.Helper()
	standard, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	old, err := client.CoreV1().Pods("default").Get(t.Context(), "old", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects([]runtime.Object{
			node("small", "2"), node("large", "4", v1.Taint{Key: "team", Value: "x", Effect: v1.TaintEffectNoSchedule}), old,
		}),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return standard.Internal },
	})
	t.Cleanup(engine.Stop)
	desk, err := New(Options{ClientConfig: shared.ClientConfig(), Engine: engine, Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	return desk
}

// besideFake places all pods on one node.
type besideFake struct{ off bool }

func (b besideFake) Enabled() bool { return !b.off }

func (besideFake) WhatIf(_ context.Context, scheduler string, q whatif.Question) (*whatif.Answer, *session.Turn, error) {
	out := &whatif.Answer{}
	for range max(1, q.Copies) {
		out.Decisions = append(out.Decisions, &result.Cycle{Summary: result.Summary{Profile: scheduler, Outcome: result.Scheduled, SelectedNode: "small"}})
	}
	return out, &session.Turn{Scheduler: scheduler, Kind: session.SessionTurn}, nil
}

// Pods of another scheduler are decided by that one, or the answer says why not.
func TestPodsOfOtherSchedulers(t *testing.T) {
	of := func(scheduler, more string) string {
		return "{" + strings.Replace(web, "spec: {", "spec: {schedulerName: "+scheduler+", ", 1) + more + "}"
	}
	for name, test := range map[string]struct {
		question string
		beside   Beside
		ask      func(context.Context, *Desk, string) (*WhatIfAnswer, error)
		want     string
	}{
		"a session scheduler":            {of("volcano", ", copies: 2"), besideFake{}, nil, "volcano small; volcano small"},
		"the flow scheduler":             {of("poseidon", ""), besideFake{}, nil, "poseidon small"},
		"any pod, as if it were a job's": {"{" + web + ", profile: kube-batch}", besideFake{}, nil, "kube-batch small"},
		"kube-scheduler in its place":    {of("volcano", ", profile: default-scheduler"), besideFake{}, nil, "default-scheduler small"},
		"turned off":                     {of("volcano", ""), besideFake{off: true}, nil, "pod.spec.schedulerName: volcano does not run; turn on the session schedulers, or name a profile of kube-scheduler"},
		"a file": {of("poseidon", ""), nil, nil,
			"pod.spec.schedulerName: poseidon decides about all of its waiting pods in rounds, which only a running simulator can try; name a profile of kube-scheduler to see what that would do"},
		"another configuration": {of("volcano", ", configuration: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"), besideFake{}, nil, "configuration: volcano does not read a KubeSchedulerConfiguration"},
		"extenders":             {of("volcano", ", extenders: true"), besideFake{}, nil, "extenders: volcano asks no extenders of kube-scheduler"},
		"fit": {of("volcano", ""), besideFake{}, func(ctx context.Context, d *Desk, q string) (*WhatIfAnswer, error) {
			_, err := d.Fit(ctx, question[Fit](t, q))
			return nil, err
		}, "pod.spec.schedulerName: volcano decides about whole jobs in sessions, and this question is answered for kube-scheduler only; ask a what-if for what volcano would do, or name a profile of kube-scheduler"},
		"capacity": {"{" + web + ", profile: poseidon}", besideFake{}, func(ctx context.Context, d *Desk, q string) (*WhatIfAnswer, error) {
			_, err := d.Capacity(ctx, question[Capacity](t, q))
			return nil, err
		}, "profile: poseidon decides about all of its waiting pods in rounds, and this question is answered for kube-scheduler only; ask a what-if for what poseidon would do, or name a profile of kube-scheduler"},
	} {
		t.Run(name, func(t *testing.T) {
			desk := newDesk(t)
			desk.options.Beside = test.beside
			ask := test.ask
			if ask == nil {
				ask = func(ctx context.Context, d *Desk, q string) (*WhatIfAnswer, error) {
					return d.WhatIf(ctx, question[WhatIf](t, q))
				}
			}
			answer, err := ask(t.Context(), desk, test.question)
			var got []string
			if err != nil {
				got = append(got, err.Error())
			} else {
				for _, c := range answer.Decisions {
					got = append(got, c.Profile+" "+c.SelectedNode)
				}
				if (answer.Turn != nil) != (answer.Decisions[0].Profile != "default-scheduler") {
					t.Errorf("the turn is %+v", answer.Turn)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func question[Q any](t *testing.T, text string) (q Q) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &q); err != nil {
		t.Fatal(err)
	}
	return q
}

const web = `pod: {metadata: {name: web}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}`

func TestWhatIf(t *testing.T) {
	for name, test := range map[string]struct{ question, want string }{
		"a pod":                       {"{" + web + "}", "web small"},
		"copies":                      {"{" + web + ", copies: 4}", "web small; web-1 small; web-2 unschedulable; web-3 unschedulable"},
		"a reference":                 {"{podRef: {name: old}}", "old small"},
		"without the taint":           {"{" + web + ", changes: [{patch: {apiVersion: v1, kind: Node, name: node-1, patch: {}}}, {delete: {apiVersion: v1, kind: Pod, name: old}}]}", "web small"},
		"more nodes":                  {"{" + web + ", copies: 3, changes: [{count: 2, apply: {apiVersion: v1, kind: Node, metadata: {name: extra}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: 5}}}}]}", "web small; web-1 small; web-2 extra-1"},
		"another configuration":       {"{" + web + ", configuration: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {filter: {disabled: [{name: TaintToleration}]}}}]}}", "web large"},
		"another profile, by the pod": {"{" + strings.Replace(web, "spec: {", "spec: {schedulerName: b, ", 1) + ", configuration: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{schedulerName: b}]}}", "web small"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := newDesk(t).WhatIf(t.Context(), question[WhatIf](t, test.question))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range answer.Decisions {
				node := c.SelectedNode
				if node == "" {
					node = string(c.Outcome)
				}
				got = append(got, c.Pod.Name+" "+node)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
			if answer.State.Nodes != 2 {
				t.Errorf("the state is %+v", answer.State)
			}
		})
	}
}

// TestRefusedByTheEngine: what only the engine knows to be wrong is refused with its place in the question, too.
func TestRefusedByTheEngine(t *testing.T) {
	for name, test := range map[string]struct {
		question string
		want     config.Mistake
	}{
		"a kind that no scheduler reads": {
			"{" + web + ", changes: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}]}",
			config.Mistake{Field: "changes[0]", Message: "the scheduler does not read objects of the kind ConfigMap in v1"},
		},
		"copies of a namespace": {
			"{" + web + ", changes: [{count: 2, apply: {apiVersion: v1, kind: Namespace, metadata: {name: x}}}]}",
			config.Mistake{Field: "changes[0].count", Message: "only nodes and pods are copied"},
		},
		"a profile that does not exist": {
			"{" + web + ", profile: batch}",
			config.Mistake{Field: "profile", Message: `the configuration has no profile "batch"; it has ["default-scheduler"]`},
		},
		"a scheduler that does not exist": {
			"{" + strings.Replace(web, "spec: {", "spec: {schedulerName: batch, ", 1) + "}",
			config.Mistake{Field: "pod.spec.schedulerName", Message: `the configuration has no profile "batch"; it has ["default-scheduler"]`},
		},
		"a configuration that cannot be built": {
			"{" + web + `, configuration: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n    score:\n      enabled:\n      - name: Mine\n"}`,
			config.Mistake{Field: "configuration", Message: `profile "default-scheduler": ScorePlugin "Mine" does not exist`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newDesk(t).WhatIf(t.Context(), question[WhatIf](t, test.question))
			refused, ok := errors.AsType[*Refused](err)
			if !ok {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff([]config.Mistake{test.want}, refused.Mistakes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestVersionsThatCannotDecide: the refusal says which versions there are, or the command that builds the one that is asked for.
func TestVersionsThatCannotDecide(t *testing.T) {
	for version, want := range map[string]string{
		"1.33":   `no scheduler of Kubernetes "1.33": there are those of 1.34, 1.35, 1.36 and 1.37`,
		"1.35.4": `"1.35.4": name the minor version, 1.35; its scheduler is of one patch release, which the answer names`,
		"1.35":   "the scheduler of Kubernetes 1.35 is not built: run `make scheduler-1.35`",
	} {
		_, err := newDesk(t).WhatIf(t.Context(), question[WhatIf](t, "{"+web+`, kubernetesVersion: "`+version+`"}`))
		refused, ok := errors.AsType[*Refused](err)
		if !ok || refused.Mistakes[0].Field != "kubernetesVersion" || !strings.HasPrefix(refused.Mistakes[0].Message, want) {
			t.Errorf("%s: %v", version, err)
		}
	}
	if _, err := newDesk(t).WhatIf(t.Context(), question[WhatIf](t, "{"+web+`, kubernetesVersion: "1.37"}`)); err != nil {
		t.Errorf("this program's own version: %v", err)
	}
}

func TestBounds(t *testing.T) {
	desk := newDesk(t)
	for name, test := range map[string]struct {
		ask   func(context.Context) error
		field string
	}{
		"copies": {func(ctx context.Context) error {
			_, err := desk.WhatIf(ctx, WhatIf{Copies: MaxCopies + 1})
			return err
		}, "copies"},
		"suggestions": {func(ctx context.Context) error {
			_, err := desk.Fit(ctx, Fit{Limit: 51})
			return err
		}, "limit"},
		"suggestions of another version": {func(ctx context.Context) error {
			_, err := desk.Fit(ctx, question[Fit](t, `{kubernetesVersion: "1.35"}`))
			return err
		}, "kubernetesVersion"},
		"pods": {func(ctx context.Context) error {
			_, err := desk.Capacity(ctx, Capacity{Limit: 10_001})
			return err
		}, "limit"},
		"no node": {func(ctx context.Context) error {
			_, err := desk.Capacity(ctx, question[Capacity](t, "{nodesNeeded: {for: 3}}"))
			return err
		}, "nodesNeeded.like"},
		"nodes for nothing": {func(ctx context.Context) error {
			_, err := desk.Capacity(ctx, question[Capacity](t, "{nodesNeeded: {like: small}}"))
			return err
		}, "nodesNeeded.for"},
	} {
		refused, ok := errors.AsType[*Refused](test.ask(t.Context()))
		if !ok || refused.Mistakes[0].Field != test.field {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

// TestMissing: what a question asks about must exist.
func TestMissing(t *testing.T) {
	desk := newDesk(t)
	for name, ask := range map[string]func(context.Context) error{
		"the pod": func(ctx context.Context) error {
			_, err := desk.WhatIf(ctx, question[WhatIf](t, "{podRef: {name: lost}}"))
			return err
		},
		"the node to fit on": func(ctx context.Context) error {
			_, err := desk.Fit(ctx, question[Fit](t, "{"+web+", node: lost}"))
			return err
		},
		"the node to copy": func(ctx context.Context) error {
			_, err := desk.Capacity(ctx, question[Capacity](t, "{"+web+", nodesNeeded: {like: lost, for: 9}}"))
			return err
		},
	} {
		if err := ask(t.Context()); !isNotFound(err) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*whatif.NotFoundError](err)
	return ok
}

// TestFit: the changes of a suggestion can be sent back, as a hypothesis or to the cluster.
func TestFit(t *testing.T) {
	desk := newDesk(t)
	const big = `pod: {metadata: {name: web}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}}`
	answer, err := desk.Fit(t.Context(), question[Fit](t, "{"+big+", limit: 3}"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Fits || len(answer.Suggestions) == 0 {
		t.Fatalf("the answer is %+v", answer)
	}
	for _, s := range answer.Suggestions {
		changes, err := json.Marshal(s.Hypothesis)
		if err != nil {
			t.Fatal(err)
		}
		pod := big
		if s.Kind == "pod" {
			pod = "podRef: {name: web}" // the hypothesis makes it
		}
		again, err := desk.WhatIf(t.Context(), question[WhatIf](t, fmt.Sprintf("{%s, changes: %s}", pod, changes)))
		if err != nil {
			t.Errorf("%s: %v", s.Text, err)
			continue
		}
		if got := again.Decisions[0].SelectedNode; got != s.SelectedNode {
			t.Errorf("%s: it goes to %q, want %q", s.Text, got, s.SelectedNode)
		}
	}
}

func TestCapacity(t *testing.T) {
	answer, err := newDesk(t).Capacity(t.Context(), question[Capacity](t, "{"+web+", nodesNeeded: {like: small, for: 5}}"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Fits != 2 || !answer.Complete || answer.NodesNeeded == nil || answer.NodesNeeded.Nodes != 2 {
		t.Errorf("the answer is %+v, and more nodes %+v", answer, answer.NodesNeeded)
	}
}
