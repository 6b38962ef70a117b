// Package configuration reads Kueue's own Configuration (config.kueue.x-k8s.io), so that the file of a real
// Kueue applies unchanged, with the defaults of its version. It takes the parts that change admission, passes over those about
// Kueue's process, and names those that the simulator does not follow.
//
// It does not apply anything. It may import the package admission of simulator/batch/kueue.
package configuration

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Configuration is the part of Kueue's Configuration that changes admission, as v1beta2 has it. The zero value is Kueue's
// default.
type Configuration struct {
	// FairSharing nil is off.
	FairSharing *FairSharing `json:"fairSharing,omitempty"`
	// WaitForPodsReady nil is on with its defaults, as in Kueue.
	WaitForPodsReady *WaitForPodsReady `json:"waitForPodsReady,omitempty"`
	Resources        *Resources        `json:"resources,omitempty"`

	// Ignored is what the document says and the simulator does not do.
	Ignored []Ignored `json:"-"`
}

// FairSharing orders and preempts by shares.
type FairSharing struct {
	// Enable false is off; nil is on. Of Kueue's versions only v1beta1 has it, where nil is off: Parse makes it false.
	Enable *bool `json:"enable,omitempty"`
	// PreemptionStrategies are both if empty, the final share first.
	PreemptionStrategies []admission.PreemptionStrategy `json:"preemptionStrategies,omitempty"`
}

// WaitForPodsReady evicts workloads whose pods are not ready in time.
type WaitForPodsReady struct {
	// Enable false is off; nil is on. Of Kueue's versions only v1beta1 has it, where nil is off: Parse makes it false.
	Enable *bool `json:"enable,omitempty"`
	// Timeout nil is 30 minutes, RecoveryTimeout nil is Timeout.
	Timeout         *metav1.Duration `json:"timeout,omitempty"`
	RecoveryTimeout *metav1.Duration `json:"recoveryTimeout,omitempty"`
	// BlockAdmission admits nothing until the pods of every admitted workload are ready.
	BlockAdmission    *bool              `json:"blockAdmission,omitempty"`
	RequeuingStrategy *RequeuingStrategy `json:"requeuingStrategy,omitempty"`
}

// The values of RequeuingStrategy.Timestamp.
const (
	ByEviction = "Eviction"
	ByCreation = "Creation"
)

// RequeuingStrategy says where an evicted workload stands in its queue, and from when.
type RequeuingStrategy struct {
	// Timestamp is by default ByEviction.
	Timestamp string `json:"timestamp,omitempty"`
	// BackoffBaseSeconds nil is 60, BackoffMaxSeconds nil is 3600, BackoffLimitCount nil is no limit.
	BackoffBaseSeconds *int32 `json:"backoffBaseSeconds,omitempty"`
	BackoffMaxSeconds  *int32 `json:"backoffMaxSeconds,omitempty"`
	BackoffLimitCount  *int32 `json:"backoffLimitCount,omitempty"`
}

type Resources struct {
	ExcludeResourcePrefixes []string         `json:"excludeResourcePrefixes,omitempty"`
	Transformations         []Transformation `json:"transformations,omitempty"`
	// QuotaCheckStrategy is by default BlockUndeclared.
	QuotaCheckStrategy string `json:"quotaCheckStrategy,omitempty"`
}

// Transformation replaces one requested resource by others, or adds them.
type Transformation struct {
	Input v1.ResourceName `json:"input"`
	// Strategy is by default Retain.
	Strategy   string          `json:"strategy,omitempty"`
	MultiplyBy v1.ResourceName `json:"multiplyBy,omitempty"`
	Outputs    v1.ResourceList `json:"outputs,omitempty"`
}

const (
	kind  = "Configuration"
	group = "config.kueue.x-k8s.io/"

	v1beta1 = group + "v1beta1"
	v1beta2 = group + "v1beta2"
)

