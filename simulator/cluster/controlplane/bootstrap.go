package controlplane

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// systemNamespaces are the namespaces that kube-apiserver maintains. It creates them some time
// after it is ready; users may rely on them at once.
var systemNamespaces = []string{
	metav1.NamespaceDefault,
	metav1.NamespaceSystem,
	metav1.NamespacePublic,
	corev1.NamespaceNodeLease,
}

// A webhook of the users may delay a creation in a cluster that is not new.
const recreateTimeout = 2 * time.Second

// bootstrap creates the objects that every cluster has, and changes none. In a cluster that is not
// new, a policy, a webhook or a full storage may refuse to create one again: that is logged.
func bootstrap(ctx context.Context, config *rest.Config, isNew bool, logger klog.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	create := func(what string, get, create func(context.Context) error) error {
		err := ensure(ctx, isNew, get, create)
		if err != nil && (isNew || ctx.Err() != nil) {
			return fmt.Errorf("create %s: %w", what, err)
		}
		if err != nil {
			logger.Error(err, "Cannot create an object again that every cluster has", "object", what)
		}
		return nil
	}
	for _, name := range systemNamespaces {
		namespaces := client.CoreV1().Namespaces()
		err := create("namespace "+name, func(ctx context.Context) error {
			_, err := namespaces.Get(ctx, name, metav1.GetOptions{})
			return err
		}, func(ctx context.Context) error {
			_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, class := range schedulingv1.SystemPriorityClasses() {
		classes := client.SchedulingV1().PriorityClasses()
		err := create("priority class "+class.Name, func(ctx context.Context) error {
			_, err := classes.Get(ctx, class.Name, metav1.GetOptions{})
			return err
		}, func(ctx context.Context) error {
			_, err := classes.Create(ctx, class, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ensure does not ask to create what exists: admission comes first, and may refuse that.
func ensure(ctx context.Context, isNew bool, get, create func(context.Context) error) error {
	if err := get(ctx); !apierrors.IsNotFound(err) {
		return err
	}
	if !isNew {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, recreateTimeout)
		defer cancel()
	}
	if err := create(ctx); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
