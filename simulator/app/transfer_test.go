package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestAnExportHoldsResultsOrNoNames: an export with results holds those of its pods, and a redacted one
// holds no name that a user chose.
func TestAnExportHoldsResultsOrNoNames(t *testing.T) {
	ns := namespace(t, shared)
	node := createNode(t, shared, "confidential", "4")
	created, _ := create(t, shared, ns, pod("top-secret", "confidential", "1"), result.Scheduled)

	code, yaml := shared.send(t, http.MethodGet, "/api/v1/export?results=true&format=yaml", "")
	for _, part := range []string{"kind: List\n", "name: top-secret\n", "nodeName: " + node + "\n", "schedulerConfiguration:\n", "\nresults:\n", string(created.UID)} {
		if code != http.StatusOK || !strings.Contains(string(yaml), part) {
			t.Errorf("%d: an export with results lacks %q", code, part)
		}
	}
	code, redacted := shared.send(t, http.MethodGet, "/api/v1/export?results=true&redact=true", "")
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(redacted, &list); code != http.StatusOK || err != nil || len(list.Items) < 2 {
		t.Fatalf("%d, %v, %d items", code, err, len(list.Items))
	}
	for _, name := range []string{"top-secret", "confidential", node, ns, string(created.UID), `"results"`} {
		if bytes.Contains(redacted, []byte(name)) {
			t.Errorf("a redacted export has %q", name)
		}
	}
}

// TestImportedPodsStayOrAreRescheduled imports two files of a form.
func TestImportedPodsStayOrAreRescheduled(t *testing.T) {
	full, roomy := createNode(t, shared, "imported", "1"), createNode(t, shared, "imported", "8")
	ns := namespace(t, shared)
	for _, test := range []struct{ query, name, node string }{
		{"", "stays", full},
		{"?reschedule=true", "moves", roomy},
	} {
		// No scheduler would choose the node of the export.
		was := pod(test.name, "imported", "2")
		was.APIVersion, was.Kind = "v1", "Pod"
		was.Namespace, was.Spec.NodeName, was.Status.Phase = ns, full, v1.PodRunning
		document, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		budget := fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: %s}\nspec: {minAvailable: 1, selector: {}}\n", test.name, ns)
		report := importFiles(t, shared, test.query, string(document), budget)
		if report.Created != 2 || report.FailedTotal != 0 {
			t.Errorf("it reports %+v", report)
		}
		clustertest.Eventually(t, test.name+" is on "+test.node, func(ctx context.Context) (bool, error) {
			is, err := shared.client.CoreV1().Pods(ns).Get(ctx, test.name, metav1.GetOptions{})
			return err == nil && is.Spec.NodeName == test.node, err
		})
	}
	var page result.Page
	shared.get(t, "/api/v1/results?namespace="+ns+"&name=stays", &page)
	if len(page.Items) != 0 {
		t.Errorf("a pod that was bound was scheduled: %+v", page.Items)
	}
}

// importFiles sends a form with files.
func importFiles(t *testing.T, s *running, query string, files ...string) *transfer.Report {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, file := range files {
		part, err := form.CreateFormFile("file", fmt.Sprint("file-", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, file); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.url+"/api/v1/import"+query, form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	report := &transfer.Report{}
	if err := json.NewDecoder(resp.Body).Decode(report); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %+v", resp.Status, err, report)
	}
	return report
}
