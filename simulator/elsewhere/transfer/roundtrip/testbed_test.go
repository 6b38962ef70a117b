package roundtrip

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// testbed reads testdata/testbed.yaml and renames its namespace.
func testbed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/testbed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("testbed", name).Replace(string(text))
}

// TestWhatKnowsOthers: references by UID survive an import, and an export with another import. They
// are in pods with custom owners, resource claims, claims that were generated for pods, ephemeral
// volumes, bound volumes and pod groups.
func TestWhatKnowsOthers(t *testing.T) {
	want := []string{
		"budget members: 2 of 2 healthy",
		"claim own: gpu-0, for trainer",
		"claim worker-gpu-x7k2p of Pod worker: gpu-1, for worker",
		"group pair of pairs: pair-0 pair-1",
		"pod pair-0 on testbed-node, Running",
		"pod pair-1 on testbed-node, Running",
		"pod scratch on testbed-node, Running",
		"pod trainer of Training train on testbed-node, Running, with own",
		"pod worker on testbed-node, Running, with worker-gpu-x7k2p",
		"slice testbed-node-gpus of Node testbed-node: 2 devices",
		"volume claim scratch-tmp of Pod scratch: Bound to testbed-pv-scratch",
		"volume testbed-pv-kept: Released",
		"volume testbed-pv-scratch: Bound to scratch-tmp",
	}
	importText(t, shared, testbed(t, "testbed"), transfer.ImportOptions{})
	knows(t, shared, "testbed", want)

	other := another(t)
	report, err := transfer.New(transfer.Options{Config: other.config}).Import(t.Context(), manifesttest.Collected(t, exported(t, shared, "testbed")...), transfer.ImportOptions{})
	if err != nil || report.FailedTotal > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	knows(t, other, "testbed", want)
	if diff := cmp.Diff(text(t, exported(t, shared, "testbed")), text(t, exported(t, other, "testbed"))); diff != "" {
		t.Error("export:", diff)
	}
	// Controllers have seen the objects by now and must not have broken the references.
	knows(t, shared, "testbed", want)
}

// TestReschedulingWhatKnowsOthers: rescheduled pods release their devices; volumes stay bound.
func TestReschedulingWhatKnowsOthers(t *testing.T) {
	importText(t, shared, testbed(t, "again"), transfer.ImportOptions{Reschedule: true})
	knows(t, shared, "again", []string{
		"budget members: 0 of 2 healthy",
		"claim own: free",
		"claim worker-gpu-x7k2p of Pod worker: free",
		"group pair of pairs: pair-0 pair-1",
		"pod pair-0, Pending",
		"pod pair-1, Pending",
		"pod scratch, Pending",
		"pod trainer of Training train, Pending, with own",
		"pod worker, Pending, with worker-gpu-x7k2p",
		"slice again-node-gpus of Node again-node: 2 devices",
		"volume claim scratch-tmp of Pod scratch: Bound to again-pv-scratch",
		"volume again-pv-kept: Released",
		"volume again-pv-scratch: Bound to scratch-tmp",
	})
}

