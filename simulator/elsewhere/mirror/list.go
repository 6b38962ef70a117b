package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// A stream is a kind, or a kind in one namespace, that is listed and watched as one.
type stream struct {
	kind
	resource dynamic.ResourceInterface
	// namespace is empty for all.
	namespace string
	selection metav1.ListOptions
}

func (s *Source) streams(client dynamic.Interface, k kind) []stream {
	whole := stream{kind: k, resource: client.Resource(k.resource)}
	if k.GroupKind() == objects.Pod {
		whole.selection.LabelSelector = s.options.Selection.Pods
	}
	if len(s.options.Selection.Namespaces) == 0 || !k.namespaced && k.GroupKind() != objects.Namespace {
		return []stream{whole}
	}
	var out []stream
	for _, namespace := range s.options.Selection.Namespaces {
		one := whole
		one.namespace = namespace
		if k.namespaced {
			one.resource = client.Resource(k.resource).Namespace(namespace)
		} else {
			one.selection.FieldSelector = fields.OneTermEqualSelector("metadata.name", namespace).String()
		}
		out = append(out, one)
	}
	return out
}

// name is for messages.
func (s stream) name() string {
	if s.namespace == "" {
		return s.kind.String()
	}
	return s.kind.String() + " in " + s.namespace
}

func (s stream) list(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	options.LabelSelector, options.FieldSelector = s.selection.LabelSelector, s.selection.FieldSelector
	if options.Limit == 0 {
		options.Limit = pageSize
	}
	// The source's cache may be older than an earlier list. Pages after the first carry their
	// version themselves.
	options.ResourceVersion, options.ResourceVersionMatch = "", ""
	return s.resource.List(ctx, options)
}

func (s stream) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector, options.FieldSelector = s.selection.LabelSelector, s.selection.FieldSelector
	options.AllowWatchBookmarks = true
	return s.resource.Watch(ctx, options)
}

// Read lists the source once and calls each with every object, which each may keep and change. here
// reaches the simulated cluster, whose API versions Read uses, and define, which may be nil,
// installs definitions there. Read returns messages for users about kinds that it could not read;
// an error means that reading ended early, and another attempt may succeed.
//
// It lists dependents before their dependencies, so that it leaves out a pod that is created in
// between, instead of reading one without its node.
func (s *Source) Read(ctx context.Context, here *rest.Config, define Define, each func(*unstructured.Unstructured) error) (problems []string, err error) {
	source, err := s.connect(ctx, here, objects.Kinds(objects.Copied), define)
	if err != nil {
		return nil, err
	}
	found, err := s.read(ctx, source, each)
	for _, p := range found {
		problems = append(problems, p.Text)
	}
	return problems, err
}

// Problem is a kind that could not be read.
type Problem struct {
	Kind schema.GroupKind
	// Text is for users.
	Text string
}

func (p Problem) String() string { return p.Text }

// ReadKinds is Read without a simulated cluster: it lists the given kinds, each in the first of its versions here that the
// source serves.
func (s *Source) ReadKinds(ctx context.Context, wanted []schema.GroupVersionKind, each func(*unstructured.Unstructured) error) (problems []Problem, err error) {
	versions := map[schema.GroupKind][]kind{}
	var kinds []objects.Kind
	for _, gvk := range wanted {
		gk := gvk.GroupKind()
		if versions[gk] == nil {
			kinds = append(kinds, objects.KindOf(gk))
		}
		versions[gk] = append(versions[gk], kind{GroupVersionKind: gvk})
	}
	slices.SortStableFunc(kinds, func(a, b objects.Kind) int { return cmp.Compare(a.Rank, b.Rank) })
	client, there, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	source, err := s.meet(client, versions, there, kinds)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, source, each)
}

// Get returns an object of the source. It is for kinds that ReadKinds does not list.
func (s *Source) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	client, err := dynamic.NewForConfig(s.clientConfig())
	if err != nil {
		return nil, fmt.Errorf("making a client for the source: %w", err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	return client.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (s *Source) read(ctx context.Context, source *connection, each func(*unstructured.Unstructured) error) (problems []Problem, err error) {
	for _, k := range source.missed {
		problems = append(problems, Problem{k.GroupKind(), k.missing()})
	}
	for _, k := range slices.Backward(source.kinds) {
		for _, stream := range s.streams(source.client, k) {
			err := stream.readAll(ctx, func(o *unstructured.Unstructured) error {
				if s.options.Redactor != nil {
					s.options.Redactor.Object(o)
				}
				return each(o)
			})
			switch {
			case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
				problems = append(problems, Problem{k.GroupKind(), stream.leftOut(err)})
			case err != nil:
				return problems, fmt.Errorf("listing %s of the source: %w", stream.name(), plain(err))
			}
		}
	}
	return problems, nil
}

func (k kind) missing() string {
	return fmt.Sprintf("%s is left out: the source serves it as %s, which is not served here", k, k.GroupVersion())
}

func (s stream) leftOut(err error) string {
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("%s is left out: the kubeconfig does not allow listing it", s.name())
	}
	return fmt.Sprintf("%s is left out: %v", s.name(), err)
}

func (s stream) readAll(ctx context.Context, each func(*unstructured.Unstructured) error) error {
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return s.list(ctx, options)
	})
	p.PageSize = pageSize
	return p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("the source lists a %T", o)
		}
		if isSecretive(u) || objects.IsBuiltIn(s.GroupKind(), u.GetNamespace(), u.GetName()) {
			return nil
		}
		return each(u)
	})
}

// isSecretive is a second fence: anything that a source calls a secret stays there.
func isSecretive(u *unstructured.Unstructured) bool { return strings.EqualFold(u.GetKind(), "Secret") }
