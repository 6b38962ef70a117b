package versions

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/versions/decide"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// asProgram makes this test's binary a scheduler of our own version, or one that misbehaves.
const asProgram = "SCHEDULER_OF_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		os.Exit(m.Run())
	case "serves":
		if decide.Serve(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
	case "dies":
		// It answers one decision.
		requests := bufio.NewScanner(os.Stdin)
		requests.Scan()
		fmt.Fprintln(os.Stdout, `{"started":{"version":"v1.37.2","minor":"1.37","configuration":{},"profiles":[],"gates":[]}}`)
		requests.Scan()
		fmt.Fprintln(os.Stdout, `{"decision":{"pod":{"name":"p"},"nodes":0,"feasible":0,"digest":""}}`)
		requests.Scan()
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	case "stops":
		// It forgets the decision, and says that it is done.
		fmt.Fprintln(os.Stdout, `{"started":{"version":"v1.37.2","minor":"1.37","configuration":{},"profiles":[],"gates":[]}}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stdout, `{"done":{"decisions":7}}`)
	case "other":
		fmt.Fprintln(os.Stdout, `{"started":{"version":"v1.34.4","minor":"1.34","configuration":{},"profiles":[],"gates":[]}}`)
	case "babbles":
		fmt.Fprintln(os.Stdout, `Usage: scheduler`)
	}
	os.Exit(0)
}

func startOf(t *testing.T, as string, begin wire.Begin) (*Scheduler, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), asProgram+"="+as)
	s, err := start(command, Options{Minor: Own, Begin: begin})
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func startServing(t *testing.T, begin wire.Begin) *Scheduler {
	t.Helper()
	s, err := startOf(t, "serves", begin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func node(name, cpu string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%[1]q}},
		"status":{"allocatable":{"cpu":%q,"memory":"8Gi","pods":"10"},"capacity":{"cpu":%[2]q,"memory":"8Gi","pods":"10"}}}`, name, cpu)
}

