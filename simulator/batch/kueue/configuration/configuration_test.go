package configuration_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/configuration"
)

// asInstalled is a configuration as an installation of Kueue has it, with sections that do not concern admission.
const asInstalled = `
apiVersion: config.kueue.x-k8s.io/v1beta1
kind: Configuration
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
controller: {groupKindConcurrency: {Job.batch: 5}}
clientConnection: {qps: 50, burst: 100}
integrations: {frameworks: [batch/job, pod]}
waitForPodsReady:
  enable: true
  timeout: 5m
  recoveryTimeout: 3m
  blockAdmission: true
  requeuingStrategy: {timestamp: Creation, backoffBaseSeconds: 10, backoffMaxSeconds: 100, backoffLimitCount: 5}
fairSharing:
  enable: true
  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
resources:
  excludeResourcePrefixes: [example.com]
  quotaCheckStrategy: IgnoreUndeclared
  transformations:
  - {input: nvidia.com/mig-1g.5gb, strategy: Replace, outputs: {example.com/accelerator-memory: 5Gi}}
`

func TestSettings(t *testing.T) {
	defaults := admission.Settings{WaitForPodsReady: &admission.WaitForPodsReady{}}
	for _, c := range []struct {
		name, document string
		want           admission.Settings
	}{
		{"nothing", "", defaults},
		{"an empty object", "{}", defaults},
		{"as installed", asInstalled, admission.Settings{
			FairSharing: &admission.FairSharing{PreemptionStrategies: []admission.PreemptionStrategy{admission.LessThanOrEqualToFinalShare, admission.LessThanInitialShare}},
			WaitForPodsReady: &admission.WaitForPodsReady{
				Timeout: 5 * time.Minute, RecoveryTimeout: 3 * time.Minute, BlockAdmission: true, RequeueByCreation: true,
				BackoffBase: 10 * time.Second, BackoffMax: 100 * time.Second, BackoffLimit: ptr.To[int32](5),
			},
			ExcludeResourcePrefixes: []string{"example.com"}, IgnoreUndeclared: true,
			Transformations: []admission.Transformation{{
				Input: "nvidia.com/mig-1g.5gb", Replace: true, Outputs: map[v1.ResourceName]resource.Quantity{"example.com/accelerator-memory": resource.MustParse("5Gi")},
			}},
		}},
		{"fair sharing alone is on", "fairSharing: {}", admission.Settings{FairSharing: &admission.FairSharing{}, WaitForPodsReady: &admission.WaitForPodsReady{}}},
		{"as v1beta1 leaves it", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration}", admission.Settings{}},
		{"as v1beta2 leaves it", "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration}", defaults},
		{"in v1beta1 admission waits", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, waitForPodsReady: {enable: true}}", admission.Settings{
			WaitForPodsReady: &admission.WaitForPodsReady{Timeout: 5 * time.Minute, RecoveryTimeout: 5 * time.Minute, BlockAdmission: true, BackoffBase: time.Minute, BackoffMax: time.Hour},
		}},
		{"unless it says so", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, waitForPodsReady: {enable: true, timeout: 1m, blockAdmission: false}}", admission.Settings{
			WaitForPodsReady: &admission.WaitForPodsReady{Timeout: time.Minute, RecoveryTimeout: time.Minute, BackoffBase: time.Minute, BackoffMax: time.Hour},
		}},
		{"in v1beta2 it does not", "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, waitForPodsReady: {timeout: 1m}}", admission.Settings{
			WaitForPodsReady: &admission.WaitForPodsReady{Timeout: time.Minute},
		}},
		{"in v1beta1 fair sharing is off", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, fairSharing: {preemptionStrategies: [LessThanInitialShare]}}", admission.Settings{}},
		{"in v1beta1 a timeout enables nothing", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, waitForPodsReady: {timeout: 1m}}", admission.Settings{}},
		{"shares by usage, every five minutes", "admissionFairSharing: {usageHalfLifeTime: 168h, resourceWeights: {cpu: 2, memory: 0}}", admission.Settings{
			AdmissionFairSharing: &admission.AdmissionFairSharing{HalfLife: 168 * time.Hour, ResourceWeights: map[v1.ResourceName]float64{"cpu": 2, "memory": 0}},
			WaitForPodsReady:     &admission.WaitForPodsReady{},
		}},
		{"in v1beta1, too", "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: 1m}, featureGates: {AdmissionFairSharing: true}}", admission.Settings{
			AdmissionFairSharing: &admission.AdmissionFairSharing{HalfLife: time.Hour, SamplingInterval: time.Minute},
		}},
		{"unless the gate is off", "{admissionFairSharing: {usageHalfLifeTime: 1h}, featureGates: {AdmissionFairSharing: false}}", defaults},
		{"both off", "{waitForPodsReady: {enable: false}, fairSharing: {enable: false}}", admission.Settings{}},
	} {
		got, err := configuration.Parse([]byte(c.document))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Settings()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestMistakesNameTheirField(t *testing.T) {
	for document, field := range map[string]string{
		"fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}": "fairSharing.preemptionStrategies",
		"fairSharing: {weight: 1}":                                                                               "fairSharing.weight",
		"admissionFairSharing: {usageHalfLifeTime: -1s}":                                                         "admissionFairSharing.usageHalfLifeTime",
		"admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: -1s}":                              "admissionFairSharing.usageSamplingInterval",
		"admissionFairSharing: {usageHalfLifeTime: 1h, resourceWeights: {cpu: -1}}":                              "admissionFairSharing.resourceWeights[cpu]",
		"admissionFairSharing: {halfLife: 1h}":                                                                   "admissionFairSharing.halfLife",
		"waitForPodsReady: {timeout: -1s}":                                                                       "waitForPodsReady.timeout",
		"waitForPodsReady: {timeout: soon}":                                                                      "waitForPodsReady.timeout",
		"waitForPodsReady: {recoveryTimeout: -1s}":                                                               "waitForPodsReady.recoveryTimeout",
		"waitForPodsReady: {requeuingStrategy: {timestamp: Never}}":                                              "waitForPodsReady.requeuingStrategy.timestamp",
		"waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}":                                         "waitForPodsReady.requeuingStrategy.backoffLimitCount",
		"resources: {quotaCheckStrategy: Whatever}":                                                              "resources.quotaCheckStrategy",
		"resources: {transformations: [{input: a, strategy: Keep}]}":                                             "resources.transformations[0].strategy",
		"resources: {transformations: [{input: a}, {input: a}]}":                                                 "resources.transformations[1].input",
		"resources: {transformations: [{outputs: {b: 1}}]}":                                                      "resources.transformations[0].input",
		"{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}":                         "kind",
		"{apiVersion: config.kueue.x-k8s.io/v1alpha1, kind: Configuration}":                                      "apiVersion",
		"waitForPodReady: {timeout: 1m}":                                                                         "waitForPodReady",
		"resources: {deviceClasses: []}":                                                                         "resources.deviceClasses",
		"featureGates: {MultiKueue: perhaps}":                                                                    "featureGates.MultiKueue",
		"metrics: {bindAdress: a}":                                                                               "metrics.bindAdress",
		"{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, fairSharing: {weight: 1}}":             "fairSharing.weight",
		"{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, queueVisibility: {}}":                  "queueVisibility",
		"featureGates: {DRAExtendedResources: true}":                                                             "featureGates[DRAExtendedResources]",
		"featureGates: {ElasticJobsViaWorkloadSlicesWithTAS: true}":                                              "featureGates[ElasticJobsViaWorkloadSlicesWithTAS]",
		"resources: {deviceClassMappings: [{name: a b, deviceClassNames: [c]}]}":                                 "resources.deviceClassMappings[0].name",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b c]}]}":                                 "resources.deviceClassMappings[0].deviceClassNames[0]",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: []}]}":                                    "resources.deviceClassMappings[0].deviceClassNames",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b, b]}]}":                                "resources.deviceClassMappings[0].deviceClassNames[1]",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: a, deviceClassNames: [c]}]}": "resources.deviceClassMappings[1].name",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: c, deviceClassNames: [b]}]}": "resources.deviceClassMappings[1].deviceClassNames[0]",
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b,c,d,e,f,g,h,i,j]}]}":                   "resources.deviceClassMappings[0].deviceClassNames",
		"[]":    "document",
		"a: b:": "document",
	} {
		_, err := configuration.Parse([]byte(document))
		var invalid *configuration.Invalid
		if !errors.As(err, &invalid) || len(invalid.Mistakes) != 1 || !strings.HasSuffix(invalid.Mistakes[0].Field, field) {
			t.Errorf("%s: %v, want a mistake in %q", document, err, field)
		}
	}
}

