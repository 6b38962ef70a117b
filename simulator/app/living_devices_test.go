package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

func devices(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "a-2")
	k.do(t, "annotate", "node", k.namespace+"-a-2", "kube-scheduler-simulator.sigs.k8s.io/devices=[{driver: gpu.example.com, count: 2, name: gpu}]")
	k.apply(t, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: %s-gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %s-gpu}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 3
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      nodeSelector: {pool: %s}
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      containers: [{name: main, image: example.com/train, resources: {claims: [{name: gpu}]}}]
`)
	k.shows(t, `
NAME READY UP-TO-DATE AVAILABLE AGE
train 2/3 3 2 …s`, "deployment")
	out, err := k.Run("get", "resourceclaims", "--no-headers")
	if err != nil || strings.Count(out, "allocated,reserved") != 2 || strings.Count(out, "pending") != 1 {
		t.Errorf("two devices for three claims: %v\n%s", err, out)
	}
	decisionsAboutDevices(t, k)
}

// decisionsAboutDevices checks the results about devices: which devices a pod got, and why another
// pod got none.
func decisionsAboutDevices(t *testing.T, k *kubectl) {
	t.Helper()
	out, err := k.Run("get", "pods", "-o", `jsonpath={range .items[*]}{.metadata.name}={.spec.nodeName} {end}`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, pod := range strings.Fields(out) {
		name, node, _ := strings.Cut(pod, "=")
		if node == "" {
			k.rejected(t, k.cycle(t, name, result.Unschedulable), "a-2", "DynamicResources: cannot allocate all claims")
			full := &result.DeviceComparison{
				Claim: "gpu", Request: "gpu", DeviceClass: k.namespace + "-gpu", Count: 1, Matching: 2, MatchingInUse: 2,
				Drivers: []result.DriverDevices{{Driver: "gpu.example.com", OnNode: 2, InUse: 2}},
			}
			if diff := cmp.Diff(full, deviceComparison(k.cycle(t, name, result.Unschedulable), k.namespace+"-a-2")); diff != "" {
				t.Error(diff)
			}
			continue
		}
		for _, claim := range k.cycle(t, name, result.Scheduled).Claims {
			for _, d := range claim.Devices {
				got[strings.Join([]string{claim.Name, d.Request, d.Driver, d.Device}, " ")] = true
			}
		}
	}
	want := map[string]bool{"gpu gpu gpu.example.com gpu-0": true, "gpu gpu gpu.example.com gpu-1": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func deviceComparison(c *result.Cycle, node string) *result.DeviceComparison {
	for _, comparison := range c.Filter.Comparisons {
		if comparison.Node == node && len(comparison.Devices) == 1 {
			return &comparison.Devices[0]
		}
	}
	return nil
}

// fileOfDevices defines devices for nodes of one kind in any pool.
const fileOfDevices = `
- nodeSelector: {accelerator: large}
  devices:
  - {driver: gpu.example.com, count: 2, name: large, attributes: {model: large, memoryGiB: 80}, capacity: {memory: 80Gi}}
- nodeSelector: {accelerator: small}
  devices:
  - {driver: gpu.example.com, name: small, attributes: {model: small, memoryGiB: 16}, capacity: {memory: 16Gi}}
`

// devicesOfTheFile: devices are published for nodes by label and claimed by templates. The results
// distinguish too few devices from devices that are too small.
func devicesOfTheFile(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "a-2", "a-3")
	k.do(t, "label", "node", k.namespace+"-a-1", "accelerator=small")
	k.do(t, "label", "node", k.namespace+"-a-2", "accelerator=large")
	published := func(want, node string) {
		t.Helper()
		k.prints(t, want, "{range .items[*]}{.spec.driver} {.spec.devices[*].name}{end}", "resourceslices", "--field-selector=spec.nodeName="+k.namespace+"-"+node)
	}
	published("gpu.example.com small-0", "a-1")
	published("gpu.example.com large-0 large-1", "a-2")
	const pod = `---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeSelector: {pool: %s}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: COUNT}]
  containers: [{name: main, image: example.com/train, resources: {claims: [{name: gpu}]}}]
`
	claimTemplate := func(count string) string {
		return strings.ReplaceAll(`---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: "COUNT"}
spec:
  spec:
    devices:
      requests:
      - name: card
        exactly:
          deviceClassName: %s-gpu
          count: COUNT
          selectors: [{cel: {expression: 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'}}]
`, "COUNT", count)
	}
	named := func(name, count string) string {
		return strings.NewReplacer("NAME", name, "COUNT", `"`+count+`"`).Replace(pod)
	}
	k.apply(t, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: %s-gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
`+claimTemplate("1")+claimTemplate("2")+named("one", "1"))

	k.shows(t, `
NAME READY STATUS RESTARTS AGE
one 1/1 Running 0 …s`, "pods")
	one := k.cycle(t, "one", result.Scheduled)
	k.selected(t, one, "a-2")
	if held := one.Claims[0].Devices; !strings.HasSuffix(explain.Cycle(one).Sentence, "Its claim gpu holds "+held[0].Device+" of gpu.example.com.") || !strings.HasPrefix(held[0].Device, "large-") {
		t.Errorf("%+v: %s", one.Claims, explain.Cycle(one).Sentence)
	}

	k.apply(t, named("two", "2"))
	two := explain.Cycle(k.cycle(t, "two", result.Unschedulable))
	want := []explain.DeviceShortage{{Claim: "gpu", Request: "card", DeviceClass: k.namespace + "-gpu", Count: 2, Nodes: 3, Compared: 3, NoMatch: 2, InUse: 1}}
	if diff := cmp.Diff(want, two.Devices); diff != "" {
		t.Errorf("%s\n%s", two.Sentence, diff)
	}

	// When a claim is free again, the waiting pod is scheduled.
	k.do(t, "delete", "pod", "one", "--grace-period=0", "--force")
	k.prints(t, "Running", "{.status.phase}", "pod", "two")
	k.do(t, "delete", "pod", "two", "--grace-period=0", "--force", "--wait=false")
}
