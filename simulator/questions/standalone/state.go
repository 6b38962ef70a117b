package standalone

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/storedform"
)

// key names an object of any version.
type key struct {
	schema.GroupKind
	namespace, name string
}

func (k key) String() string {
	if k.namespace == "" {
		return k.Kind + " " + k.name
	}
	return k.Kind + " " + k.namespace + "/" + k.name
}

// state is the objects of a cluster as the scheduler reads them. It is for one goroutine.
type state struct {
	objects   map[key]runtime.Object
	admission *storedform.Admission
	// finished are the pods that no longer run, which schedulers do not see.
	finished map[key]runtime.Object
}

// fork returns a copy of the state that a question may change.
func (s *state) fork() (*state, error) {
	admit, err := storedform.New()
	if err != nil {
		return nil, err
	}
	for _, o := range s.objects {
		admit.Know(o)
	}
	return &state{objects: maps.Clone(s.objects), admission: admit}, nil
}

// newState decodes and completes what was read, and notes in r what it leaves out.
func newState(ctx context.Context, r *reading) (*state, error) {
	admit, err := storedform.New()
	if err != nil {
		return nil, err
	}
	s := &state{objects: map[key]runtime.Object{}, admission: admit, finished: map[key]runtime.Object{}}
	r.sort()
	// Objects of the lower ranks decide about those of the higher ones.
	for len(r.objects) > 0 {
		rank := objects.RankOf(r.objects[0].gk)
		n := 1
		for n < len(r.objects) && objects.RankOf(r.objects[n].gk) == rank {
			n++
		}
		if err := s.add(ctx, r, r.objects[:n]); err != nil {
			return nil, err
		}
		r.objects = r.objects[n:]
	}
	s.complete()
	return s, nil
}

// The objects do not depend on each other.
func (s *state) add(ctx context.Context, r *reading, read []readObject) error {
	added, problems := make([]runtime.Object, len(read)), make([]string, len(read))
	var group errgroup.Group
	group.SetLimit(goruntime.GOMAXPROCS(0))
	for i := range read {
		group.Go(func() (err error) {
			if added[i], err = s.decode(ctx, read[i]); err != nil {
				problems[i] = fmt.Sprintf("%s: left out: %v", read[i].source, err)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, o := range added {
		switch {
		case problems[i] != "":
			r.note("%s", problems[i])
		case isFinished(o):
			k, _ := keyOf(o)
			s.finished[k] = o
		default:
			s.put(o)
		}
	}
	return nil
}

func (s *state) decode(ctx context.Context, read readObject) (runtime.Object, error) {
	o, err := storedform.Decode(read.json)
	if err != nil || read.stored {
		return o, err
	}
	_, m := keyOf(o)
	restoreOwner(m)
	if claim, ok := o.(*corev1.PersistentVolumeClaim); ok {
		keepClassless(claim)
	}
	return s.admission.Create(ctx, o)
}

// isFinished reports whether an object is a pod that no longer runs. Schedulers do not see those.
func isFinished(o runtime.Object) bool {
	pod, ok := o.(*corev1.Pod)
	return ok && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
}

func (s *state) put(o runtime.Object) {
	k, m := keyOf(o)
	if m.GetUID() == "" {
		m.SetUID(types.UID(k.String()))
	}
	s.objects[k] = o
	s.admission.Know(o)
}

func (s *state) remove(o runtime.Object) {
	k, _ := keyOf(o)
	delete(s.objects, k)
	s.admission.Forget(o)
}

func keyOf(o runtime.Object) (key, metav1.Object) {
	m, err := meta.Accessor(o)
	if err != nil {
		panic(err) // all kinds have metadata
	}
	return key{o.GetObjectKind().GroupVersionKind().GroupKind(), m.GetNamespace(), m.GetName()}, m
}

// list returns all objects, in the order of their creation.
func (s *state) list() []runtime.Object {
	keys := slices.SortedFunc(maps.Keys(s.objects), func(a, b key) int {
		return cmp.Or(
			cmp.Compare(objects.RankOf(a.GroupKind), objects.RankOf(b.GroupKind)), strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	out := make([]runtime.Object, len(keys))
	for i, k := range keys {
		out[i] = s.objects[k]
	}
	return out
}
