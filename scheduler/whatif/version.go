package whatif

import (
	"context"

	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// As returns the engine whose decisions the scheduler of a minor version of Kubernetes makes, such as 1.35: e itself for that of this process.
// A question then starts the version's program and tells it the whole state, which takes seconds for a large cluster. Beside those of e, its
// errors are those of package versions. It does not decide about pods of a pod group.
func (e *Engine) As(minor string) *Engine {
	of, ok := e.answering.(*engine)
	if !ok || runs(minor) {
		return e
	}
	return &Engine{&another{of, minor}}
}

// runs reports whether the scheduler of this process is that of a version, and does not emulate an older one.
func runs(minor string) bool {
	is := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)
	return minor == versions.Own && (is == nil || is.EmulationVersion().String() == minor)
}

// another is an engine of another version.
type another struct {
	*engine
	minor string
}

func (a *another) Ask(ctx context.Context, q Question) (*Answer, error) { return ask(ctx, a, q) }

func (a *another) Try(ctx context.Context, configuration *config.KubeSchedulerConfiguration, do func(context.Context, *Trial) error) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	defer a.end()
	if configuration == nil {
		configuration = a.options.Configuration()
	}
	options := a.options
	options.Version = &proxy.Options{Minor: a.minor, Every: true}
	r, err := NewReplica(ctx, configuration, options)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // the plugins are gone, whatever their Close says
	ops, err := a.State(ctx)
	if err != nil {
		return err
	}
	if err := r.Apply(ops...); err != nil {
		return err
	}
	return r.Try(ctx, do)
}
