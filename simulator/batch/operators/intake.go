package operators

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/apis/core"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsetconstants "sigs.k8s.io/jobset/pkg/constants"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
	lwsutils "sigs.k8s.io/lws/pkg/utils"
	"sigs.k8s.io/lws/pkg/utils/statefulset"
)

// PluginName is that of the admission plugin.
const PluginName = "BatchOperators"

// Register adds the plugin to those that an API server can run.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return &intake{}, nil })
}

// intake does what the webhooks of the kinds do to objects and pods.
type intake struct{ client kubernetes.Interface }

var (
	_ admission.MutationInterface            = (*intake)(nil)
	_ admission.ValidationInterface          = (*intake)(nil)
	_ initializer.WantsExternalKubeClientSet = (*intake)(nil)
)

func (i *intake) SetExternalKubeClientSet(client kubernetes.Interface) { i.client = client }

func (i *intake) ValidateInitialization() error {
	if i.client == nil {
		return errors.New("the plugin needs a client")
	}
	return nil
}

func (i *intake) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

func (i *intake) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	switch o := a.GetObject().(type) {
	case *unstructured.Unstructured:
		switch o.GroupVersionKind() {
		case jobset.SchemeGroupVersion.WithKind("JobSet"):
			defaultJobSet(o.Object)
		case lws.GroupVersion.WithKind("LeaderWorkerSet"):
			defaultLeaderWorkerSet(o.Object)
		}
	case *core.Pod:
		if a.GetOperation() != admission.Create {
			return nil
		}
		var err error
		switch {
		case o.Labels[lws.SetNameLabelKey] != "":
			err = admitMember(o)
		case o.Annotations[jobset.ExclusiveKey] != "" && o.Annotations[jobset.JobSetNameKey] != "" && o.Annotations[jobset.NodeSelectorStrategyKey] == "":
			err = i.admitExclusive(ctx, o)
		}
		if err != nil {
			return admission.NewForbidden(a, err)
		}
	}
	return nil
}

// Validate refuses AppWrappers that their controller could not run.
func (i *intake) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	o, ok := a.GetObject().(*unstructured.Unstructured)
	if !ok || a.GetSubresource() != "" || o.GroupVersionKind() != appwrapper.GroupVersion.WithKind(appwrapper.AppWrapperKind) {
		return nil
	}
	before, _ := a.GetOldObject().(*unstructured.Unstructured)
	if mistakes := checkAppWrapper(o, before); len(mistakes) > 0 {
		return apierrors.NewInvalid(o.GroupVersionKind().GroupKind(), o.GetName(), mistakes)
	}
	return nil
}

// fill sets a field that is not there, with the objects around it.
func fill(object map[string]any, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			if object[name] != nil {
				return // of another type, which the schema refuses
			}
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	if last := path[len(path)-1]; object[last] == nil {
		object[last] = value
	}
}

// items are the objects of a list.
func items(object map[string]any, path ...string) (out []map[string]any) {
	list, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	all, _ := list.([]any)
	for _, one := range all {
		if inner, ok := one.(map[string]any); ok {
			out = append(out, inner)
		}
	}
	return out
}

func defaultJobSet(o map[string]any) {
	fill(o, string(jobset.OperatorAll), "spec", "successPolicy", "operator")
	fill(o, string(jobset.AnyOrder), "spec", "startupPolicy", "startupPolicyOrder")
	fill(o, true, "spec", "network", "enableDNSHostnames")
	fill(o, true, "spec", "network", "publishNotReadyAddresses")
	for _, job := range items(o, "spec", "replicatedJobs") {
		fill(job, string(batchv1.IndexedCompletion), "template", "spec", "completionMode")
		fill(job, string(v1.RestartPolicyOnFailure), "template", "spec", "template", "spec", "restartPolicy")
	}
	for n, rule := range items(o, "spec", "failurePolicy", "rules") {
		fill(rule, fmt.Sprintf("failurePolicyRule%d", n), "name")
	}
	for _, policy := range items(o, "spec", "volumeClaimPolicies") {
		fill(policy, string(jobset.RetentionPolicyDelete), "retentionPolicy", "whenDeleted")
	}
}

