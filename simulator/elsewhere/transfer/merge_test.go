package transfer

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestDiffers(t *testing.T) {
	const existing = `
metadata: {name: a, uid: "1", labels: {app: web, added: x}}
spec:
  replicas: 1
  containers: [{name: main, image: i, terminationMessagePath: /dev/log, resources: {requests: {cpu: "1"}}}]
  tolerations: [{key: a, operator: Exists}, {key: not-ready, operator: Exists}]
status: {phase: Running}
`
	for _, test := range []struct {
		name, desired string
		want          bool
	}{
		{"less", "metadata: {name: a, labels: {app: web}}\nspec: {containers: [{name: main}]}", false},
		{"what is left to defaults", "spec: {containers: [{name: main, env: [], securityContext: {}}], nodeSelector: {}}", false},
		{"a quantity in another form", "spec: {containers: [{name: main, resources: {requests: {cpu: 1000m}}}]}", false},
		{"another quantity", "spec: {containers: [{name: main, resources: {requests: {cpu: 1001m}}}]}", true},
		{"tolerations that are among those there", "spec: {tolerations: [{key: a, operator: Exists}]}", false},
		{"a toleration more", "spec: {tolerations: [{key: b, operator: Exists}]}", true},
		{"another label", "metadata: {labels: {app: db}}", true},
		{"a status", "status: {phase: Pending}", false},
		{"a container more", "spec: {containers: [{name: main}, {name: more}]}", true},
		{"nothing where something is", "spec: {replicas: 0}", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var have, want map[string]any
			if err := yaml.Unmarshal([]byte(existing), &have); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(test.desired), &want); err != nil {
				t.Fatal(err)
			}
			if got := differs(have, want); got != test.want {
				t.Errorf("differs: %v", got)
			}
			overlay(have, want)
			if differs(have, want) {
				t.Errorf("it still differs after the overlay: %v", have)
			}
		})
	}
}
