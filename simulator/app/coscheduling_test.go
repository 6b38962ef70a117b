package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

const definitionsPath = "/api/v1/definitions"

// coscheduling is a configuration with the plugin and its arguments.
func coscheduling(args string) string {
	return header + `
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
  pluginConfig:
  - name: Coscheduling
    args: {` + args + `}
`
}

// TestCoscheduling needs a simulator of its own: its configurations and its groups are in everybody's way.
func TestCoscheduling(t *testing.T) {
	clustertest.Slow(t)
	s := launch(t, DefaultOptions())
	t.Run("a definition comes and goes", func(t *testing.T) { definitionComesAndGoes(t, s) })
	t.Run("arguments are checked", func(t *testing.T) { argumentsAreChecked(t, s) })
	s.applied(t, http.MethodPut, configurationPath, coscheduling("permitWaitingTimeSeconds: 20"))
	t.Run("bad groups are refused", func(t *testing.T) { badGroups(t, newKubectl(t, s)) })
	t.Run("two gangs take turns", func(t *testing.T) { twoGangs(t, newKubectl(t, s)) })
	t.Run("a member times out", func(t *testing.T) { memberTimesOut(t, newKubectl(t, s)) })
	t.Run("a group is too small", func(t *testing.T) { smallGroup(t, newKubectl(t, s)) })
	t.Run("a deleted group frees what it held", func(t *testing.T) { deletedGroup(t, newKubectl(t, s)) })
	t.Run("groups come from another cluster", func(t *testing.T) { followedGroups(t, s) })
	t.Run("groups are exported and imported", func(t *testing.T) { transferredGroups(t, s) })
}

// installed returns why the cluster has the definition of a kind.
func (s *running) installed(t *testing.T, kind string) definitions.Origin {
	t.Helper()
	var list struct{ Items []definitions.State }
	s.get(t, definitionsPath, &list)
	for _, d := range list.Items {
		if d.Kind == kind {
			return d.Installed
		}
	}
	t.Fatalf("%s is not in %v", kind, list.Items)
	return ""
}

func (s *running) wantInstalled(t *testing.T, when, kind string, want definitions.Origin) {
	t.Helper()
	if got := s.installed(t, kind); got != want {
		t.Errorf("%s: the definition of %s is %s, want %s", when, kind, got, want)
	}
}

func definitionComesAndGoes(t *testing.T, s *running) {
	k := newKubectl(t, s)
	standard := func() { s.applied(t, http.MethodDelete, configurationPath, "") }
	enabled := func() { s.applied(t, http.MethodPut, configurationPath, coscheduling("")) }
	s.wantInstalled(t, "at first", "PodGroup", definitions.Absent)
	enabled()
	s.wantInstalled(t, "with the plugin", "PodGroup", definitions.ForConfiguration)
	group := `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: kept}
spec: {minMember: 3}
`
	k.apply(t, group) // kubectl knows the kind at once
	k.shows(t, `
NAME PHASE MINMEMBER RUNNING SUCCEEDED FAILED AGE
kept Pending 3 …s`, "pg")
	standard()
	s.wantInstalled(t, "with a group and without the plugin", "PodGroup", definitions.ForConfiguration)
	k.shows(t, "podgroup.scheduling.x-k8s.io/kept", "pg", "-o", "name")
	k.do(t, "delete", "pg", "kept")
	enabled()
	standard()
	s.wantInstalled(t, "without both", "PodGroup", definitions.Absent)

	enabled()
	s.lastWriteIsKept(t, k, group)

	k.do(t, "annotate", "crd", "podgroups.scheduling.x-k8s.io", "example.com/mine=yes")
	standard()
	s.wantInstalled(t, "after a user has edited it", "PodGroup", definitions.ForConfiguration)
	k.do(t, "delete", "crd", "podgroups.scheduling.x-k8s.io")

	if code, body := s.send(t, http.MethodPut, definitionsPath+"/podgroups.scheduling.x-k8s.io", ""); code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	k.apply(t, group)
	s.wantInstalled(t, "when a user asks for it", "PodGroup", definitions.ForUser)
	enabled()
	standard()
	s.wantInstalled(t, "after a configuration, too", "PodGroup", definitions.ForUser)
	if code, _ := s.send(t, http.MethodPut, definitionsPath+"/others.example.com", ""); code != http.StatusNotFound {
		t.Errorf("an unknown definition: %d", code)
	}

	enabled()
	if code, body := s.send(t, http.MethodPut, "/api/v1/reset", ""); code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	s.wantInstalled(t, "after a reset", "PodGroup", definitions.Absent)
}

