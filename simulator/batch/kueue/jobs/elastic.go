package jobs

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// ElasticJob is the annotation of a job whose number of pods may change while it runs, and of its workloads. The module keeps the
// name in the package of its controller.
const ElasticJob = "kueue.x-k8s.io/elastic-job"

// Elastic reports whether the number of pods of a job may change while it runs, if Kueue's configuration allows that.
func Elastic(o metav1.Object) bool { return o.GetAnnotations()[ElasticJob] == "true" }

// SliceNameOf returns the name of the workload of an elastic job as it is: each change of its spec may need another.
func SliceNameOf(job Job) string {
	o := job.Object()
	return NameOf(job.Kind().GroupKind(), o.GetName(), o.GetUID(), strconv.FormatInt(o.GetGeneration(), 10))
}

// AwaitsSlice reports whether a pod of an elastic job waits for a workload that has quota for it.
func AwaitsSlice(pod *v1.Pod) bool { return gated(pod, kueue.ElasticJobSchedulingGate) }
