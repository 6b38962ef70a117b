package app

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/cluster/definitions"
)

// neededBy returns the definitions that the options ask for, and those of the objects that the
// plugins of c read. In a cluster that is not our own, only the options count.
func (s *simulator) neededBy(c *config.Configuration) []definitions.Definition {
	needed := s.prepared.definitions
	if s.external == nil {
		needed = append(needed, definitions.Of(c.Plugins())...)
	}
	return needed
}

// A reset keeps all writes out and installs the definitions at its end. Until then, the plugins see
// no objects.
func (s *simulator) installNeeded(ctx context.Context, c *config.Configuration) error {
	if s.held.Load() {
		return nil
	}
	return s.definitions.Need(ctx, s.neededBy(c))
}

// tidyDefinitions deletes the definitions that came with an earlier configuration and that c does
// not need. If that fails, they stay.
func (s *simulator) tidyDefinitions(ctx context.Context, c *config.Configuration) {
	if s.held.Load() || s.external != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.definitions.Tidy(ctx, s.neededBy(c), s.embedded.KeepOut); err != nil {
		s.options.Logger.Error(err, "A custom resource definition that no plugin needs any more stays")
	}
}

// define installs those of the kinds that the simulator has definitions for, and reports whether
// there are any. The kinds are of objects from elsewhere.
func (s *simulator) define(ctx context.Context, kinds []schema.GroupKind) (bool, error) {
	found := definitions.ForKinds(kinds)
	if len(found) == 0 {
		return false, nil
	}
	return true, s.definitions.Keep(ctx, found)
}
