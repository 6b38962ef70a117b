package simulation

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
)

// daemonSet gives each node that should have one a pod, for the scheduler to place there.
func (w *workloads) daemonSet(set *appsv1.DaemonSet) error {
	on := map[string][]*v1.Pod{}
	for _, pod := range ownedBy[*v1.Pod](w.cluster, set.UID, podKind) {
		node, err := daemonutil.GetTargetNodeName(pod)
		if err != nil {
			return err
		}
		on[node] = append(on[node], pod)
	}
	for _, node := range all[*v1.Node](w.cluster, nodeKind) {
		run, stay := daemonRuns(set, node)
		pods := on[node.Name]
		delete(on, node.Name)
		if run && len(pods) == 0 {
			if err := w.createDaemonPod(set, node); err != nil {
				return err
			}
		}
		for _, pod := range pods {
			// Replace a daemon that has ended.
			if pod.DeletionTimestamp == nil && (ended(pod) || !stay) {
				if err := w.deletePod(pod); err != nil {
					return err
				}
			}
		}
	}
	for _, node := range sortedKeys(on) {
		for _, pod := range on[node] {
			if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
				if err := w.deletePod(pod); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// daemonRuns reports whether a node should get a daemon, and whether an existing one stays, as
// NodeShouldRunDaemonPod of Kubernetes' daemon controller does.
func daemonRuns(set *appsv1.DaemonSet, node *v1.Node) (run, stay bool) {
	pod := daemonPod(set, node)
	if name := set.Spec.Template.Spec.NodeName; name != "" && name != node.Name {
		return false, false
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		return false, false
	}
	run, stay = true, true
	for _, taint := range node.Spec.Taints {
		if taint.Effect == v1.TaintEffectPreferNoSchedule || tolerates(pod, &taint) {
			continue
		}
		run = false
		stay = stay && taint.Effect != v1.TaintEffectNoExecute
	}
	return run, stay
}

func tolerates(pod *v1.Pod, taint *v1.Taint) bool {
	for i := range pod.Spec.Tolerations {
		if pod.Spec.Tolerations[i].ToleratesTaint(noLogger, taint, false) {
			return true
		}
	}
	return false
}

func daemonPod(set *appsv1.DaemonSet, node *v1.Node) *v1.Pod {
	pod := newPod(&set.Spec.Template, set.Namespace, metav1.NewControllerRef(set, daemonSetKind))
	daemonutil.AddOrUpdateDaemonPodTolerations(&pod.Spec)
	pod.Spec.Affinity = daemonutil.ReplaceDaemonSetPodNodeNameNodeAffinity(pod.Spec.Affinity, node.Name)
	return pod
}

func (w *workloads) createDaemonPod(set *appsv1.DaemonSet, node *v1.Node) error {
	pod := daemonPod(set, node)
	pod.GenerateName = set.Name + "-"
	pod.Name = set.Name + "-" + w.number(set.UID)
	pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = hashOf(&set.Spec.Template)
	_, err := w.create(pod)
	return err
}
