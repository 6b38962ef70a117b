package definitions

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	// fieldManager is the name under which this package writes. A definition that another manager
	// has written to belongs to a user.
	fieldManager = "kube-scheduler-simulator-definitions"
	// serveTimeout bounds how long the API server may take to serve a kind.
	serveTimeout = 30 * time.Second
	servePoll    = 25 * time.Millisecond
)

// Cluster is where definitions are installed. Methods are safe for concurrent use.
type Cluster struct {
	client    clientset.Interface
	discovery *discovery.DiscoveryClient
}

// NewCluster returns the cluster that config reaches with the rights of an administrator. It does
// no I/O.
func NewCluster(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = fieldManager
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for custom resource definitions: %w", err)
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for custom resource definitions: %w", err)
	}
	return &Cluster{client, found}, nil
}

// Need installs the definitions that a configuration needs and that the cluster does not have. It
// returns when the API server serves their objects.
func (c *Cluster) Need(ctx context.Context, definitions []Definition) error {
	return c.install(ctx, definitions, false)
}

// Keep is Need for definitions that a user has asked for: they stay.
func (c *Cluster) Keep(ctx context.Context, definitions []Definition) error {
	return c.install(ctx, definitions, true)
}

func (c *Cluster) install(ctx context.Context, definitions []Definition, keep bool) error {
	if len(definitions) > 1 {
		// The API server prepares several at the same time. The loop below repeats what fails.
		for _, d := range definitions {
			_, _ = c.step(ctx, d, keep)
		}
	}
	for _, d := range definitions {
		err := wait.PollUntilContextTimeout(ctx, servePoll, serveTimeout, true, func(ctx context.Context) (bool, error) {
			served, err := c.step(ctx, d, keep)
			if apierrors.IsConflict(err) {
				return false, nil // another client has changed it
			}
			return served, err
		})
		if err != nil {
			return fmt.Errorf("installing the custom resource definition %s: %w", d.Name(), err)
		}
	}
	return nil
}

// Versions returns the versions of a definition that the cluster serves; none without the definition.
func (c *Cluster) Versions(ctx context.Context, d Definition) (served []string, err error) {
	here, err := c.client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, d.Name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, v := range here.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	return served, nil
}

// isKnown reports whether clients that ask what the API server serves learn of the kind: the first
// thing that people do is to apply objects.
func (c *Cluster) isKnown(d Definition) (bool, error) {
	_, resources, _, err := c.discovery.GroupsAndMaybeResources()
	listed := resources[d.Kind.GroupVersion()]
	return err == nil && listed != nil && slices.ContainsFunc(listed.APIResources, func(r metav1.APIResource) bool { return r.Name == d.Resource }), err
}

// step brings a definition one step nearer to being served, and reports whether it is.
func (c *Cluster) step(ctx context.Context, d Definition, keep bool) (served bool, err error) {
	crds := c.client.ApiextensionsV1().CustomResourceDefinitions()
	here, err := crds.Get(ctx, d.Name(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, c.create(ctx, d, keep)
	case err != nil:
		return false, err
	case here.DeletionTimestamp != nil:
		return false, nil // it is created again when it has gone
	case keep && here.Annotations[objects.AnnotationForPlugin] != "":
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, objects.AnnotationForPlugin)
		_, err := crds.Patch(ctx, d.Name(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		return false, err
	case !serves(here, d.Kind.Version):
		return true, nil // the user's own definition, without objects for the plugin
	case !isEstablished(here):
		return false, nil // the API server may still answer for a definition of the same name that has gone
	}
	if _, err = c.empty(ctx, d); apierrors.IsNotFound(err) {
		return false, nil // not yet
	}
	if err != nil {
		return false, err
	}
	return c.isKnown(d)
}

func (c *Cluster) create(ctx context.Context, d Definition, keep bool) error {
	object, err := d.Manifest()
	if err != nil {
		return err
	}
	if !keep {
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, objects.AnnotationForPlugin, d.Plugin)
	}
	_, err = c.client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func isEstablished(d *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

func serves(d *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && v.Served
	})
}

// empty reports whether no objects exist, apart from those that virtual nodes publish. The error is
// NotFound when the API server does not serve them.
func (c *Cluster) empty(ctx context.Context, d Definition) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	err := c.discovery.RESTClient().Get().AbsPath("/apis", d.Kind.Group, d.Kind.Version, d.Resource).
		Param("limit", "1").Param("labelSelector", "!"+objects.LabelVirtualDriver).Do(ctx).Into(list)
	return len(list.Items) == 0, err
}