// Parse reads YAML or JSON; an empty document is Kueue's default. A document without a version is one of v1beta2, and one of
// v1beta1 gets that version's defaults. Mistakes are *Invalid: an unknown section is one, and so is an unknown field in a
// section that counts.
func Parse(document []byte) (*Configuration, error) {
	c := &Configuration{}
	data, unread := yamlsource.ToJSON(context.Background(), document, yamlsource.Settings)
	if unread == nil && string(data) == "null" {
		return c, nil
	}
	var whole map[string]json.RawMessage
	err := unread.Err()
	if unread == nil {
		err = json.Unmarshal(data, &whole)
	}
	if err != nil {
		return nil, &Invalid{Mistakes: field.ErrorList{field.Invalid(field.NewPath("document"), field.OmitValueType{}, err.Error())}}
	}
	var mistakes field.ErrorList
	var of metav1.TypeMeta
	_ = json.Unmarshal(data, &of) // a value of another type is not the right one, either
	switch {
	case of.Kind == "" && of.APIVersion == "":
	case of.Kind != kind || !strings.HasPrefix(of.APIVersion, group):
		mistakes = append(mistakes, field.Invalid(field.NewPath("kind"), of.APIVersion+" "+of.Kind, "must be "+kind+" of "+strings.TrimSuffix(group, "/")))
	case of.APIVersion != v1beta1 && of.APIVersion != v1beta2:
		mistakes = append(mistakes, field.NotSupported(field.NewPath("apiVersion"), of.APIVersion, []string{v1beta1, v1beta2}))
	}
	for name, into := range map[string]any{"fairSharing": &c.FairSharing, "waitForPodsReady": &c.WaitForPodsReady, "resources": &c.Resources} {
		if whole[name] == nil {
			continue
		}
		for _, m := range yamlsource.Decode(context.Background(), whole[name], yamlsource.Settings, into) {
			mistakes = append(mistakes, field.Invalid(field.NewPath(strings.TrimSuffix(name+"."+m.Field, ".")), field.OmitValueType{}, m.Message))
		}
	}
	if of.APIVersion == v1beta1 {
		c.defaultsOfV1beta1()
	}
	ignored, wrong := ignoredIn(whole)
	c.Ignored, mistakes = ignored, append(mistakes, wrong...)
	if mistakes = append(mistakes, c.check()...); len(mistakes) > 0 {
		slices.SortFunc(mistakes, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
		return nil, &Invalid{Mistakes: mistakes}
	}
	return c, nil
}

// defaultsOfV1beta1 says in the words of v1beta2 what the older version leaves out: its sections are off until they are
// enabled, and then admission waits for pods that are not ready.
func (c *Configuration) defaultsOfV1beta1() {
	if f := c.FairSharing; f != nil && f.Enable == nil {
		f.Enable = ptr.To(false)
	}
	if c.WaitForPodsReady == nil {
		c.WaitForPodsReady = &WaitForPodsReady{}
	}
	w := c.WaitForPodsReady
	if w.Enable == nil {
		w.Enable = ptr.To(false)
	}
	if *w.Enable && w.BlockAdmission == nil {
		w.BlockAdmission = ptr.To(true)
	}
	if *w.Enable && w.Timeout == nil {
		w.Timeout = &metav1.Duration{Duration: timeoutOfV1beta1}
	}
}

// timeoutOfV1beta1 is how long pods may take to be ready by default in v1beta1.
const timeoutOfV1beta1 = 5 * time.Minute

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
	if w := c.WaitForPodsReady; w != nil {
		path := field.NewPath("waitForPodsReady")
		add(w.Timeout != nil && w.Timeout.Duration < 0, path.Child("timeout"), w.Timeout, "must not be negative")
		add(w.RecoveryTimeout != nil && w.RecoveryTimeout.Duration < 0, path.Child("recoveryTimeout"), w.RecoveryTimeout, "must not be negative")
		if r := w.RequeuingStrategy; r != nil {
			path = path.Child("requeuingStrategy")
			add(!slices.Contains([]string{"", ByEviction, ByCreation}, r.Timestamp), path.Child("timestamp"), r.Timestamp, "must be Eviction or Creation")
			for name, n := range map[string]*int32{"backoffBaseSeconds": r.BackoffBaseSeconds, "backoffMaxSeconds": r.BackoffMaxSeconds, "backoffLimitCount": r.BackoffLimitCount} {
				add(n != nil && *n < 0, path.Child(name), n, "must not be negative")
			}
		}
	}
	if r := c.Resources; r != nil {
		path := field.NewPath("resources")
		add(!slices.Contains([]string{"", "BlockUndeclared", "IgnoreUndeclared"}, r.QuotaCheckStrategy), path.Child("quotaCheckStrategy"), r.QuotaCheckStrategy, "must be BlockUndeclared or IgnoreUndeclared")
		inputs := map[v1.ResourceName]bool{}
		for i, t := range r.Transformations {
			path := path.Child("transformations").Index(i)
			add(t.Input == "", path.Child("input"), t.Input, "must be a resource")
			add(inputs[t.Input], path.Child("input"), t.Input, "must not be there twice")
			inputs[t.Input] = true
			add(!slices.Contains([]string{"", "Retain", "Replace"}, t.Strategy), path.Child("strategy"), t.Strategy, "must be Retain or Replace")
		}
	}
	return mistakes
}

func (c *Configuration) Settings() admission.Settings {
	var s admission.Settings
	if f := c.FairSharing; f != nil && (f.Enable == nil || *f.Enable) {
		s.FairSharing = &admission.FairSharing{PreemptionStrategies: f.PreemptionStrategies}
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
			s.Transformations = append(s.Transformations, admission.Transformation{Input: t.Input, Replace: t.Strategy == "Replace", MultiplyBy: t.MultiplyBy, Outputs: outputs})
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
		s.RequeueByCreation, s.BackoffLimit = r.Timestamp == ByCreation, r.BackoffLimitCount
		if r.BackoffBaseSeconds != nil {
			s.BackoffBase = time.Duration(*r.BackoffBaseSeconds) * time.Second
		}
		if r.BackoffMaxSeconds != nil {
			s.BackoffMax = time.Duration(*r.BackoffMaxSeconds) * time.Second
		}
	}
	return s
}
