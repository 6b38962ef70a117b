package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// startReplaySource starts a simulator with half of the nodes, a pod with a volume and a pod with a
// device.
func startReplaySource(t *testing.T) *running {
	t.Helper()
	options := DefaultOptions()
	options.NoVirtualNodes, options.Controllers, options.TieSeed = true, playback.Controllers(), ptr.To(int64(1))
	source, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	source.addReplayNodes(t, 0, replayNodes/2)
	source.createScarce(t)
	source.run(t, withVolume("keeper", "kept"))
	source.run(t, withDevice("gpu-0"))
	return source
}

// settle waits until the scheduler has seen the changes and has nothing to do, so that it decides only
// in states that the recording contains.
func (s *running) settle(t *testing.T, changes ...scheduler.Change) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.simulator.scheduler.Idle(ctx, changes); err != nil {
		t.Fatal(err)
	}
}

func changeTo(o metav1.Object) scheduler.Change {
	return scheduler.Change{UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Certain: true}
}

func (s *running) addReplayNodes(t *testing.T, from, to int) {
	t.Helper()
	var changes []scheduler.Change
	for i := from; i < to; i++ {
		room := v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(fmt.Sprint(4 << (i % 3))), v1.ResourceMemory: resource.MustParse(fmt.Sprint(8<<(i%2), "Gi")), v1.ResourcePods: resource.MustParse("110"),
		}
		name := fmt.Sprintf("n%02d", i)
		node, err := s.client.CoreV1().Nodes().Create(t.Context(), &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelTopologyZone: fmt.Sprint("z", i%3), v1.LabelHostname: name}},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, changeTo(node))
	}
	s.settle(t, changes...)
}

// run creates a pod, which the scheduler binds.
func (s *running) run(t *testing.T, p *v1.Pod) *v1.Pod {
	t.Helper()
	pods := s.client.CoreV1().Pods("default")
	created, err := pods.Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.settle(t, changeTo(created))
	clustertest.Eventually(t, p.Name+" is bound", func(ctx context.Context) (bool, error) {
		created, err = pods.Get(ctx, p.Name, metav1.GetOptions{})
		return err == nil && created.Spec.NodeName != "", err
	})
	s.settle(t, changeTo(created))
	return created
}

// liveThrough creates pods one after the other. Some pods later, every fifth finishes and every seventh
// is deleted.
func (s *running) liveThrough(t *testing.T) {
	t.Helper()
	pods := s.client.CoreV1().Pods("default")
	gone := func(p *v1.Pod, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s.settle(t, scheduler.Change{UID: p.UID, Deleted: true, Certain: true})
	}
	var all []*v1.Pod
	for i := range replayPods {
		p := replayPod(fmt.Sprintf("p%03d", i), v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(fmt.Sprint(100+100*(i%9), "m")), v1.ResourceMemory: resource.MustParse(fmt.Sprint(64<<(i%4), "Mi")),
		})
		p.Labels = map[string]string{"app": fmt.Sprint("a", i%7)}
		all = append(all, s.run(t, p))
		if i >= 20 && i%5 == 0 { // the scheduler does not watch finished pods
			done := all[i-20]
			_, err := pods.Patch(t.Context(), done.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
			gone(done, err)
		}
		if i >= 30 && (i-30)%7 == 0 {
			deleted := all[i-30]
			gone(deleted, pods.Delete(t.Context(), deleted.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}))
		}
	}
}

func replayPod(name string, requests v1.ResourceList) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "registry.example/app:1", Resources: v1.ResourceRequirements{Requests: requests}}}},
	}
}

func withVolume(name, claim string) *v1.Pod {
	p := replayPod(name, nil)
	p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	return p
}

func withDevice(name string) *v1.Pod {
	p := replayPod(name, nil)
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}}
	p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
	return p
}

// createScarce creates two disks and two devices, each on its own node, and two claims for the disks.
func (s *running) createScarce(t *testing.T) {
	t.Helper()
	ctx, create := t.Context(), metav1.CreateOptions{}
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	add(s.client.StorageV1().StorageClasses().Create(ctx, st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").
		VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(), create))
	for i, node := range []string{"n00", "n01"} {
		add(s.client.CoreV1().PersistentVolumes().Create(ctx, st.MakePersistentVolume().Name(fmt.Sprint("disk-", i)).StorageClassName("local").AccessModes(modes).
			Capacity(size).HostPathVolumeSource(&v1.HostPathVolumeSource{Path: "/disk"}).NodeAffinityIn(v1.LabelHostname, []string{node}).Obj(), create))
	}
	for _, name := range []string{"kept", "data"} {
		add(s.client.CoreV1().PersistentVolumeClaims("default").Create(ctx, st.MakePersistentVolumeClaim().Name(name).Namespace("default").StorageClassName(ptr.To("local")).
			AccessModes(modes).Resources(v1.VolumeResourceRequirements{Requests: size}).Obj(), create))
	}
	add(s.client.ResourceV1().DeviceClasses().Create(ctx, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}, create))
	for _, node := range []string{"n02", "n03"} {
		add(s.client.ResourceV1().ResourceSlices().Create(ctx, st.MakeResourceSlice(node, "gpu.example").Device("device-0").Obj(), create))
	}
	add(s.client.ResourceV1().ResourceClaimTemplates("default").Create(ctx, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu", Namespace: "default"},
		Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: st.MakeResourceClaim().Request("gpu").Obj().Spec},
	}, create))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
