package admission_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/admission"
)

func TestTry(t *testing.T) {
	a, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	data, _ := yaml.YAMLToJSON([]byte(`{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {priorityClassName: system-node-critical, containers: [{name: a, image: b, resources: {limits: {cpu: 1}}}]}}`))
	o, err := admission.DecodeStrictly(data)
	if err != nil {
		t.Fatal(err)
	}
	o, err = a.Admit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := yaml.Marshal(o)
	t.Log(string(out))
}
