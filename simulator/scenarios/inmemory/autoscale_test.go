package inmemory

import (
	"encoding/json"
	"testing"
)

// general buys s-2x-amd64-linux and larger on demand in one zone.
const general = `
  - apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: general}
    spec:
      template:
        spec:
          nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
          requirements:
          - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
          - {key: kubernetes.io/arch, operator: In, values: [amd64]}
          - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}
`

func TestPodBuysNode(t *testing.T) {
	r := play(t, "autoscale:\n  nodePools:"+general, `
- create:
    template: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "6"}}}]}}
- wait: settled
- expect:
  - that: pods[0].node == "general-1"
`)
	text, _ := json.MarshalIndent(r, "", " ")
	t.Log(string(text))
}
