package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestALivingCluster applies typical manifests with kubectl's own library, and checks kubectl's
// output. Controllers create the pods, the scheduler places them, and virtual nodes run them.
func TestALivingCluster(t *testing.T) {
	options := DefaultOptions()
	options.Devices = filepath.Join(t.TempDir(), "devices.yaml")
	if err := os.WriteFile(options.Devices, []byte(fileOfDevices), 0o600); err != nil {
		t.Fatal(err)
	}
	s := launch(t, options)
	type process struct {
		name string
		test func(*testing.T, *kubectl)
	}
	processes := []process{
		{"a Deployment spreads over zones", spreadDeployment},
		{"a StatefulSet has claims", statefulSet},
		{"a DaemonSet runs on every node", daemonSet},
		{"a taint evicts pods", taintEviction},
		{"a pod gets devices", devices},
		{"a pod gets devices of the file", devicesOfTheFile},
		{"volumes are in zones", zonesOfVolumes},
		{"a pod preempts", preemption},
		{"kubectl gets answers", manners},
	}
	if !testing.Short() {
		// Kubernetes takes about a minute to collect a deleted node's pods, so the node is
		// deleted first and its case checked last.
		replaced := nodeDeletion(t, newKubectl(t, s))
		processes = append(processes, []process{
			{"Jobs complete and fail", jobs},
			{"a finished Job is deleted after its TTL", finishedJob},
			{"a disruption budget blocks a drain", drainWithBudget},
			{"a quota limits pods", quota},
			{"a node fails", nodeFailure},
			{"a claim in use stays and grows", claims},
			{"a namespace is deleted with its contents", namespaceDeletion},
			{"a node has a volume limit", volumeLimits},
			{"storage has a capacity", storageCapacity},
			{"the deleted node's pods are replaced", replaced},
		}...)
	}
	for _, p := range processes {
		t.Run(p.name, func(t *testing.T) {
			began := time.Now()
			p.test(t, newKubectl(t, s))
			t.Logf("%.1f s", time.Since(began).Seconds())
		})
	}
}

// nodes creates nodes from minimal manifests: a name, a zone and a size. The test's pods select them by
// the label pool.
func (k *kubectl) nodes(t *testing.T, names ...string) {
	t.Helper()
	var manifests []string
	for _, name := range names {
		zone, _, _ := strings.Cut(name, "-")
		manifests = append(manifests, fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %%s-%s, labels: {pool: %%s, topology.kubernetes.io/zone: %s}}
status: {allocatable: {cpu: "4", memory: 8Gi}}
`, name, zone))
	}
	k.apply(t, strings.Join(manifests, "---"))
	for _, name := range names {
		k.prints(t, "True", `{.status.conditions[?(@.type=="Ready")].status}`, "node", k.namespace+"-"+name)
	}
}

func spreadDeployment(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "a-2", "b-1", "c-1")
	k.apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {pool: %s}
      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: web, image: example.com/web, resources: {requests: {cpu: 500m}}}]
`)
	k.shows(t, `
NAME READY UP-TO-DATE AVAILABLE AGE
web 6/6 6 6 …s`, "deployment")
	out, err := k.Run("get", "pods", "-o", `jsonpath={.items[*].spec.nodeName}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"a", "b", "c"} {
		if n := strings.Count(out, k.namespace+"-"+zone+"-"); n != 2 {
			t.Errorf("zone %s has %d pods of 6 in three zones: %s", zone, n, out)
		}
	}
}

func statefulSet(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "b-1")
	k.apply(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      nodeSelector: {pool: %s}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: db}}}
      containers: [{name: db, image: example.com/db, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`)
	k.shows(t, `
NAME READY AGE
statefulset.apps/db 2/2 …s

NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE
persistentvolumeclaim/data-db-0 Bound pvc-… 1Gi RWO standard <unset> …s
persistentvolumeclaim/data-db-1 Bound pvc-… 1Gi RWO standard <unset> …s`, "statefulset,pvc")
}

