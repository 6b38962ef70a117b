package intake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

var (
	labels       = field.NewPath("metadata", "labels")
	annotations  = field.NewPath("metadata", "annotations")
	templateMeta = field.NewPath("spec", "template", "metadata")
)

// checkOwner checks an object from which a workload is made; before is nil for a new one.
func checkOwner(o, before metav1.Object) field.ErrorList {
	switch o := o.(type) {
	case *batch.Job:
		before, _ := before.(*batch.Job)
		return checkJob(o, before)
	case *core.Pod:
		before, _ := before.(*core.Pod)
		return checkPod(o, before)
	case *apps.Deployment:
		if before, ok := before.(*apps.Deployment); ok && before != nil {
			return checkServing(o, before, before.Status.ReadyReplicas)
		}
		return checkServing(o, nil, 0)
	case *apps.StatefulSet:
		before, _ := before.(*apps.StatefulSet)
		return checkStatefulSet(o, before)
	}
	return nil
}

// owner is what the checks of all kinds look at: an object in its new and its old version.
type owner struct {
	now, before metav1.Object // before is nil for a new object
	// suspended says whether the new version is held back, and wasSuspended the same of the old one.
	suspended, wasSuspended bool
}

func (o owner) label(key string) (now, before string, changed bool) {
	return changeOf(key, o, metav1.Object.GetLabels)
}

func (o owner) annotation(key string) (now, before string, changed bool) {
	return changeOf(key, o, metav1.Object.GetAnnotations)
}

// changeOf returns the values of one key. A new object has changed whatever it has: checks of single values look at
// nothing else, so that an update is never refused for what it leaves alone.
func changeOf(key string, o owner, in func(metav1.Object) map[string]string) (now, before string, changed bool) {
	now, has := in(o.now)[key]
	if o.before == nil {
		return now, "", has
	}
	before, had := in(o.before)[key]
	return now, before, has && (!had || now != before)
}

// common are the checks of Kueue's integrations that run jobs to their end.
func (o owner) common() (mistakes field.ErrorList) {
	mistakes = append(mistakes, o.name(controllerconstants.QueueLabel)...)
	mistakes = append(mistakes, o.name(controllerconstants.PrebuiltWorkloadLabel)...)
	path := labels.Key(controllerconstants.MaxExecTimeSecondsLabel)
	if value, _, changed := o.label(controllerconstants.MaxExecTimeSecondsLabel); changed {
		if n, err := strconv.Atoi(value); err != nil {
			mistakes = append(mistakes, field.Invalid(path, value, err.Error()))
		} else if n <= 0 {
			mistakes = append(mistakes, field.Invalid(path, n, "should be greater than 0"))
		}
	}
	if o.before == nil {
		return mistakes
	}
	if !o.suspended {
		mistakes = append(mistakes, o.immutable(controllerconstants.QueueLabel)...)
		mistakes = append(mistakes, o.immutable(controllerconstants.PrebuiltWorkloadLabel)...)
	}
	if !o.suspended || !o.wasSuspended {
		mistakes = append(mistakes, o.immutable(controllerconstants.MaxExecTimeSecondsLabel)...)
	}
	return append(mistakes, o.priorityClass()...)
}

// checkCustomJob checks a job of a kind that Kubernetes does not have itself; before is nil for a new one.
func checkCustomJob(now, before *unstructured.Unstructured) field.ErrorList {
	suspended := func(o *unstructured.Unstructured) bool {
		held, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
		return held
	}
	o := owner{now: now, suspended: suspended(now)}
	if before != nil {
		o.before, o.wasSuspended = before, suspended(before)
	}
	return o.common()
}

func (o owner) name(label string) field.ErrorList {
	value, _, changed := o.label(label)
	if !changed {
		return nil
	}
	if wrong := validation.IsDNS1123Subdomain(value); len(wrong) > 0 {
		return field.ErrorList{field.Invalid(labels.Key(label), value, strings.Join(wrong, ","))}
	}
	return nil
}

