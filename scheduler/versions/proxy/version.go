// Package proxy lets the scheduler of this process decide as that of another version of Kubernetes does.
//
// That scheduler runs as a program of its own, which package versions asks. A Version keeps the program's state like that of a scheduler here,
// and has a proxy for each plugin: in PreFilter, the first one asks the program for its decision about the pod, and then each answers as its
// namesake there did about the pod and about each node. So everything around the plugins works as it does without a Version: the search, the
// recorder, the choice among ties, and preemption, which evicts the victims that the program chose.
//
// What is not a judgement about nodes stays this version's: the queue and its hints, PreEnqueue, Reserve, Permit, PreBind and Bind. So the
// devices and the volumes of a pod are those that this version's plugins hand out on the node that the other version chose. Among candidates for
// preemption that are equal by all criteria, the program takes the first by name.
//
// It may import Kubernetes' scheduler, scheduler/config, scheduler/memory and package versions.
package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/kubernetes/scheme"
	basecompatibility "k8s.io/component-base/compatibility"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Options say which version decides.
type Options struct {
	// Minor is one of versions.Minors.
	Minor string
	// Dir has the program; by default the directory of this program.
	Dir string
	// Gates sets feature gates of the program. The others have their defaults.
	Gates map[string]bool
	// Every asks for each plugin that rejects a node, rather than the first.
	Every bool
}

// Of returns how to have the scheduler of a minor version decide: nil if that of this process is of the version, and emulates no older one.
func Of(minor string) *Options {
	is := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)
	if minor == versions.Own && (is == nil || is.EmulationVersion().String() == minor) {
		return nil
	}
	return &Options{Minor: minor}
}

// Version is a running scheduler of another version. Its methods may be called from any goroutine, though decisions must follow one another.
// nil stands for the version of this process: Name is empty then, Wrap changes nothing, and Allocate, Release, Err and Close do nothing.
type Version struct {
	options       Options
	scheduler     *versions.Scheduler
	configuration *config.KubeSchedulerConfiguration

	mu sync.Mutex
	// changed are the objects that have changed since the latest decision, in the order of their first change.
	changed []key
	changes map[key]change
	err     error
}

type key struct {
	gvk             schema.GroupVersionKind
	namespace, name string
	// pending is the UID of a claim whose pending allocation has changed.
	pending types.UID
}

// change has the object as it is now; nil if it is gone.
type change struct{ object runtime.Object }

// Start starts a scheduler with an empty state. configuration is defaulted and validated, as package config returns it. What it has from this
// version's defaults is left to the other version's. The error may be one of package versions'.
func Start(ctx context.Context, configuration *config.KubeSchedulerConfiguration, options Options) (*Version, error) {
	document, err := documentOf(configuration)
	if err != nil {
		return nil, err
	}
	s, err := versions.Start(ctx, versions.Options{Minor: options.Minor, Dir: options.Dir, Begin: wire.Begin{Configuration: document, Gates: options.Gates}})
	if err != nil {
		return nil, err
	}
	return &Version{options: options, scheduler: s, configuration: configurationOf(configuration, s.Started()), changes: map[key]change{}}, nil
}

// Name is the version, such as v1.35.4.
func (v *Version) Name() string {
	if v == nil {
		return ""
	}
	return v.scheduler.Started().Version
}

// Configuration returns that of the scheduler here: it runs the plugins of the version, with its weights, and its search sees all nodes.
func (v *Version) Configuration() *config.KubeSchedulerConfiguration { return v.configuration }

// Close ends the program.
func (v *Version) Close() {
	if v != nil {
		v.scheduler.Close()
	}
}

// Err returns the error that ended the program, if one has. From then on, every attempt to schedule a pod fails.
func (v *Version) Err() error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// Note tells that an object has changed; nil that it is gone. The caller does not change it any more.
func (v *Version) Note(gvk schema.GroupVersionKind, namespace, name string, o runtime.Object) {
	v.note(key{gvk: gvk, namespace: namespace, name: name}, o)
}

// Allocate tells that a claim is being allocated, as wire.Request does, and Release ends that.
func (v *Version) Allocate(claim *resourcev1.ResourceClaim) { v.note(key{pending: claim.UID}, claim) }

func (v *Version) Release(claim types.UID) { v.note(key{pending: claim}, nil) }

func (v *Version) note(k key, o runtime.Object) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.changes[k]; !known {
		v.changed = append(v.changed, k)
	}
	v.changes[k] = change{o}
}

