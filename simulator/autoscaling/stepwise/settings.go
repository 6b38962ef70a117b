package stepwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Settings say how the autoscaler behaves. The zero value buys the built-in instance types, which become nodes at once.
type Settings struct {
	// Catalog has the instance types; nil for the built-in ones, in the zones that nodes and NodePools name.
	Catalog *instances.Catalog
	// Registration is how long an instance takes to become a node that is ready.
	Registration time.Duration
	// KeepNodes switches disruption off: no node goes because it is empty, drifted or underutilized.
	KeepNodes bool
}

// Pool reads a NodePool strictly, and sets the defaults of its definition. The error says what is wrong with it.
func Pool(o runtime.Object) (*karpenter.NodePool, error) {
	var s dryrun.State
	if err := s.Add(o); err != nil {
		return nil, err
	}
	if len(s.NodePools) != 1 {
		gvk := o.GetObjectKind().GroupVersionKind()
		return nil, fmt.Errorf("want a NodePool of %s, not a %s of %s", dryrun.NodePoolKind.GroupVersion(), gvk.Kind, gvk.GroupVersion())
	}
	np := s.NodePools[0].DeepCopy()
	of := &np.Spec.Disruption
	complete := func(d *karpenter.NillableDuration, standard string) {
		if d.Duration == nil && d.Raw == nil {
			*d = karpenter.MustParseNillableDuration(standard)
		}
	}
	complete(&of.ConsolidateAfter, "0s")
	complete(&np.Spec.Template.Spec.ExpireAfter, "720h")
	of.ConsolidationPolicy = cmp.Or(of.ConsolidationPolicy, karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized)
	if of.Budgets == nil {
		of.Budgets = []karpenter.Budget{{Nodes: "10%"}}
	}
	return np, nil
}

// Admit says what is wrong with an object of Kinds; nil for others.
func Admit(u *unstructured.Unstructured) error {
	if u.GroupVersionKind() != dryrun.NodePoolKind {
		return nil
	}
	np, err := Pool(u.DeepCopy())
	if err != nil {
		return err
	}
	if text := wrong(np); text != "" {
		return errors.New(text)
	}
	return nil
}

// policies are those that a NodePool may have.
var policies = []karpenter.ConsolidationPolicy{karpenter.ConsolidationPolicyWhenEmpty, karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized, karpenter.ConsolidationPolicyBalanced}

// wrong says what is wrong with a NodePool by itself; "" if nothing is.
func wrong(np *karpenter.NodePool) string {
	if err := np.RuntimeValidate(provider.WithOptions(context.Background())); err != nil {
		return "Karpenter refuses it: " + err.Error()
	}
	if !slices.Contains(policies, np.Spec.Disruption.ConsolidationPolicy) {
		return fmt.Sprintf("there is no consolidationPolicy %s; it is one of %v", np.Spec.Disruption.ConsolidationPolicy, policies)
	}
	for i, b := range np.Spec.Disruption.Budgets {
		if _, err := b.GetAllowedDisruptions(clock.RealClock{}, 100); err != nil {
			return fmt.Sprintf("spec.disruption.budgets[%d]: %s", i, err)
		}
	}
	return ""
}

// CheckPools says what is wrong with NodePools, in their order; "" for those that may buy something.
func (s Settings) CheckPools(pools []*unstructured.Unstructured) []string {
	var all []*karpenter.NodePool
	out := make([]string, len(pools))
	for i, u := range pools {
		np, err := Pool(u)
		if err != nil {
			out[i] = err.Error()
			continue
		}
		all = append(all, np)
		out[i] = wrong(np)
	}
	if len(all) < len(pools) {
		return out
	}
	catalog := s.Catalog
	if catalog == nil {
		state := dryrun.State{NodePools: all}
		catalog = instances.BuiltIn(state.Zones()...)
	}
	types := catalog.Karpenter()
	for i, np := range all {
		if out[i] != "" || np.Spec.Replicas != nil {
			continue
		}
		wants := scheduling.NewNodeSelectorRequirementsWithMinValues(np.Spec.Template.Spec.Requirements...)
		wants.Add(scheduling.NewLabelRequirements(np.Spec.Template.Labels).Values()...)
		matches := false
		for _, t := range types {
			matches = matches || wants.Get(v1.LabelInstanceTypeStable).Has(t.Name) && t.Requirements.Intersects(wants) == nil && len(t.Offerings.Compatible(wants)) > 0
		}
		if !matches {
			out[i] = fmt.Sprintf("none of the %d instance types matches its requirements, so it could never buy a node", len(types))
		}
	}
	return out
}

// Kinds are the custom kinds that the autoscaler reads. None has namespaces.
var Kinds = slices.Clip([]kind{dryrun.NodePoolKind, dryrun.NodeClaimKind, {Group: "karpenter.kwok.sh", Version: "v1alpha1", Kind: "KWOKNodeClass"}})