// lastWriteIsKept: an object whose creation is in flight when the definition is to be deleted keeps it.
func (s *running) lastWriteIsKept(t *testing.T, k *kubectl, group string) {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := definitions.NewCluster(config)
	if err != nil {
		t.Fatal(err)
	}
	err = cluster.Tidy(t.Context(), nil, func(context.Context, schema.GroupResource, string) (func(), error) {
		k.apply(t, group)
		return func() {}, nil
	})
	if err != nil {
		t.Error(err)
	}
	k.shows(t, "podgroup.scheduling.x-k8s.io/kept", "pg", "-o", "name")
	k.do(t, "delete", "pg", "kept")
}

func argumentsAreChecked(t *testing.T, s *running) {
	for args, want := range map[string]string{
		"permitWaitingTimeSeconds: -1":   "Invalid value: -1: must be greater than 0",
		"podGroupBackoffSeconds: -1":     "Invalid value: -1: must be greater than 0",
		"podGroupRejectPercentage: 101":  "Invalid value: 101: must be between 0 and 100",
		"podGroupRejectPercentage: many": "want a whole number of 32 bits",
		"permitTimeSeconds: 3":           "unknown field",
		"kind: NodeAffinityArgs":         "CoschedulingArgs",
	} {
		code, body := s.send(t, http.MethodPut, configurationPath, coscheduling(args))
		if code != http.StatusUnprocessableEntity || !strings.Contains(string(body), want) || !strings.Contains(string(body), `"line"`) {
			t.Errorf("%s: %d %s", args, code, body)
		}
	}
	var effective struct {
		Profiles []struct {
			Plugins []struct {
				Name      string
				Arguments map[string]any
			}
		}
	}
	s.applied(t, http.MethodPut, configurationPath, coscheduling("podGroupBackoffSeconds: 5"))
	s.get(t, configurationPath+"/effective", &effective)
	for _, p := range effective.Profiles[0].Plugins {
		if p.Name != "Coscheduling" {
			continue
		}
		want := map[string]any{"permitWaitingTimeSeconds": 60.0, "podGroupBackoffSeconds": 5.0, "podGroupRejectPercentage": 10.0}
		if diff := cmp.Diff(want, p.Arguments); diff != "" {
			t.Errorf("the arguments in force: %s", diff)
		}
	}
}

func badGroups(t *testing.T, k *kubectl) {
	for spec, want := range map[string]string{
		"minMember: 0":                "spec.minMember",
		"minMember: many":             "spec.minMember",
		"minResources: {cpu: x}":      "spec.minResources.cpu",
		"scheduleTimeoutSeconds: 1.5": "spec.scheduleTimeoutSeconds",
	} {
		manifest := fmt.Sprintf("{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: bad}, spec: {%s}}", spec)
		if err := k.refused(t, manifest); !strings.Contains(err, want) {
			t.Errorf("%s: %s", spec, err)
		}
	}
}

// refused returns why the API server refuses a manifest; empty if it does not.
func (k *kubectl) refused(t *testing.T, manifest string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "refused.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Run("create", "-f", file); err != nil {
		return err.Error()
	}
	return ""
}

// gang is a group and its pods, which run for a second.
func gang(name string, least, pods int, cpu string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: %s}
spec: {minMember: %d, scheduleTimeoutSeconds: 20}
`, name, least)
	for i := range pods {
		fmt.Fprintf(&out, `---
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s-%[2]d
  labels: {scheduling.x-k8s.io/pod-group: %[1]s}
  annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 2s}
