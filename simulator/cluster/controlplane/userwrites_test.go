package controlplane

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/policy"
)

// The API server hands a namespace to admission as if it were in itself.
func TestUserWritesNameNamespacesWithoutANamespace(t *testing.T) {
	for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
		t.Run(string(operation), func(t *testing.T) {
			pending := &pendingWrite{revision: func() int64 { return 0 }}
			ctx := context.WithValue(context.Background(), pendingWriteKey{}, pending)
			team := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
			a := admission.NewAttributesRecord(team, team, v1.SchemeGroupVersion.WithKind("Namespace"), "team", "team",
				v1.SchemeGroupVersion.WithResource("namespaces"), "", operation, nil, false, nil)
			if err := (userWrites{}).Validate(ctx, a, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]UserObject{{Resource: "namespaces", Name: "team"}}, pending.write.Objects); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADryRunOfAnEvictionWritesNothing(t *testing.T) {
	for _, dryRun := range []bool{false, true} {
		pending := &pendingWrite{revision: func() int64 { return 0 }}
		ctx := context.WithValue(context.Background(), pendingWriteKey{}, pending)
		eviction := &policy.Eviction{DeleteOptions: &metav1.DeleteOptions{}}
		if dryRun {
			eviction.DeleteOptions.DryRun = []string{metav1.DryRunAll}
		}
		a := admission.NewAttributesRecord(eviction, nil, policy.SchemeGroupVersion.WithKind("Eviction"), "default", "web",
			v1.SchemeGroupVersion.WithResource("pods"), "eviction", admission.Create, nil, false, nil)
		if err := (userWrites{}).Validate(ctx, a, nil); err != nil {
			t.Fatal(err)
		}
		if noted := len(pending.write.Objects) > 0; noted == dryRun {
			t.Errorf("dry run %v: noted %v", dryRun, pending.write)
		}
	}
}

func TestARequestNamesTheActionOfTheUser(t *testing.T) {
	for name, test := range map[string]struct {
		header   http.Header
		id, verb string
	}{
		"the web":                  {http.Header{actionHeader: {"drain/7f"}}, "7f", "drain"},
		"the web, by its requests": {http.Header{actionHeader: {"/7f"}}, "7f", ""},
		"kubectl drain":            {http.Header{kubectlCommandHeader: {"kubectl drain"}, kubectlSessionHeader: {"s"}}, "s", "drain"},
		"kubectl rollout restart":  {http.Header{kubectlCommandHeader: {"kubectl rollout restart"}, kubectlSessionHeader: {"s"}}, "s", "restart"},
		"kubectl create":           {http.Header{kubectlCommandHeader: {"kubectl create deployment"}, kubectlSessionHeader: {"s"}}, "s", ""},
		"a program":                {http.Header{}, "", ""},
	} {
		if id, verb := actionOf(test.header); id != test.id || verb != test.verb {
			t.Errorf("%s: %q %q, want %q %q", name, id, verb, test.id, test.verb)
		}
	}
}

// TestUserWritesKnowTheirRevision: an update that another writer was faster than is admitted again, and its change comes
// after that. A deletion is admitted again after its first write.
func TestUserWritesKnowTheirRevision(t *testing.T) {
	for operation, want := range map[admission.Operation]int64{admission.Update: 2, admission.Delete: 1} {
		revision := int64(0)
		pending := &pendingWrite{revision: func() int64 { revision++; return revision }}
		ctx := context.WithValue(context.Background(), pendingWriteKey{}, pending)
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		a := admission.NewAttributesRecord(pod, pod, v1.SchemeGroupVersion.WithKind("Pod"), "default", "a",
			v1.SchemeGroupVersion.WithResource("pods"), "", operation, nil, false, nil)
		for range 2 {
			if err := (userWrites{}).Validate(ctx, a, nil); err != nil {
				t.Fatal(err)
			}
		}
		if objects := pending.write.Objects; len(objects) != 1 || objects[0].After != want {
			t.Errorf("%s: the objects are %+v", operation, objects)
		}
	}
}
