package redact

import (
	"strings"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// The scheduler, controllers or virtual nodes read these annotations.
var annotations = fields{
	"deployment.kubernetes.io/revision":                text((*Redactor).number),
	"batch.kubernetes.io/job-completion-index":         text((*Redactor).number),
	"controller.kubernetes.io/pod-deletion-cost":       text((*Redactor).number),
	objects.BindCompleted:                              oneOf("yes"),
	objects.BoundByController:                          oneOf("yes"),
	objects.VolumeProvisionedBy:                        drivers,
	objects.VolumeSelectedNode:                         nodeName,
	objects.StorageProvisioner:                         drivers,
	objects.StorageProvisionerOlder:                    drivers,
	"volume.beta.kubernetes.io/storage-class":          classes,
	"storageclass.kubernetes.io/is-default-class":      oneOf("true", "false"),
	"storageclass.beta.kubernetes.io/is-default-class": oneOf("true", "false"),
	"storage.alpha.kubernetes.io/migrated-plugins":     text((*Redactor).migrated),
	"resource.kubernetes.io/pod-claim-name":            words("claim"),
	kueueGroup + "/pod-group-total-count":              text((*Redactor).number),
	kueueGroup + "/job-min-parallelism":                text((*Redactor).number),
	kueueGroup + "/pod-group-fast-admission":           oneOf("true", "false"),
	kueueGroup + "/pod-group-serving":                  oneOf("true", "false"),
	kueueGroup + "/workload":                           appName,
	"scheduling.k8s.io/group-name":                     appName,
	"scheduling.k8s.io/group-min-member":               text((*Redactor).number),
	"scheduling.volcano.sh/queue-name":                 queueName,
	"scheduling.volcano.sh/group-min-member":           text((*Redactor).number),
	"volcano.sh/task-spec":                             text(roleOf),
	"volcano.sh/task-priority":                         text((*Redactor).number),
	"firmament-gang-scheduling":                        text((*Redactor).number),
	objects.AnnotationFailure:                          oneOf(objects.FailureNotReady, objects.FailureUnreachable),
	objects.AnnotationImportedNode:                     nodeName,
	objects.AnnotationRunDuration:                      text((*Redactor).duration),
	objects.AnnotationStartupDuration:                  text((*Redactor).duration),
	objects.AnnotationShutdownDuration:                 text((*Redactor).duration),
}

// metadataRule is for objects whose names are of one sort.
func metadataRule(name rule) rule {
	redact := object(fields{
		"name": name, "namespace": namespace, "uid": uids, "labels": labels, "annotations": notEmpty(object(annotations)),
		"creationTimestamp": instant, "deletionTimestamp": instant, "deletionGracePeriodSeconds": number,
		"ownerReferences": each(owner),
	})
	return func(r *Redactor, v any) any { return redact.apply(r, v) }
}

var templateMetadata = object(fields{"labels": labels, "annotations": notEmpty(object(annotations))})

// owner shows references to objects of kinds that have rules, with the redacted names of those.
func owner(r *Redactor, v any) any {
	from, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	version, _ := from["apiVersion"].(string)
	of, _ := from["kind"].(string)
	group := ""
	if g, _, ok := strings.Cut(version, "/"); ok {
		group = g
	}
	known, covered := kinds[groupKind(group, of)]
	if !covered {
		return nil
	}
	same := func(_ *Redactor, v any) any { return v }
	return object(fields{
		"apiVersion": same, "kind": same, "name": known.name, "uid": uids, "controller": boolean, "blockOwnerDeletion": boolean,
	})(r, v)
}

func (r *Redactor) number(s string) string {
	if shortInteger.MatchString(s) {
		return s
	}
	return ""
}

func (r *Redactor) duration(s string) string {
	if knownDuration.MatchString(s) {
		return s
	}
	return ""
}

// migrated shows a list of known volume plugins.
func (r *Redactor) migrated(s string) string {
	if knownPlugins.MatchString(s) {
		return s
	}
	return ""
}
