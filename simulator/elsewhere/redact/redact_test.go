package redact

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

var salt = []byte("for a test")

var update = flag.Bool("update", false, "write the golden file")

// TestAPodAndItsNode compares a redacted file with a transcript.
func TestAPodAndItsNode(t *testing.T) {
	got := redacted(t, `
apiVersion: v1
kind: Node
metadata:
  name: db-7.acme.example
  uid: 4a2b
  resourceVersion: "7"
  labels:
    kubernetes.io/hostname: db-7.acme.example
    kubernetes.io/arch: arm64
    topology.kubernetes.io/zone: acme-west
    acme.example/rack: r12
    acme.example/disks: "8"
    node-role.kubernetes.io/control-plane: ""
  annotations: {acme.example/owner: jane}
spec:
  providerID: acme://db-7
  podCIDR: 10.1.0.0/24
  taints: [{key: acme.example/team, value: payments, effect: NoSchedule}]
status:
  allocatable: {cpu: "8", nvidia.com/gpu: "2", acme.example/fpga: "1"}
  addresses: [{type: Hostname, address: db-7}]
  images: [{names: ["registry.acme.example/pay:1.2", "registry.acme.example/pay@sha256:77"], sizeBytes: 209715200}]
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: kubelet on db-7}]
---
apiVersion: v1
kind: Pod
metadata:
  name: payments-2
  namespace: acme
  labels: {app: payments}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: payments, uid: 77, controller: true}]
spec:
  nodeName: db-7.acme.example
  serviceAccountName: payer
  nodeSelector: {acme.example/rack: r12}
  containers:
  - name: main
    image: registry.acme.example/pay:1.2
    args: [--password=hunter2]
    env: [{name: PASSWORD, value: hunter2}]
    resources: {requests: {cpu: 500m, acme.example/fpga: "1"}}
  volumes:
  - {name: conf, configMap: {name: payments-conf}}
  - {name: data, persistentVolumeClaim: {claimName: data-payments-2}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: acme.example/disks, operator: Gt, values: ["4"]}]
          matchFields: [{key: metadata.name, operator: In, values: [db-7.acme.example]}]
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {app: payments}}
        namespaces: [acme]
        matchLabelKeys: [pod-template-hash]
  tolerations: [{key: acme.example/team, operator: Equal, value: payments}]
status: {phase: Running, podIP: 10.1.0.9}
`)
	want, err := os.ReadFile("testdata/shown.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/shown.yaml", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s", diff)
	}
}

// TestNothingOfTheOriginalIsLeft fills every string of every covered kind with a word, and looks for
// that word in the output. It fills enumerations, too, and rules remove the unknown values.
func TestNothingOfTheOriginalIsLeft(t *testing.T) {
	r := New(nil)
	checked := 0
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if !Covers(gvk.GroupKind()) {
			continue
		}
		checked++
		t.Run(gvk.String(), func(t *testing.T) {
			typed, err := scheme.Scheme.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			fill(reflect.ValueOf(typed).Elem(), 0)
			u := asUnstructured(t, typed, gvk)
			if before := encode(t, u); !strings.Contains(before, secret) {
				t.Fatalf("the object has nothing to hide: %s", before)
			}
			r.Object(u)
			if after := encode(t, u); strings.Contains(strings.ToLower(after), secret) {
				t.Errorf("the word is still in it: %s", regexp.MustCompile(`[^,{]{0,80}`+secret+`[^,}]{0,20}`).FindAllString(after, 5))
			}
		})
	}
	if checked < 30 {
		t.Errorf("only %d kinds were checked", checked)
	}
}

// secret is a word that is a valid value of nearly every field.
const secret = "zanzibar"

func fill(v reflect.Value, depth int) {
	if depth > 14 {
		return
	}
	switch at := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*at = resource.MustParse("1")
		return
	case *metav1.Time:
		*at = metav1.NewTime(time.Unix(1_700_000_000, 0))
		return
	case *metav1.MicroTime, *metav1.FieldsV1, *runtime.RawExtension:
		return
	case *intstr.IntOrString:
		*at = intstr.FromString(secret)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint('z')
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	}
}

