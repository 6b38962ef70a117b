package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	coordinationinformers "k8s.io/client-go/informers/coordination/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	kueueconfig "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// original notices Kueue itself in the cluster, by what an installation leaves there: webhooks for Kueue's kinds, and the
// lease of its controllers. A lease counts even after it has expired: while Kueue restarts, our controllers must not decide
// about its workloads.
type original struct {
	validating, mutating, leases cache.SharedIndexInformer
	synced                       []cache.InformerSynced
	undo                         []func()
}

// watchOriginal calls changed after each change of what sign returns.
func watchOriginal(client kubernetes.Interface, shared informers.SharedInformerFactory, changed func()) (*original, error) {
	o := &original{
		validating: shared.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer(),
		mutating:   shared.Admissionregistration().V1().MutatingWebhookConfigurations().Informer(),
		leases: coordinationinformers.NewFilteredLeaseInformer(client, metav1.NamespaceAll, 0, cache.Indexers{}, func(list *metav1.ListOptions) {
			list.FieldSelector = fields.OneTermEqualSelector("metadata.name", kueueconfig.DefaultLeaderElectionID).String()
		}),
	}
	note := func(any) { changed() }
	for _, informer := range []cache.SharedIndexInformer{o.validating, o.mutating, o.leases} {
		handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, obj any) { changed() }, DeleteFunc: note})
		if err != nil {
			return nil, fmt.Errorf("watching for Kueue itself: %w", err)
		}
		o.synced = append(o.synced, handler.HasSynced)
		o.undo = append(o.undo, func() { _ = informer.RemoveEventHandler(handler) })
	}
	return o, nil
}

// run watches the lease until ctx ends. Others run the shared informers.
func (o *original) run(ctx context.Context) {
	o.leases.RunWithContext(ctx)
	for _, undo := range o.undo {
		undo()
	}
}

// sign says what of Kueue itself is in the cluster, such as "the Lease kueue-system/c1f6bfd2.kueue.x-k8s.io"; "" for nothing.
func (o *original) sign() string {
	var signs []string
	for _, obj := range o.mutating.GetStore().List() {
		c := obj.(*admissionregistrationv1.MutatingWebhookConfiguration)
		if slices.ContainsFunc(c.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return ofKueue(w.Rules) }) {
			signs = append(signs, "the MutatingWebhookConfiguration "+c.Name)
		}
	}
	for _, obj := range o.validating.GetStore().List() {
		c := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration)
		if slices.ContainsFunc(c.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return ofKueue(w.Rules) }) {
			signs = append(signs, "the ValidatingWebhookConfiguration "+c.Name)
		}
	}
	for _, obj := range o.leases.GetStore().List() {
		lease := obj.(*coordinationv1.Lease)
		signs = append(signs, "the Lease "+lease.Namespace+"/"+lease.Name)
	}
	slices.Sort(signs)
	return strings.Join(signs, ", ")
}

// ofKueue reports whether the rules of a webhook name Kueue's kinds, as those of each of its releases do.
func ofKueue(rules []admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(r.APIGroups, kueue.GroupVersion.Group)
	})
}
