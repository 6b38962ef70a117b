package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
)

// FuzzImport: reading terminates for any input, every object read has the fields that later steps
// rely on, and importing it never panics. The corpus in testdata has output of kubectl, typed lists,
// exports of the earlier simulator, and archives.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		onePod, "---\n" + onePod + "---\n{\"a\":1}\n", "apiVersion: v1\nkind: List\nitems:\n- " + "kind: Pod\n", `{"kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]}`,
		`{"pods":[{"metadata":{"name":"a"}}],"schedulerConfig":{}}`, "items:\n  - a\n - b\n\t- c\n", "a: &a [*a]\n", "PK\x03\x04", "\x1f\x8b\x08", bomb(),
	} {
		f.Add([]byte(seed))
	}
	for _, file := range []string{"cluster.yaml", "earlier.json", "testbed.yaml"} {
		seed, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	s := New(Options{Config: &rest.Config{Host: "http://willing", Transport: newWilling()}})
	f.Fuzz(func(t *testing.T, text []byte) {
		var read []*unstructured.Unstructured
		err := manifest.Read(context.Background(), manifest.NewSource(manifest.Part{Name: "f", Content: bytes.NewReader(text), Size: int64(len(text))}), manifest.Content{Object: func(o *manifest.Object) error {
			u, err := o.Unstructured()
			if err != nil {
				t.Errorf("%s: %v", o.JSON, err)
				return nil
			}
			if u.GetKind() != o.GVK.Kind || o.Name == "" {
				t.Errorf("%s: read as %s %q", o.JSON, o.GVK, o.Name)
			}
			read = append(read, u.DeepCopy())
			// Cleaning must not panic either.
			ownerOf(u)
			neutralForExport(u, false)
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
		if len(read) == 0 {
			return
		}
		report, err := s.Import(context.Background(), manifesttest.Collected(t, read...), ImportOptions{Reschedule: len(text)%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		for _, failed := range report.Failed {
			if strings.Contains(failed.Message, errPanicked.Error()) {
				t.Error(failed.Message)
			}
		}
	})
}

// willing is an API server that holds nothing and accepts everything.
type willing struct {
	// answers are the answers to GET, by path.
	answers map[string]string
}

// newWilling serves the kinds of some groups.
func newWilling() *willing {
	w := &willing{answers: map[string]string{"/api": `{"versions":["v1"]}`}}
	var groups []string
	for _, group := range []string{"", "apps", "batch", "resource.k8s.io", "storage.k8s.io", "scheduling.k8s.io"} {
		gv, path := "v1", "/api/v1"
		if group != "" {
			gv, path = group+"/v1", "/apis/"+group+"/v1"
			groups = append(groups, fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":%q,"version":"v1"}]}`, group, gv))
		}
		var resources []string
		for _, k := range objects.Kinds(0) {
			if k.Group == group {
				resources = append(resources, fmt.Sprintf(`{"name":"%ss","kind":%q,"namespaced":%t,"verbs":["create","list"]}`, strings.ToLower(k.Kind), k.Kind, k.Namespaced))
			}
		}
		w.answers[path] = fmt.Sprintf(`{"groupVersion":%q,"resources":[%s]}`, gv, strings.Join(resources, ","))
	}
	w.answers["/apis"] = `{"groups":[` + strings.Join(groups, ",") + `]}`
	w.answers["/api/v1/nodes"] = `{"kind":"NodeList","apiVersion":"v1","items":[]}`
	w.answers["/api/v1/persistentvolumeclaims"] = `{"kind":"PersistentVolumeClaimList","apiVersion":"v1","items":[]}`
	return w
}

// RoundTrip implements http.RoundTripper.
func (w *willing) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, w.answers[r.URL.Path]
	switch {
	case r.Method == http.MethodPost:
		var sent struct{ Metadata struct{ Name string } }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
		name, err := json.Marshal(sent.Metadata.Name)
		if err != nil {
			return nil, err
		}
		code, body = http.StatusCreated, fmt.Sprintf(`{"metadata":{"name":%s,"uid":"u","resourceVersion":"1"}}`, name)
	case r.Method != http.MethodGet:
		body = `{"metadata":{"uid":"u","resourceVersion":"2"}}`
	case body == "":
		code, body = http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}
