package recorder

import (
	"context"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Wrap returns a registry in which every plugin records to r and is guarded against panics. Names
// stay the same, so a framework that upstream.NewFramework builds from it has the configuration,
// messages and metrics of a bare one.
func (r *Recorder) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	out := make(frameworkruntime.Registry, len(registry))
	for name, factory := range registry {
		guarded := guard.New(name, r.panicked)
		out[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (wrapped fwk.Plugin, err error) {
			defer guarded.Err("New", nil, &err)
			dryRun := &groupDryRun{}
			given := guard.Handle(h)
			if r.plugins.PreemptsForGroups(name) {
				given = &dryRunHandle{given, dryRun}
			}
			plugin, err := factory(ctx, args, given)
			if err != nil {
				return nil, err
			}
			return r.wrap(plugin, r.profile(h.ProfileName()), h, args, dryRun), nil
		}
	}
	return out
}

// dryRun notes the plugin's changes to the snapshot, if they are observed.
func (r *Recorder) wrap(plugin fwk.Plugin, p *profile, h fwk.Handle, args runtime.Object, dryRun *groupDryRun) upstream.Wrapper {
	b := &base{recorder: r, profile: p, handle: h, plugin: plugin, name: plugin.Name(), args: args, dryRun: dryRun}
	b.guard = guard.New(b.name, r.panicked)
	observeDryRuns(b)
	observeEvictions(b)
	other := newPoints(b)
	switch shape := upstream.ShapeOf(plugin); {
	case shape.EnqueueExtensions && shape.Sign:
		return hintingSigner{b, other, newRequeuingPoints(b), newEnqueueExtensions(b), newSign(b)}
	case shape.EnqueueExtensions:
		return hinting{b, other, newRequeuingPoints(b), newEnqueueExtensions(b)}
	case shape.Requeues && shape.Sign:
		return requeuingSigner{b, other, newRequeuingPoints(b), newSign(b)}
	case shape.Requeues:
		return requeuing{b, other, newRequeuingPoints(b)}
	case shape.Sign:
		return signer{b, other, newSign(b)}
	}
	return plain{b, other}
}

// Each upstream.Shape has a composition of recorders.
type (
	plain struct {
		*base
		*points
	}
	signer struct {
		*base
		*points
		sign
	}
	requeuing struct {
		*base
		*points
		*requeuingPoints
	}
	requeuingSigner struct {
		*base
		*points
		*requeuingPoints
		sign
	}
	hinting struct {
		*base
		*points
		*requeuingPoints
		enqueueExtensions
	}
	hintingSigner struct {
		*base
		*points
		*requeuingPoints
		enqueueExtensions
		sign
	}
)

// requeuingPoints are the recorders for upstream.Shape.Requeues. Those that the plugin lacks are
// empty and never called.
type requeuingPoints struct {
	preEnqueue
	preFilter
	filter
	reserve
	permit
}

func newRequeuingPoints(b *base) *requeuingPoints {
	p := &requeuingPoints{}
	set[fwk.PreEnqueuePlugin](b, &p.preEnqueue, newPreEnqueue)
	set[fwk.PreFilterPlugin](b, &p.preFilter, newPreFilter)
	set[fwk.FilterPlugin](b, &p.filter, newFilter)
	set[fwk.ReservePlugin](b, &p.reserve, newReserve)
	set[fwk.PermitPlugin](b, &p.permit, newPermit)
	return p
}

// points are the recorders of the other interfaces. Those that the plugin lacks are empty and never
// called.
type points struct {
	queueSort
	postFilter
	preScore
	score
	preBind
	bind
	postBind
	podGroupPostFilter
	placementGenerate
	placementScore
	placementFeasible
	closer
}

func newPoints(b *base) *points {
	p := &points{}
	set[fwk.QueueSortPlugin](b, &p.queueSort, newQueueSort)
	set[fwk.PostFilterPlugin](b, &p.postFilter, newPostFilter)
	set[fwk.PreScorePlugin](b, &p.preScore, newPreScore)
	set[fwk.ScorePlugin](b, &p.score, newScore)
	set[fwk.PreBindPlugin](b, &p.preBind, newPreBind)
	set[fwk.BindPlugin](b, &p.bind, newBind)
	set[fwk.PostBindPlugin](b, &p.postBind, newPostBind)
	set[fwk.PodGroupPostFilterPlugin](b, &p.podGroupPostFilter, newPodGroupPostFilter)
	set[fwk.PlacementGeneratePlugin](b, &p.placementGenerate, newPlacementGenerate)
	set[fwk.PlacementScorePlugin](b, &p.placementScore, newPlacementScore)
	set[framework.PlacementFeasiblePlugin](b, &p.placementFeasible, newPlacementFeasible)
	set[io.Closer](b, &p.closer, newCloser)
	return p
}

func set[T, Recorder any](b *base, to *Recorder, recorder func(*base) Recorder) {
	if _, ok := b.plugin.(T); ok {
		*to = recorder(b)
	}
}

func (r *Recorder) profile(name string) *profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.profiles[name]
	if p == nil {
		p = &profile{name: name}
		r.profiles[name] = p
	}
	return p
}

func sortedNames(names sets.Set[string]) []string {
	out := names.UnsortedList()
	slices.Sort(out)
	return out
}
