package provider

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Offer is an instance type with the place and the way to get it.
type Offer struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// PricePerHour is in US dollars.
	PricePerHour float64 `json:"pricePerHour"`
}

// OfferOf returns an offering of a type.
func OfferOf(t *cloudprovider.InstanceType, o *cloudprovider.Offering) Offer {
	return Offer{InstanceType: t.Name, Zone: o.Zone(), CapacityType: o.CapacityType(), PricePerHour: o.Price}
}

// Compare orders offers by price, and those that cost the same by name, capacity type and zone.
func (o Offer) Compare(other Offer) int {
	return cmp.Or(cmp.Compare(o.PricePerHour, other.PricePerHour), strings.Compare(o.InstanceType, other.InstanceType),
		strings.Compare(o.CapacityType, other.CapacityType), strings.Compare(o.Zone, other.Zone))
}

// Cheapest returns the type and offer that Compare puts first; nil if none is offered.
func Cheapest(all []*cloudprovider.InstanceType, wants scheduling.Requirements) (of *cloudprovider.InstanceType, best *Offer) {
	for _, t := range all {
		for _, o := range t.Offerings.Available().Compatible(wants) {
			offer := OfferOf(t, o)
			if best == nil || offer.Compare(*best) < 0 {
				of, best = t, &offer
			}
		}
	}
	return of, best
}

// Labels returns the labels of a node that is an instance of an offer: those of its NodeClaim, and what the claim's requirements and the
// type say with one value. Of several values of a label that only the NodePool knows, the node has the first. The name of the node is its
// host name, too.
func Labels(name string, ofClaim map[string]string, wants scheduling.Requirements, of *cloudprovider.InstanceType, offer Offer) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, ofClaim)
	labels[v1.LabelHostname] = name
	labels[v1.LabelInstanceTypeStable] = offer.InstanceType
	labels[v1.LabelTopologyZone] = offer.Zone
	labels[karpenter.CapacityTypeLabelKey] = offer.CapacityType
	labels[objects.LabelPrice] = strconv.FormatFloat(offer.PricePerHour, 'f', -1, 64)
	for _, requirements := range []scheduling.Requirements{wants, of.Requirements} {
		for key, r := range requirements {
			values := r.Values()
			if _, known := labels[key]; !known && r.Operator() == v1.NodeSelectorOpIn && (len(values) == 1 || !karpenter.WellKnownLabels.Has(key)) {
				labels[key] = slices.Min(values)
			}
		}
	}
	return labels
}

// Zones returns the zones that nodes are in, and those that NodePools ask for, in order.
func Zones(nodes iter.Seq[*v1.Node], pools iter.Seq[*karpenter.NodePool]) []string {
	zones := sets.New[string]()
	for node := range nodes {
		zones.Insert(node.Labels[v1.LabelTopologyZone])
	}
	for pool := range pools {
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.Key == v1.LabelTopologyZone && r.Operator == v1.NodeSelectorOpIn {
				zones.Insert(r.Values...)
			}
		}
	}
	return sets.List(zones.Delete(""))
}
