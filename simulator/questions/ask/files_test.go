package ask

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

const podSpec = `spec: {containers: [{name: web, image: web}]}`

func TestReadSubject(t *testing.T) {
	for _, tc := range []struct{ name, content, pod, beside string }{
		{"a pod", "{apiVersion: v1, kind: Pod, metadata: {name: web}, " + podSpec + "}", "shop/web", ""},
		{"a pod in a namespace", "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: other}, " + podSpec + "}", "other/web", ""},
		{
			"a pod and what it needs",
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: web}, " + podSpec + "}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: a}}",
			"shop/web", "PersistentVolumeClaim shop/data, Node /a",
		},
		{"a workload", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, template: {metadata: {labels: {app: web}}, " + podSpec + "}}}", "shop/web × 3", ""},
		{"a workload by default", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: etl}, spec: {jobTemplate: {spec: {template: {" + podSpec + "}}}}}", "shop/etl × 1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := ReadSubject(t.Context(), "-", "shop", strings.NewReader(tc.content))
			if err != nil {
				t.Fatal(err)
			}
			pod := nameIn(t, s.Pod)
			if s.Replicas > 0 {
				pod += " × " + string(rune('0'+s.Replicas))
			}
			var beside []string
			for _, c := range s.Beside {
				var head struct{ Kind string }
				if err := json.Unmarshal(c.Apply, &head); err != nil {
					t.Fatal(err)
				}
				beside = append(beside, head.Kind+" "+nameIn(t, c.Apply))
			}
			if diff := cmp.Diff([]string{tc.pod, tc.beside}, []string{pod, strings.Join(beside, ", ")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func nameIn(t *testing.T, document hypothesis.Document) string {
	t.Helper()
	var head struct {
		Metadata struct{ Namespace, Name string }
	}
	if err := json.Unmarshal(document, &head); err != nil {
		t.Fatal(err)
	}
	return head.Metadata.Namespace + "/" + head.Metadata.Name
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"tab.yaml":   "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: web\n",
		"none.yaml":  "{apiVersion: v1, kind: Node, metadata: {name: a}}",
		"two.yaml":   "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}",
		"named.yaml": "{apiVersion: v1, kind: Pod, metadata: {}}",
		"conf.yaml":  "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}",
		"empty.yaml": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"tab.yaml":     "tab.yaml, document 1: line 4: not YAML: a tab cannot indent; use spaces",
		"none.yaml":    "none.yaml has no pod, and no workload with a template for pods",
		"two.yaml":     "two.yaml has several pods; a question is about one",
		"named.yaml":   "named.yaml, document 1: the Pod has no metadata.name",
		"conf.yaml":    "conf.yaml, document 1: a scheduler configuration belongs to --scheduler-config",
		"empty.yaml":   "empty.yaml has no pod, and no workload with a template for pods",
		"missing.yaml": "stat " + filepath.Join(dir, "missing.yaml") + ": no such file or directory",
	} {
		_, err := ReadSubject(t.Context(), filepath.Join(dir, file), "default", nil)
		if err == nil || strings.ReplaceAll(err.Error(), dir+"/", "") != strings.ReplaceAll(want, dir+"/", "") {
			t.Errorf("%s: %v\nwant %s", file, err, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"node/a":                             `{"apiVersion":"v1","kind":"Node","name":"a"}`,
		"no/a":                               `{"apiVersion":"v1","kind":"Node","name":"a"}`,
		"Nodes/a":                            `{"apiVersion":"v1","kind":"Node","name":"a"}`,
		"pod/web":                            `{"apiVersion":"v1","kind":"Pod","namespace":"here","name":"web"}`,
		"pods/shop/web":                      `{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web"}`,
		"pdb/shop/web":                       `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","namespace":"shop","name":"web"}`,
		"priorityclass/high":                 `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","name":"high"}`,
		"csistoragecapacities/shop/c":        `{"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity","namespace":"shop","name":"c"}`,
		"a":                                  `"a" does not name an object: want KIND/NAME or KIND/NAMESPACE/NAME, such as node/a or pod/shop/web`,
		"node/":                              `"node/" does not name an object: want KIND/NAME or KIND/NAMESPACE/NAME, such as node/a or pod/shop/web`,
		"node/shop/a":                        `"node/shop/a": a Node has no namespace`,
		"configmap/a":                        `the scheduler reads no kind "configmap"`,
		"queue/a":                            `"queue" is a kind of several groups: say queues.scheduling.incubator.k8s.io or queues.scheduling.sigs.dev or queues.scheduling.volcano.sh`,
		"podgroups.scheduling.k8s.io/gang":   `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","namespace":"here","name":"gang"}`,
		"podgroups.scheduling.x-k8s.io/gang": `{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","namespace":"here","name":"gang"}`,
	} {
		target, err := ParseTarget(text, "here")
		got := ""
		if err != nil {
			got = err.Error()
		} else if data, err := json.Marshal(target); err == nil {
			got = string(data)
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}
