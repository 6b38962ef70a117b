package standalone

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/questions/why"
)

// topic is what some questions are about, and others are not.
type topic string

const (
	quota      topic = "quota"
	autoscaler topic = "nodes"
)

const (
	kueueGroup     = "kueue.x-k8s.io"
	karpenterGroup = "karpenter.sh"
)

var daemonSet = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}

// topicOf returns the topic of a kind; empty for one that is not read later.
func topicOf(gk schema.GroupKind) topic {
	switch {
	case gk.Group == kueueGroup:
		return quota
	case gk.Group == karpenterGroup, gk == daemonSet:
		return autoscaler
	}
	return ""
}

// wanted are the kinds of a topic, in all versions that clusters have them in.
func (t topic) wanted() (all []schema.GroupVersionKind) {
	for _, k := range objects.Kinds(objects.Custom) {
		if topicOf(k.GroupKind()) == t {
			all = append(all, k.GroupKind().WithVersion(k.Version), k.GroupKind().WithVersion("v1beta1"))
		}
	}
	if t == autoscaler {
		all = append(all, daemonSet.WithVersion("v1"))
	}
	return all
}

// later are the objects that no scheduler reads. Those of a cluster are read when they are first asked for: most questions need none.
type later struct {
	mu     sync.Mutex
	source *mirror.Source // nil for a file
	topics map[topic]*about
}

// about are the objects of a topic.
type about struct {
	objects []*unstructured.Unstructured
	missing []why.NotJudged
	read    bool
}

// of returns the objects of a topic that are known. The caller holds the lock, or is alone.
func (l *later) of(t topic) *about {
	if l.topics == nil {
		l.topics = map[topic]*about{}
	}
	if l.topics[t] == nil {
		l.topics[t] = &about{}
	}
	return l.topics[t]
}

// add keeps an object of a file, and reports whether it is one that is kept.
func (l *later) add(o *manifest.Object) (bool, error) {
	t := topicOf(o.GVK.GroupKind())
	if t == "" {
		return false, nil
	}
	u, err := o.Unstructured()
	if err != nil {
		return false, err
	}
	l.of(t).keep(u)
	return true, nil
}

func (a *about) keep(u *unstructured.Unstructured) {
	if objects.KindOf(u.GroupVersionKind().GroupKind()).Namespaced && u.GetNamespace() == "" {
		u.SetNamespace(corev1.NamespaceDefault)
	}
	if u.GetUID() == "" {
		u.SetUID(types.UID(u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()))
	}
	a.objects = append(a.objects, u)
}

// list returns the objects of a topic.
func (l *later) list(ctx context.Context, t topic) ([]*unstructured.Unstructured, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of(t)
	if l.source == nil || a.read {
		return a.objects, nil
	}
	// One kind that every cluster has, so that one without the others is no error.
	wanted := append(t.wanted(), corev1.SchemeGroupVersion.WithKind("Namespace"))
	problems, err := l.source.ReadKinds(ctx, wanted, func(u *unstructured.Unstructured) error {
		if topicOf(u.GroupVersionKind().GroupKind()) == t {
			a.keep(u)
		}
		return nil
	})
	if err != nil {
		a.objects = nil
		return nil, err
	}
	for _, p := range problems {
		if topicOf(p.Kind) == t {
			a.missing = append(a.missing, why.NotJudged{What: p.Kind.String(), Text: p.Text + ": the answer does without it."})
		}
	}
	a.read = true
	return a.objects, nil
}

// missing is what could not be read about a topic.
func (l *later) missing(t topic) []why.NotJudged {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(t).missing
}