spec:
  nodeSelector: {pool: %%s}
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: example.com/main, resources: {requests: {cpu: "%[3]s"}}}]
`, name, i, cpu)
	}
	return out.String()
}

// twoGangs: each needs 10 of the 12 CPUs, so one runs, finishes, and then the other does.
func twoGangs(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "a-2", "a-3")
	k.apply(t, gang("first", 10, 10, "1")+"---"+gang("second", 10, 10, "1"))
	k.shows(t, `
NAME PHASE MINMEMBER RUNNING SUCCEEDED FAILED AGE
first Finished 10 10 …s
second Finished 10 10 …s`, "pg")
	// A pod of the second gang waited for the whole first one, or the other way round.
	starts := map[string][]metav1.Time{}
	pods, err := k.simulator.client.CoreV1().Pods(k.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		group := pod.Labels["scheduling.x-k8s.io/pod-group"]
		for _, c := range pod.Status.Conditions {
			if c.Type == v1.PodScheduled {
				starts[group] = append(starts[group], c.LastTransitionTime)
			}
		}
	}
	latest := func(group string) metav1.Time {
		last := starts[group][0]
		for _, at := range starts[group] {
			if last.Before(&at) {
				last = at
			}
		}
		return last
	}
	earliest := func(group string) metav1.Time {
		first := starts[group][0]
		for _, at := range starts[group] {
			if at.Before(&first) {
				first = at
			}
		}
		return first
	}
	first, second := latest("first"), earliest("second")
	other, another := latest("second"), earliest("first")
	if !first.Before(&second) && !other.Before(&another) {
		t.Errorf("the gangs ran at the same time: %v", starts)
	}
}

func memberTimesOut(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	// Two of the three fit; the third is held by a scheduler that does not exist.
	manifests := strings.Replace(gang("late", 3, 3, "1"), "scheduleTimeoutSeconds: 20", "scheduleTimeoutSeconds: 2", 1)
	at := strings.LastIndex(manifests, "spec:\n")
	k.apply(t, manifests[:at]+"spec:\n  schedulerName: nobody\n"+manifests[at+len("spec:\n"):])
	var said []string
	for _, pod := range []string{"late-0", "late-1"} {
		clustertest.Eventually(t, pod+" has lost its place", func(context.Context) (bool, error) {
			c := k.cycle(t, pod, result.Unschedulable)
			if c.SelectedNode == "" {
				return false, nil
			}
			said = append(said, string(explain.KindOf(explain.Cycle(c).Headline.Operands)))
			return true, nil
		})
	}
	if joined := strings.Join(said, " "); !strings.Contains(joined, "permitTimeout") {
		t.Errorf("nobody timed out: %s", joined)
	}
	k.prints(t, "Scheduling", "{.status.phase}", "pg", "late")
}

func smallGroup(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, gang("small", 3, 2, "1"))
	c := k.cycle(t, "small-0", result.Unschedulable)
	want := "small-0 was rejected before any node was checked: its pod group " + k.namespace + "/small needs 3 pods and has only "
	if got := explain.Cycle(c).Sentence; !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	clustertest.Eventually(t, "the pod says why", func(ctx context.Context) (bool, error) {
		pod, err := k.simulator.client.CoreV1().Pods(k.namespace).Get(ctx, "small-0", metav1.GetOptions{})
		return err == nil && len(pod.Status.Conditions) > 0 && strings.Contains(pod.Status.Conditions[0].Message, "pre-filter pod small-0 cannot find enough sibling pods"), err
	})
	k.prints(t, "Pending", "{.status.phase}", "pg", "small")
	k.apply(t, strings.SplitN(gang("small", 3, 3, "1"), "---", 2)[1]) // one more
	k.prints(t, "Finished", "{.status.phase}", "pg", "small")
}

// deletedGroup: the members of a group that is deleted lose their places in time, and pods without a
// group get them.
func deletedGroup(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	manifests := strings.Replace(gang("doomed", 5, 5, "1"), "scheduleTimeoutSeconds: 20", "scheduleTimeoutSeconds: 3", 1)
	at := strings.LastIndex(manifests, "spec:\n")
	k.apply(t, manifests[:at]+"spec:\n  schedulerName: nobody\n"+manifests[at+len("spec:\n"):])
	k.cycle(t, "doomed-0", result.Waiting)
	k.do(t, "delete", "pg", "doomed")
	plain := strings.ReplaceAll(strings.SplitN(gang("plain", 1, 1, "4"), "---", 2)[1], "labels: {scheduling.x-k8s.io/pod-group: plain}", "labels: {}")
	k.apply(t, plain)
	k.prints(t, "Succeeded", "{.status.phase}", "pod", "plain-0")
}

// transferredGroups: a group is exported and imported.
func transferredGroups(t *testing.T, s *running) {
	k := newKubectl(t, s)
	k.apply(t, gang("moved", 3, 1, "1"))
	k.prints(t, "Pending", "{.status.phase}", "pg", "moved")
	s.transferred(t, "PodGroup", "moved", "{.items[*].spec.minMember}", "3")
}

// transferred exports the cluster, resets it and imports the export: it brings the objects of a custom
// kind and their definition. So does a redacted one, which leaves the definition out. value is that of
// the object of this name, among others, after the import.
func (s *running) transferred(t *testing.T, kind, name, path, value string) {
	t.Helper()
	for _, query := range []string{"", "?redact=true"} {
		code, export := s.send(t, http.MethodGet, "/api/v1/export"+query, "")
		if code != http.StatusOK {
			t.Fatalf("%d: %s", code, export)
		}
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal(export, &list); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, item := range list.Items {
			kinds[item["kind"].(string)]++
		}
		if kinds[kind] == 0 || (query == "") != (kinds["CustomResourceDefinition"] > 0) {
			t.Errorf("the export%s has %v", query, kinds)
		}
		if strings.Contains(string(export), `"`+name+`"`) != (query == "") {
			t.Errorf("the export%s names the object, or does not", query)
		}
		if code, body := s.send(t, http.MethodDelete, configurationPath, ""); code != http.StatusOK {
			t.Fatalf("%d: %s", code, body)
		}
		if code, body := s.send(t, http.MethodPut, "/api/v1/reset", ""); code != http.StatusOK {
			t.Fatalf("%d: %s", code, body)
		}
		s.wantInstalled(t, "after a reset", kind, definitions.Absent)
		if code, report := s.send(t, http.MethodPost, "/api/v1/import", string(export)); code != http.StatusOK || !strings.Contains(string(report), `"failedTotal":0`) {
			t.Fatalf("the import of the export%s: %d %s", query, code, report)
		}
		out, err := (kubectltest.Kubectl{Kubeconfig: s.kubeconfig}).Run("get", kind, "-A", "-o", "jsonpath="+path)
		if err != nil || !slices.Contains(strings.Fields(out), value) {
			t.Errorf("after the import of the export%s: %q %v, want %s among them", query, out, err, value)
		}
	}
}

// followedGroups: a simulator that imports or follows another cluster gets its groups, with the
// definition.
func followedGroups(t *testing.T, s *running) {
	k := newKubectl(t, s)
	k.apply(t, gang("there", 3, 1, "1"))
	for _, source := range []following.Options{{ImportKubeconfig: s.kubeconfig}, {SyncKubeconfig: s.kubeconfig, Redact: true}} {
		options := DefaultOptions()
		options.Source = source
		here, err := startInProcess(options)
		if err != nil {
			t.Fatal(err)
		}
		all := kubectltest.Kubectl{Kubeconfig: here.kubeconfig}
		clustertest.Eventually(t, "the group is here", func(context.Context) (bool, error) {
			out, err := all.Run("get", "pg", "-A", "-o", "jsonpath={.items[*].spec.minMember}")
			return err == nil && strings.Contains(out, "3"), nil
		})
		here.wantInstalled(t, fmt.Sprintf("%+v", source), "PodGroup", definitions.ForUser)
		if err := here.stop(); err != nil {
			t.Error(err)
		}
	}
}
