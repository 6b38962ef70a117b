package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// callers are objects that call other programs. %s is the URL of one on loopback.
const callers = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: far}
webhooks:
- name: far.example.com
  clientConfig: {url: "https://192.0.2.1/hook"}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["pods", "configmaps"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: near}
webhooks:
- name: near.example.com
  clientConfig: {url: "https://127.0.0.1:1/hook"}
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
  service: {namespace: kube-system, name: metrics-server}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.apps}
spec: {group: apps, version: v1, groupPriorityMinimum: 17800, versionPriority: 15}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: racks.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: racks, kind: Rack}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://192.0.2.1/convert"}}}
---
apiVersion: example.com/v1
kind: Rack
metadata: {name: a}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 3
extenders:
- {urlPrefix: "%s", filterVerb: filter}
- {urlPrefix: "http://192.0.2.1/extender", filterVerb: filter}
`

func TestImportsStayInactive(t *testing.T) {
	clustertest.Slow(t)
	var calls atomic.Int64
	extender := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, `{"NodeNames":[]}`)
	}))
	defer extender.Close()
	options := DefaultOptions()
	options.NoVirtualNodes, options.DataDir = true, t.TempDir()
	s := startApart(t, options)

	report := importFiles(t, s, "", fmt.Sprintf(callers, extender.URL))
	for _, f := range append(report.Failed, report.Warnings...) {
		t.Errorf("%s %s: %s", f.Kind, f.Name, f.Message)
	}
	said := map[string]string{}
	for _, item := range report.Inactive {
		said[item.Kind+" "+item.Name] = item.Message
	}
	wantSaid := map[string]string{
		"ValidatingWebhookConfiguration far":         "inactive: it would call https://192.0.2.1/hook",
		"MutatingWebhookConfiguration near":          "inactive: it would call https://127.0.0.1:1/hook",
		"APIService v1beta1.metrics.k8s.io":          "inactive: it would call service kube-system/metrics-server",
		"CustomResourceDefinition racks.example.com": "inactive: it would call https://192.0.2.1/convert",
	}
	if diff := cmp.Diff(wantSaid, said); diff != "" {
		t.Error("report:", diff)
	}
	if c := report.Configuration; c == nil || !c.Applied || len(c.InactiveExtenders) != 2 {
		t.Fatalf("configuration: %+v", report.Configuration)
	}
	wantLeft(t, s, "Extender "+extender.URL, "Extender http://192.0.2.1/extender", "ValidatingWebhookConfiguration far",
		"MutatingWebhookConfiguration near", "APIService v1beta1.metrics.k8s.io", "CustomResourceDefinition racks.example.com")

	// Nothing of the import keeps pods from being created and scheduled.
	ns := namespace(t, s)
	s.addNode(t, "roomy")
	create(t, s, ns, pod("web", "reset", "1"), result.Scheduled)
	if n := calls.Load(); n != 0 {
		t.Errorf("the scheduler called the imported extender %d times", n)
	}
	if code, answer := s.send(t, http.MethodGet, "/kubernetes/apis/example.com/v2/racks", ""); code != http.StatusOK {
		t.Errorf("resources of the other version: %d %s", code, answer)
	}
	info, err := os.Stat(filepath.Join(options.DataDir, "inactive-extenders.json"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the kept extenders: %v, %v", info, err)
	}

	s.activate(t, `{"kind":"Extender","name":"`+extender.URL+`"}`, http.StatusOK)
	s.activate(t, `{"kind":"Extender"}`, http.StatusForbidden, "calls to 192.0.2.1 are not allowed")
	s.activate(t, `{"kind":"ValidatingWebhookConfiguration"}`, http.StatusForbidden, "calls to 192.0.2.1 are not allowed")
	s.activate(t, `{"kind":"MutatingWebhookConfiguration"}`, http.StatusOK)
	wantLeft(t, s, "Extender http://192.0.2.1/extender", "ValidatingWebhookConfiguration far", "APIService v1beta1.metrics.k8s.io", "CustomResourceDefinition racks.example.com")
	create(t, s, ns, pod("refused", "reset", "1"), result.Unschedulable)
	if calls.Load() == 0 {
		t.Error("the scheduler does not call the active extender")
	}
	hook, err := s.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "near", metav1.GetOptions{})
	if err != nil || len(hook.Webhooks) != 1 || len(hook.Annotations)+len(hook.Labels) != 0 {
		t.Errorf("the active webhook: %+v, %v", hook, err)
	}

	// The same import again makes everything inactive.
	importFiles(t, s, "", fmt.Sprintf(callers, extender.URL))
	wantLeft(t, s, "Extender "+extender.URL, "Extender http://192.0.2.1/extender", "ValidatingWebhookConfiguration far",
		"MutatingWebhookConfiguration near", "APIService v1beta1.metrics.k8s.io", "CustomResourceDefinition racks.example.com")
	s.reset(t)
	wantLeft(t, s)
}

// activate sends a request to activate, whose answer must have the code and the part.
func (s *running) activate(t *testing.T, body string, code int, part ...string) {
	t.Helper()
	got, answer := s.send(t, http.MethodPost, "/api/v1/inactive/activate", body)
	if got != code || !strings.Contains(string(answer), strings.Join(part, "")) {
		t.Errorf("activating %s: %d %s", body, got, answer)
	}
}

// wantLeft checks what is inactive.
func wantLeft(t *testing.T, s *running, names ...string) {
	t.Helper()
	var list struct{ Items []transfer.InactiveObject }
	s.get(t, "/api/v1/inactive", &list)
	got, want := map[string]bool{}, map[string]bool{}
	for _, item := range list.Items {
		got[item.Kind+" "+item.Name] = true
	}
	for _, name := range names {
		want[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("inactive:", diff)
	}
	clustertest.EventuallyTrue(t, fmt.Sprintf("the status counts %d", len(names)), func() bool {
		var status server.Status
		s.get(t, "/api/v1/status", &status)
		return status.Inactive == len(names)
	})
}

// TestActivateImported: a flag lets imports call what they name, as far as the policy goes.
func TestActivateImported(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.NoVirtualNodes, options.ActivateImported = true, true
	s := startApart(t, options)
	webhook, _, _ := strings.Cut(callers, "---\n")
	report := importFiles(t, s, "", webhook)
	if report.InactiveTotal != 0 || report.Created != 1 {
		t.Errorf("the report: %+v", report)
	}
	wantLeft(t, s)
	_, err := s.client.CoreV1().ConfigMaps("default").Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	if err != nil && !strings.Contains(err.Error(), "calls to 192.0.2.1 are not allowed") {
		t.Errorf("the webhook: %v", err)
	}
}

// TestExtendersOfOtherMachines: a configuration that a user writes may name extenders on loopback.
func TestExtendersOfOtherMachines(t *testing.T) {
	code, answer := shared.send(t, http.MethodPut, configurationPath, header+"extenders:\n- urlPrefix: http://extender.example.com\n  filterVerb: filter\n")
	var refused struct{ Details []config.Mistake }
	if err := json.Unmarshal(answer, &refused); err != nil || code != http.StatusUnprocessableEntity || len(refused.Details) != 1 {
		t.Fatalf("%d %s", code, answer)
	}
	want := config.Mistake{Field: "extenders[0].urlPrefix", Line: 4, Column: 14,
		Message: "calls to extender.example.com are not allowed: without --allow-outbound, the simulated cluster calls loopback addresses only"}
	if diff := cmp.Diff(want, refused.Details[0]); diff != "" {
		t.Error(diff)
	}
}
