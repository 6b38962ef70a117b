package app

import (
	"strings"
	"testing"
)

// manners are what every client of Kubernetes expects, although no program runs in the pods.
func manners(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {pool: %s}
      containers: [{name: web, image: example.com/web, resources: {requests: {cpu: 10m}}, ports: [{containerPort: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`)
	k.prints(t, "true true", `{.items[*].endpoints[*].conditions.ready}`, "endpointslices", "-l", "kubernetes.io/service-name=web")
	k.prints(t, "8080", `{.subsets[*].ports[*].port}`, "endpoints", "web")
	k.do(t, "scale", "deployment", "web", "--replicas=1")
	k.prints(t, "true", `{.items[*].endpoints[*].conditions.ready}`, "endpointslices", "-l", "kubernetes.io/service-name=web")

	k.prints(t, "default", `{.items[*].metadata.name}`, "serviceaccounts")
	if token := k.Must(t, "create", "token", "default"); strings.Count(token, ".") != 2 {
		t.Errorf("the token of the service account is %q", token)
	}

	for _, command := range [][]string{
		{"exec", "deployment/web", "--", "ls"},
		{"attach", "deployment/web"},
		{"port-forward", "deployment/web", "0:8080"},
	} {
		pod := k.Must(t, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}")
		for i, word := range command {
			command[i] = strings.ReplaceAll(word, "deployment/web", "pod/"+pod)
		}
		if out, err := k.Run(command...); err == nil || !strings.Contains(err.Error(), "no kubelet stands behind virtual node") {
			t.Errorf("kubectl %v: %v\n%s", command, err, out)
		}
	}
	if log := k.Must(t, "logs", "deployment/web"); !strings.HasPrefix(log, `container "web" started on virtual node`) {
		t.Errorf("the log is %q", log)
	}
	k.prints(t, "False FailedGetResourceMetric", `{.status.conditions[?(@.type=="ScalingActive")].status} {.status.conditions[?(@.type=="ScalingActive")].reason}`, "hpa", "web")
}
