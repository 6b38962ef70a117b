package standalone

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

const kueueGroup = "kueue.x-k8s.io"

var _ submit.Cluster = (*Cluster)(nil)

// queues are the objects of Kueue. Those of a cluster are read when they are first asked for: most questions need none.
type queues struct {
	mu      sync.Mutex
	source  *mirror.Source // nil once they are read, or for a file
	objects []*unstructured.Unstructured
	missing []why.NotJudged
}

// add keeps an object of Kueue, and reports whether it is one.
func (q *queues) add(o *manifest.Object) (bool, error) {
	if o.GVK.Group != kueueGroup {
		return false, nil
	}
	u, err := o.Unstructured()
	if err != nil {
		return false, err
	}
	q.keep(u)
	return true, nil
}

func (q *queues) keep(u *unstructured.Unstructured) {
	if objects.KindOf(u.GroupVersionKind().GroupKind()).Namespaced && u.GetNamespace() == "" {
		u.SetNamespace(corev1.NamespaceDefault)
	}
	if u.GetUID() == "" {
		u.SetUID(types.UID(u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()))
	}
	q.objects = append(q.objects, u)
}

// read returns the objects, and what could not be read.
func (q *queues) read(ctx context.Context) ([]*unstructured.Unstructured, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.source == nil {
		return q.objects, nil
	}
	// One kind that every cluster has, so that one without Kueue is no error.
	wanted := []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Namespace")}
	for _, k := range objects.Kinds(objects.Custom) {
		if k.Group == kueueGroup {
			for _, version := range []string{k.Version, "v1beta1"} {
				wanted = append(wanted, k.GroupKind().WithVersion(version))
			}
		}
	}
	problems, err := q.source.ReadKinds(ctx, wanted, func(u *unstructured.Unstructured) error {
		if u.GroupVersionKind().Group == kueueGroup {
			q.keep(u)
		}
		return nil
	})
	if err != nil {
		q.objects = nil
		return nil, err
	}
	for _, p := range problems {
		if p.Kind.Group == kueueGroup {
			q.missing = append(q.missing, why.NotJudged{What: p.Kind.String(), Text: p.Text + ": quota is judged without it."})
		}
	}
	q.source = nil
	return q.objects, nil
}

// Queues returns what admission would know of the queues, from the objects of the moment that was read.
func (c *Cluster) Queues(ctx context.Context) (*admission.State, *submit.Configured, error) {
	return submit.StateOf(ctx, c, time.Now().UTC())
}

// Submit answers what would become of jobs. The error is as that of submit.Ask.
func (c *Cluster) Submit(ctx context.Context, q submit.Question) (*submit.Answers, error) {
	answers, err := submit.Ask(ctx, c, q)
	if err == nil {
		answers.NotJudged = append(answers.NotJudged, c.reading.queues.missing...)
	}
	return answers, err
}

// listQueues returns the objects of a kind of Kueue.
func (c *Cluster) listQueues(ctx context.Context, gk schema.GroupKind, namespace string) (out []runtime.Object, err error) {
	all, err := c.reading.queues.read(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		if u.GroupVersionKind().GroupKind() == gk && (namespace == "" || u.GetNamespace() == namespace) {
			out = append(out, u)
		}
	}
	return out, nil
}