// TestNumbersOfWorkloadsGo: the number at the end of a workload's name may be a customer's.
func TestNumbersOfWorkloadsGo(t *testing.T) {
	for kind, keeps := range map[string]bool{
		"apps/v1 Deployment": false, "apps/v1 ReplicaSet": false, "apps/v1 StatefulSet": false, "apps/v1 DaemonSet": false,
		"batch/v1 Job": false, "batch/v1 CronJob": false, "v1 ReplicationController": false, "v1 Pod": true,
	} {
		version, kind, _ := strings.Cut(kind, " ")
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": "customer-4711"}}}
		New(salt).Object(u)
		if kept := strings.Contains(u.GetName(), "4711"); kept != keeps {
			t.Errorf("%s customer-4711 is %s", kind, u.GetName())
		}
	}
}

// TestAppWrappersKeepWhatHasRules: an object inside an AppWrapper is redacted by the rules of its own kind, and dropped without any.
func TestAppWrappersKeepWhatHasRules(t *testing.T) {
	template := func(kind string) map[string]any {
		return map[string]any{"apiVersion": "batch/v1", "kind": kind, "metadata": map[string]any{"name": secret}, "spec": map[string]any{"parallelism": int64(3), "secret": secret}}
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": map[string]any{"name": secret},
		"spec": map[string]any{"suspend": true, "components": []any{map[string]any{"template": template("Job")}, map[string]any{"template": template("Thing")}, secret}},
	}}
	New(salt).Object(u)
	if after := encode(t, u); strings.Contains(after, secret) {
		t.Errorf("the word is still in it: %s", after)
	}
	components, _, _ := unstructured.NestedSlice(u.Object, "spec", "components")
	if len(components) != 1 {
		t.Fatalf("the components are %v", components)
	}
	if pods, _, _ := unstructured.NestedInt64(components[0].(map[string]any), "template", "spec", "parallelism"); pods != 3 {
		t.Errorf("the job has %d pods", pods)
	}
}

func TestTheSameWordIsTheSameEverywhere(t *testing.T) {
	r := New(salt)
	for name, pair := range map[string][2]string{
		"a node and its hostname label":     {r.word("node", "n1"), r.labelValue("kubernetes.io/hostname", "n1")},
		"a namespace and its label":         {r.namespaceName("acme"), r.labelValue("kubernetes.io/metadata.name", "acme")},
		"a StatefulSet and its pod":         {r.word("app", "web") + "-3", r.pod("web-3")},
		"a StatefulSet with a number":       {r.word("app", "web-4711") + "-3", r.pod("web-4711-3")},
		"an image with and without its tag": {r.image("a/b") + ":latest", r.image("a/b:latest")},
		"a driver in an expression":         {`device.driver == "` + r.driver("gpu.acme.example") + `"`, r.expression(`device.driver == "gpu.acme.example"`)},
		"another redactor, the same salt":   {r.word("node", "n1"), New(salt).word("node", "n1")},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q and %q", name, pair[0], pair[1])
		}
	}
	if a, b := New(nil).word("node", "n1"), New(nil).word("node", "n1"); a == b {
		t.Errorf("without a salt, two redactors both say %q: anybody could try out names", a)
	}
	if a, b := r.image("a/b:1"), r.image("a/b:2"); a == b {
		t.Errorf("two tags are one: %q", a)
	}
}

