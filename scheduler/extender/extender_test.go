package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/result"
)

// notes is a Recorder that keeps what it receives. Its clock advances by a second
// at each reading.
type notes struct {
	now     time.Time
	offered []string
	calls   []result.ExtenderCall
	errs    []error
	skipped []result.ExtenderCall
	scores  extenderv1.HostPriorityList
	weight  int64
	sent    map[string]*extenderv1.Victims
	answer  map[string]*extenderv1.Victims
	panics  []*guard.Panic
}

var _ Recorder = (*notes)(nil)

func (n *notes) Now() time.Time {
	n.now = n.now.Add(time.Second)
	return n.now
}

func (n *notes) OfferedToExtender(_ int, _ *v1.Pod, nodes []fwk.NodeInfo) {
	n.offered = append(n.offered, fmt.Sprint(namesOf(nodes)))
}

func (n *notes) ExtenderCalled(_ int, _ *v1.Pod, call result.ExtenderCall, err error) {
	n.calls, n.errs = append(n.calls, call), append(n.errs, err)
}

func (n *notes) ExtenderSkipped(_ int, _ *v1.Pod, call result.ExtenderCall) {
	n.skipped = append(n.skipped, call)
}

func (n *notes) ExtenderScored(_ int, _ string, _ *v1.Pod, answer extenderv1.HostPriorityList, weight int64) {
	n.scores, n.weight = answer, weight
}

func (n *notes) ExtenderPreempted(_ string, _ bool, _ *v1.Pod, sent, answer map[string]*extenderv1.Victims) {
	n.sent, n.answer = sent, answer
}

func (n *notes) ExtenderPanicked(caught *guard.Panic, _ *v1.Pod) { n.panics = append(n.panics, caught) }

func namesOf(nodes []fwk.NodeInfo) []string {
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.Node().Name)
	}
	return out
}

func nodesOf(names ...string) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for _, name := range names {
		n := framework.NewNodeInfo()
		n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		out = append(out, n)
	}
	return out
}

func podOf(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
}

// standIn returns upstream's extender for c, and a stand-in for it.
func standIn(t *testing.T, c config.Extender) (bare, recorded fwk.Extender, to *notes) {
	t.Helper()
	bare, err := kubescheduler.NewHTTPExtender(&c)
	if err != nil {
		t.Fatal(err)
	}
	to = &notes{}
	wrapped, err := Wrap([]fwk.Extender{bare}, []config.Extender{c}, to)
	if err != nil {
		t.Fatal(err)
	}
	return bare, wrapped[0], to
}