// KeepOut keeps writes to a resource out until release is called. It returns when those in flight
// have ended.
type KeepOut func(ctx context.Context, resource schema.GroupResource, why string) (release func(), err error)

// Tidy deletes the definitions that were installed for a configuration and are not among the
// needed ones. It leaves those of which objects exist, because they would be deleted too, and
// those that another client has edited. While it looks, no client can create such an object.
func (c *Cluster) Tidy(ctx context.Context, needed []Definition, keepOut KeepOut) error {
	for _, d := range table {
		if slices.Contains(needed, d) {
			continue
		}
		if err := c.remove(ctx, d, keepOut); err != nil {
			return fmt.Errorf("deleting the custom resource definition %s: %w", d.Name(), err)
		}
	}
	return nil
}

func (c *Cluster) remove(ctx context.Context, d Definition, keepOut KeepOut) error {
	crds := c.client.ApiextensionsV1().CustomResourceDefinitions()
	here, err := crds.Get(ctx, d.Name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if here.DeletionTimestamp != nil || here.Annotations[objects.AnnotationForPlugin] == "" || edited(here) {
		return nil
	}
	why := fmt.Sprintf("the definition of %s is being removed, because the scheduler configuration that needed it has gone; try again", d.Kind.Kind)
	release, err := keepOut(ctx, schema.GroupResource{Group: d.Kind.Group, Resource: d.Resource}, why)
	if err != nil {
		return err
	}
	defer release()
	if empty, err := c.empty(ctx, d); err != nil || !empty {
		return nil
	}
	err = crds.Delete(ctx, d.Name(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &here.UID, ResourceVersion: &here.ResourceVersion}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // another client has deleted it, or edited it
	}
	if err != nil {
		return err
	}
	// The API server learns of the deletion a little later than it is acknowledged, and until then
	// it would accept an object.
	return wait.PollUntilContextTimeout(ctx, servePoll, serveTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := crds.Get(ctx, d.Name(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && now.UID != here.UID {
			return true, nil
		}
		return false, err
	})
}

// edited reports whether a client other than this package has written to a definition, apart from the status,
// which is the API server's.
func edited(d *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(d.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Subresource == "" && m.Manager != fieldManager
	})
}

// Origin says why a cluster has a definition.
type Origin string

const (
	// Absent: it does not have it, or is deleting it.
	Absent Origin = "absent"
	// ForConfiguration: it came with a configuration, and leaves with it.
	ForConfiguration Origin = "configuration"
	// ForUser: it stays.
	ForUser Origin = "user"
)

// State is a definition in a cluster.
type State struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plugin     string `json:"plugin"`
	Installed  Origin `json:"installed"`
}

// List returns all definitions of the simulator as they are in the cluster.
func (c *Cluster) List(ctx context.Context) ([]State, error) {
	states := make([]State, 0, len(table))
	for _, d := range table {
		state := State{Name: d.Name(), APIVersion: d.Kind.GroupVersion().String(), Kind: d.Kind.Kind, Plugin: d.Plugin, Installed: ForUser}
		here, err := c.client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, d.Name(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), err == nil && here.DeletionTimestamp != nil:
			state.Installed = Absent
		case err != nil:
			return nil, fmt.Errorf("looking for the custom resource definition %s: %w", d.Name(), err)
		case here.Annotations[objects.AnnotationForPlugin] != "":
			state.Installed = ForConfiguration
		}
		states = append(states, state)
	}
	return states, nil
}
