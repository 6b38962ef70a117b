package admission

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// selects reports whether a ClusterQueue accepts workloads of a namespace. An unreadable selector
// selects nothing.
func (s *State) selects(queue *kueue.ClusterQueue, namespace string) bool {
	if queue == nil || queue.Spec.NamespaceSelector == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(queue.Spec.NamespaceSelector)
	if err != nil {
		return false
	}
	set := labels.Set{}
	if n := s.namespaces[namespace]; n != nil {
		set = n.Labels
	}
	return selector.Matches(set)
}

// cause is one thing that keeps a ClusterQueue from being scheduled.
type cause struct{ reason, text string }

// causes are why a ClusterQueue is not active, in the order of their importance; empty for an
// active one.
func (s *State) causes(name string) []cause {
	queue := s.clusterQueues[name]
	var causes []cause
	if !queue.DeletionTimestamp.IsZero() {
		causes = append(causes, cause{"Terminating", "is terminating"})
	}
	if stopped(queue.Spec.StopPolicy) {
		causes = append(causes, cause{"Stopped", "is stopped"})
	}
	var missing, topologies []string
	for _, flavor := range flavorNames(queue) {
		f := s.flavors[flavor]
		switch {
		case f == nil:
			missing = append(missing, flavor)
		case f.Spec.TopologyName != nil && s.topologies[string(*f.Spec.TopologyName)] == nil:
			topologies = append(topologies, string(*f.Spec.TopologyName))
		}
	}
	if len(missing) > 0 {
		causes = append(causes, cause{"FlavorNotFound", "references missing ResourceFlavor(s): " + strings.Join(missing, ",")})
	}
	causes = append(causes, s.checkCauses(queue)...)
	if len(topologies) > 0 {
		causes = append(causes, cause{"TopologyNotFound", "references missing Topology(ies): " + strings.Join(topologies, ",")})
	}
	if s.tree().looped[string(queue.Spec.CohortName)] {
		causes = append(causes, cause{"Unknown", "belongs to a cohort with a cycle"})
	}
	return causes
}

func (s *State) checkCauses(queue *kueue.ClusterQueue) []cause {
	if queue.Spec.AdmissionChecksStrategy == nil {
		return nil
	}
	var missing, inactive []string
	for _, rule := range queue.Spec.AdmissionChecksStrategy.AdmissionChecks {
		check := s.checks[string(rule.Name)]
		switch {
		case check == nil:
			missing = append(missing, string(rule.Name))
		case !meta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive):
			inactive = append(inactive, string(rule.Name))
		}
	}
	var causes []cause
	if len(missing) > 0 {
		causes = append(causes, cause{"AdmissionCheckNotFound", "references missing AdmissionCheck(s): " + strings.Join(missing, ",")})
	}
	if len(inactive) > 0 {
		causes = append(causes, cause{"AdmissionCheckInactive", "references inactive AdmissionCheck(s): " + strings.Join(inactive, ",")})
	}
	return causes
}

// requestsAboveLimits are the paths of requests that exceed their limit.
func requestsAboveLimits(w *kueue.Workload) []string {
	var fields []string
	for i := range w.Spec.PodSets {
		spec := &w.Spec.PodSets[i].Template.Spec
		for _, list := range []struct {
			name       string
			containers []v1.Container
		}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
			for j, c := range list.containers {
				for _, name := range sortedKeys(c.Resources.Requests, compareResources) {
					limit, limited := c.Resources.Limits[name]
					if request := c.Resources.Requests[name]; limited && request.Cmp(limit) > 0 {
						fields = append(fields, fmt.Sprintf("spec.podSets[%d].template.spec.%s[%d].resources.requests[%s]", i, list.name, j, name))
					}
				}
			}
		}
	}
	return fields
}

// limitViolations are the bounds of the namespace's LimitRanges that the containers break.
func (s *State) limitViolations(w *kueue.Workload) []string {
	var violations []string
	for _, item := range s.limitItems(w.Namespace) {
		for i := range w.Spec.PodSets {
			spec := &w.Spec.PodSets[i].Template.Spec
			for j, c := range s.fillRequests(w.Namespace, spec.Containers) {
				for _, name := range sortedKeys(c.Resources.Requests, compareResources) {
					q := c.Resources.Requests[name]
					path := fmt.Sprintf("spec.podSets[%d].template.spec.containers[%d].resources[%s]", i, j, name)
					if least, bounded := item.Min[name]; bounded && q.Cmp(least) < 0 {
						violations = append(violations, fmt.Sprintf("%s: %s is below the minimum %s", path, q.String(), least.String()))
					}
					if most, bounded := item.Max[name]; bounded && q.Cmp(most) > 0 {
						violations = append(violations, fmt.Sprintf("%s: %s is above the maximum %s", path, q.String(), most.String()))
					}
				}
			}
		}
	}
	return violations
}

// limitItems are the bounds on containers in a namespace, by the name of the LimitRange.
func (s *State) limitItems(namespace string) []v1.LimitRangeItem {
	var items []v1.LimitRangeItem
	for _, key := range sortedKeys(s.limitRanges, compareKeys) {
		if key.Namespace != namespace {
			continue
		}
		for _, item := range s.limitRanges[key].Spec.Limits {
			if item.Type == v1.LimitTypeContainer {
				items = append(items, item)
			}
		}
	}
	return items
}

// defaultRequests are what containers of a namespace request if they do not say. The API server
// fills a LimitRange's defaultRequest from its default.
func (s *State) defaultRequests(namespace string) v1.ResourceList {
	if len(s.limitRanges) == 0 {
		return nil
	}
	defaults := make(v1.ResourceList)
	for _, item := range s.limitItems(namespace) {
		for name, q := range item.DefaultRequest {
			if _, known := defaults[name]; !known {
				defaults[name] = q
			}
		}
	}
	return defaults
}

func compareResources(a, b v1.ResourceName) int { return strings.Compare(string(a), string(b)) }

func (s *State) activeCondition(name string) metav1.Condition {
	causes := s.causes(name)
	if len(causes) == 0 {
		return metav1.Condition{Type: kueue.ClusterQueueActive, Status: metav1.ConditionTrue, Reason: "Ready", Message: "Can admit new workloads"}
	}
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = c.text
	}
	return metav1.Condition{
		Type: kueue.ClusterQueueActive, Status: metav1.ConditionFalse, Reason: causes[0].reason,
		Message: "Can't admit new workloads: " + strings.Join(slices.Compact(texts), ", "),
	}
}
