package controlplane

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

// The API server hands a namespace to admission as if it were in itself.
func TestUserWritesNameNamespacesWithoutANamespace(t *testing.T) {
	for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
		t.Run(string(operation), func(t *testing.T) {
			pending := &pendingWrite{}
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
