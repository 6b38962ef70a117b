package fanout

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Labels and annotations of a sweep's objects.
const (
	labelSweep      = annotation.Prefix + "sweep"
	labelComponent  = "app.kubernetes.io/component"
	componentInput  = "sweep-input"
	componentResult = "sweep-result"

	// annotationDigest, on the Job, tells sweeps apart.
	annotationDigest = annotation.Prefix + "sweep-digest"
	// annotationRuns is the number of runs: of a Job those that it does, of a result those that it holds.
	annotationRuns = annotation.Prefix + "runs"
	// annotationIndex, on a result, is the index of the share.
	annotationIndex = annotation.Prefix + "share"
)

// What a pod finds in its directory.
const (
	// inputDir is where the files of the sweep and the credentials are mounted.
	inputDir  = "/run/simulator"
	tokenFile = "token"
	caFile    = "ca.crt"
	// tokenSeconds is how long a token lasts; the kubelet replaces it before.
	tokenSeconds = 3600
)

// The environment of a pod. The index comes from the Job controller.
const (
	envNamespace = "NAMESPACE"
	envJob       = "JOB_NAME"
	envJobUID    = "JOB_UID"
	envIndex     = "JOB_COMPLETION_INDEX"
)

const (
	containerName = "simulator"
	// exitHopeless is the exit code of a share that would fail again: the files are wrong, or rights are missing.
	exitHopeless = 2
	// keptSeconds is how long a finished Job stays, with its results.
	keptSeconds = 7 * 24 * 3600
	// graceSeconds is how long a pod that is evicted has to keep what it has done.
	graceSeconds = 30
)

// owner is a Job as the owner of other objects.
type owner struct {
	Name string
	UID  types.UID
}

// owned returns the metadata of an object that goes when the Job goes.
func (o owner) owned(name, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Labels:          map[string]string{labelSweep: o.Name, labelComponent: component},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: o.Name, UID: o.UID}},
	}
}

func (o owner) owns(object metav1.Object) bool {
	for _, ref := range object.GetOwnerReferences() {
		if ref.UID == o.UID {
			return true
		}
	}
	return false
}

// maxSlug bounds the sweep's own name in that of the Job, whose pods' names have more behind it.
const maxSlug = 32

var noName = regexp.MustCompile(`[^a-z0-9]+`)

// jobName is the name of the Job of a sweep. The same files and seeds have the same name.
func jobName(l *scenario.Sweep) string {
	slug := strings.Trim(noName.ReplaceAllString(strings.ToLower(l.Name), "-"), "-")
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	return strings.ReplaceAll("sweep-"+slug+"-", "--", "-") + l.Digest[:10]
}

func inputName(job string, chunk int) string { return fmt.Sprintf("%s-input-%d", job, chunk) }

// newJob returns the Job of a sweep. It is suspended until its input is there. runs is the number of runs that it does.
func newJob(name, digest string, runs, shares, chunks int, o Options) *batchv1.Job {
	pod := v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{labelSweep: name}},
		Spec: v1.PodSpec{
			RestartPolicy:                 v1.RestartPolicyNever,
			ServiceAccountName:            o.ServiceAccount,
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(graceSeconds)),
			SecurityContext: &v1.PodSecurityContext{
				RunAsNonRoot: new(true), SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []v1.Container{{
				Name: containerName, Image: o.Image,
				Args:                     append([]string{"sweep", "--share", inputDir, "--workers", strconv.Itoa(o.Workers)}, o.EngineFlags...),
				Env:                      environment(),
				Resources:                v1.ResourceRequirements{Requests: o.Requests, Limits: limits(o.Requests)},
				VolumeMounts:             []v1.VolumeMount{{Name: "input", MountPath: inputDir, ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"}},
				TerminationMessagePolicy: v1.TerminationMessageFallbackToLogsOnError,
				SecurityContext: &v1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &v1.Capabilities{Drop: []v1.Capability{"ALL"}},
				},
			}},
			Volumes: []v1.Volume{
				{Name: "input", VolumeSource: v1.VolumeSource{Projected: input(name, chunks)}},
				// The full engine keeps its control plane there.
				{Name: "tmp", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
			},
		},
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{labelSweep: name, "app.kubernetes.io/name": "kube-scheduler-simulator", labelComponent: "sweep"},
			Annotations: map[string]string{annotationDigest: digest, annotationRuns: strconv.Itoa(runs)},
		},
		Spec: batchv1.JobSpec{
			CompletionMode:          new(batchv1.IndexedCompletion),
			Completions:             new(int32(shares)),
			Parallelism:             new(int32(min(o.Parallelism, shares))),
			BackoffLimitPerIndex:    new(int32(o.Retries)),
			PodReplacementPolicy:    new(batchv1.Failed),
			PodFailurePolicy:        failurePolicy(),
			TTLSecondsAfterFinished: new(int32(keptSeconds)),
			Suspend:                 new(true),
			Template:                pod,
		},
	}
}

// failurePolicy: an eviction does not count as a failure, and a share that would fail again is not tried again.
func failurePolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue}}},
		{Action: batchv1.PodFailurePolicyActionFailIndex, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: new(containerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitHopeless},
		}},
	}}
}

// limits bound the memory to what is requested. The CPU is not limited.
func limits(requests v1.ResourceList) v1.ResourceList {
	memory, set := requests[v1.ResourceMemory]
	if !set {
		return nil
	}
	return v1.ResourceList{v1.ResourceMemory: memory}
}

func environment() []v1.EnvVar {
	field := func(name, path string) v1.EnvVar {
		return v1.EnvVar{Name: name, ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: path}}}
	}
	return []v1.EnvVar{
		field(envNamespace, "metadata.namespace"),
		field(envJob, "metadata.labels['"+batchv1.JobNameLabel+"']"),
		field(envJobUID, "metadata.labels['"+batchv1.ControllerUidLabel+"']"),
	}
}

// input is the volume with the chunks of the bundle, and with the credentials of the pod.
func input(job string, chunks int) *v1.ProjectedVolumeSource {
	sources := []v1.VolumeProjection{
		{ServiceAccountToken: &v1.ServiceAccountTokenProjection{Path: tokenFile, ExpirationSeconds: new(int64(tokenSeconds))}},
		{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: v1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []v1.KeyToPath{{Key: caFile, Path: caFile}}}},
	}
	for i := range chunks {
		sources = append(sources, v1.VolumeProjection{ConfigMap: &v1.ConfigMapProjection{
			LocalObjectReference: v1.LocalObjectReference{Name: inputName(job, i)}, Items: []v1.KeyToPath{{Key: chunkName(i), Path: chunkName(i)}},
		}})
	}
	return &v1.ProjectedVolumeSource{Sources: sources}
}