// answering serves the same answer to every request.
func answering(t *testing.T, status int, answer any) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		if text, ok := answer.(string); ok {
			_, _ = w.Write([]byte(text))
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func only(t *testing.T, to *notes) result.ExtenderCall {
	t.Helper()
	if len(to.calls) != 1 {
		t.Fatalf("%d calls are noted: %+v", len(to.calls), to.calls)
	}
	return to.calls[0]
}

func TestFilterIsRecorded(t *testing.T) {
	answer := extenderv1.ExtenderFilterResult{
		NodeNames:                  &[]string{"b"},
		FailedNodes:                extenderv1.FailedNodesMap{"a": "full", "b": "nonsense: it is kept", "d": "both"},
		FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{"d": "broken", "elsewhere": "was not asked for"},
	}
	c := config.Extender{URLPrefix: answering(t, 200, answer), FilterVerb: "filter", NodeCacheCapable: true}
	bare, recorded, to := standIn(t, c)
	pod, nodes := podOf("p"), nodesOf("a", "b", "c", "d")

	kept, failed, unresolvable, err := recorded.Filter(pod, nodes)

	wantKept, wantFailed, wantUnresolvable, wantErr := bare.Filter(pod, nodes)
	if diff := cmp.Diff([]any{namesOf(wantKept), wantFailed, wantUnresolvable, wantErr}, []any{namesOf(kept), failed, unresolvable, err}); diff != "" {
		t.Errorf("the answer differs from the extender's: %s", diff)
	}
	if kept[0] != nodes[1] {
		t.Error("the scheduler's node was replaced")
	}
	got := only(t, to)
	want := result.ExtenderCall{
		Plugin: c.URLPrefix, Verb: "filter", Status: "Success", DurationSeconds: 1, Nodes: 4,
		Request:  `{"Pod":{"metadata":{"name":"p","namespace":"default","uid":"p"},"spec":{"containers":null},"status":{}},"NodeNames":["a","b","c","d"]}`,
		Response: `{"FailedNodes":{"a":"full","b":"nonsense: it is kept","d":"both"},"FailedAndUnresolvableNodes":{"d":"broken","elsewhere":"was not asked for"},"NodeNames":["b"]}`,
		Rejected: &result.ExtenderRejections{
			Nodes:    []string{"a", "c", "d"},
			Reasons:  []result.ExtenderReason{{Reason: "full"}, {}, {Reason: "broken", Unresolvable: true}},
			ReasonOf: []uint16{0, 1, 2},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"[a b c d]"}, to.offered); diff != "" {
		t.Error(diff)
	}
}

// The scheduler sends whole nodes to an extender that caches none; the record keeps
// only names.
func TestWholeNodesAreKeptByName(t *testing.T) {
	answer := extenderv1.ExtenderFilterResult{Nodes: &v1.NodeList{Items: []v1.Node{*nodesOf("b")[0].Node()}}}
	_, recorded, to := standIn(t, config.Extender{URLPrefix: answering(t, 200, answer), FilterVerb: "filter"})
	if _, _, _, err := recorded.Filter(podOf("p"), nodesOf("a", "b")); err != nil {
		t.Fatal(err)
	}
	got := only(t, to)
	if !got.WholeNodes || !strings.HasSuffix(got.Request, `"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}}`) {
		t.Errorf("whole %t, request %s", got.WholeNodes, got.Request)
	}
	if want := `{"Nodes":{"items":[{"metadata":{"name":"b"}}]}}`; got.Response != want {
		t.Errorf("response %s", got.Response)
	}
	var args extenderv1.ExtenderArgs
	if err := json.Unmarshal([]byte(got.Request), &args); err != nil || len(args.Nodes.Items) != 2 || args.Pod.Name != "p" {
		t.Errorf("the request does not read as ExtenderArgs: %v, %+v", err, args)
	}
}

func TestPrioritizeIsRecorded(t *testing.T) {
	answer := extenderv1.HostPriorityList{{Host: "a", Score: 10}, {Host: "b", Score: 3}}
	c := config.Extender{URLPrefix: answering(t, 200, answer), PrioritizeVerb: "prioritize", Weight: 5, NodeCacheCapable: true}
	_, recorded, to := standIn(t, c)
	got, weight, err := recorded.Prioritize(podOf("p"), nodesOf("a", "b"))
	if err != nil || weight != 5 || !cmp.Equal(answer, *got) {
		t.Errorf("answer %v, weight %d: %v", got, weight, err)
	}
	if !cmp.Equal(answer, to.scores) || to.weight != 5 {
		t.Errorf("noted %v with weight %d", to.scores, to.weight)
	}
	call := only(t, to)
	if call.Response != `[{"Host":"a","Score":10},{"Host":"b","Score":3}]` || call.Status != "Success" || call.Nodes != 2 {
		t.Errorf("%+v", call)
	}
}

// lister holds nodes with their pods. Only Get is called.
type lister struct {
	fwk.NodeInfoLister
	nodes map[string]fwk.NodeInfo
}

func (l lister) Get(name string) (fwk.NodeInfo, error) {
	if n := l.nodes[name]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

func TestPreemptIsRecorded(t *testing.T) {
	x, y := podOf("x"), podOf("y")
	nodes := lister{nodes: map[string]fwk.NodeInfo{"a": framework.NewNodeInfo(x, y), "b": framework.NewNodeInfo(podOf("z"))}}
	candidates := map[string]*extenderv1.Victims{"a": {Pods: []*v1.Pod{x, y}, NumPDBViolations: 1}, "b": {Pods: []*v1.Pod{podOf("z")}}}
	for _, tc := range []struct {
		name, request string
		cached        bool
	}{
		{"names", `"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"x"},{"UID":"y"}],"NumPDBViolations":1},"b":{"Pods":[{"UID":"z"}],"NumPDBViolations":0}}}`, true},
		{"whole", `"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"name":"x","namespace":"default","uid":"x"}},{"metadata":{"name":"y","namespace":"default","uid":"y"}}],"NumPDBViolations":1},"b":{"Pods":[{"metadata":{"name":"z","namespace":"default","uid":"z"}}],"NumPDBViolations":0}}}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url := answering(t, 200, `{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"y"}],"NumPDBViolations":0}}}`)
			bare, recorded, to := standIn(t, config.Extender{URLPrefix: url, PreemptVerb: "preempt", NodeCacheCapable: tc.cached})
			want, wantErr := bare.ProcessPreemption(podOf("p"), candidates, nodes)
			got, err := recorded.ProcessPreemption(podOf("p"), candidates, nodes)
			if diff := cmp.Diff([]any{want, wantErr}, []any{got, err}); diff != "" {
				t.Error(diff)
			}
			call := only(t, to)
			if !strings.HasSuffix(call.Request, tc.request) || call.WholeNodes == tc.cached {
				t.Errorf("request %s", call.Request)
			}
			if want := `{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"y"}],"NumPDBViolations":0}}}`; call.Response != want {
				t.Errorf("response %s", call.Response)
			}
			if !reflect.DeepEqual(to.answer, got) || !reflect.DeepEqual(to.sent, candidates) {
				t.Error("the recorded victims differ from those sent and answered")
			}
		})
	}
}

// The scheduler refuses a candidate without victims, except from an extender
// whose failures it ignores.
func TestCandidateWithoutVictimsIsAnError(t *testing.T) {
	nodes := lister{nodes: map[string]fwk.NodeInfo{"a": framework.NewNodeInfo()}}
	url := answering(t, 200, `{"NodeNameToMetaVictims":{"a":{}}}`)
	for _, ignorable := range []bool{false, true} {
		_, recorded, to := standIn(t, config.Extender{URLPrefix: url, PreemptVerb: "preempt", Ignorable: ignorable})
		if _, err := recorded.ProcessPreemption(podOf("p"), map[string]*extenderv1.Victims{}, nodes); err != nil {
			t.Fatal(err)
		}
		call := only(t, to)
		want := result.ExtenderCall{Status: "Error", Reasons: []string{`expected at least one victim pod on node "a"`}}
		if ignorable {
			want = result.ExtenderCall{Status: "Success"}
		}
		if diff := cmp.Diff(want, result.ExtenderCall{Status: call.Status, Reasons: call.Reasons}); diff != "" {
			t.Errorf("ignorable %t: %s", ignorable, diff)
		}
	}
}

// Kubernetes' client of an extender panics on these answers to a preemption.
func TestAnswersOnWhichKubernetesPanicsAreErrors(t *testing.T) {
	node := framework.NewNodeInfo(podOf("victim"))
	nodes := lister{nodes: map[string]fwk.NodeInfo{"a": node}}
	for _, answer := range []string{
		`{"NodeNameToMetaVictims":{"a":null}}`,
		`{"NodeNameToMetaVictims":{"a":{"Pods":[null]}}}`,
	} {
		_, recorded, to := standIn(t, config.Extender{URLPrefix: answering(t, 200, answer), PreemptVerb: "preempt"})
		_, err := recorded.ProcessPreemption(podOf("p"), map[string]*extenderv1.Victims{}, nodes)
		want := "the extender's answer cannot be used: " + recorded.Name() + " panicked in ProcessPreemption: runtime error: invalid memory address or nil pointer dereference"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", answer, err, want)
		}
		call := only(t, to)
		if call.Status != "Error" || len(call.Reasons) != 1 || call.Reasons[0] != want {
			t.Errorf("%s: the call is recorded as %s %q", answer, call.Status, call.Reasons)
		}
		if len(to.panics) != 1 || !strings.HasPrefix(to.panics[0].Stack, "k8s.io/kubernetes/pkg/scheduler.(*HTTPExtender).convert") {
			t.Errorf("%s: noted panics: %+v", answer, to.panics)
		}
	}
}

func TestBindIsRecorded(t *testing.T) {
	binding := &v1.Binding{ObjectMeta: podOf("p").ObjectMeta, Target: v1.ObjectReference{Kind: "Node", Name: "a"}}
	for _, tc := range []struct {
		answer string
		want   result.ExtenderCall
	}{
		{`{}`, result.ExtenderCall{Status: "Success", Response: `{"Error":""}`}},
		{`{"Error":"no such node"}`, result.ExtenderCall{Status: "Error", Reasons: []string{"no such node"}}},
	} {
		url := answering(t, 200, tc.answer)
		_, recorded, to := standIn(t, config.Extender{URLPrefix: url, BindVerb: "bind"})
		err := recorded.Bind(binding)
		if (err != nil) != (tc.want.Status == "Error") {
			t.Error(err)
		}
		want := tc.want
		want.Plugin, want.Verb, want.DurationSeconds, want.Nodes = url, "bind", 1, 1
		want.Request = `{"PodName":"p","PodNamespace":"default","PodUID":"p","Node":"a"}`
		if diff := cmp.Diff(want, only(t, to)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestFailuresAreThoseOfProduction compares the failure that the scheduler sees,
// and the record of it, with the failure of upstream's extender.
func TestFailuresAreThoseOfProduction(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, url := range map[string]string{
		"status":   answering(t, 503, "overloaded"),
		"no JSON":  answering(t, 200, "fine"),
		"own word": answering(t, 200, `{"Error":"the extender is tired"}`),
		"unknown":  answering(t, 200, `{"NodeNames":["b"]}`),
		"gone":     gone.URL,
	} {
		for _, ignorable := range []bool{false, true} {
			c := config.Extender{URLPrefix: url, FilterVerb: "f", PrioritizeVerb: "p", PreemptVerb: "e", BindVerb: "b", NodeCacheCapable: true, Ignorable: ignorable}
			bare, recorded, to := standIn(t, c)
			fails := func(e fwk.Extender) (errs []error) {
				_, _, _, err := e.Filter(podOf("p"), nodesOf("a"))
				errs = append(errs, err)
				_, _, err = e.Prioritize(podOf("p"), nodesOf("a"))
				errs = append(errs, err)
				_, err = e.ProcessPreemption(podOf("p"), map[string]*extenderv1.Victims{}, lister{})
				return append(errs, err, e.Bind(&v1.Binding{}))
			}
			want, got := fails(bare), fails(recorded)
			for i := range want {
				call := to.calls[i]
				if fmt.Sprint(stripPort(want[i])) != fmt.Sprint(stripPort(got[i])) || reflect.TypeOf(want[i]) != reflect.TypeOf(got[i]) {
					t.Errorf("%s %s: %v, not %v", name, call.Verb, got[i], want[i])
				}
				if got[i] == nil {
					if call.Status != "Success" || call.Ignored {
						t.Errorf("%s %s succeeded: %+v", name, call.Verb, call)
					}
					continue
				}
				if call.Status != "Error" || call.Reasons[0] != got[i].Error() || call.Response != "" || !errors.Is(to.errs[i], got[i]) {
					t.Errorf("%s %s failed: %+v", name, call.Verb, call)
				}
				// Whether a filter failure was ignored shows only in the
				// scheduler's next step.
				ignored := call.Verb == result.ExtenderPrioritize || ignorable && call.Verb != result.ExtenderFilter
				if call.Ignored != ignored {
					t.Errorf("%s %s, ignorable %t: ignored %t", name, call.Verb, ignorable, call.Ignored)
				}
			}
		}
	}
}

// stripPort removes the port of our end of a connection.
func stripPort(err error) string {
	if err == nil {
		return ""
	}
	text, rest, found := strings.Cut(err.Error(), "127.0.0.1:")
	if !found || !strings.Contains(rest, "->") {
		return err.Error()
	}
	_, rest, _ = strings.Cut(rest, "->")
	return text + rest
}

// Verbs that are not configured cause no call, and no call is recorded.
func TestVerbsThatAreNotConfigured(t *testing.T) {
	_, recorded, to := standIn(t, config.Extender{URLPrefix: "http://127.0.0.1:1"})
	nodes := nodesOf("a", "b")
	if kept, _, _, err := recorded.Filter(podOf("p"), nodes); err != nil || &kept[0] != &nodes[0] {
		t.Error("Filter does not return the scheduler's own nodes")
	}
	if scores, weight, err := recorded.Prioritize(podOf("p"), nodes); err != nil || weight != 0 || len(*scores) != 2 {
		t.Error("Prioritize does not answer as upstream does")
	}
	if len(to.calls) != 0 || to.scores != nil {
		t.Errorf("noted %+v", to.calls)
	}
	if len(to.offered) != 1 {
		t.Error("the nodes that the plugins left are not recorded")
	}
}

func TestManagedResources(t *testing.T) {
	_, recorded, to := standIn(t, config.Extender{URLPrefix: "http://extender.test", ManagedResources: []config.ExtenderManagedResource{{Name: "example.com/gpu"}}})
	pod := podOf("p")
	if recorded.IsInterested(pod) {
		t.Error("interested in a pod without the resource")
	}
	if len(to.skipped) != 1 || to.skipped[0].Status != "Skip" || to.skipped[0].Verb != "" {
		t.Errorf("noted %+v", to.skipped)
	}
	pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Limits: v1.ResourceList{"example.com/gpu": {}}}}}
	if !recorded.IsInterested(pod) || len(to.skipped) != 1 {
		t.Error("not interested in a pod with the resource")
	}
}

func TestWrapKeepsTheSchedulersOrder(t *testing.T) {
	configured := []config.Extender{
		{URLPrefix: "http://1", Ignorable: true}, {URLPrefix: "http://2", NodeCacheCapable: true}, {URLPrefix: "http://3", Ignorable: true, NodeCacheCapable: true}, {URLPrefix: "http://4"},
	}
	var made []fwk.Extender
	for _, i := range []int{1, 3, 0, 2} { // as buildExtenders orders them
		e, err := kubescheduler.NewHTTPExtender(&configured[i])
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, e)
	}
	wrapped, err := Wrap(made, configured, &notes{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range wrapped {
		got = append(got, fmt.Sprint(e.Name(), " whole ", e.(*recording).whole))
	}
	want := []string{"http://2 whole false", "http://4 whole true", "http://1 whole true", "http://3 whole false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Wrap(made[1:], configured, &notes{}); err == nil {
		t.Error("Wrap accepts extenders that are not in the configuration")
	}
	made[0], made[1] = made[1], made[0]
	if _, err := Wrap(made, configured, &notes{}); err == nil {
		t.Error("Wrap accepts extenders in an order that is not the scheduler's")
	}
}

// The scheduler asserts no interface of extenders beyond fwk.Extender; a stand-in
// has exactly the methods of that interface.
func TestStandInHasTheMethodsOfAnExtender(t *testing.T) {
	methods := func(typ reflect.Type) (out []string) {
		for i := range typ.NumMethod() {
			out = append(out, typ.Method(i).Name)
		}
		return out
	}
	if diff := cmp.Diff(methods(reflect.TypeFor[fwk.Extender]()), methods(reflect.TypeFor[*recording]())); diff != "" {
		t.Error(diff)
	}
}
