package whatif

import (
	"context"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// As returns the engine whose decisions the scheduler of a minor version of Kubernetes makes, such as 1.35: e itself for that of this process.
// A question then starts the version's program and tells it the whole state, which takes seconds for a large cluster. Beside those of e, its
// errors are those of package versions. It does not decide about pods of a pod group.
func (e *Engine) As(minor string) *Engine {
	of, ok := e.answering.(*engine)
	version := proxy.Of(minor)
	if !ok || version == nil {
		return e
	}
	version.Every = true
	return &Engine{&another{of, version}}
}

// another is an engine of another version.
type another struct {
	*engine
	version *proxy.Options
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
	options.Version = a.version
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
