// Package configuration reads Kueue's own Configuration (config.kueue.x-k8s.io), so that the file of a real
// Kueue applies unchanged, with the defaults of its version. It takes the parts that change admission, passes over those about
// Kueue's process, and names those that the simulator does not follow.
//
// It does not apply anything. It may import the package admission of simulator/batch/kueue, and Kueue's module.
package configuration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kueue/apis/config/v1beta1"
	"sigs.k8s.io/kueue/apis/config/v1beta2"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Configuration is the part of Kueue's Configuration that changes admission, as v1beta2 has it. The zero value is Kueue's
// default.
type Configuration struct {
	// FairSharing nil is off.
	FairSharing *FairSharing `json:"fairSharing,omitempty"`
	// AdmissionFairSharing nil is off, as it is if the document's feature gates say so.
	AdmissionFairSharing *v1beta2.AdmissionFairSharing `json:"admissionFairSharing,omitempty"`
	// WaitForPodsReady nil is on with its defaults, as in the Kueue that we follow. Kueue's module has it off.
	WaitForPodsReady *WaitForPodsReady `json:"waitForPodsReady,omitempty"`
	Resources        *Resources        `json:"resources,omitempty"`
	// FeatureGates are all that the document sets. Those of elastic jobs and of devices change admission.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// Ignored is what the document says and the simulator does not do.
	Ignored []Ignored `json:"-"`
}

// FairSharing orders and preempts by shares.
type FairSharing struct {
	// Enable false is off; nil is on. Kueue has it in v1beta1 only.
	Enable *bool `json:"enable,omitempty"`
	// PreemptionStrategies are both if empty, the final share first.
	PreemptionStrategies []admission.PreemptionStrategy `json:"preemptionStrategies,omitempty"`
}

// WaitForPodsReady evicts workloads whose pods are not ready in time.
type WaitForPodsReady struct {
	// Enable false is off; nil is on. Kueue has it in v1beta1 only.
	Enable *bool `json:"enable,omitempty"`
	// Timeout nil is 30 minutes, RecoveryTimeout nil is Timeout.
	Timeout         *metav1.Duration `json:"timeout,omitempty"`
	RecoveryTimeout *metav1.Duration `json:"recoveryTimeout,omitempty"`
	// BlockAdmission admits nothing until the pods of every admitted workload are ready.
	BlockAdmission *bool `json:"blockAdmission,omitempty"`
	// RequeuingStrategy says where an evicted workload stands in its queue, and from when: by default by its eviction, from 60 s
	// doubling to 3600 s later, without a limit.
	RequeuingStrategy *v1beta2.RequeuingStrategy `json:"requeuingStrategy,omitempty"`
}

// Resources say what of a pod's requests counts.
type Resources struct {
	v1beta2.Resources `json:",inline"`
	// QuotaCheckStrategy is by default BlockUndeclared. Kueue's module does not have it yet.
	QuotaCheckStrategy string `json:"quotaCheckStrategy,omitempty"`
}

const kind = "Configuration"

