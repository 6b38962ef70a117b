package scenario

import (
	"fmt"
	"slices"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Played is a change of a recording, as a simulated cluster gets it.
type Played struct {
	// At is the time since the start of the recording.
	At              time.Duration
	GVK             schema.GroupVersionKind
	Namespace, Name string
	// Object is a new object, and Patch a JSON merge patch. Without either, the object is deleted.
	Object *unstructured.Unstructured
	Patch  []byte
	// Node is the node that the recorded scheduler gave to the pod.
	Node string
}

// NewPlayed returns a scenario that plays changes, in the order of their times, and then lets the
// cluster settle. Its values say how many pods have the node that the recording has.
func NewPlayed(name, file string, changes []Played) (*Scenario, error) {
	configuration, err := Default()
	if err != nil {
		return nil, err
	}
	begin := slices.IndexFunc(changes, func(p Played) bool { return p.At > 0 })
	if begin < 0 {
		begin = len(changes)
	}
	play := &playing{changes: changes}
	step := func(verb, what string, do func(r *run) (string, error)) *Step {
		return &Step{Verb: verb, Line: 1, action: &otherStep{what, do}}
	}
	return &Scenario{
		File: file, Name: name, played: true, Matrix: Matrix{Configurations: []Configuration{configuration}, FeatureGates: []map[string]bool{{}}, Seeds: []int64{DefaultSeed}},
		Steps: []*Step{
			step("create", "what the recording begins with", func(r *run) (string, error) { return play.play(r, 0, begin) }),
			step("arrive", Plural(len(changes)-begin, "change"), func(r *run) (string, error) { return play.play(r, begin, len(changes)) }),
			{Verb: "wait", Line: 1, action: &wait{For: Expression{Text: settled}}},
			step("expect", "the recorded nodes", play.compare),
		},
	}, nil
}

// A scenario's playing has the changes, and that of a run the counts.
type playing struct {
	changes []Played
	// By namespace and name of the pod.
	recorded, placed map[string]string
	// Pods that are gone.
	alike, different int
	seen             int
}

// Each run has its own counts, which begin with the first change.
func (p *playing) play(r *run, from, to int) (string, error) {
	if from == 0 {
		r.playing = &playing{recorded: map[string]string{}, placed: map[string]string{}}
		// The recording has its own classes.
		err := r.cluster.Delete(r.ctx, storagev1.SchemeGroupVersion.WithKind("StorageClass"), "", "standard")
		if err != nil && !isNotFound(err) {
			return "", err
		}
	}
	for _, c := range p.changes[from:to] {
		if left := r.start.Add(c.At).Sub(r.cluster.Now()); left > 0 {
			if err := r.advance(left); err != nil {
				return "", err
			}
		}
		if err := r.playing.one(r, c); err != nil {
			return "", fmt.Errorf("%s %s after %s: %w", c.GVK.Kind, c.Name, c.At.Round(time.Millisecond), err)
		}
		r.view = nil
	}
	return Plural(to-from, "change"), r.ctx.Err()
}

func (p *playing) one(r *run, c Played) error {
	pod := c.Namespace + "/" + c.Name
	isPod := c.GVK == objects.Pod.WithVersion("v1")
	if isPod && c.Node != "" {
		p.recorded[pod] = c.Node
	}
	switch {
	case c.Object != nil:
		err := r.cluster.Create(r.ctx, c.Object.DeepCopy())
		if apierrors.IsAlreadyExists(err) && !isPod && c.GVK.Kind != "Node" {
			return nil // every cluster has it
		}
		return err
	case c.Patch != nil:
		if string(c.Patch) == "{}" {
			return nil
		}
		err := r.cluster.Patch(r.ctx, c.GVK, c.Namespace, c.Name, apitypes.MergePatchType, c.Patch)
		if isNotFound(err) {
			return nil // preempted in the run
		}
		return err
	}
	if isPod {
		p.count(r, pod)
	}
	err := r.cluster.Delete(r.ctx, c.GVK, c.Namespace, c.Name)
	if isNotFound(err) {
		return nil
	}
	return err
}

func (p *playing) count(r *run, pod string) {
	for _, s := range r.summaries[p.seen:] {
		if s.Outcome == result.Scheduled {
			p.placed[s.Pod.Namespace+"/"+s.Pod.Name] = s.SelectedNode
		}
	}
	p.seen = len(r.summaries)
	node, compared := p.recorded[pod]
	if !compared {
		return
	}
	if p.placed[pod] == node {
		p.alike++
	} else {
		p.different++
	}
	delete(p.recorded, pod)
	delete(p.placed, pod)
}

func (p *playing) compare(r *run) (string, error) {
	own := r.playing
	for pod := range own.recorded {
		own.count(r, pod)
	}
	r.result.Values = map[string]float64{"pods with the recorded node": float64(own.alike), "pods with another node or none": float64(own.different)}
	return fmt.Sprintf("%d of %s have the recorded node", own.alike, Plural(own.alike+own.different, "pod")), nil
}
