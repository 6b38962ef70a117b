package virtualnode

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = 10 * time.Second
)

type object interface {
	metav1.Object
	runtime.Object
}

type target interface {
	// get returns the object from the cache, nil if it is gone or must not be
	// changed. Callers do not change it.
	get(key string) (object, error)
	// latest bounds the stage's delay; zero if nothing does.
	latest(o object) time.Time
	patch(ctx context.Context, o object, kind types.PatchType, data []byte, subresources ...string) (object, error)
	// remove deletes the object without a grace period, unless another one has taken
	// its place.
	remove(ctx context.Context, o object) error
}

// player plays the stages of one kind's objects. For each object it plays the stage
// that matches, when the stage's delay is over, and then waits for the object to
// change.
type player struct {
	name      string
	workers   int
	target    target
	lifecycle lifecycle.Lifecycle
	renderer  gotpl.Renderer
	recorder  record.EventRecorder
	queue     workqueue.TypedRateLimitingInterface[string]
	now       func() time.Time

	mu sync.Mutex
	// turns holds the state of objects that wait for a stage or have just been
	// played, at most one per object in the cache.
	turns map[string]turn
}

type turn struct {
	uid types.UID
	// stage is due at that time. An update after which the same stage matches does
	// not postpone it.
	stage string
	due   time.Time
	// played is the resource version for which a stage was played last. It must
	// change before another stage is played.
	played string
}

func newPlayer(name string, workers int, t target, stages lifecycle.Lifecycle, functions gotpl.FuncMap, recorder record.EventRecorder) *player {
	return &player{
		name: name, workers: workers, target: t, lifecycle: stages, recorder: recorder, now: time.Now,
		renderer: newRenderer(functions),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
		turns: map[string]turn{},
	}
}

// run returns when ctx has ended and so has everything that it started.
func (p *player) run(ctx context.Context) {
	work(ctx, p.queue, p.workers, p.play, func(err error, key string) {
		utilruntime.HandleErrorWithContext(ctx, err, "play a stage", "kind", p.name, "key", key)
	})
}

func (p *player) play(ctx context.Context, key string) error {
	o, err := p.target.get(key)
	if err != nil {
		return err
	}
	if o == nil {
		p.forget(key)
		return nil
	}
	err = p.advance(ctx, key, o)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // others were not faster
		p.recorder.Eventf(o, corev1.EventTypeWarning, "StageFailed", "%v", err)
	}
	return err
}

// advance plays the stage of an object that is due.
func (p *player) advance(ctx context.Context, key string, o object) error {
	if p.turn(key, o).played == o.GetResourceVersion() {
		return nil
	}
	event := &lifecycle.Event{Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Data: o}
	stage, err := p.lifecycle.Match(ctx, event)
	if err != nil {
		return fmt.Errorf("match a stage: %w", err)
	}
	if stage == nil {
		p.forget(key)
		return nil
	}
	wait, err := p.wait(ctx, key, o, stage, event)
	if err != nil {
		return err
	}
	if wait > 0 {
		p.queue.AddAfter(key, wait)
		return nil
	}
	if err := p.steps(ctx, o, stage); err != nil {
		return fmt.Errorf("stage %s: %w", stage.Name(), err)
	}
	p.setTurn(key, turn{uid: o.GetUID(), played: o.GetResourceVersion()})
	return nil
}

func (p *player) wait(ctx context.Context, key string, o object, stage *lifecycle.Stage, event *lifecycle.Event) (time.Duration, error) {
	now := p.now()
	t := p.turn(key, o)
	if t.stage != stage.Name() {
		delay, _, err := stage.Delay(ctx, event, now)
		if err != nil {
			return 0, fmt.Errorf("delay of stage %s: %w", stage.Name(), err)
		}
		t = turn{uid: o.GetUID(), stage: stage.Name(), due: now.Add(delay)}
		p.setTurn(key, t)
	}
	if latest := p.target.latest(o); !latest.IsZero() && latest.Before(t.due) {
		return latest.Sub(now), nil
	}
	return t.due.Sub(now), nil
}

func (p *player) turn(key string, o object) turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.turns[key]; t.uid == o.GetUID() {
		return t
	}
	return turn{}
}

func (p *player) setTurn(key string, t turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns[key] = t
}

func (p *player) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.turns, key)
}

// steps performs the steps of the stage. Every write is for the version that was
// matched, or for the result of an earlier step.
func (p *player) steps(ctx context.Context, o object, stage *lifecycle.Stage) error {
	current := o
	_, err := stage.DoSteps(0, o.GetFinalizers(), o, p.renderer,
		func(e *internalversion.StageEvent) error {
			p.recorder.Event(o, e.Type, e.Reason, e.Message)
			return nil
		},
		func() error { return p.target.remove(ctx, o) },
		func(patch *lifecycle.Patch) error {
			data, err := onVersion(patch.Data, patch.Type, current)
			if err != nil || data == nil {
				return err
			}
			var subresources []string
			if patch.Subresource != "" {
				subresources = []string{patch.Subresource}
			}
			changed, err := p.target.patch(ctx, current, patch.Type, data, subresources...)
			if err == nil {
				current = changed
			}
			return err
		},
		func(*lifecycle.Apply) error { return fmt.Errorf("apply is not supported") },
	)
	return err
}

// onVersion returns the patch with the condition that the object has not changed, or
// nil if the patch changes nothing.
func onVersion(data []byte, kind types.PatchType, o object) ([]byte, error) {
	if kind == types.JSONPatchType {
		var operations []json.RawMessage
		if err := json.Unmarshal(data, &operations); err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if len(operations) == 0 {
			return nil, nil
		}
		test, err := json.Marshal(map[string]string{"op": "test", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()})
		if err != nil {
			return nil, err
		}
		return json.Marshal(append([]json.RawMessage{test}, operations...))
	}
	var fields, metadata map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	if isEmpty(fields) {
		return nil, nil
	}
	metadata, _ = fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["uid"] = o.GetUID()
	metadata["resourceVersion"] = o.GetResourceVersion()
	fields["metadata"] = metadata
	return json.Marshal(fields)
}

func isEmpty(fields map[string]any) bool {
	for _, value := range fields {
		inner, isMap := value.(map[string]any)
		if !isMap || !isEmpty(inner) {
			return false
		}
	}
	return true
}
