package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

const (
	rolesInterval = time.Second
	// The API server's own hook tries for as long.
	rolesTimeout = 30 * time.Second
)

// bootstrapRoles creates the default RBAC roles and bindings, and adds what existing ones lack. It is what
// kube-apiserver's hook rbac/bootstrap-roles does, which no context stops and which ends the process when it
// fails, so that a stop would have to wait for it. The roles that it cannot write are logged, unless ctx ends.
func bootstrapRoles(ctx context.Context, config *rest.Config, logger klog.Logger) {
	config = rest.CopyConfig(config)
	// The functions of package reconciliation take no context.
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return within{ctx, next} })
	client, err := kubernetes.NewForConfig(config)
	if err == nil {
		var last error
		err = wait.PollUntilContextTimeout(ctx, rolesInterval, rolesTimeout, true, func(ctx context.Context) (bool, error) {
			last = reconcileRoles(ctx, client)
			return last == nil, nil
		})
		err = errors.Join(err, last)
	}
	if err != nil && ctx.Err() == nil {
		logger.Error(err, "Cannot write some of the default roles")
	}
}

// within ends each request with a context.
type within struct {
	ctx  context.Context
	next http.RoundTripper
}

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	return w.next.RoundTrip(r.WithContext(w.ctx))
}

// reconcileRoles goes on after an error, because a policy of the users may refuse a single role.
func reconcileRoles(ctx context.Context, client kubernetes.Interface) error {
	var errs []error
	done := func(name string, err error) {
		if err != nil && ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	role := func(kind string, role reconciliation.RuleOwner, client reconciliation.RuleOwnerModifier) {
		options := reconciliation.ReconcileRoleOptions{Role: role, Client: client, Confirm: true}
		_, err := options.Run()
		done(kind+" "+role.GetName(), err)
	}
	binding := func(kind string, binding reconciliation.RoleBinding, client reconciliation.RoleBindingModifier) {
		options := reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: client, Confirm: true}
		_, err := options.Run()
		done(kind+" "+binding.GetName(), err)
	}
	rbac, namespaces := client.RbacV1(), client.CoreV1().Namespaces()
	for _, r := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()) {
		role("ClusterRole", reconciliation.ClusterRoleRuleOwner{ClusterRole: &r}, reconciliation.ClusterRoleModifier{Client: rbac.ClusterRoles()})
	}
	for _, b := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		binding("ClusterRoleBinding", reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &b},
			reconciliation.ClusterRoleBindingClientAdapter{Client: rbac.ClusterRoleBindings()})
	}
	for _, roles := range bootstrappolicy.NamespaceRoles() {
		for _, r := range roles {
			role("Role", reconciliation.RoleRuleOwner{Role: &r}, reconciliation.RoleModifier{Client: rbac, NamespaceClient: namespaces})
		}
	}
	for _, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, b := range bindings {
			binding("RoleBinding", reconciliation.RoleBindingAdapter{RoleBinding: &b},
				reconciliation.RoleBindingClientAdapter{Client: rbac, NamespaceClient: namespaces})
		}
	}
	return errors.Join(errs...)
}
