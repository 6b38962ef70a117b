package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func decode(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const (
	webhooks = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"w","labels":{"a":"b"}},
		"webhooks":[{"name":"a.example.com","timeoutSeconds":5,"clientConfig":{"url":"https://hook.example.com/x"}},
			{"name":"b.example.com","clientConfig":{"service":{"namespace":"n","name":"s","port":443}}},
			{"name":"c.example.com","clientConfig":{"service":{"namespace":"n","name":"s","path":"/other"}}}]}`
	apiService = `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1beta1.metrics.k8s.io"},
		"spec":{"group":"metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,
			"service":{"namespace":"kube-system","name":"metrics-server","port":443}}}`
	definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ts.example.com"},
		"spec":{"group":"example.com","conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://c.example.com"}}}}}`
)

// TestActivateUndoesDeactivate: an inactive object calls nothing, and keeps everything.
func TestActivateUndoesDeactivate(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		calls  []Call
	}{
		"webhooks":    {webhooks, []Call{{URL: "https://hook.example.com/x"}, {Service: "n/s"}}},
		"APIService":  {apiService, []Call{{Service: "kube-system/metrics-server"}}},
		"conversions": {definition, []Call{{URL: "https://c.example.com"}}},
	} {
		t.Run(name, func(t *testing.T) {
			u := decode(t, test.object)
			before := u.DeepCopy()
			if diff := cmp.Diff(test.calls, Calls(u)); diff != "" {
				t.Error(diff)
			}
			if !Deactivate(u) {
				t.Fatal("it is called inactive already")
			}
			if calls := Calls(u); calls != nil {
				t.Errorf("inactive, it calls %v", calls)
			}
			if diff := cmp.Diff(test.calls, InactiveCalls(u)); diff != "" {
				t.Error(diff)
			}
			if u.GetLabels()[LabelInactive] == "" {
				t.Error("it cannot be selected")
			}
			if Deactivate(u) {
				t.Error("it is deactivated twice")
			}
			if err := Activate(u); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before.Object, u.Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObjectsThatCallNothingStay(t *testing.T) {
	for name, text := range map[string]string{
		"a pod":                        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"webhooks":[{"clientConfig":{"url":"https://a"}}]}`,
		"an API server's own API":      `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1."},"spec":{"version":"v1"}}`,
		"resources of one version":     `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"c"},"spec":{"conversion":{"strategy":"None"}}}`,
		"webhooks of a strange shape":  `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"w"},"webhooks":"none"}`,
		"a configuration without hook": `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"w"}}`,
	} {
		u := decode(t, text)
		before := u.DeepCopy()
		if Deactivate(u) {
			t.Errorf("%s is deactivated", name)
		}
		if diff := cmp.Diff(before.Object, u.Object); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestForgedAnnotations: an import may bring the annotation, too.
func TestForgedAnnotations(t *testing.T) {
	for name, text := range map[string]string{
		"no annotation":     "",
		"no JSON":           "{",
		"another field":     `{"metadata.labels":{"a":"b"}}`,
		"another's field":   `{"webhooks":[]}`,
		"a field within":    `{"spec.service.name":"s"}`,
		"not a JSON object": `[]`,
	} {
		u := decode(t, apiService)
		if text != "" {
			u.SetAnnotations(map[string]string{AnnotationInactive: text})
		}
		before := u.DeepCopy()
		if err := Activate(u); err == nil {
			t.Errorf("%s: it is activated", name)
		}
		if diff := cmp.Diff(before.Object, u.Object); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if calls := InactiveCalls(u); calls != nil {
			t.Errorf("%s: it would call %v", name, calls)
		}
	}
}
