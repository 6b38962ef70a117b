package systemtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestPoliciesDoNotPreventAStart: users may refuse everything, even namespaces.
func TestPoliciesDoNotPreventAStart(t *testing.T) {
	h := newHome(t)
	p := start(t, h)
	p.createNodes(t, "node", 1)
	p.schedules(t, "before")
	all := admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}}
	rule := admissionregistrationv1.RuleWithOperations{Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"}, Rule: all}
	fail := admissionregistrationv1.Fail
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "nothing-new"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    &fail,
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
			Validations:      []admissionregistrationv1.Validation{{Expression: "false", Message: "nothing new"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "nothing-new"},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "nothing-new", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}},
	}
	none, nowhere := admissionregistrationv1.SideEffectClassNone, "https://127.0.0.1:1/"
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "not-there"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "not.there.example.com", Rules: []admissionregistrationv1.RuleWithOperations{rule}, FailurePolicy: &fail, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"}, ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &nowhere},
		}},
	}
	api := p.client.AdmissionregistrationV1()
	if _, err := api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ValidatingWebhookConfigurations().Create(t.Context(), webhook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "namespaces are refused", func() error {
		_, err := p.client.CoreV1().Namespaces().Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}, metav1.CreateOptions{})
		if err == nil {
			return errors.New("one was created")
		}
		return nil
	})
	p.kill()

	p = start(t, h)
	if _, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	api = p.client.AdmissionregistrationV1()
	if err := errors.Join(
		api.ValidatingWebhookConfigurations().Delete(t.Context(), webhook.Name, metav1.DeleteOptions{}),
		api.ValidatingAdmissionPolicyBindings().Delete(t.Context(), binding.Name, metav1.DeleteOptions{}),
	); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pods are accepted", func() error {
		_, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}, metav1.CreateOptions{})
		return err
	})
	p.schedules(t, "after")
	p.stop(t)
}

// TestKeptDataOfAnEarlierVersion starts on a data directory that the version before inventories has
// made, with a node, a pod that it has scheduled, and a configuration. The certificates are left
// out.
func TestKeptDataOfAnEarlierVersion(t *testing.T) {
	h := newHome(t)
	if err := os.Mkdir(h.data, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join("testdata", "data-directory-before-inventories.tar.gz")
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", h.data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := start(t, h)
	pod, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "node-1" {
		t.Errorf("the pod is %v, %v", pod, err)
	}
	if m, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "kept", metav1.GetOptions{}); err != nil || m.Data["key"] != "value" {
		t.Errorf("the map is %v, %v", m, err)
	}
	if decisions := p.decisions(t); len(decisions) != 1 || decisions[pod.UID] == "" {
		t.Errorf("the results are %v", decisions)
	}
	var configuration struct{ Parallelism int }
	if err := p.get(configurationURL, &configuration); err != nil || configuration.Parallelism != 7 {
		t.Errorf("the configuration is %+v, %v", configuration, err)
	}
	p.schedules(t, "after")
	if said := p.stderr.String(); said != "" {
		t.Errorf("it said %s", said)
	}
	p.kill()

	// Now it has an inventory, and nothing may go.
	if err := os.RemoveAll(filepath.Join(h.data, "etcd")); err != nil {
		t.Fatal(err)
	}
	if line := launch(t, h).endsWithOneLine(t); !strings.Contains(line, "is missing or empty, but has held data") {
		t.Errorf("it said %s", line)
	}
}

// smallDisk returns a home on a file system of its own.
func smallDisk(t *testing.T, bytes int) home {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	h := newHome(t)
	disk := filepath.Join(filepath.Dir(h.data), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("this system does not let root mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	h.data = filepath.Join(disk, "data")
	return h
}

// fillDisk writes until the disk is full, and returns a function that makes room again.
func fillDisk(t *testing.T, h home) (free func()) {
	t.Helper()
	path := filepath.Join(filepath.Dir(h.data), "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		if _, err := file.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// occupy gives a file all the room that it says it takes, so that etcd can go on writing to its
// database.
func occupy(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = syscall.Fallocate(int(file.Fd()), 0, 0, info.Size())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func bigMap(name string) *v1.ConfigMap {
	return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"data": strings.Repeat("x", 500_000)}}
}

// TestAFullDisk: with a full disk the program refuses, or ends with one line that says so. What it
// has acknowledged is there when the disk has room again.
func TestAFullDisk(t *testing.T) {
	clustertest.Slow(t)
	h := smallDisk(t, 200<<20)
	p := start(t, h)
	p.createNodes(t, "node", 1)
	p.schedules(t, "before")
	free := fillDisk(t, h)

	acknowledged := []string{}
	for i := range 100 {
		name := fmt.Sprintf("map-%d", i)
		if _, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), bigMap(name), metav1.CreateOptions{}); err != nil {
			t.Logf("after %d maps: %v", i, err)
			break
		}
		acknowledged = append(acknowledged, name)
	}
	eventually(t, "the program has ended", func() error {
		select {
		case <-p.exited:
			return nil
		default:
			return errors.New("it has not")
		}
	})
	t.Log(p.stderr)
	if said := p.stderr.String(); !strings.Contains(said, "no space left on device") || !strings.Contains(said, "the disk is full: make room and try again") {
		t.Errorf("it said\n%s", said)
	}

	// Still full: it starts with the data, or says why not.
	p = launch(t, h)
	if err := p.waitReady(); err != nil {
		said := p.stderr.String()
		t.Log(said)
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, "full") && !strings.Contains(said, "no space left on device") {
			t.Errorf("on a full disk it said\n%s", said)
		}
	} else {
		p.has(t, acknowledged)
	}
	p.kill()

	free()
	p = start(t, h)
	p.has(t, acknowledged)
	p.schedules(t, "after")
	p.stop(t)
}

// has checks that the maps are there, and the first pod.
func (p *program) has(t *testing.T, maps []string) {
	t.Helper()
	for _, name := range maps {
		if _, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("%s was acknowledged: %v", name, err)
		}
	}
	if _, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// TestAStartOnAFullDisk: a new cluster does not fit.
func TestAStartOnAFullDisk(t *testing.T) {
	for _, size := range []int{1 << 20, 40 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			h := smallDisk(t, size)
			line := launch(t, h).endsWithOneLine(t)
			t.Log(line)
			if !strings.Contains(line, "the disk is full") && !strings.Contains(line, "no space left on device") {
				t.Errorf("it said %s", line)
			}
		})
	}
}

// TestAResetThatFails: the disk has no room for the mark of the reset. Nothing changes, and the
// next start does not reset either.
func TestAResetThatFails(t *testing.T) {
	clustertest.Slow(t)
	h := smallDisk(t, 200<<20)
	p := start(t, h)
	p.createNodes(t, "node", 1)
	p.schedules(t, "before")
	occupy(t, filepath.Join(h.data, etcdDB))
	free := fillDisk(t, h)
	a, err := p.request(http.MethodPut, "/api/v1/reset", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != http.StatusInternalServerError || !strings.Contains(string(a.body), "no space left on device; the disk is full: make room and try again") {
		t.Errorf("the reset answers %d: %s", a.status, a.body)
	}
	if _, err := os.Lstat(filepath.Join(h.data, resetMark)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a mark is left: %v", err)
	}
	free()
	if _, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made-after"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p = start(t, h)
	p.has(t, []string{"made-after"})
	p.stop(t)
}