// Parse reads YAML or JSON; an empty document is Kueue's default. A document without a version is one of v1beta2, and one of
// v1beta1 gets that version's defaults. Mistakes are *Invalid: an unknown section is one, and so is an unknown field.
func Parse(document []byte) (*Configuration, error) {
	data, unread := yamlsource.ToJSON(context.Background(), document, yamlsource.Settings)
	if unread == nil && string(data) == "null" {
		return &Configuration{}, nil
	}
	var whole map[string]json.RawMessage
	err := unread.Err()
	if unread == nil {
		err = json.Unmarshal(data, &whole)
	}
	if err != nil {
		return nil, &Invalid{Mistakes: field.ErrorList{field.Invalid(field.NewPath("document"), field.OmitValueType{}, err.Error())}}
	}
	var of metav1.TypeMeta
	_ = json.Unmarshal(data, &of) // a value of another type is not the right one, either
	group := v1beta2.GroupVersion.Group + "/"
	c, mistakes := &Configuration{}, field.ErrorList(nil)
	switch {
	case (of.Kind != "" || of.APIVersion != "") && (of.Kind != kind || !strings.HasPrefix(of.APIVersion, group)):
		mistakes = field.ErrorList{field.Invalid(field.NewPath("kind"), of.APIVersion+" "+of.Kind, "must be "+kind+" of "+v1beta2.GroupVersion.Group)}
	case of.APIVersion == v1beta1.GroupVersion.String():
		c, mistakes = parseV1beta1(whole)
	case of.APIVersion == "" || of.APIVersion == v1beta2.GroupVersion.String():
		c, mistakes = parseV1beta2(whole)
	default:
		mistakes = field.ErrorList{field.NotSupported(field.NewPath("apiVersion"), of.APIVersion, []string{v1beta1.GroupVersion.String(), v1beta2.GroupVersion.String()})}
	}
	if len(mistakes) == 0 {
		c.Ignored, mistakes = ignoredIn(whole), c.check()
	}
	if len(mistakes) > 0 {
		slices.SortFunc(mistakes, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
		return nil, &Invalid{Mistakes: mistakes}
	}
	return c, nil
}

// strictly decodes JSON, and refuses fields that the value does not have.
func strictly(data []byte, path string, into any) (mistakes field.ErrorList) {
	for _, m := range yamlsource.Decode(context.Background(), data, yamlsource.Settings, into) {
		at := cmp.Or(strings.Trim(path+"."+m.Field, "."), "document")
		mistakes = append(mistakes, field.Invalid(field.NewPath(at), field.OmitValueType{}, m.Message))
	}
	return mistakes
}

// read decodes the sections that are named by our types, which have what the Kueue that we follow has and its module does not, and
// all others by the module's.
func read(whole map[string]json.RawMessage, ours map[string]any, theirs any) (mistakes field.ErrorList) {
	others := maps.Clone(whole)
	for name, into := range ours {
		delete(others, name)
		if whole[name] != nil {
			mistakes = append(mistakes, strictly(whole[name], name, into)...)
		}
	}
	rest, err := json.Marshal(others)
	if err != nil {
		return append(mistakes, field.Invalid(field.NewPath("document"), field.OmitValueType{}, err.Error()))
	}
	return append(mistakes, strictly(rest, "", theirs)...)
}

// parseV1beta1 reads a document of the older version as Kueue's module does: with its defaults, and then as v1beta2, where a
// section that is not enabled is none.
func parseV1beta1(whole map[string]json.RawMessage) (*Configuration, field.ErrorList) {
	c := &Configuration{WaitForPodsReady: &WaitForPodsReady{Enable: new(false)}}
	older, newer := &v1beta1.Configuration{}, &v1beta2.Configuration{}
	if mistakes := read(whole, map[string]any{"resources": &c.Resources}, older); len(mistakes) > 0 {
		return nil, mistakes
	}
	if f := older.FairSharing; f != nil && !f.Enable {
		older.FairSharing = nil
	}
	if w := older.WaitForPodsReady; w != nil && !w.Enable {
		older.WaitForPodsReady = nil
	}
	v1beta1.SetDefaults_Configuration(older)
	if err := v1beta1.Convert_v1beta1_Configuration_To_v1beta2_Configuration(older, newer, nil); err != nil {
		return nil, field.ErrorList{field.Invalid(field.NewPath("document"), field.OmitValueType{}, err.Error())}
	}
	c.take(newer)
	if f := newer.FairSharing; f != nil {
		c.FairSharing = &FairSharing{}
		for _, strategy := range f.PreemptionStrategies {
			c.FairSharing.PreemptionStrategies = append(c.FairSharing.PreemptionStrategies, admission.PreemptionStrategy(strategy))
		}
	}
	if w := newer.WaitForPodsReady; w != nil {
		c.WaitForPodsReady = &WaitForPodsReady{Timeout: &w.Timeout, RecoveryTimeout: w.RecoveryTimeout, BlockAdmission: w.BlockAdmission, RequeuingStrategy: w.RequeuingStrategy}
	}
	return c, nil
}

func parseV1beta2(whole map[string]json.RawMessage) (*Configuration, field.ErrorList) {
	c, theirs := &Configuration{}, &v1beta2.Configuration{}
	ours := map[string]any{"fairSharing": &c.FairSharing, "waitForPodsReady": &c.WaitForPodsReady, "resources": &c.Resources}
	mistakes := read(whole, ours, theirs)
	c.take(theirs)
	return c, mistakes
}

// take takes over the sections for which the module's types do.
func (c *Configuration) take(theirs *v1beta2.Configuration) {
	c.FeatureGates = theirs.FeatureGates
	if on, set := theirs.FeatureGates["AdmissionFairSharing"]; on || !set {
		c.AdmissionFairSharing = theirs.AdmissionFairSharing
	}
}

// Invalid is a configuration that Kueue would refuse.
type Invalid struct{ Mistakes field.ErrorList }

func (e *Invalid) Error() string { return e.Mistakes.ToAggregate().Error() }

var strategies = [][]admission.PreemptionStrategy{
	{admission.LessThanOrEqualToFinalShare}, {admission.LessThanInitialShare}, {admission.LessThanOrEqualToFinalShare, admission.LessThanInitialShare},
}

func (c *Configuration) check() (mistakes field.ErrorList) {
	add := func(wrong bool, path *field.Path, value any, text string) {
		if wrong {
			mistakes = append(mistakes, field.Invalid(path, value, text))
		}
	}
	if f := c.FairSharing; f != nil && len(f.PreemptionStrategies) > 0 {
		known := slices.ContainsFunc(strategies, func(s []admission.PreemptionStrategy) bool { return slices.Equal(s, f.PreemptionStrategies) })
		add(!known, field.NewPath("fairSharing", "preemptionStrategies"), f.PreemptionStrategies, "must be LessThanOrEqualToFinalShare, LessThanInitialShare, or both in this order")
	}
	if a := c.AdmissionFairSharing; a != nil {
		path := field.NewPath("admissionFairSharing")
		add(a.UsageHalfLifeTime.Duration < 0, path.Child("usageHalfLifeTime"), a.UsageHalfLifeTime, "must not be negative")
		add(a.UsageSamplingInterval.Duration < 0, path.Child("usageSamplingInterval"), a.UsageSamplingInterval, "must not be negative")
		for name, weight := range a.ResourceWeights {
			add(weight < 0, path.Child("resourceWeights").Key(string(name)), weight, "must not be negative")
		}
	}
	if w := c.WaitForPodsReady; w != nil {
		path := field.NewPath("waitForPodsReady")
		add(w.Timeout != nil && w.Timeout.Duration < 0, path.Child("timeout"), w.Timeout, "must not be negative")
		add(w.RecoveryTimeout != nil && w.RecoveryTimeout.Duration < 0, path.Child("recoveryTimeout"), w.RecoveryTimeout, "must not be negative")
		if r := w.RequeuingStrategy; r != nil {
			path = path.Child("requeuingStrategy")
			add(r.Timestamp != nil && *r.Timestamp != v1beta2.EvictionTimestamp && *r.Timestamp != v1beta2.CreationTimestamp, path.Child("timestamp"), r.Timestamp, "must be Eviction or Creation")
			for name, n := range map[string]*int32{"backoffBaseSeconds": r.BackoffBaseSeconds, "backoffMaxSeconds": r.BackoffMaxSeconds, "backoffLimitCount": r.BackoffLimitCount} {
				add(n != nil && *n < 0, path.Child(name), n, "must not be negative")
			}
		}
	}
	gates := field.NewPath("featureGates")
	for gate, needs := range map[string]string{gateExtendedDevices: gateDevices, "ElasticJobsViaWorkloadSlicesWithTAS": gateElasticJobs} {
		add(c.FeatureGates[gate] && !c.FeatureGates[needs], gates.Key(gate), true, "requires "+needs+" to be enabled")
	}
	if r := c.Resources; r != nil {
		path := field.NewPath("resources")
		mistakes = append(mistakes, checkDevices(r.DeviceClassMappings, path.Child("deviceClassMappings"))...)
		add(!slices.Contains([]string{"", "BlockUndeclared", "IgnoreUndeclared"}, r.QuotaCheckStrategy), path.Child("quotaCheckStrategy"), r.QuotaCheckStrategy, "must be BlockUndeclared or IgnoreUndeclared")
		inputs := map[v1.ResourceName]bool{}
		for i, t := range r.Transformations {
			path := path.Child("transformations").Index(i)
			add(t.Input == "", path.Child("input"), t.Input, "must be a resource")
			add(inputs[t.Input], path.Child("input"), t.Input, "must not be there twice")
			inputs[t.Input] = true
			add(t.Strategy != nil && *t.Strategy != v1beta2.Retain && *t.Strategy != v1beta2.Replace, path.Child("strategy"), t.Strategy, "must be Retain or Replace")
		}
	}
	return mistakes
}

// The bounds of Kueue's module on what stands for devices.
const (
	maxMappings = 16
	maxClasses  = 8
)

// checkDevices checks which resources stand for which classes of devices.
func checkDevices(mappings []v1beta2.DeviceClassMapping, path *field.Path) (mistakes field.ErrorList) {
	if len(mappings) > maxMappings {
		mistakes = append(mistakes, field.TooMany(path, len(mappings), maxMappings))
	}
	name := func(at *field.Path, name v1.ResourceName) {
		if wrong := content.IsLabelKey(string(name)); len(wrong) > 0 {
			mistakes = append(mistakes, field.Invalid(at, name, strings.Join(wrong, "; ")))
		}
	}
	resources, standsFor := map[v1.ResourceName]bool{}, map[v1.ResourceName]v1.ResourceName{}
	for i, mapping := range mappings {
		at, classes := path.Index(i).Child("name"), path.Index(i).Child("deviceClassNames")
		name(at, mapping.Name)
		if resources[mapping.Name] {
			mistakes = append(mistakes, field.Duplicate(at, mapping.Name))
		}
		resources[mapping.Name] = true
		switch n := len(mapping.DeviceClassNames); {
		case n == 0:
			mistakes = append(mistakes, field.Required(classes, "at least one device class name is required"))
		case n > maxClasses:
			mistakes = append(mistakes, field.TooMany(classes, n, maxClasses))
		}
		for k, class := range mapping.DeviceClassNames {
			name(classes.Index(k), class)
			switch other, known := standsFor[class]; {
			case known && other == mapping.Name:
				mistakes = append(mistakes, field.Duplicate(classes.Index(k), class))
			case known:
				mistakes = append(mistakes, field.Invalid(classes.Index(k), class, fmt.Sprintf("device class already mapped to resource %s", other)))
			}
			standsFor[class] = mapping.Name
		}
	}
	return mistakes
}

func (c *Configuration) Settings() admission.Settings {
	var s admission.Settings
	s.ElasticJobs = c.FeatureGates[gateElasticJobs]
	if c.FeatureGates[gateDevices] {
		s.Devices = &admission.Devices{Classes: map[string]v1.ResourceName{}, Extended: c.FeatureGates[gateExtendedDevices]}
		if c.Resources != nil {
			for _, mapping := range c.Resources.DeviceClassMappings {
				for _, class := range mapping.DeviceClassNames {
					s.Devices.Classes[string(class)] = mapping.Name
				}
			}
		}
	}
	if f := c.FairSharing; f != nil && (f.Enable == nil || *f.Enable) {
		s.FairSharing = &admission.FairSharing{PreemptionStrategies: f.PreemptionStrategies}
	}
	if a := c.AdmissionFairSharing; a != nil {
		s.AdmissionFairSharing = &admission.AdmissionFairSharing{HalfLife: a.UsageHalfLifeTime.Duration, SamplingInterval: a.UsageSamplingInterval.Duration, ResourceWeights: a.ResourceWeights}
	}
	s.WaitForPodsReady = &admission.WaitForPodsReady{}
	if w := c.WaitForPodsReady; w != nil {
		s.WaitForPodsReady = w.settings()
	}
	if r := c.Resources; r != nil {
		s.ExcludeResourcePrefixes, s.IgnoreUndeclared = r.ExcludeResourcePrefixes, r.QuotaCheckStrategy == "IgnoreUndeclared"
		for _, t := range r.Transformations {
			outputs := map[v1.ResourceName]resource.Quantity{}
			for name, amount := range t.Outputs {
				outputs[name] = amount
			}
			s.Transformations = append(s.Transformations, admission.Transformation{Input: t.Input, Replace: t.Strategy != nil && *t.Strategy == v1beta2.Replace, MultiplyBy: t.MultiplyBy, Outputs: outputs})
		}
	}
	return s
}

func (w *WaitForPodsReady) settings() *admission.WaitForPodsReady {
	if w.Enable != nil && !*w.Enable {
		return nil
	}
	s := &admission.WaitForPodsReady{BlockAdmission: w.BlockAdmission != nil && *w.BlockAdmission}
	if w.Timeout != nil {
		s.Timeout = w.Timeout.Duration
	}
	if w.RecoveryTimeout != nil {
		s.RecoveryTimeout = w.RecoveryTimeout.Duration
	}
	if r := w.RequeuingStrategy; r != nil {
		s.RequeueByCreation, s.BackoffLimit = r.Timestamp != nil && *r.Timestamp == v1beta2.CreationTimestamp, r.BackoffLimitCount
		if r.BackoffBaseSeconds != nil {
			s.BackoffBase = time.Duration(*r.BackoffBaseSeconds) * time.Second
		}
		if r.BackoffMaxSeconds != nil {
			s.BackoffMax = time.Duration(*r.BackoffMaxSeconds) * time.Second
		}
	}
	return s
}