func TestWhatKubernetesHasNamedStays(t *testing.T) {
	r := New(salt)
	for _, key := range []string{
		"kubernetes.io/hostname", "topology.kubernetes.io/zone", "node.kubernetes.io/not-ready", "app.kubernetes.io/name", "pod-template-hash",
	} {
		if got := r.labelKey(key); got != key {
			t.Errorf("key %s became %s", key, got)
		}
	}
	for _, name := range []string{"cpu", "hugepages-2Mi", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "requests.cpu", "attachable-volumes-aws-ebs"} {
		if name == "requests.cpu" {
			name = "requests.nvidia.com/gpu"
		}
		if got := resourceName(r, name); got != name {
			t.Errorf("resource %s became %s", name, got)
		}
	}
	for _, name := range []string{"acme.example/fpga", "nvidia.com/acme-slice", "node-role.kubernetes.io/acme", "acme.kubernetes.io/x", "kubernetes.io/acme"} {
		if got := resourceName(r, name) + r.labelKey(name); strings.Contains(got, "acme") {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func TestExpressions(t *testing.T) {
	r := New(salt)
	id, driver, model := r.identifier, r.driver("gpu.acme.example"), r.value("A100-acme")
	for source, want := range map[string]string{
		`device.driver == "gpu.acme.example"`:                                         `device.driver == "` + driver + `"`,
		`device.attributes["gpu.acme.example"].model == 'A100-acme'`:                  `device.attributes["` + driver + `"].` + id("model") + ` == "` + model + `"`,
		`device.capacity["gpu.acme.example"].memory.compareTo(quantity("40Gi")) >= 0`: `device.capacity["` + driver + `"].` + id("memory") + `.compareTo(quantity("40Gi")) >= 0`,
		`device.attributes["gpu.acme.example"].index in [0, 12]`:                      `device.attributes["` + driver + `"].` + id("index") + ` in [0, 12]`,
		`device.attributes["gpu.acme.example"].type == "x" // acme`:                   `device.attributes["` + driver + `"].` + id("type") + ` == "` + r.value("x") + `" `,
		`cel.bind(gpu, device.attributes["gpu.acme.example"], gpu.model == "x")`:      `cel.bind(` + id("gpu") + `, device.attributes["` + driver + `"], ` + id("gpu") + `.` + id("model") + ` == "` + r.value("x") + `")`,
		`device.driver == "cut off`:                                                   `false`,
		`acmeFunction(1)`:                                                             `false`,
		`r"acme" == "x"`:                                                              `false`,
	} {
		if got := r.expression(source); got != want {
			t.Errorf("%s\n got %s\nwant %s", source, got, want)
		}
	}
}

// TestTheConfigurationGoesWithThePods: pods and configuration agree on the redacted scheduler names.
func TestTheConfigurationGoesWithThePods(t *testing.T) {
	got := redacted(t, `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: acme-scheduler
  plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 7}]}}
  pluginConfig:
  - {name: AcmePlugin, args: {secret: acme}}
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}
extenders: [{urlPrefix: "http://acme"}]
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {schedulerName: acme-scheduler}
`)
	name := New(salt).word("scheduler", "acme-scheduler")
	want := fmt.Sprintf(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - args:
      scoringStrategy:
        resources:
        - name: cpu
          weight: 1
        type: MostAllocated
    name: NodeResourcesFit
  plugins:
    score:
      enabled:
      - name: NodeResourcesFit
        weight: 7
  schedulerName: %s
---
apiVersion: v1
kind: Pod
metadata:
  name: %s
spec:
  schedulerName: %s
`, name, New(salt).pod("p"), name)
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s", diff)
	}
}

func TestAnUnknownKindIsNotShown(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"secret": "x"},
	}}
	if Covers(u.GroupVersionKind().GroupKind()) {
		t.Error("it is said to be covered")
	}
	r := New(salt)
	r.Object(u)
	want := map[string]any{"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": map[string]any{"name": r.word("object", "w")}}
	if diff := cmp.Diff(want, u.Object); diff != "" {
		t.Errorf("it shows (-want +got):\n%s", diff)
	}
}

func redacted(t *testing.T, documents string) string {
	t.Helper()
	r := New(salt)
	var out []string
	for document := range strings.SplitSeq(documents, "\n---\n") {
		u := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if err := u.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		r.Object(u)
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return strings.Join(out, "---\n")
}

func asUnstructured(t *testing.T, o runtime.Object, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	o.GetObjectKind().SetGroupVersionKind(gvk)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

func encode(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	data, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
