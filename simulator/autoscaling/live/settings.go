package live

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Settings say how the cloud behaves. The zero value is a cloud that never fails, with the default delay.
type Settings struct {
	// RegistrationDelay is how long an instance takes to become a node, from 0s to 10m; by default DefaultRegistrationDelay.
	RegistrationDelay *metav1.Duration `json:"registrationDelay,omitempty"`
	// NoCapacity are offers that the cloud does not have at the moment. Karpenter learns of one when it wants to buy it.
	NoCapacity []Place `json:"noCapacity,omitempty"`
	// LaunchFails makes every launch fail with this message; empty lets them succeed.
	LaunchFails string `json:"launchFails,omitempty"`
	// NeverReady makes the new nodes stay NotReady.
	NeverReady bool `json:"neverReady,omitempty"`
}

// Place stands for all offers that have its values. An empty value stands for any.
type Place struct {
	Zone         string `json:"zone,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
}

// DefaultRegistrationDelay is shorter than a real cloud's, so that users see the node soon.
const DefaultRegistrationDelay = 2 * time.Second

const maxRegistrationDelay = 10 * time.Minute

// Validate says what is wrong with settings.
func (s Settings) Validate() error {
	if d := s.RegistrationDelay; d != nil && (d.Duration < 0 || d.Duration > maxRegistrationDelay) {
		return fmt.Errorf("registrationDelay: %s is not between 0s and %s", d.Duration, maxRegistrationDelay)
	}
	for i, p := range s.NoCapacity {
		if p == (Place{}) {
			return fmt.Errorf("noCapacity[%d] names no zone, instanceType or capacityType; to let every launch fail, use launchFails", i)
		}
	}
	return nil
}

func (s Settings) delay() time.Duration {
	if s.RegistrationDelay == nil {
		return DefaultRegistrationDelay
	}
	return s.RegistrationDelay.Duration
}

func (s Settings) lacks(o provider.Offer) bool {
	is := func(want, has string) bool { return want == "" || want == has }
	return slices.ContainsFunc(s.NoCapacity, func(p Place) bool {
		return is(p.Zone, o.Zone) && is(p.InstanceType, o.InstanceType) && is(p.CapacityType, o.CapacityType)
	})
}
