package whatif

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Source is where an engine gets its state from: Objects, or the feed of a running scheduler.
type Source interface {
	source()
}

// Objects returns a state that does not change. The engine keeps the objects and does not
// change them; the caller must not either. Kinds that the scheduler does not read are left out.
func Objects(objects []runtime.Object) Source { return objectList(objects) }

type objectList []runtime.Object

func (objectList) source() {}

// Options say what an engine works on. The zero value of a field means its default.
type Options struct {
	// Source is required.
	Source Source
	// Configuration returns the configuration of questions that have none: defaulted
	// and validated, and never changed again. It is required, and called for each question.
	Configuration func() *config.KubeSchedulerConfiguration
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Waiting is how many questions may wait for their turn; 32 by default. Further ones
	// get ErrBusy.
	Waiting int
	// Kept is how many configurations stay built; 4 by default. The one that was not
	// used for the longest time goes first.
	Kept int
	// Idle is how long the engine follows its source, and keeps its configurations, after the last question; 5
	// minutes by default.
	Idle time.Duration
	// Clock is the recorder's clock; time.Now by default.
	Clock func() time.Time
}

// Engine answers questions. It answers one question at a time; its methods may be called from any
// goroutine.
type Engine struct{ options Options }

// New returns an engine. It does no work until the first question.
func New(options Options) *Engine { return &Engine{options: options} }

var errSkeleton = errors.New("the engine is not built yet")

// Ask answers a question. The errors of a question that cannot be answered are ErrBusy, ctx's error
// and the types of this package.
func (e *Engine) Ask(ctx context.Context, q Question) (*Answer, error) { return nil, errSkeleton }

// Try calls do with a view of the state that no other question shares. All that do changed is undone
// afterwards. Try returns the error of do, ErrBusy, ctx's error, a *ConfigurationError or a *PanicError. configuration is
// as in Question.
func (e *Engine) Try(ctx context.Context, configuration *config.KubeSchedulerConfiguration, do func(context.Context, *Trial) error) error {
	return errSkeleton
}

// Stop lets go of the source and of everything that is built, after the running question. Further questions
// start again.
func (e *Engine) Stop() {}
