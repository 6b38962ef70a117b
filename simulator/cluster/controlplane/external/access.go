package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/features"
)

// access is a request that the scheduler or the recorder makes.
type access struct {
	verb, group, resource, subresource string
}

func (a access) String() string {
	name := a.resource
	if a.group != "" {
		name += "." + a.group
	}
	if a.subresource != "" {
		name += "/" + a.subresource
	}
	return a.verb + " " + name
}

// neededAccess returns the requests of scheduling, results and annotations. The web application
// also shows everything else that the kubeconfig's user may read.
func neededAccess() []access {
	watched := []access{
		{group: "", resource: "nodes"}, {group: "", resource: "pods"}, {group: "", resource: "namespaces"}, {group: "", resource: "services"},
		{group: "", resource: "persistentvolumes"}, {group: "", resource: "persistentvolumeclaims"}, {group: "", resource: "replicationcontrollers"},
		{group: "apps", resource: "replicasets"}, {group: "apps", resource: "statefulsets"}, {group: "policy", resource: "poddisruptionbudgets"},
		{group: "storage.k8s.io", resource: "storageclasses"}, {group: "storage.k8s.io", resource: "csinodes"},
		{group: "storage.k8s.io", resource: "csidrivers"}, {group: "storage.k8s.io", resource: "csistoragecapacities"},
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		watched = append(watched, access{group: "resource.k8s.io", resource: "resourceclaims"},
			access{group: "resource.k8s.io", resource: "resourceslices"}, access{group: "resource.k8s.io", resource: "deviceclasses"})
	}
	var all []access
	for _, verb := range []string{"list", "watch"} {
		for _, a := range watched {
			a.verb = verb
			all = append(all, a)
		}
	}
	return append(all,
		access{"create", "", "pods", "binding"}, access{"patch", "", "pods", "status"}, access{"get", "", "pods", ""}, access{"patch", "", "pods", ""},
		access{"delete", "", "pods", ""}, access{"create", "events.k8s.io", "events", ""})
}

// maxMissing bounds how many missing permissions an error names.
const maxMissing = 5

// checkAccess returns an error that names missing permissions.
func checkAccess(ctx context.Context, client kubernetes.Interface) error {
	needed := neededAccess()
	refused := make([]bool, len(needed))
	group, ctx := errgroup.WithContext(ctx)
	for i, a := range needed {
		group.Go(func() (err error) {
			refused[i], err = isRefused(ctx, client, a)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("checking permissions: %w", withoutURL(err))
	}
	var missing []string
	for i, a := range needed {
		if refused[i] {
			missing = append(missing, a.String())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	more := ""
	if n := len(missing) - maxMissing; n > 0 {
		missing, more = missing[:maxMissing], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the kubeconfig's user may not %s%s; the page \"Another control plane\" of the documentation lists the required permissions", strings.Join(missing, ", "), more)
}

func isRefused(ctx context.Context, client kubernetes.Interface, a access) (bool, error) {
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: a.verb, Group: a.group, Resource: a.resource, Subresource: a.subresource,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return !review.Status.Allowed, nil
}

func unmarshalVersion(data []byte, info *version.Info) error {
	if err := json.Unmarshal(data, info); err != nil {
		return err
	}
	if info.GitVersion == "" {
		return errors.New("it does not report a version")
	}
	return nil
}