// exported returns the objects of an export whose namespace or name contains the word.
func exported(t *testing.T, c *cluster, word string) (found []*unstructured.Unstructured) {
	t.Helper()
	err := manifest.Read(t.Context(), manifest.NewSource(manifesttest.Part("export", export(t, c, transfer.ExportOptions{}))), manifest.Content{Object: func(o *manifest.Object) error {
		if o.Namespace == word || strings.HasPrefix(o.Name, word) || strings.Contains(o.Name, word+".") {
			u, err := o.Unstructured()
			found = append(found, u)
			return err
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func text(t *testing.T, objects []*unstructured.Unstructured) (lines []string) {
	t.Helper()
	for _, u := range objects {
		if u.GetKind() == "Pod" {
			// Virtual nodes write the status.
			unstructured.RemoveNestedField(u.Object, "status")
		}
		data, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, timestamps.ReplaceAllString(string(data), "TIME"))
	}
	return sorted(lines)
}

// knows waits until the references of a namespace's objects, and of the cluster-scoped objects that
// belong to it, are as wanted.
func knows(t *testing.T, c *cluster, namespace string, want []string) {
	t.Helper()
	want = sorted(slices.Clone(want))
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	diff := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(diff)
		}
	})
	clustertest.Eventually(t, "all references are as before", func(ctx context.Context) (bool, error) {
		l := &acquaintances{ctx: ctx, client: client, c: c, namespace: namespace, names: map[string]string{}}
		lines, err := l.read()
		if err != nil {
			return false, ctx.Err()
		}
		diff = cmp.Diff(want, sorted(lines))
		return diff == "", nil
	})
}

// acquaintances lists which object refers to which, by the UIDs in the cluster.
type acquaintances struct {
	ctx       context.Context
	client    dynamic.Interface
	c         *cluster
	namespace string
	// names are those of objects, by UID.
	names map[string]string
	lines []string
}

func (a *acquaintances) say(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

func (a *acquaintances) read() ([]string, error) {
	trainings, err := a.client.Resource(schema.GroupVersionResource{Group: a.namespace + ".example.com", Version: "v1", Resource: "trainings"}).Namespace(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, o := range trainings.Items {
		a.names[string(o.GetUID())] = o.GetName()
	}
	for _, read := range []func() error{a.pods, a.devices, a.volumes, a.groups} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return a.lines, nil
}

// of names the owner of an object, if it exists.
func (a *acquaintances) of(o metav1.Object) string {
	controller := metav1.GetControllerOf(o)
	if controller == nil {
		return ""
	}
	if a.names[string(controller.UID)] != controller.Name {
		return " of a stranger"
	}
	return " of " + controller.Kind + " " + controller.Name
}

func (a *acquaintances) pods() error {
	pods, err := a.c.client.CoreV1().Pods(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		a.names[string(pod.UID)] = pod.Name
		line := "pod " + pod.Name + a.of(&pod)
		if pod.Spec.NodeName != "" {
			line += " on " + pod.Spec.NodeName
		}
		line += ", " + string(pod.Status.Phase)
		for _, claim := range pod.Spec.ResourceClaims {
			if claim.ResourceClaimName != nil {
				line += ", with " + *claim.ResourceClaimName
			}
		}
		for _, claim := range pod.Status.ResourceClaimStatuses {
			line += ", with " + *claim.ResourceClaimName
		}
		a.say("%s", line)
	}
	return nil
}

func (a *acquaintances) devices() error {
	nodes, err := a.c.client.CoreV1().Nodes().List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		a.names[string(node.UID)] = node.Name
	}
	slices, err := a.c.client.ResourceV1().ResourceSlices().List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, slice := range slices.Items {
		if strings.HasPrefix(slice.Name, a.namespace) {
			a.say("slice %s%s: %d devices", slice.Name, a.of(&slice), len(slice.Spec.Devices))
		}
	}
	claims, err := a.c.client.ResourceV1().ResourceClaims(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, claim := range claims.Items {
		line := "claim " + claim.Name + a.of(&claim) + ":"
		if claim.Status.Allocation == nil {
			line += " free"
		} else {
			line += " " + claim.Status.Allocation.Devices.Results[0].Device + ","
		}
		for _, consumer := range claim.Status.ReservedFor {
			line += " for " + a.names[string(consumer.UID)]
		}
		a.say("%s", line)
	}
	return nil
}

func (a *acquaintances) volumes() error {
	claims, err := a.c.client.CoreV1().PersistentVolumeClaims(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, claim := range claims.Items {
		a.names[string(claim.UID)] = claim.Name
		a.say("volume claim %s%s: %s to %s", claim.Name, a.of(&claim), claim.Status.Phase, claim.Spec.VolumeName)
	}
	volumes, err := a.c.client.CoreV1().PersistentVolumes().List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, volume := range volumes.Items {
		switch {
		case !strings.HasPrefix(volume.Name, a.namespace):
		case volume.Status.Phase == corev1.VolumeBound:
			a.say("volume %s: Bound to %s", volume.Name, a.names[string(volume.Spec.ClaimRef.UID)])
		default:
			a.say("volume %s: %s", volume.Name, volume.Status.Phase)
		}
	}
	return nil
}

func (a *acquaintances) groups() error {
	groups, err := a.c.client.SchedulingV1beta1().PodGroups(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, group := range groups.Items {
		pods, err := a.c.client.CoreV1().Pods(a.namespace).List(a.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		line := fmt.Sprintf("group %s of %s:", group.Name, group.Spec.WorkloadRef.WorkloadName)
		for _, pod := range pods.Items {
			if in := pod.Spec.SchedulingGroup; in != nil && *in.PodGroupName == group.Name {
				line += " " + pod.Name
			}
		}
		a.say("%s", line)
	}
	budgets, err := a.c.client.PolicyV1().PodDisruptionBudgets(a.namespace).List(a.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, budget := range budgets.Items {
		a.say("budget %s: %d of %d healthy", budget.Name, budget.Status.CurrentHealthy, budget.Status.ExpectedPods)
	}
	return nil
}
