package eviction

import (
	"context"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	typedapps "k8s.io/client-go/kubernetes/typed/apps/v1"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubectl/pkg/drain"
)

// Rules are the flags of kubectl drain that choose pods.
type Rules struct {
	Force, IgnoreDaemonSets, DeleteEmptyDirData bool
	// PodSelector leaves the other pods where they are; empty means none.
	PodSelector string
}

// Choose returns what kubectl drain does about the pods of a node: those that it evicts, in the order of pods, or its errors, for which it
// evicts none. pods may have pods of other nodes; daemonSets are those of the cluster, as namespace/name.
func (r Rules) Choose(ctx context.Context, node string, pods []*v1.Pod, daemonSets map[string]bool) (evict []v1.Pod, warnings string, errs []string) {
	helper := &drain.Helper{
		Ctx: ctx, Client: reader{pods: pods, daemonSets: daemonSets}, Force: r.Force, GracePeriodSeconds: -1, IgnoreAllDaemonSets: r.IgnoreDaemonSets,
		DeleteEmptyDirData: r.DeleteEmptyDirData, PodSelector: r.PodSelector, Out: io.Discard, ErrOut: io.Discard,
	}
	list, problems := helper.GetPodsForDeletion(node)
	for _, err := range problems {
		errs = append(errs, err.Error())
	}
	if list == nil || len(errs) > 0 {
		return nil, "", errs
	}
	return list.Pods(), strings.TrimSpace(list.Warnings()), nil
}

// reader is a client that only reads what kubectl's rules read: the pods of a node, and DaemonSets by name. All else meets a nil interface.
type reader struct {
	kubernetes.Interface
	pods       []*v1.Pod
	daemonSets map[string]bool
}

func (r reader) CoreV1() typedcore.CoreV1Interface { return coreReader{of: r} }
func (r reader) AppsV1() typedapps.AppsV1Interface { return appsReader{of: r} }

type coreReader struct {
	typedcore.CoreV1Interface
	of reader
}

func (c coreReader) Pods(string) typedcore.PodInterface { return podReader{of: c.of} }

type podReader struct {
	typedcore.PodInterface
	of reader
}

// List returns the pods of the node that the field selector names.
func (p podReader) List(_ context.Context, options metav1.ListOptions) (*v1.PodList, error) {
	byField, err := fields.ParseSelector(options.FieldSelector)
	if err != nil {
		return nil, err
	}
	byLabel, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, err
	}
	out := &v1.PodList{}
	for _, pod := range p.of.pods {
		if byField.Matches(fields.Set{"spec.nodeName": pod.Spec.NodeName}) && byLabel.Matches(labels.Set(pod.Labels)) {
			out.Items = append(out.Items, *pod)
		}
	}
	return out, nil
}

type appsReader struct {
	typedapps.AppsV1Interface
	of reader
}

func (a appsReader) DaemonSets(namespace string) typedapps.DaemonSetInterface {
	return daemonSetReader{of: a.of, namespace: namespace}
}

type daemonSetReader struct {
	typedapps.DaemonSetInterface
	of        reader
	namespace string
}

func (d daemonSetReader) Get(_ context.Context, name string, _ metav1.GetOptions) (*appsv1.DaemonSet, error) {
	if !d.of.daemonSets[d.namespace+"/"+name] {
		return nil, apierrors.NewNotFound(appsv1.Resource("daemonsets"), name)
	}
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: name}}, nil
}