func (o owner) immutable(label string) field.ErrorList {
	return apivalidation.ValidateImmutableField(o.now.GetLabels()[label], o.before.GetLabels()[label], labels.Key(label))
}

// priorityClass checks that a class stays, and that none is added to what runs.
func (o owner) priorityClass() field.ErrorList {
	path := labels.Key(controllerconstants.WorkloadPriorityClassLabel)
	now, before, _ := o.label(controllerconstants.WorkloadPriorityClassLabel)
	switch {
	case now == "" && before != "":
		return field.ErrorList{field.Invalid(path, now, "WorkloadPriorityClass cannot be removed from a workload")}
	case now != "" && before == "" && !o.suspended:
		return field.ErrorList{field.Invalid(path, now, "WorkloadPriorityClass cannot be added to a non-suspended workload")}
	}
	return nil
}

// checkJob checks a job; before is nil for a new one. What is checked against the job's size counts for a new
// job and for a new annotation: a job that starts with fewer pods has another size.
func checkJob(job, before *batch.Job) field.ErrorList {
	o := owner{now: job, suspended: ptr.Deref(job.Spec.Suspend, false)}
	template := owner{now: &job.Spec.Template}
	if before != nil {
		o.before, o.wasSuspended = before, ptr.Deref(before.Spec.Suspend, false)
		template.before = &before.Spec.Template
	}
	mistakes := o.common()
	pods := ptr.Deref(job.Spec.Parallelism, 1)
	if job.Spec.Completions != nil {
		pods = min(pods, *job.Spec.Completions)
	}
	path := annotations.Key(jobs.MinParallelism)
	if least, _, changed := o.annotation(jobs.MinParallelism); changed {
		if n, err := strconv.Atoi(least); err != nil {
			mistakes = append(mistakes, field.Invalid(path, least, err.Error()))
		} else if n <= 0 || n >= int(pods) {
			mistakes = append(mistakes, field.Invalid(path, n, fmt.Sprintf("should be between 0 and %d", pods-1)))
		}
	}
	mistakes = append(mistakes, checkCompletions(o, job, before)...)
	if before != nil && !o.wasSuspended && before.Annotations[jobs.MinParallelism] != "" && ptr.Deref(before.Spec.Parallelism, 1) != ptr.Deref(job.Spec.Parallelism, 1) {
		mistakes = append(mistakes, field.Forbidden(field.NewPath("spec", "parallelism"), "cannot change when partial admission is enabled and the job is not suspended"))
	}
	return append(mistakes, checkTopology(template, templateMeta, pods)...)
}

// checkElastic checks what an elastic job must not have, and that a job does not become one later; before is nil for a new job.
func checkElastic(job, before *batch.Job) (mistakes field.ErrorList) {
	if before != nil && jobs.Elastic(job) != jobs.Elastic(before) {
		return field.ErrorList{field.Invalid(annotations.Key(jobs.ElasticJob), jobs.Elastic(job), apivalidation.FieldImmutableErrorMsg)}
	}
	for level, key := range map[string]string{"required": kueue.PodSetRequiredTopologyAnnotation, "preferred": kueue.PodSetPreferredTopologyAnnotation} {
		if _, asks := job.Spec.Template.Annotations[key]; asks && before == nil && jobs.Elastic(job) {
			mistakes = append(mistakes, field.Forbidden(templateMeta.Child("annotations").Key(key), level+" topology is not supported with elastic jobs"))
		}
	}
	return mistakes
}

