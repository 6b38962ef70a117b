package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

const (
	settlePoll = 250 * time.Millisecond
	// settlePatience is how long settling may make no progress before it gives up; settleTimeout
	// bounds the whole.
	settlePatience = 5 * time.Second
	settleTimeout  = 30 * time.Second
	// releaseTimeout bounds the release of pods after an import was cancelled.
	releaseTimeout = 60 * time.Second
)

// finish does what remains after all objects are written. Whatever has happened, it releases the
// pods that wait behind the gate.
func (i *importer) finish(ctx context.Context) error {
	if ctx.Err() != nil {
		releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		i.release(releaseCtx, importWorkers)
		return nil
	}
	i.makeReady(ctx)
	i.meter.turn(Settling)
	i.meter.step(len(i.links)) // whose owners are not there
	if i.pods.gated {
		i.meter.step(len(i.pods.waiting) - len(i.pods.held)) // which have no gate to remove
	}
	// One by one, so that the scheduling queue has them in this order.
	i.release(ctx, 1)
	if ctx.Err() != nil {
		return i.finish(ctx)
	}
	return nil
}

// makeReady brings the cluster to the state in which a scheduler would place the last pods as in
// the source cluster: volumes bound, nodes without the taint of new nodes, the configuration in
// force. It does so once.
func (i *importer) makeReady(ctx context.Context) {
	if i.ready {
		return
	}
	i.ready = true
	i.meter.turn(Settling)
	i.configure(ctx)
	config := rest.CopyConfig(i.cluster.opts.Config)
	config.UserAgent, config.QPS, config.RateLimiter = userAgent, -1, nil
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		i.cluster.opts.Logger.Error(err, "making a client to wait for nodes and claims")
		return
	}
	if len(i.pods.waiting) > 0 {
		i.settle(ctx, func(ctx context.Context) (int, error) { return i.countTainted(ctx, client) })
	}
	unbound := map[string]*manifest.Object{}
	for _, o := range i.objects {
		if o.GVK.GroupKind() == objects.PersistentVolumeClaim && i.uids[keyOf(o)] != "" {
			unbound[o.Namespace+"/"+o.Name] = o
		}
	}
	if len(unbound) == 0 {
		return
	}
	var left []*manifest.Object
	i.settle(ctx, func(ctx context.Context) (int, error) {
		var err error
		left, err = unboundClaims(ctx, client, unbound)
		return len(left), err
	})
	for _, o := range left {
		i.rec.warn(itemOf(o, "it names a volume but is not bound to it; the volume may not exist, or belong to another claim"))
	}
}

// settle waits until count returns 0, or as long as it decreases.
func (i *importer) settle(ctx context.Context, count func(context.Context) (int, error)) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	least, since := -1, i.cluster.opts.now()
	for {
		left, err := count(ctx)
		switch {
		case err == nil && left == 0:
			return
		case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
			i.cluster.opts.Logger.Error(err, "waiting for what was imported to settle")
		case least < 0 || left < least:
			least, since = left, i.cluster.opts.now()
		case i.cluster.opts.now().Sub(since) > settlePatience:
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// countTainted returns how many nodes of the input still have the taint of new nodes, although they
// are ready or have no Ready condition yet.
func (i *importer) countTainted(ctx context.Context, client kubernetes.Interface) (int, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("listing nodes: %w", err)
	}
	tainted := 0
	for _, node := range nodes.Items {
		if i.index[key{objects.Node, "", node.Name}] != nil && isNew(&node) {
			tainted++
		}
	}
	return tainted, nil
}

func isNew(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return false // the taint is there to stay
		}
	}
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady {
			return true
		}
	}
	return false
}

// unboundClaims returns the claims that name a volume and are not bound.
func unboundClaims(ctx context.Context, client kubernetes.Interface, claims map[string]*manifest.Object) ([]*manifest.Object, error) {
	list, err := client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing claims: %w", err)
	}
	var left []*manifest.Object
	for _, claim := range list.Items {
		o := claims[claim.Namespace+"/"+claim.Name]
		if o != nil && claim.Spec.VolumeName != "" && claim.Status.Phase != corev1.ClaimBound {
			left = append(left, o)
		}
	}
	return left, nil
}

func (i *importer) configure(ctx context.Context) {
	if len(i.configurations) == 0 || ctx.Err() != nil {
		return
	}
	for _, c := range i.configurations[:len(i.configurations)-1] {
		i.rec.ignored(c.source, "another scheduler configuration comes later in the input, and that one is applied")
	}
	last := i.configurations[len(i.configurations)-1]
	report := &ConfigurationReport{Removed: []RemovedField{}, InactiveExtenders: []string{}}
	i.rec.report.Configuration = report
	if i.cluster.opts.Configuration == nil {
		report.Message = "there is no scheduler here to configure"
		return
	}
	adopted, err := i.cluster.opts.Configuration.Adopt(ctx, last.document)
	report.Removed = append(report.Removed, adopted.Removed...)
	if err != nil {
		report.Message = err.Error()
		return
	}
	report.Applied, report.Revision = true, adopted.Revision
	report.InactiveExtenders = append(report.InactiveExtenders, adopted.InactiveExtenders...)
}
