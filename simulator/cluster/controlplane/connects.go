package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// connects answers the requests that an API server passes on to kubelets and to programs in pods:
// none of them runs here, and the addresses that objects name may be those of real machines.
type connects struct {
	client     kubernetes.Interface
	serializer runtime.NegotiatedSerializer
}

func newConnects(config *rest.Config, serializer runtime.NegotiatedSerializer) (*connects, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &connects{client, serializer}, nil
}

// before leaves all other requests to next.
func (c *connects) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The authorizer has read it so, too.
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok || !info.IsResourceRequest || info.APIGroup != "" {
			next.ServeHTTP(w, r)
			return
		}
		var err error
		switch info.Resource + "/" + info.Subresource {
		case "pods/log":
			err = c.log(w, r, info)
		case "pods/exec", "pods/attach", "pods/portforward", "pods/proxy":
			err = c.refusePod(r.Context(), info)
		case "nodes/proxy":
			err = c.refuseNode(r.Context(), info)
		case "services/proxy":
			err = c.refuseService(r.Context(), info)
		default:
			next.ServeHTTP(w, r)
			return
		}
		if err != nil {
			responsewriters.ErrorNegotiated(err, c.serializer, corev1.SchemeGroupVersion, w, r)
		}
	})
}

// target returns the name in a request, which may be SCHEME:NAME:PORT.
func target(info *request.RequestInfo) string {
	if info.Subresource != "proxy" {
		return info.Name
	}
	parts := strings.Split(info.Name, ":")
	if len(parts) == 3 {
		return parts[1]
	}
	return parts[0]
}

func (c *connects) refuseNode(ctx context.Context, info *request.RequestInfo) error {
	node, err := c.client.CoreV1().Nodes().Get(ctx, target(info), metav1.GetOptions{})
	if err != nil {
		return err
	}
	return impossible("%s", noKubelet(node.Name))
}

func (c *connects) refusePod(ctx context.Context, info *request.RequestInfo) error {
	pod, err := c.client.CoreV1().Pods(info.Namespace).Get(ctx, target(info), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if pod.Spec.NodeName == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("pod %q is not on a node yet", pod.Name))
	}
	return impossible("%s, so no program runs in pod %q", noKubelet(pod.Spec.NodeName), pod.Name)
}

func (c *connects) refuseService(ctx context.Context, info *request.RequestInfo) error {
	service, err := c.client.CoreV1().Services(info.Namespace).Get(ctx, target(info), metav1.GetOptions{})
	if err != nil {
		return err
	}
	return impossible("no program runs behind service %q: no kubelet stands behind a virtual node", service.Name)
}

func noKubelet(node string) string {
	return fmt.Sprintf("no kubelet stands behind virtual node %q", node)
}

// impossible answers a request that is right, and that a simulated cluster cannot fulfil.
func impossible(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: "NotImplemented",
		Message: fmt.Sprintf(format, args...),
	}}
}

// log answers with the life of the container, which writes nothing. It does not follow.
func (c *connects) log(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	pod, err := c.client.CoreV1().Pods(info.Namespace).Get(r.Context(), info.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	query := r.URL.Query()
	container, err := containerOf(pod, query.Get("container"))
	if err != nil {
		return err
	}
	lines, err := lifeOf(pod, container, isTrue(query.Get("previous")))
	if err != nil {
		return err
	}
	text, err := render(lines, query.Get("tailLines"), isTrue(query.Get("timestamps")))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, text) // it fails only if the client has disconnected
	return nil
}

func isTrue(value string) bool {
	on, _ := strconv.ParseBool(value)
	return on
}

func containerOf(pod *corev1.Pod, name string) (string, error) {
	var names []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	switch {
	case name == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case name == "":
		return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %v", pod.Name, names))
	case !slices.Contains(names, name):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	}
	return name, nil
}

type logLine struct {
	at   metav1.Time
	text string
}

// lifeOf tells what happened to a container or its previous instance, with a kubelet's errors.
func lifeOf(pod *corev1.Pod, container string, previous bool) ([]logLine, error) {
	status := corev1.ContainerStatus{Name: container}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses) {
		if s.Name == container {
			status = s
		}
	}
	state := status.State
	if previous {
		if state = status.LastTerminationState; state.Terminated == nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod.Name))
		}
	}
	started := fmt.Sprintf("container %q started on virtual node %q, where no program runs, so it writes no log", container, pod.Spec.NodeName)
	switch {
	case state.Running != nil:
		return []logLine{{state.Running.StartedAt, started}}, nil
	case state.Terminated != nil:
		end := state.Terminated
		ran := end.FinishedAt.Sub(end.StartedAt.Time).Round(time.Second)
		ended := fmt.Sprintf("container %q ran %s and exited %d", container, ran, end.ExitCode)
		if end.Reason != "" {
			ended += " (" + end.Reason + ")"
		}
		return []logLine{{end.StartedAt, started}, {end.FinishedAt, ended}}, nil
	}
	waiting := "ContainerCreating"
	if state.Waiting != nil {
		waiting = cmp.Or(state.Waiting.Reason, waiting)
	}
	if pod.Spec.NodeName == "" {
		waiting = "the pod is not on a node yet"
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, pod.Name, waiting))
}

// render writes the last lines, or all if tail is empty.
func render(lines []logLine, tail string, timestamps bool) (string, error) {
	if tail != "" {
		n, err := strconv.Atoi(tail)
		if err != nil || n < 0 {
			return "", apierrors.NewBadRequest(fmt.Sprintf("tailLines is %q, not a number of lines", tail))
		}
		lines = lines[max(0, len(lines)-n):]
	}
	var b strings.Builder
	for _, line := range lines {
		if timestamps {
			b.WriteString(line.at.UTC().Format(time.RFC3339Nano) + " ")
		}
		b.WriteString(line.text + "\n")
	}
	return b.String(), nil
}