func daemonSet(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "a-2", "a-3")
	k.do(t, "taint", "node", k.namespace+"-a-3", "dedicated=db:NoSchedule")
	k.apply(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {pool: %s}
      containers: [{name: agent, image: example.com/agent}]
`)
	k.shows(t, `
NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE
agent 2 2 2 2 2 pool=%s …s`, "daemonset")
}

func jobs(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	const template = `
      template:
        metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 100ms, kube-scheduler-simulator.sigs.k8s.io/exit-code: "%EXIT"}}
        spec:
          restartPolicy: Never
          nodeSelector: {pool: %s}
          containers: [{name: main, image: example.com/main}]
`
	job := func(name, exit, spec string) string {
		body := strings.ReplaceAll(template, "\n      ", "\n  ")
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + "}\nspec:\n  " + spec + strings.ReplaceAll(body, "%EXIT", exit)
	}
	k.apply(t, strings.Join([]string{
		job("indexed", "0", "completionMode: Indexed\n  completions: 3\n  parallelism: 2"),
		job("per-index", "1=7", "completionMode: Indexed\n  completions: 3\n  parallelism: 3\n  backoffLimitPerIndex: 0"),
		job("policy", "42", `podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: main, operator: In, values: [42]}}]}`),
		job("suspended", "0", "suspend: true"),
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec:\n  schedule: \"0 3 * * *\"\n  jobTemplate:\n    spec:" + strings.ReplaceAll(template, "%EXIT", "0"),
	}, "---\n"))
	k.shows(t, `
NAME STATUS COMPLETIONS DURATION AGE
job.batch/indexed Complete 3/3 …s …s
job.batch/per-index Failed 2/3 …s …s
job.batch/policy Failed 0/1 …s …s
job.batch/suspended Suspended 0/1 …s

NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST SCHEDULE AGE
cronjob.batch/nightly 0 3 * * * <none> False 0 <none> …s`, "job,cronjob")
	k.prints(t, "0,2 1 FailedIndexes", `{.status.completedIndexes} {.status.failedIndexes} {.status.conditions[?(@.type=="Failed")].reason}`, "job", "per-index")
	k.prints(t, "PodFailurePolicy", `{.status.conditions[?(@.type=="Failed")].reason}`, "job", "policy")
	k.do(t, "patch", "job", "suspended", "-p", `{"spec":{"suspend":false}}`)
	k.prints(t, "1", "{.status.succeeded}", "job", "suspended")
}

func finishedJob(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: brief}
spec:
  ttlSecondsAfterFinished: 1
  template:
    metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 100ms}}
    spec:
      restartPolicy: Never
      nodeSelector: {pool: %s}
      containers: [{name: main, image: example.com/main}]
`)
	k.prints(t, "1", "{.status.succeeded}", "job", "brief")
	k.shows(t, "", "job,pod", "--ignore-not-found")
}

const webOfThree = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {pool: %s}
      terminationGracePeriodSeconds: 0
      containers: [{name: web, image: example.com/web, resources: {requests: {cpu: 500m, memory: 64Mi}}}]
`

func drainWithBudget(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, webOfThree+`---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
`)
	k.shows(t, `
NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE
web 2 N/A 1 …s`, "pdb")

	_, err := k.Run("drain", k.namespace+"-a-1", "--timeout=3s")
	if err == nil || !strings.Contains(err.Error(), "global timeout") {
		t.Errorf("the drain evicts at most one of three pods, because the others have no other node: %v", err)
	}
	k.prints(t, "2 0", "{.status.currentHealthy} {.status.disruptionsAllowed}", "pdb", "web")
	k.nodes(t, "a-2")
	k.do(t, "drain", k.namespace+"-a-1", "--timeout=50s")
	k.shows(t, `
NAME STATUS ROLES AGE VERSION
%s-a-1 Ready,SchedulingDisabled <none> …s virtual
%s-a-2 Ready <none> …s virtual`, "nodes", "-l", "pool="+k.namespace)
}

func quota(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, `
apiVersion: v1
kind: ResourceQuota
metadata: {name: two}
spec: {hard: {pods: "2", requests.cpu: "2"}}
---
`+webOfThree)
	k.shows(t, `
NAME READY UP-TO-DATE AVAILABLE AGE
deployment.apps/web 2/3 2 2 …s

