package provider

import (
	"context"
	"time"

	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// WithOptions adds Karpenter's options, which have no defaults outside its flags, with the values that those flags have. It leaves out
// leader election, and observability, whose metrics a second start in the same process would register again.
func WithOptions(ctx context.Context) context.Context {
	return options.ToContext(ctx, &options.Options{
		BatchMaxDuration:                 10 * time.Second,
		BatchIdleDuration:                time.Second,
		CPURequests:                      1000,
		MemoryLimit:                      -1,
		PreferencePolicy:                 options.PreferencePolicyRespect,
		MinValuesPolicy:                  options.MinValuesPolicyStrict,
		IgnoreDRARequests:                true,
		DisableLeaderElection:            true,
		DisableClusterStateObservability: true,
		FeatureGates:                     options.DefaultFeatureGates(),
	})
}
