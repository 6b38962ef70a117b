package reservation

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

func node(name string, labels ...string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

var (
	shops  = node("shops", ReservedForLabel, "shop", PreferenceLabel, "7")
	others = node("others", ReservedForLabel, "bank", PreferenceLabel, "99")
	free   = node("free", PreferenceLabel, "much")
)

// ask posts to the extender over HTTP.
func ask(t *testing.T, e *Extender, verb string, args any) (status int, answer string) {
	t.Helper()
	s := httptest.NewServer(e.Handler())
	defer s.Close()
	body, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(s.URL+"/"+verb, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, strings.TrimSpace(string(text))
}

func TestAnswers(t *testing.T) {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	whole := extenderv1.ExtenderArgs{Pod: pod, Nodes: &v1.NodeList{Items: []v1.Node{*shops, *others, *free}}}
	names := extenderv1.ExtenderArgs{Pod: pod, NodeNames: &[]string{"shops", "others", "free", "deleted meanwhile"}}
	knowing := &Extender{Client: fake.NewSimpleClientset(shops, others, free)}
	victims := map[string]*extenderv1.Victims{
		"a": {Pods: []*v1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "x"}}, {ObjectMeta: metav1.ObjectMeta{UID: "y"}}}},
		"b": {Pods: []*v1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "z"}}}, NumPDBViolations: 1},
	}
	meta := map[string]*extenderv1.MetaVictims{"a": {Pods: []*extenderv1.MetaPod{{UID: "x"}}}, "b": {Pods: []*extenderv1.MetaPod{{UID: "y"}}}}
	const noServer = `has only the names of nodes, and there is no API server to look them up`
	for _, tc := range []struct {
		name     string
		extender *Extender
		verb     string
		args     any
		want     string // part of the answer
	}{
		{"filter names", knowing, "filter", names, `{"Nodes":null,"NodeNames":["shops","free"],"FailedNodes":null,"FailedAndUnresolvableNodes":{"others":"node is reserved for the namespace bank"},"Error":""}`},
		{"filter nodes", &Extender{}, "filter", whole, `"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":{"others":"node is reserved for the namespace bank"}`},
		{"filter names, unknown", &Extender{}, "filter", names, noServer},
		{"filter nothing", &Extender{}, "filter", struct{}{}, "the request has no pod"},
		{"prioritize names", knowing, "prioritize", names, `[{"Host":"shops","Score":7},{"Host":"others","Score":10},{"Host":"free","Score":0}]`},
		{"prioritize nodes", &Extender{}, "prioritize", whole, `[{"Host":"shops","Score":7},{"Host":"others","Score":10},{"Host":"free","Score":0}]`},
		{"preempt victims", &Extender{}, "preempt", extenderv1.ExtenderPreemptionArgs{NodeNameToVictims: victims}, `{"NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"z"}],"NumPDBViolations":1}}}`},
		{"preempt UIDs", &Extender{}, "preempt", extenderv1.ExtenderPreemptionArgs{NodeNameToMetaVictims: meta}, `{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"x"}],"NumPDBViolations":0},"b":{"Pods":[{"UID":"y"}],"NumPDBViolations":0}}}`},
		{"bind, without a server", &Extender{}, "bind", extenderv1.ExtenderBindingArgs{PodName: "web"}, `{"Error":"there is no API server to bind with: pass --kubeconfig, or leave bindVerb out"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer := ask(t, tc.extender, tc.verb, tc.args)
			if status != http.StatusOK || !strings.Contains(answer, tc.want) {
				t.Errorf("%d %s\nwant %s", status, answer, tc.want)
			}
		})
	}
}

// A scheduler treats any status other than 200 as a failure of the extender.
func TestFailures(t *testing.T) {
	if status, answer := ask(t, &Extender{}, "prioritize", extenderv1.ExtenderArgs{Pod: &v1.Pod{}, NodeNames: &[]string{"a"}}); status != http.StatusInternalServerError {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := ask(t, &Extender{}, "filter", "no object"); status != http.StatusBadRequest || !strings.Contains(answer, "reading the request") {
		t.Errorf("%d %s", status, answer)
	}
}

func TestBind(t *testing.T) {
	client := fake.NewSimpleClientset()
	var got *v1.Binding
	client.PrependReactor("create", "pods", func(action ktesting.Action) (bool, runtime.Object, error) {
		got = action.(ktesting.CreateAction).GetObject().(*v1.Binding)
		return true, nil, nil
	})
	args := extenderv1.ExtenderBindingArgs{PodNamespace: "shop", PodName: "web", PodUID: "u", Node: "shops"}
	if status, answer := ask(t, &Extender{Client: client}, "bind", args); status != http.StatusOK || answer != `{"Error":""}` {
		t.Errorf("%d %s", status, answer)
	}
	want := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u"}, Target: v1.ObjectReference{Kind: "Node", Name: "shops"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