func defaultLeaderWorkerSet(o map[string]any) {
	fill(o, string(lws.RecreateGroupOnPodRestart), "spec", "leaderWorkerTemplate", "restartPolicy")
	fill(o, string(lws.RollingUpdateStrategyType), "spec", "rolloutStrategy", "type")
	fill(o, int64(1), "spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
	fill(o, int64(0), "spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge")
	fill(o, int64(0), "spec", "rolloutStrategy", "rollingUpdateConfiguration", "partition")
	fill(o, string(lws.SubdomainShared), "spec", "networkConfig", "subdomainPolicy")
}

// admitMember labels a pod of a LeaderWorkerSet with its place, and keeps the pods of one group in a domain of their own if the
// set asks for that.
func admitMember(pod *core.Pod) error {
	size, err := strconv.Atoi(pod.Annotations[lws.SizeAnnotationKey])
	if err != nil {
		return fmt.Errorf("the annotation %s is no number: %q", lws.SizeAnnotationKey, pod.Annotations[lws.SizeAnnotationKey])
	}
	_, ordinal := statefulset.GetParentNameAndOrdinal(pod.Name)
	if ordinal < 0 {
		return fmt.Errorf("the name %s has no ordinal", pod.Name)
	}
	leader := pod.Labels[lws.WorkerIndexLabelKey] == "0"
	key := func(label string, of ...string) string {
		if pod.Labels[label] == "" {
			pod.Labels[label] = lwsutils.Sha1Hash(of[0] + "/" + of[1])
		}
		return pod.Labels[label]
	}
	if leader {
		if pod.Labels[lws.GroupIndexLabelKey] == "" {
			pod.Labels[lws.GroupIndexLabelKey] = strconv.Itoa(ordinal)
		}
		if pod.Annotations[lws.SubdomainPolicyAnnotationKey] == string(lws.SubdomainUniquePerReplica) {
			pod.Spec.Subdomain = pod.Name
		}
		group := key(lws.GroupUniqueHashLabelKey, pod.Namespace, pod.Name)
		keepApart(pod, lws.GroupUniqueHashLabelKey, group, pod.Annotations[lws.ExclusiveKeyAnnotationKey])
	} else {
		pod.Labels[lws.WorkerIndexLabelKey] = strconv.Itoa(ordinal)
	}
	subGroup, err := strconv.Atoi(pod.Annotations[lws.SubGroupSizeAnnotationKey])
	excluded := pod.Annotations[lws.SubGroupPolicyTypeAnnotationKey] == string(lws.SubGroupPolicyTypeLeaderExcluded)
	if err != nil || subGroup <= 0 || pod.Labels[lws.SubGroupIndexLabelKey] != "" || leader && excluded {
		return nil
	}
	index, of := 0, pod.Name
	if !leader {
		index, of = ordinal/subGroup, pod.Annotations[lws.LeaderPodNameAnnotationKey]
		if (size-1)%subGroup == 0 {
			index = (ordinal - 1) / subGroup // the leader is one more, in the first
		}
	}
	pod.Labels[lws.SubGroupIndexLabelKey] = strconv.Itoa(index)
	keepApart(pod, lws.SubGroupUniqueHashLabelKey, key(lws.SubGroupUniqueHashLabelKey, of, strconv.Itoa(index)), pod.Annotations[lws.SubGroupExclusiveKeyAnnotationKey])
	return nil
}

// keepApart puts the pods with one value of a label in one domain of a topology, and those with other values in others. others
// narrow which of the others count.
func keepApart(pod *core.Pod, label, value, topology string, others ...metav1.LabelSelectorRequirement) {
	if topology == "" {
		return
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &core.Affinity{}
	}
	affinity := pod.Spec.Affinity
	if affinity.PodAffinity == nil {
		affinity.PodAffinity = &core.PodAffinity{}
	}
	if affinity.PodAntiAffinity == nil {
		affinity.PodAntiAffinity = &core.PodAntiAffinity{}
	}
	term := func(requirements ...metav1.LabelSelectorRequirement) core.PodAffinityTerm {
		return core.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchExpressions: requirements}}
	}
	together := term(metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
	apart := term(append([]metav1.LabelSelectorRequirement{
		{Key: label, Operator: metav1.LabelSelectorOpExists},
		{Key: label, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}},
	}, others...)...)
	if len(others) > 0 { // those of a JobSet, whose jobs keep apart over namespaces
		together.NamespaceSelector, apart.NamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	}
	affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, together)
	affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, apart)
}

// admitExclusive gives the job of a JobSet a domain of its own: the pod with index 0 chooses it, and the others follow as soon as
// it has a node. Until then they are refused, and the job's controller tries again.
func (i *intake) admitExclusive(ctx context.Context, pod *core.Pod) error {
	topology, job := pod.Annotations[jobset.ExclusiveKey], pod.Labels[jobset.JobKey]
	if pod.Spec.Priority != nil {
		pod.Labels[jobsetconstants.PriorityKey] = strconv.Itoa(int(*pod.Spec.Priority))
	}
	if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" {
		keepApart(pod, jobset.JobKey, job, topology, metav1.LabelSelectorRequirement{Key: jobsetconstants.PriorityKey, Operator: metav1.LabelSelectorOpIn, Values: []string{pod.Labels[jobsetconstants.PriorityKey]}})
		return nil
	}
	owner := metav1.GetControllerOf(pod)
	selector := labels.SelectorFromSet(labels.Set{jobset.JobKey: job, batchv1.JobCompletionIndexAnnotation: "0"})
	leaders, err := i.client.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String(), ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for n := range leaders.Items {
		leader := &leaders.Items[n]
		if by := metav1.GetControllerOf(leader); leader.DeletionTimestamp != nil || leader.Spec.NodeName == "" || owner == nil || by == nil || by.UID != owner.UID {
			continue
		}
		node, err := i.client.CoreV1().Nodes().Get(ctx, leader.Spec.NodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		domain, ok := node.Labels[topology]
		if !ok {
			return fmt.Errorf("the node %s of the pod with index 0 has no label %s", node.Name, topology)
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[topology] = domain
		return nil
	}
	return fmt.Errorf("the pod with index 0 of its job has no node yet, whose %s this one follows", topology)
}