// flush tells the program what has changed.
func (v *Version) flush() error {
	for _, k := range v.changed {
		if err := v.tell(k, v.changes[k].object); err != nil {
			return err
		}
	}
	v.changed = nil
	clear(v.changes)
	return nil
}

func (v *Version) tell(k key, o runtime.Object) error {
	switch {
	case k.pending != "" && o == nil:
		return v.scheduler.Release(string(k.pending))
	case o == nil:
		apiVersion, kind := k.gvk.ToAPIVersionAndKind()
		return v.scheduler.Delete(wire.Reference{APIVersion: apiVersion, Kind: kind, Namespace: k.namespace, Name: k.name})
	}
	data, err := Encode(o)
	if err != nil {
		return err
	}
	if k.pending != "" {
		return v.scheduler.Allocate(json.RawMessage(data))
	}
	return v.scheduler.Set(json.RawMessage(data))
}

// Encode writes an object of Kubernetes in JSON with its kind, which informers leave out.
func Encode(o runtime.Object) ([]byte, error) {
	if kinds, _, err := scheme.Scheme.ObjectKinds(o); err == nil {
		o = o.DeepCopyObject()
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	return data, nil
}

// decided is the program's decision in the state of a cycle. It does not change.
type decided struct {
	*wire.Decision
	// rejections are the verdicts by plugin and node.
	rejections map[string]map[string]*fwk.Status
	// column and row find a score by plugin and node.
	column, row map[string]int
	candidates  map[string]*wire.Candidate
}

func (d *decided) Clone() fwk.StateData { return d }

const stateKey fwk.StateKey = "kube-scheduler-simulator/scheduler/versions/proxy"

// of returns the decision of a cycle, nil before PreFilter.
func of(state fwk.CycleState) *decided {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	d, _ := data.(*decided)
	return d
}

// decide returns the decision of a cycle. It asks for it once.
func (v *Version) decide(state fwk.CycleState, pod *v1.Pod, profile string) (*decided, error) {
	if d := of(state); d != nil {
		return d, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return nil, v.err
	}
	d, err := v.ask(pod, profile)
	if err != nil {
		v.err = err
		return nil, err
	}
	state.Write(stateKey, d)
	return d, nil
}

func (v *Version) ask(pod *v1.Pod, profile string) (*decided, error) {
	if err := v.flush(); err != nil {
		return nil, err
	}
	data, err := Encode(pod)
	if err != nil {
		return nil, err
	}
	answer, err := v.scheduler.Decide(wire.Decide{Pod: data, Profile: profile, Full: true, Every: v.options.Every})
	if err != nil {
		return nil, err
	}
	return newDecided(answer), nil
}

func newDecided(answer *wire.Decision) *decided {
	d := &decided{Decision: answer, rejections: map[string]map[string]*fwk.Status{}, column: map[string]int{}, row: map[string]int{}, candidates: map[string]*wire.Candidate{}}
	for i := range answer.Rejections {
		rejection := &answer.Rejections[i]
		byNode := d.rejections[rejection.Plugin]
		if byNode == nil {
			byNode = map[string]*fwk.Status{}
			d.rejections[rejection.Plugin] = byNode
		}
		for _, node := range rejection.Nodes {
			byNode[node] = statusOf(&rejection.Status)
		}
	}
	if s := answer.Scores; s != nil {
		for i, plugin := range s.Plugins {
			d.column[plugin.Name] = i
		}
		for i, node := range s.Nodes {
			d.row[node] = i
		}
	}
	if p := answer.Preemption; p != nil {
		for i := range p.Candidates {
			d.candidates[p.Candidates[i].Node] = &p.Candidates[i]
		}
	}
	return d
}

// skipsFilter and skipsScore report whether a plugin had nothing to say.
func (d *decided) skipsFilter(plugin string) bool { return slices.Contains(d.SkippedFilter, plugin) }

func (d *decided) skipsScore(plugin string) bool {
	_, scored := d.column[plugin]
	return !scored
}

// statusOf returns the status of the framework here.
func statusOf(s *wire.Status) *fwk.Status {
	for _, code := range []fwk.Code{fwk.Unschedulable, fwk.UnschedulableAndUnresolvable, fwk.Pending, fwk.Wait, fwk.Skip} {
		if code.String() == s.Code {
			return fwk.NewStatus(code, s.Reasons...)
		}
	}
	return fwk.NewStatus(fwk.Error, s.Reasons...)
}
