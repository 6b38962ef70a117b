package controlplane

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"k8s.io/kube-openapi/pkg/handler3"
)

// TestDocumentsAreBuiltLate: the aggregator asks for the index every second, which must not build the documents.
func TestDocumentsAreBuiltLate(t *testing.T) {
	var built atomic.Int32
	late := lateOpenAPI{paths: []string{"api/v1"}, hash: "ABC", documents: func() http.Handler {
		built.Add(1)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.String()) })
	}}
	served := mux.NewPathRecorderMux("test")
	late.install(served)
	get := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		served.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer
	}

	var index handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(get("/openapi/v3").Body.Bytes(), &index); err != nil {
		t.Fatal(err)
	}
	document := index.Paths["api/v1"].ServerRelativeURL
	if document != "/openapi/v3/api/v1?hash=ABC" || built.Load() != 0 {
		t.Errorf("the index leads to %q and built %d times, want the document with its hash, and nothing built", document, built.Load())
	}
	for path, want := range map[string]struct{ asked, caching string }{
		document:                      {"/openapi/v3/api/v1", "public, immutable"},
		"/openapi/v3/api/v1":          {"/openapi/v3/api/v1", ""},
		"/openapi/v3/api/v1?hash=OLD": {"/openapi/v3/api/v1?hash=OLD", ""},
		"/openapi/v2":                 {"/openapi/v2", ""},
	} {
		answer := get(path)
		if asked, caching := answer.Body.String(), answer.Header().Get("Cache-Control"); asked != want.asked || caching != want.caching {
			t.Errorf("%s asks the documents for %q and may be kept as %q, want %+v", path, asked, caching, want)
		}
	}
}

func TestTheHashFollowsWhatTheDocumentsDependOn(t *testing.T) {
	gates := featuregate.NewFeatureGate()
	if err := gates.Add(map[featuregate.Feature]featuregate.FeatureSpec{"Groups": {Default: false, PreRelease: featuregate.Beta}}); err != nil {
		t.Fatal(err)
	}
	first := openAPIHash("v1.37.2", gates)
	if again := openAPIHash("v1.37.2", gates); again != first {
		t.Errorf("the same version and gates have the hashes %s and %s", first, again)
	}
	if other := openAPIHash("v1.37.3", gates); other == first {
		t.Error("another version has the same hash")
	}
	if err := gates.Set("Groups=true"); err != nil {
		t.Fatal(err)
	}
	if other := openAPIHash("v1.37.2", gates); other == first {
		t.Error("another feature gate has the same hash")
	}
}

// TestDocumentsOfEveryGroup: every document of the index exists under its URL, and those of built-in kinds, of custom
// resources and of the aggregator are among them.
func TestDocumentsOfEveryGroup(t *testing.T) {
	config := kubeconfigOf(t, sharedControlPlane(t))
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		t.Errorf("%s is redirected to %s", via[0].URL, r.URL)
		return http.ErrUseLastResponse
	}
	get := func(path string) []byte {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, answer.Status, err)
		}
		return body
	}

	var index handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(get("/openapi/v3"), &index); err != nil {
		t.Fatal(err)
	}
	// The aggregator takes what several of its servers describe from any of them, so they must agree.
	for range 30 {
		var again handler3.OpenAPIV3Discovery
		if err := json.Unmarshal(get("/openapi/v3"), &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(index, again); diff != "" {
			t.Fatalf("the index depends on chance: %s", diff)
		}
	}
	schemas := map[string]string{
		"version":                              "io.k8s.apimachinery.pkg.version.Info",
		"api/v1":                               "io.k8s.api.core.v1.Pod",
		"apis/apps/v1":                         "io.k8s.api.apps.v1.Deployment",
		"apis/apiextensions.k8s.io/v1":         "CustomResourceDefinition",
		"apis/apiregistration.k8s.io/v1":       "APIService",
		"apis/flowcontrol.apiserver.k8s.io/v1": "FlowSchema",
	}
	for path, schema := range schemas {
		if !strings.Contains(string(get(index.Paths[path].ServerRelativeURL)), schema) {
			t.Errorf("the document of %s does not describe %s", path, schema)
		}
	}
	for path, at := range index.Paths {
		if !json.Valid(get(at.ServerRelativeURL)) {
			t.Errorf("the document of %s is not JSON", path)
		}
	}
	if v2 := string(get("/openapi/v2")); !strings.Contains(v2, "io.k8s.api.core.v1.Pod") || !strings.Contains(v2, "CustomResourceDefinition") {
		t.Error("the document of version 2 lacks kinds")
	}
}