NAME REQUEST LIMIT AGE
resourcequota/two pods: 2/2, requests.cpu: 1/2 …s`, "deployment,quota")
	k.prints(t, "FailedCreate", `{.status.conditions[?(@.type=="ReplicaFailure")].reason}`, "deployment", "web")
}

func taintEviction(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, webOfThree)
	k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
	k.nodes(t, "a-2")
	k.do(t, "taint", "node", k.namespace+"-a-1", "maintenance=now:NoExecute")
	node := k.namespace + "-a-2"
	k.prints(t, strings.Join([]string{node, node, node}, " "), "{.items[*].spec.nodeName}", "pods")
	k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
}

// nodeFailure makes a node fail and recover by its annotation.
func nodeFailure(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, strings.Replace(webOfThree, "      containers:", "      tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]\n      containers:", 1))
	k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
	k.nodes(t, "b-1")
	failed := k.namespace + "-a-1"
	k.do(t, "annotate", "node", failed, "kube-scheduler-simulator.sigs.k8s.io/failure=unreachable")
	k.shows(t, `
NAME STATUS ROLES AGE VERSION
%s-a-1 NotReady <none> …s virtual
%s-b-1 Ready <none> …s virtual`, "nodes", "-l", "pool="+k.namespace)
	other := k.namespace + "-b-1"
	k.prints(t, "Running Running Running", "{.items[*].status.phase}", "pods", "--field-selector=spec.nodeName="+other)
	// No kubelet can end the node's pods until the node is back.
	k.do(t, "annotate", "node", failed, "kube-scheduler-simulator.sigs.k8s.io/failure-")
	k.prints(t, strings.Join([]string{other, other, other}, " "), "{.items[*].spec.nodeName}", "pods")
	k.prints(t, " True", `{.spec.taints} {.status.conditions[?(@.type=="Ready")].status}`, "node", failed)
}

// nodeDeletion deletes a node with running pods, and returns the check that they were
// replaced.
func nodeDeletion(t *testing.T, k *kubectl) func(*testing.T, *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, webOfThree)
	k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
	k.nodes(t, "a-2")
	k.do(t, "delete", "node", k.namespace+"-a-1")
	return func(t *testing.T, _ *kubectl) {
		left := k.namespace + "-a-2"
		k.prints(t, strings.Join([]string{left, left, left}, " "), "{.items[*].spec.nodeName}", "pods")
		k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
	}
}

func claims(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: %s-grows}
provisioner: csi.example.com
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: %s-grows, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  nodeSelector: {pool: %s}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: example.com/main}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`)
	k.shows(t, `
NAME READY STATUS RESTARTS AGE
user 1/1 Running 0 …s`, "pod")
	k.do(t, "patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	k.shows(t, `
NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE
data Bound pvc-… 2Gi RWO %s-grows <unset> …s`, "pvc")
	_, err := k.Run("patch", "storageclass", k.namespace+"-grows", "-p", `{"allowVolumeExpansion":false}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Run("patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	if err == nil || !strings.Contains(err.Error(), "must support resize") {
		t.Errorf("a class that does not expand: %v", err)
	}
	volume, err := k.Run("get", "pvc", "data", "-o", "jsonpath={.spec.volumeName}")
	if err != nil {
		t.Fatal(err)
	}
	k.do(t, "delete", "pv", volume, "--wait=false")
	k.prints(t, "Bound [\"kubernetes.io/pv-protection\"]", "{.status.phase} {.metadata.finalizers}", "pv", volume)
	k.do(t, "delete", "pvc", "data", "--wait=false")
	k.shows(t, `
NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE
data Terminating pvc-… 2Gi RWO %s-grows <unset> …s`, "pvc")
	k.do(t, "delete", "pod", "user")
	k.shows(t, "", "pvc", "--ignore-not-found")
	k.shows(t, "", "pv", volume, "--ignore-not-found")
}

func namespaceDeletion(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	k.apply(t, webOfThree)
	k.prints(t, "3", "{.status.availableReplicas}", "deployment", "web")
	k.do(t, "delete", "namespace", k.namespace, "--timeout=50s")
	k.shows(t, "", "namespace", k.namespace, "--ignore-not-found")
	k.shows(t, "", "deployment,replicaset,pod", "--ignore-not-found")
}