// checkCompletions checks the annotation by which a job has as many completions as pods.
func checkCompletions(o owner, job, before *batch.Job) (mistakes field.ErrorList) {
	path := annotations.Key(jobs.CompletionsEqualParallelism)
	text, was, changed := o.annotation(jobs.CompletionsEqualParallelism)
	follows, err := strconv.ParseBool(text)
	if changed && err != nil {
		mistakes = append(mistakes, field.Invalid(path, text, err.Error()))
	}
	if changed && follows && ptr.Deref(job.Spec.CompletionMode, batch.NonIndexedCompletion) == batch.NonIndexedCompletion {
		mistakes = append(mistakes, field.Invalid(path, text, "should not be enabled for NonIndexed jobs"))
	}
	size := func(j *batch.Job) [2]int32 {
		return [2]int32{ptr.Deref(j.Spec.Parallelism, 1), ptr.Deref(j.Spec.Completions, 1)}
	}
	if now := size(job); follows && now[0] != now[1] && (changed || before == nil || size(before) != now) {
		mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "completions"), now[1], fmt.Sprintf("should be equal to parallelism when %s is annotation is true", jobs.CompletionsEqualParallelism)))
	}
	if before != nil {
		followed, _ := strconv.ParseBool(was)
		if !o.suspended && !o.wasSuspended && follows != followed {
			mistakes = append(mistakes, field.Forbidden(path, apivalidation.FieldImmutableErrorMsg+" while the job is not suspended"))
		}
	}
	return mistakes
}

// checkPod checks a pod, which is held back by its gate; before is nil for a new one.
func checkPod(pod, before *core.Pod) (mistakes field.ErrorList) {
	suspended := func(p *core.Pod) bool {
		return p.Status.Phase == core.PodFailed || p.Status.Phase == core.PodSucceeded ||
			slices.ContainsFunc(p.Spec.SchedulingGates, func(g core.PodSchedulingGate) bool { return g.Name == podconstants.SchedulingGateName })
	}
	o := owner{now: pod, suspended: suspended(pod)}
	if before != nil {
		o.before, o.wasSuspended = before, suspended(before)
	}
	mistakes = append(mistakes, o.common()...)
	if value, _, changed := o.label(constants.ManagedByKueueLabelKey); changed && value != "true" {
		mistakes = append(mistakes, field.Forbidden(labels.Key(constants.ManagedByKueueLabelKey), "managed label value can only be 'true'"))
	}
	mistakes = append(mistakes, checkMember(o)...)
	return append(mistakes, checkTopology(o, field.NewPath("metadata"), 0)...)
}

// groupOf is jobs.GroupOf of a pod as the API server has it.
func groupOf(pod metav1.Object) string {
	if group := pod.GetAnnotations()[podconstants.GroupNameLabel]; group != "" {
		return group
	}
	return pod.GetLabels()[podconstants.GroupNameLabel]
}

func checkMember(o owner) (mistakes field.ErrorList) {
	group, was := groupOf(o.now), ""
	if o.before != nil {
		was = groupOf(o.before)
	}
	name, count := labels.Key(podconstants.GroupNameLabel), annotations.Key(podconstants.GroupTotalCountAnnotation)
	if group != "" && group != was {
		if wrong := validation.IsDNS1123Subdomain(group); len(wrong) > 0 {
			mistakes = append(mistakes, field.Invalid(name, group, strings.Join(wrong, ",")))
		}
	}
	if was != "" {
		mistakes = append(mistakes, apivalidation.ValidateImmutableField(group, was, name)...)
	}
	total, totalWas, counted := o.annotation(podconstants.GroupTotalCountAnnotation)
	both := fmt.Sprintf("both the '%s' annotation and the '%s' label should be set", podconstants.GroupTotalCountAnnotation, podconstants.GroupNameLabel)
	switch _, has := o.now.GetAnnotations()[podconstants.GroupTotalCountAnnotation]; {
	case counted && group == "":
		return append(mistakes, field.Required(name, both))
	case group != "" && !has && (group != was || totalWas != ""):
		return append(mistakes, field.Required(count, both))
	case counted:
		if n, err := strconv.Atoi(total); err != nil {
			mistakes = append(mistakes, field.Invalid(count, total, err.Error()))
		} else if n < 1 {
			mistakes = append(mistakes, field.Invalid(count, total, "group total count should be greater than zero"))
		}
	}
	if o.before != nil && group != "" && o.before.GetAnnotations()[podconstants.RetriableInGroupAnnotationKey] == "false" && o.now.GetAnnotations()[podconstants.RetriableInGroupAnnotationKey] != "false" {
		mistakes = append(mistakes, field.Forbidden(annotations.Key(podconstants.RetriableInGroupAnnotationKey), "unretriable pod group can't be converted to retriable"))
	}
	if prebuilt, _, changed := o.label(controllerconstants.PrebuiltWorkloadLabel); changed && group != "" && prebuilt != group {
		mistakes = append(mistakes, field.Invalid(labels.Key(controllerconstants.PrebuiltWorkloadLabel), prebuilt, "prebuilt workload and pod group should be equal"))
	}
	return mistakes
}