// TestWhatIsIgnoredIsNamed: a section that has no effect is said to have none, and one that says what the simulator does anyway
// is not worth a word.
func TestWhatIsIgnoredIsNamed(t *testing.T) {
	for document, want := range map[string][]string{
		"":                                  nil,
		"manageJobsWithoutQueueName: false": nil,
		"manageJobsWithoutQueueName: true":  {"manageJobsWithoutQueueName has no effect: the simulator manages what names a queue, in every namespace."},
		"managedJobsNamespaceSelector: {matchLabels: {a: b}}": {"managedJobsNamespaceSelector has no effect: the simulator manages what names a queue, in every namespace."},
		"integrations: {frameworks: [batch/job, pod, deployment, statefulset, jobset.x-k8s.io/jobset, leaderworkerset.x-k8s.io/leaderworkerset, workload.codeflare.dev/appwrapper]}": nil,
		"integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset, ray.io/rayjob], labelKeysToCopy: [a]}": {
			"integrations.frameworks leaves out pod, deployment, statefulset, leaderworkerset.x-k8s.io/leaderworkerset, workload.codeflare.dev/appwrapper, which the simulator manages nevertheless.",
			"integrations.frameworks (ray.io/rayjob) has no effect: the simulator does not follow it.",
			"integrations.labelKeysToCopy has no effect: the simulator does not follow it.",
		},
		"featureGates: {PartialAdmission: true, MultiKueue: false}": nil,
		"featureGates: {AdmissionFairSharing: true}":                nil,
		"featureGates: {AdmissionFairSharing: false}":               nil,
		"featureGates: {PartialAdmission: false, Unheard: true}": {
			"featureGates.PartialAdmission (false) has no effect: the simulator does not follow it.", "featureGates.Unheard (true) has no effect: the simulator does not follow it.",
		},
		"{multiKueue: {origin: a}, admissionFairSharing: {usageHalfLifeTime: 1h}, objectRetentionPolicies: {workloads: {afterFinished: 1h}}}": {
			"multiKueue has no effect: the simulator does not follow it.",
			"objectRetentionPolicies has no effect: the simulator does not follow it.",
		},
		"{webhook: {port: 1}, metrics: {bindAddress: a}, tls: {minVersion: a}, namespace: a}":                                     nil,
		"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}]}":                                                    {"resources.deviceClassMappings has no effect: the feature gate DynamicResourceAllocation is off."},
		"{featureGates: {DynamicResourceAllocation: true}, resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}]}}": nil,
		"featureGates: {ElasticJobsViaWorkloadSlices: true}":                                                                      nil,
		"featureGates: {ElasticJobsViaWorkloadSlices: true, ElasticJobsViaWorkloadSlicesWithTAS: true}": {
			"featureGates.ElasticJobsViaWorkloadSlicesWithTAS (true) has no effect: the simulator does not follow it.",
		},
	} {
		c, err := configuration.Parse([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		var got []string
		for _, i := range c.Ignored {
			got = append(got, i.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
}
