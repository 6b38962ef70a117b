package systemtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// kubelet is the kubelet of a node: it runs the containers of the pods that the scheduler binds there, as processes of this machine.
// Of images it has the program's only. It mounts projected volumes by putting their files into a directory, replaces the mount
// path by that directory in the arguments, and gives each container an empty /tmp.
type kubelet struct {
	t       *testing.T
	cluster *program
	node    string
	// noImage is an image that cannot be pulled.
	noImage string
	// interfere, if not nil, gets each process after its start, and says how it ends; nil leaves it alone. It may be called from many
	// goroutines.
	interfere func(pod *corev1.Pod, process *os.Process, exited <-chan struct{}) *fate

	running sync.WaitGroup
	started map[string]bool
}

// fate is what a kubelet reports of a container in place of what its process says.
type fate struct {
	exitCode int32
	// evicted: the pod was disrupted.
	evicted bool
}

// startKubelet adds a node to the cluster and runs its pods until the test ends.
func startKubelet(t *testing.T, k *kubelet) {
	t.Helper()
	k.t, k.node, k.started = t, "worker", map[string]bool{}
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110")}
	node, err := k.cluster.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.node}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Status.Capacity, node.Status.Allocatable = size, size
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if _, err := k.cluster.client.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.running.Go(func() { k.run(ctx) })
	t.Cleanup(func() {
		cancel()
		k.running.Wait()
	})
}

func (k *kubelet) run(ctx context.Context) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		pods, err := k.cluster.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + k.node})
		if err != nil {
			continue // the test may have ended
		}
		for _, pod := range pods.Items {
			if pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil || k.started[string(pod.UID)] {
				continue
			}
			k.started[string(pod.UID)] = true
			k.running.Go(func() {
				if err := k.runPod(ctx, &pod); err != nil && ctx.Err() == nil {
					k.t.Errorf("the pod %s/%s: %v", pod.Namespace, pod.Name, err)
				}
			})
		}
	}
}

func (k *kubelet) runPod(ctx context.Context, pod *corev1.Pod) error {
	container := pod.Spec.Containers[0]
	if container.Image == k.noImage {
		return k.report(ctx, pod, corev1.PodPending, nil, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "` + container.Image + `"`}})
	}
	dir, err := os.MkdirTemp("", "pod-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	args, tmp := slices.Clone(container.Args), ""
	for i, mount := range container.VolumeMounts {
		volume := filepath.Join(dir, fmt.Sprint(i))
		if err := k.mount(ctx, pod, mount.Name, volume); err != nil {
			return err
		}
		for i, arg := range container.Args {
			if rest, below := strings.CutPrefix(arg, mount.MountPath); below {
				args[i] = volume + rest
			}
		}
		if mount.MountPath == "/tmp" {
			tmp = volume
		}
	}
	env, err := k.environment(pod, container, tmp)
	if err != nil {
		return err
	}
	if err := k.report(ctx, pod, corev1.PodRunning, nil, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}); err != nil {
		return err
	}
	log := &lockedBuffer{}
	process := exec.CommandContext(ctx, clustertest.Program(), args...)
	process.Env, process.Stdout, process.Stderr = env, log, log
	if err := process.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	ends := make(chan *fate, 1)
	go func() {
		if k.interfere == nil {
			ends <- nil
			return
		}
		ends <- k.interfere(pod, process.Process, exited)
	}()
	err = process.Wait()
	close(exited)
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return err
	}
	return k.reportEnd(ctx, pod, <-ends, process.ProcessState, log.String())
}

func (k *kubelet) reportEnd(ctx context.Context, pod *corev1.Pod, end *fate, state *os.ProcessState, log string) error {
	code := int32(state.ExitCode())
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int32(status.Signal())
	}
	var conditions []corev1.PodCondition
	if end != nil {
		code = end.exitCode
		if end.evicted {
			conditions = append(conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet"})
		}
	}
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	return k.report(ctx, pod, phase, conditions, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: log, FinishedAt: metav1.Now()}})
}

// report writes the status of a pod and of its container.
func (k *kubelet) report(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, conditions []corev1.PodCondition, state corev1.ContainerState) error {
	pods := k.cluster.client.CoreV1().Pods(pod.Namespace)
	for {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil // it was removed with its Job
		}
		if err != nil {
			return err
		}
		now.Status.Phase = phase
		now.Status.Conditions = append(now.Status.Conditions, conditions...)
		container := pod.Spec.Containers[0]
		now.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container.Name, Image: container.Image, State: state}}
		if _, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
	}
}

// mount puts the files of a projected volume into a directory.
func (k *kubelet) mount(ctx context.Context, pod *corev1.Pod, name, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != name {
			continue
		}
		if volume.EmptyDir != nil {
			return nil
		}
		for _, source := range volume.Projected.Sources {
			files, err := k.project(ctx, pod, source)
			if err != nil {
				return err
			}
			for file, data := range files {
				if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fmt.Errorf("there is no volume %s", name)
}

func (k *kubelet) project(ctx context.Context, pod *corev1.Pod, source corev1.VolumeProjection) (map[string][]byte, error) {
	core := k.cluster.client.CoreV1()
	if token := source.ServiceAccountToken; token != nil {
		request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
			ExpirationSeconds: token.ExpirationSeconds,
			BoundObjectRef:    &authv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		}}
		made, err := core.ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return map[string][]byte{token.Path: []byte(made.Status.Token)}, nil
	}
	found, err := core.ConfigMaps(pod.Namespace).Get(ctx, source.ConfigMap.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, item := range source.ConfigMap.Items {
		data, isBinary := found.BinaryData[item.Key]
		if !isBinary {
			data = []byte(found.Data[item.Key])
		}
		out[item.Path] = data
	}
	return out, nil
}

// environment is that of a container, with what a kubelet adds to it. tmp is its /tmp.
func (k *kubelet) environment(pod *corev1.Pod, container corev1.Container, tmp string) ([]string, error) {
	host, port, _ := strings.Cut(strings.TrimPrefix(k.cluster.config.Host, "https://"), ":")
	out := []string{"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port, "TMPDIR=" + tmp}
	for _, env := range container.Env {
		value := env.Value
		if env.ValueFrom != nil {
			path := env.ValueFrom.FieldRef.FieldPath
			label, isLabel := strings.CutPrefix(path, "metadata.labels['")
			switch {
			case isLabel:
				value = pod.Labels[strings.TrimSuffix(label, "']")]
			case path == "metadata.namespace":
				value = pod.Namespace
			default:
				return nil, fmt.Errorf("this kubelet does not know the field %s", path)
			}
		}
		out = append(out, env.Name+"="+value)
	}
	return out, nil
}

// publishRootCA does what the controller root-ca-certificate-publisher does in other clusters.
func publishRootCA(t *testing.T, cluster *program, namespace string) {
	t.Helper()
	if err := rest.LoadTLSFiles(cluster.config); err != nil {
		t.Fatal(err)
	}
	ca := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": string(cluster.config.CAData)}}
	if _, err := cluster.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), ca, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