// checkTopology checks the annotations by which pods ask for a place in a topology. pods bounds the size of a slice; 0 does
// not.
func checkTopology(o owner, at *field.Path, pods int32) (mistakes field.ErrorList) {
	if o.before != nil && equality.Semantic.DeepEqual(o.now.GetAnnotations(), o.before.GetAnnotations()) {
		return nil
	}
	path := at.Child("annotations")
	asked := 0
	for _, key := range []string{kueue.PodSetRequiredTopologyAnnotation, kueue.PodSetPreferredTopologyAnnotation, kueue.PodSetUnconstrainedTopologyAnnotation} {
		if _, has := o.now.GetAnnotations()[key]; has {
			asked++
		}
	}
	if asked > 1 {
		mistakes = append(mistakes, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("must not contain more than one topology annotation: [%q, %q, %q]",
			kueue.PodSetRequiredTopologyAnnotation, kueue.PodSetPreferredTopologyAnnotation, kueue.PodSetUnconstrainedTopologyAnnotation)))
	}
	for _, key := range []string{kueue.PodSetRequiredTopologyAnnotation, kueue.PodSetPreferredTopologyAnnotation, kueue.PodSetSliceRequiredTopologyAnnotation} {
		if value, _, changed := o.annotation(key); changed {
			mistakes = append(mistakes, metav1validation.ValidateLabelName(value, path.Key(key))...)
		}
	}
	if value, _, changed := o.annotation(kueue.PodSetUnconstrainedTopologyAnnotation); changed {
		if _, err := strconv.ParseBool(value); err != nil {
			mistakes = append(mistakes, field.Invalid(path.Key(kueue.PodSetUnconstrainedTopologyAnnotation), value, "must be a boolean value"))
		}
	}
	if value, _, changed := o.annotation(kueue.PodSetSliceSizeAnnotation); changed {
		size := path.Key(kueue.PodSetSliceSizeAnnotation)
		switch n, err := strconv.ParseInt(value, 10, 32); {
		case err != nil:
			mistakes = append(mistakes, field.Invalid(size, value, "must be a numeric value"))
		case n < 1:
			mistakes = append(mistakes, field.Invalid(size, value, "must be greater than or equal to 1"))
		case pods > 0 && n > int64(pods):
			mistakes = append(mistakes, field.Invalid(size, value, fmt.Sprintf("must not be greater than pod set count %d", pods)))
		}
	}
	_, sliced := o.now.GetAnnotations()[kueue.PodSetSliceRequiredTopologyAnnotation]
	_, sized := o.now.GetAnnotations()[kueue.PodSetSliceSizeAnnotation]
	switch {
	case sliced && !sized:
		mistakes = append(mistakes, field.Required(path.Key(kueue.PodSetSliceSizeAnnotation), fmt.Sprintf("must be set when '%s' is specified", kueue.PodSetSliceRequiredTopologyAnnotation)))
	case sized && !sliced:
		mistakes = append(mistakes, field.Forbidden(path.Key(kueue.PodSetSliceSizeAnnotation), fmt.Sprintf("may not be set when '%s' is not specified", kueue.PodSetSliceRequiredTopologyAnnotation)))
	}
	return append(mistakes, checkPodSetGroup(o, path, sliced, sized)...)
}

