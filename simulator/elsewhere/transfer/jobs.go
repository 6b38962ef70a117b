package transfer

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// Pods that the job controller has not counted yet have this finalizer.
const jobTracking = "batch.kubernetes.io/job-tracking"

// setJob keeps a finished job from running again: it creates the job suspended and resumes it once
// it has its status, after which its controller leaves it alone. An unfinished job learns its
// progress from its pods.
func setJob(w *write, status map[string]any) {
	manual, _, _ := unstructured.NestedBool(w.desired.Object, "spec", "manualSelector")
	if manual {
		// An existing job already has its selector.
		unstructured.RemoveNestedField(w.desired.Object, "spec", "manualSelector")
		w.create = func(u *unstructured.Unstructured) {
			// A Job without a spec is refused anyway.
			_ = unstructured.SetNestedField(u.Object, true, "spec", "manualSelector")
		}
	}
	end := endOf(status)
	if end == "" {
		return
	}
	suspended, _, _ := unstructured.NestedBool(w.desired.Object, "spec", "suspend")
	if suspended {
		// Our exports suspend finished jobs, for people who apply them with kubectl.
		unstructured.RemoveNestedField(w.desired.Object, "spec", "suspend")
	}
	before := w.create
	w.create = func(u *unstructured.Unstructured) {
		if before != nil {
			before(u)
		}
		_ = unstructured.SetNestedField(u.Object, true, "spec", "suspend")
	}
	w.status = finishedStatus(status, end)
	w.then = map[string]any{"spec": map[string]any{"suspend": false}}
}

// endOf returns the condition with which a job has finished; empty if it has not.
func endOf(status map[string]any) string {
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if kind, _ := condition["type"].(string); (kind == "Complete" || kind == "Failed") && condition["status"] == "True" {
			return kind
		}
	}
	return ""
}

// finishedStatus returns a status that an API server accepts for a finished job. Earlier versions
// of Kubernetes leave out fields that are required today.
func finishedStatus(status map[string]any, end string) map[string]any {
	kept := map[string]any{}
	for _, field := range []string{"succeeded", "failed", "completedIndexes", "failedIndexes", "startTime", "completionTime"} {
		if v := status[field]; v != nil {
			kept[field] = v
		}
	}
	before := map[string]string{"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[end]
	var conditions []any
	var last map[string]any
	all, _ := status["conditions"].([]any)
	has := false
	for _, c := range all {
		condition, _ := c.(map[string]any)
		switch condition["type"] {
		case before:
			has = true
		case end:
			last = condition
		case "Suspended":
			continue
		}
		conditions = append(conditions, c)
	}
	if !has {
		earlier := map[string]any{}
		for k, v := range last {
			earlier[k] = v
		}
		earlier["type"] = before
		conditions = slices.Insert(conditions, 0, any(earlier))
	}
	kept["conditions"] = conditions
	when := last["lastTransitionTime"]
	if kept["startTime"] == nil && when != nil {
		kept["startTime"] = when
	}
	if end == "Complete" && kept["completionTime"] == nil && when != nil {
		kept["completionTime"] = when
	}
	return kept
}

// job is what the plan of the pods knows of an unfinished job.
type job struct {
	object *manifest.Object
	// According to its status, counted pods have succeeded; there of them are in the input.
	counted, there int64
}

func (i *importer) unfinishedJobs() map[key]*job {
	jobs := map[key]*job{}
	for _, o := range i.objects {
		if o.GVK.GroupKind() != objects.Job {
			continue
		}
		var head struct {
			Status map[string]any `json:"status"`
		}
		if json.Unmarshal(o.JSON, &head) != nil || endOf(head.Status) != "" {
			continue
		}
		succeeded, _ := head.Status["succeeded"].(float64)
		jobs[keyOf(o)] = &job{object: o, counted: int64(succeeded)}
	}
	return jobs
}
