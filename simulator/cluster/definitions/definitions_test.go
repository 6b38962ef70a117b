package definitions

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// TestTheTablesAgree: every definition is one of a kind that transfers, recordings and redaction
// know, and every custom kind there has its definition here.
func TestTheTablesAgree(t *testing.T) {
	defined := map[schema.GroupKind]bool{}
	for _, d := range All() {
		defined[d.Kind.GroupKind()] = true
		k := objects.KindOf(d.Kind.GroupKind())
		if k.Uses&objects.Custom == 0 || k.Version != d.Kind.Version || k.Resource != d.Resource {
			t.Errorf("simulator/cluster/objects has %+v for %s", k, d.Name())
		}
		object, err := d.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if object.Name != d.Name() || object.Spec.Names.Kind != d.Kind.Kind || !serves(object, d.Kind.Version) {
			t.Errorf("the manifest of %s defines %s %v", d.Name(), object.Name, object.Spec.Names)
		}
		if namespaced := object.Spec.Scope == apiextensionsv1.NamespaceScoped; namespaced != k.Namespaced {
			t.Errorf("%s: namespaced is %v in the manifest", d.Name(), namespaced)
		}
	}
	for _, k := range objects.Kinds(objects.Custom) {
		if !defined[k.GroupKind()] {
			t.Errorf("%s is custom and has no definition", k.GroupKind())
		}
	}
}

// TestTheManifestsAreValid: the API server accepts each of them.
func TestTheManifestsAreValid(t *testing.T) {
	for _, d := range All() {
		object, err := d.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(object)
		internal := &apiextensions.CustomResourceDefinition{}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(object, internal, nil); err != nil {
			t.Fatal(err)
		}
		internal.Status.StoredVersions = []string{d.Kind.Version}
		if mistakes := validation.ValidateCustomResourceDefinition(t.Context(), internal); len(mistakes) > 0 {
			t.Errorf("%s: %v", d.Name(), mistakes.ToAggregate())
		}
		if apihelpers.IsProtectedCommunityGroup(object.Spec.Group) && object.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation] == "" {
			t.Errorf("%s names no approval, which clusters ask for in the groups of Kubernetes", d.Name())
		}
	}
}

// TestADefinitionIsServedOnceItIsEstablished: for a moment after a definition was deleted and installed again, the API
// server answers for the one that has gone, and then for none.
func TestADefinitionIsServedOnceItIsEstablished(t *testing.T) {
	d := Of([]string{"Coscheduling"})[0]
	object, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	object.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + d.Name():
			if looks++; looks == 3 {
				object.Status.Conditions = append(object.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue})
			}
			answer = object
		case "/api", "/apis":
			w.Header().Set("Content-Type", discovery.AcceptV2)
			known := apidiscoveryv2.APIVersionDiscovery{Version: d.Kind.Version, Resources: []apidiscoveryv2.APIResourceDiscovery{{
				Resource: d.Resource, ResponseKind: &metav1.GroupVersionKind{Kind: d.Kind.Kind},
			}}}
			answer = apidiscoveryv2.APIGroupDiscoveryList{
				TypeMeta: metav1.TypeMeta{APIVersion: apidiscoveryv2.SchemeGroupVersion.String(), Kind: "APIGroupDiscoveryList"},
				Items:    []apidiscoveryv2.APIGroupDiscovery{{ObjectMeta: metav1.ObjectMeta{Name: d.Kind.Group}, Versions: []apidiscoveryv2.APIVersionDiscovery{known}}},
			}
		case "/apis/" + d.Kind.GroupVersion().String() + "/" + d.Resource:
			answer = metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: d.Kind.Kind + "List", APIVersion: d.Kind.GroupVersion().String()}}
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c, err := NewCluster(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Need(t.Context(), []Definition{d}); err != nil {
		t.Fatal(err)
	}
	if looks != 3 {
		t.Errorf("it is served at look %d, before it is established", looks)
	}
}

func TestChoose(t *testing.T) {
	names := func(all []Definition) []string {
		out := []string{}
		for _, d := range all {
			out = append(out, d.Name())
		}
		return out
	}
	for _, c := range []struct {
		list    []string
		want    []string
		refused string
	}{
		{list: nil, want: []string{}},
		{list: []string{"Coscheduling"}, want: []string{"podgroups.scheduling.x-k8s.io"}},
		{list: []string{"all"}, want: names(All())},
		{list: []string{"Coscheduling", "NodeResourcesFit"}, refused: `no plugin with custom resources is named "NodeResourcesFit"; say Coscheduling`},
	} {
		got, err := Choose(c.list)
		if c.refused != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.refused) {
				t.Errorf("%v: %v", c.list, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, names(got)); err != nil || diff != "" {
			t.Errorf("%v: %v %s", c.list, err, diff)
		}
	}
}

// TestKueuesKindsComeTogether: its controllers run only where all of them are.
func TestKueuesKindsComeTogether(t *testing.T) {
	one := ForKinds([]schema.GroupKind{{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}})
	if diff := cmp.Diff(Of([]string{Kueue}), one, cmp.AllowUnexported(Definition{})); diff != "" {
		t.Error(diff)
	}
	if other := ForKinds([]schema.GroupKind{{Group: "scheduling.x-k8s.io", Kind: "ElasticQuota"}}); len(other) != 1 {
		t.Errorf("an elastic quota brings %v", other)
	}
}