func checkPodSetGroup(o owner, path *field.Path, sliced, sized bool) (mistakes field.ErrorList) {
	name, _, changed := o.annotation(kueue.PodSetGroupName)
	if !changed {
		return nil
	}
	at := path.Key(kueue.PodSetGroupName)
	if _, err := strconv.ParseUint(name, 10, 64); err == nil {
		mistakes = append(mistakes, field.Invalid(at, name, "must not be a number"))
	}
	if sized {
		mistakes = append(mistakes, field.Forbidden(at, fmt.Sprintf("may not be set when '%s' is specified", kueue.PodSetSliceSizeAnnotation)))
	}
	if sliced {
		mistakes = append(mistakes, field.Forbidden(at, fmt.Sprintf("may not be set when '%s' is specified", kueue.PodSetSliceRequiredTopologyAnnotation)))
	}
	_, required := o.now.GetAnnotations()[kueue.PodSetRequiredTopologyAnnotation]
	_, preferred := o.now.GetAnnotations()[kueue.PodSetPreferredTopologyAnnotation]
	if !required && !preferred {
		mistakes = append(mistakes, field.Forbidden(at, fmt.Sprintf("may not be set when neither '%s' nor '%s' is specified", kueue.PodSetPreferredTopologyAnnotation, kueue.PodSetRequiredTopologyAnnotation)))
	}
	return mistakes
}

// checkServing checks a workload that serves; before is nil for a new one, and ready how many of its pods were ready.
func checkServing(now, before metav1.Object, ready int32) field.ErrorList {
	o := owner{now: now, suspended: ready == 0, before: before}
	mistakes := o.name(controllerconstants.QueueLabel)
	if before == nil {
		return mistakes
	}
	if !o.suspended || now.GetLabels()[controllerconstants.QueueLabel] == "" {
		mistakes = append(mistakes, o.immutable(controllerconstants.QueueLabel)...)
	}
	return append(mistakes, o.priorityClass()...)
}

func checkStatefulSet(now, before *apps.StatefulSet) field.ErrorList {
	if before == nil {
		return checkServing(now, nil, 0)
	}
	mistakes := checkServing(now, before, before.Status.ReadyReplicas)
	if now.Labels[controllerconstants.QueueLabel] == "" {
		return mistakes
	}
	replicas := field.NewPath("spec", "replicas")
	switch {
	case now.Spec.Replicas != before.Spec.Replicas && now.Spec.Replicas != 0 && before.Spec.Replicas != 0:
		// Its group is admitted as a whole.
		mistakes = append(mistakes, field.Invalid(replicas, now.Spec.Replicas, apivalidation.FieldImmutableErrorMsg))
	case before.Spec.Replicas == 0 && now.Spec.Replicas > 0 && now.Status.Replicas > 0:
		mistakes = append(mistakes, field.Forbidden(replicas, "scaling down is still in progress"))
	}
	shape, err := specOf(&now.Spec.Template.Spec)
	if err != nil {
		return append(mistakes, field.InternalError(field.NewPath("spec", "template", "spec"), err))
	}
	was, err := specOf(&before.Spec.Template.Spec)
	if err != nil {
		return append(mistakes, field.InternalError(field.NewPath("spec", "template", "spec"), err))
	}
	old := jobs.ShapeOf(*was)
	for part, value := range jobs.ShapeOf(*shape) {
		if !equality.Semantic.DeepEqual(value, old[part]) {
			mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "template", "spec", part), field.OmitValueType{}, apivalidation.FieldImmutableErrorMsg))
		}
	}
	slices.SortFunc(mistakes, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return mistakes
}