func pod(name, cpu string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"default","uid":%[1]q,"resourceVersion":"1"},
		"spec":{"schedulerName":"default-scheduler","containers":[{"name":"main","image":"app","resources":{"requests":{"cpu":%q,"memory":"1Gi"}}}]}}`, name, cpu)
}

func set(t *testing.T, s *Scheduler, objects ...string) {
	t.Helper()
	for _, o := range objects {
		if err := s.Set(text(o)); err != nil {
			t.Fatal(err)
		}
	}
}

// text is JSON that a test has written.
type text string

func (t text) MarshalJSON() ([]byte, error) { return []byte(t), nil }

func decided(t *testing.T, s *Scheduler, pod string) *wire.Decision {
	t.Helper()
	d, err := s.Decide(wire.Decide{Pod: []byte(pod), Full: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecisionsInSequence(t *testing.T) {
	s := startServing(t, wire.Begin{})
	set(t, s, node("a", "4"), node("b", "8"))
	var chosen []string
	for i := range 4 {
		d := decided(t, s, pod(fmt.Sprintf("p%d", i), "3"))
		if len(d.Best) == 0 {
			chosen = append(chosen, strings.Join(d.Status.Reasons, " "))
			continue
		}
		chosen = append(chosen, d.Best[0])
		if placed, err := s.Place(wire.Place{Node: d.Best[0]}); err != nil || placed.Status != nil || placed.Unasked {
			t.Fatalf("%+v, %v", placed, err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	want := []string{"b", "b", "a", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."}
	if diff := cmp.Diff(want, chosen); diff != "" {
		t.Error(diff)
	}
}

// TestDecisionLeavesTheState: a decision that is not placed changes nothing, also if the pod runs.
func TestDecisionLeavesTheState(t *testing.T) {
	s := startServing(t, wire.Begin{})
	running := strings.Replace(pod("running", "3"), `"spec":{`, `"spec":{"nodeName":"a",`, 1)
	set(t, s, node("a", "4"), running)
	if d := decided(t, s, running); len(d.Best) != 1 {
		t.Errorf("the pod does not fit where it runs: %+v", d.Status)
	}
	if d := decided(t, s, pod("next", "3")); len(d.Best) != 0 {
		t.Errorf("the running pod is gone: the next one fits on %v", d.Best)
	}
	if d := decided(t, s, pod("next", "1")); len(d.Best) != 1 {
		t.Errorf("the decision before it took the node's place: %+v", d.Status)
	}
}

// TestPlaceWithoutDecision: the pod takes its place, and younger pods are evicted first.
func TestPlaceWithoutDecision(t *testing.T) {
	s := startServing(t, wire.Begin{})
	set(t, s, node("a", "4"))
	for _, name := range []string{"old", "young"} {
		placed, err := s.Place(wire.Place{Node: "a", Pod: []byte(pod(name, "2"))})
		if err != nil || !placed.Unasked {
			t.Fatalf("%+v, %v", placed, err)
		}
	}
	d := decided(t, s, strings.Replace(pod("important", "1"), `"spec":{`, `"spec":{"priority":5,`, 1))
	if d.Preemption == nil || len(d.Preemption.Victims) != 1 || d.Preemption.Victims[0].Name != "young" {
		t.Errorf("%+v", d.Preemption)
	}
	if _, err := s.Place(wire.Place{Node: "a", Pod: []byte(node("b", "1"))}); err == nil {
		t.Error("a node was placed")
	}
}

func TestUnknownIsListed(t *testing.T) {
	s := startServing(t, wire.Begin{})
	odd := strings.Replace(node("a", "4"), `"status":{`, `"status":{"later":[{"x":1}],`, 1)
	set(t, s, odd, odd, `{"apiVersion":"scheduling.k8s.io/v9","kind":"Troupe","metadata":{"name":"t","namespace":"n"}}`,
		`{"apiVersion":"resource.k8s.io/v1beta1","kind":"DeviceClass","metadata":{"name":"gpu"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`)
	decided(t, s, strings.Replace(pod("p", "1"), `"image":"app"`, `"image":"app","mood":"good"`, 1))
	ignored, unlisted := s.Ignored()
	want := map[Ignored]Count{
		{"v1", "Node", "status.later", ""}:                                   {2, wire.Reference{APIVersion: "v1", Kind: "Node", Name: "a"}},
		{"v1", "Pod", "spec.containers[].mood", ""}:                          {1, wire.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "p", UID: "p"}},
		{"resource.k8s.io/v1beta1", "DeviceClass", "", "resource.k8s.io/v1"}: {1, wire.Reference{APIVersion: "resource.k8s.io/v1beta1", Kind: "DeviceClass", Name: "gpu"}},
		{"scheduling.k8s.io/v9", "Troupe", "", ""}:                           {1, wire.Reference{APIVersion: "scheduling.k8s.io/v9", Kind: "Troupe", Namespace: "n", Name: "t"}},
	}
	if diff := cmp.Diff(want, ignored); diff != "" || unlisted != 0 {
		t.Errorf("%s, %d", diff, unlisted)
	}
}

func TestRefusals(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for name, c := range map[string]struct {
		begin wire.Begin
		want  string
	}{
		"old API": {wire.Begin{Configuration: "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"},
			`Kubernetes 1.37 does not accept the scheduler configuration: no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"`},
		"plugin": {wire.Begin{Configuration: header + "profiles: [{plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: NodeName}]}}}]\n"},
			"Kubernetes 1.37 lacks plugins of the scheduler configuration: Coscheduling"},
		"invalid":   {wire.Begin{Configuration: header + "parallelism: -1\n"}, "parallelism: Invalid value"},
		"gate":      {wire.Begin{Gates: map[string]bool{"Teleport": true, "AllAlpha": false}}, "Kubernetes 1.37 has no feature gate Teleport"},
		"emulation": {wire.Begin{Emulate: "1.20"}, "this version emulates 1.34 to 1.37, not 1.20"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := startOf(t, "serves", c.begin)
			refused := (*RefusedError)(nil)
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestEmulation(t *testing.T) {
	s := startServing(t, wire.Begin{Emulate: "1.35"})
	for _, g := range s.Started().Gates {
		if g.Name == "StorageCapacityScoring" && g.On {
			t.Error("1.35 emulated has a gate on that 1.37 switched on")
		}
	}
}

// TestMisbehaviour: a program that dies, or answers something else, is never taken for one that is done.
func TestMisbehaviour(t *testing.T) {
	t.Run("dies", func(t *testing.T) {
		s, err := startOf(t, "dies", wire.Begin{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(wire.Decide{Pod: []byte(pod("p", "1"))}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Decide(wire.Decide{Pod: []byte(pod("p", "1"))})
		died := (*DiedError)(nil)
		if !errors.As(err, &died) || err.Error() != "the scheduler of Kubernetes 1.37 died after 1 decisions: exit status 3: out of memory" {
			t.Errorf("%v", err)
		}
	})
	t.Run("stops", func(t *testing.T) {
		s, err := startOf(t, "stops", wire.Begin{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(); err == nil {
			t.Error("another number of decisions counts as done")
		}
	})
	for as, want := range map[string]string{
		"other":   "is a scheduler of Kubernetes 1.34, not 1.37",
		"babbles": "the scheduler of Kubernetes 1.37 died after 0 decisions",
	} {
		if _, err := startOf(t, as, wire.Begin{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", as, err)
		}
	}
}

func TestBadRequests(t *testing.T) {
	for name, pod := range map[string]string{
		"no pod":     node("a", "1"),
		"no profile": strings.Replace(pod("p", "1"), "default-scheduler", "another", 1),
		"no kind":    `{"apiVersion":"v9","kind":"Pod"}`,
		"no object":  `{"apiVersion":"v1","kind":"Pod","spec":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := startServing(t, wire.Begin{})
			_, err := s.Decide(wire.Decide{Pod: []byte(pod)})
			refused := (*RefusedError)(nil)
			if !errors.As(err, &refused) || refused.Kind != wire.BadRequest {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for minor, want := range map[string]string{
		"1.20": `no scheduler of Kubernetes "1.20": there are those of 1.34, 1.35, 1.36 and 1.37`,
		"1.35": "the scheduler of Kubernetes 1.35 is not built: run `make scheduler-1.35`, which takes up to ten minutes once, or put it at " + filepath.Join(dir, "scheduler-1.35"),
	} {
		if _, err := Start(t.Context(), Options{Minor: minor, Dir: dir}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", minor, err)
		}
	}
}

func TestMinorOf(t *testing.T) {
	for version, want := range map[string]string{"1.35": "1.35", "v1.36.3": "1.36", "v1.34.2-gke.100": "1.34", "1.33": "", "2.35": "", "": "", "v1": ""} {
		if got, err := MinorOf(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", version, got, err)
		}
	}
}

// TestFilesOfVersions: each version but our own has a file that stands in for go.mod, and make knows it.
func TestFilesOfVersions(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "SCHEDULERS := " + strings.Join(Minors(), " ") + "\n"; !strings.Contains(string(makefile), want) {
		t.Errorf("the Makefile does not say %q", want)
	}
	for _, minor := range Minors() {
		_, err := os.Stat("kubernetes-" + minor + ".mod")
		if own := minor == Own; own == (err == nil) {
			t.Errorf("%s: %v", minor, err)
		}
	}
	if started := startServing(t, wire.Begin{}).Started(); started.Minor != Own {
		t.Errorf("our own version is %s, not %s", started.Minor, Own)
	}
}
