// Package provider is a cloud for Karpenter: instance types that can be bought, without a machine behind them. It serves
// dry runs, which only ask what there is, so it refuses to launch or end an instance. Package live has a cloud that acts.
//
// It may import simulator/autoscaling/instances.
package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
)

// Provider offers the instance types of a catalog to every NodePool. It keeps no state, and may be used from any goroutine.
type Provider struct {
	catalog *instances.Catalog
	types   []*cloudprovider.InstanceType
	// reserves: some offer is of reserved capacity.
	reserves bool
}

var _ cloudprovider.CloudProvider = (*Provider)(nil)

// New returns the provider of a catalog, which must not change any more.
func New(catalog *instances.Catalog) *Provider {
	p := &Provider{catalog: catalog, types: catalog.Karpenter()}
	for _, t := range catalog.Types {
		p.reserves = p.reserves || slices.ContainsFunc(t.Offerings, func(o instances.Offering) bool { return o.CapacityType == karpenter.CapacityTypeReserved })
	}
	return p
}

// Catalog returns what New was given.
func (p *Provider) Catalog() *instances.Catalog { return p.catalog }

// Reserves reports whether some offer is of reserved capacity.
func (p *Provider) Reserves() bool { return p.reserves }

// GetInstanceTypes returns all types, by name, whatever the NodePool. The list is the caller's to sort; the types are shared.
func (p *Provider) GetInstanceTypes(context.Context, *karpenter.NodePool) ([]*cloudprovider.InstanceType, error) {
	return slices.Clone(p.types), nil
}

// Create is refused.
func (p *Provider) Create(_ context.Context, claim *karpenter.NodeClaim) (*karpenter.NodeClaim, error) {
	return nil, fmt.Errorf("launching an instance for NodeClaim %s: %w", claim.Name, errOnlyAsks)
}

// Delete is refused.
func (p *Provider) Delete(_ context.Context, claim *karpenter.NodeClaim) error {
	return fmt.Errorf("ending the instance of NodeClaim %s: %w", claim.Name, errOnlyAsks)
}

// Get is refused.
func (p *Provider) Get(_ context.Context, id string) (*karpenter.NodeClaim, error) {
	return nil, fmt.Errorf("getting instance %s: %w", id, errOnlyAsks)
}

// List is refused.
func (p *Provider) List(context.Context) ([]*karpenter.NodeClaim, error) {
	return nil, fmt.Errorf("listing instances: %w", errOnlyAsks)
}

var errOnlyAsks = fmt.Errorf("this provider serves dry runs only and has no instances")

// IsDrifted says that no NodeClaim has drifted.
func (p *Provider) IsDrifted(context.Context, *karpenter.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

// RepairPolicies returns none.
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }

// Name returns the name by which Karpenter's metrics know the provider.
func (p *Provider) Name() string { return "simulator" }

// GetSupportedNodeClasses returns KWOK's class, the only one.
func (p *Provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.KWOKNodeClass{}}
}
