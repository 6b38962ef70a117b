package capacityscheduling

import (
	"maps"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
)

type quota struct {
	name string
	min  amounts
	// max is nil if there is no limit.
	max  amounts
	used amounts
	pods map[types.UID]amounts
}

func newQuota(q *v1alpha1.ElasticQuota) *quota {
	out := &quota{name: q.Name, min: amountsOf(q.Spec.Min), used: amounts{}, pods: map[types.UID]amounts{}}
	if q.Spec.Max != nil {
		out.max = amountsOf(q.Spec.Max)
	}
	return out
}

func (q *quota) clone() *quota {
	out := *q
	out.used, out.pods = maps.Clone(q.used), maps.Clone(q.pods)
	return &out
}

func (q *quota) add(pod *v1.Pod) {
	if _, counted := q.pods[pod.UID]; counted {
		return
	}
	request := requestOf(pod)
	q.pods[pod.UID] = request
	q.used.add(request)
}

func (q *quota) remove(uid types.UID) {
	q.used.subtract(q.pods[uid])
	delete(q.pods, uid)
}

func (q *quota) limit(name v1.ResourceName) (int64, bool) {
	if q.max == nil {
		return 0, false
	}
	limit, named := q.max[name]
	for _, compared := range always {
		named = named || name == compared
	}
	return limit, named
}

// overMax reports whether the use and more are above the max. It compares cpu, memory,
// ephemeral-storage, and the resources of more.
func (q *quota) overMax(more amounts) bool {
	for _, name := range more.compared() {
		if limit, limited := q.limit(name); limited && sum(q.used[name], more[name]) > limit {
			return true
		}
	}
	return false
}

// overMinWith reports whether the use and more are above the min. It compares the same
// resources as overMax.
func (q *quota) overMinWith(more amounts) bool {
	for _, name := range more.compared() {
		if sum(q.used[name], more[name]) > q.min[name] {
			return true
		}
	}
	return false
}

func (q *quota) overMin() bool {
	for name, used := range q.used {
		if used > q.min[name] {
			return true
		}
	}
	return false
}

// accounts are the quotas as a cycle sees them. Only dry runs of preemption change clones of it.
type accounts struct {
	of map[string]*quota // by namespace
	// own are the namespaces whose quota belongs to this value alone.
	own map[string]bool
}

func (a *accounts) Clone() fwk.StateData {
	out := &accounts{of: maps.Clone(a.of), own: maps.Clone(a.own)}
	for namespace := range a.own {
		out.of[namespace] = a.of[namespace].clone()
	}
	return out
}

// change returns the namespace's quota for changing; nil if there is none.
func (a *accounts) change(namespace string) *quota {
	q := a.of[namespace]
	if q == nil || a.own[namespace] {
		return q
	}
	q = q.clone()
	a.of[namespace] = q
	if a.own == nil {
		a.own = map[string]bool{}
	}
	a.own[namespace] = true
	return q
}

func (a *accounts) used() amounts {
	out := amounts{}
	for _, q := range a.of {
		out.add(q.used)
	}
	return out
}

func (a *accounts) min() amounts {
	out := amounts{}
	for _, q := range a.of {
		out.add(q.min)
	}
	return out
}

// overTotal reports whether the use of all quotas and more are above the sum of the
// mins. It compares cpu, memory, ephemeral-storage, and every other resource that is used
// or in more.
func (a *accounts) overTotal(more amounts) bool {
	total, limit := a.used().plus(more), a.min()
	for _, name := range total.compared() {
		if total[name] > limit[name] {
			return true
		}
	}
	return false
}

// ledger is the plugin's account of all namespaces with a quota. Any goroutine may call its
// methods.
type ledger struct {
	listed func(namespace string) []*v1alpha1.ElasticQuota
	// placed returns the unfinished pods of a namespace that have a node. It is nil in a live
	// cluster.
	placed func(namespace string) []*v1.Pod

	mu     sync.Mutex
	quotas map[string]*quota
	// shared are the namespaces whose quota a snapshot has.
	shared map[string]bool
}

func newLedger(listed func(string) []*v1alpha1.ElasticQuota) *ledger {
	return &ledger{listed: listed, quotas: map[string]*quota{}, shared: map[string]bool{}}
}

func (l *ledger) snapshot() *accounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	for namespace := range l.quotas {
		l.shared[namespace] = true
	}
	return &accounts{of: maps.Clone(l.quotas)}
}

// change returns the namespace's quota, to change under the lock; nil if there is none.
func (l *ledger) change(namespace string) *quota {
	q := l.quotas[namespace]
	if q == nil || !l.shared[namespace] {
		return q
	}
	q = q.clone()
	l.put(namespace, q)
	return q
}

func (l *ledger) put(namespace string, q *quota) {
	l.quotas[namespace] = q
	delete(l.shared, namespace)
}

// added counts a namespace's first ElasticQuota. It does not count pods that already have a node:
// only a scheduler that starts after them does, such as a hypothetical one.
func (l *ledger) added(q *v1alpha1.ElasticQuota) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quotas[q.Namespace] != nil {
		return
	}
	account := newQuota(q)
	if l.placed != nil {
		for _, pod := range l.placed(q.Namespace) {
			account.add(pod)
		}
	}
	l.put(q.Namespace, account)
}

// updated replaces the min and the max of a namespace, whichever of its quotas changed.
func (l *ledger) updated(q *v1alpha1.ElasticQuota) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := newQuota(q)
	if before := l.quotas[q.Namespace]; before != nil {
		next.used, next.pods = maps.Clone(before.used), maps.Clone(before.pods)
	}
	l.put(q.Namespace, next)
}

// deleted forgets the account of a namespace, whichever of its quotas went.
func (l *ledger) deleted(q *v1alpha1.ElasticQuota) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.quotas, q.Namespace)
	delete(l.shared, q.Namespace)
}

func (l *ledger) place(pod *v1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quotas[pod.Namespace] == nil {
		// At the start, the pod's event may come before the quota's.
		listed := l.listed(pod.Namespace)
		if len(listed) == 0 {
			return
		}
		l.put(pod.Namespace, newQuota(listed[0]))
	}
	l.change(pod.Namespace).add(pod)
}

func (l *ledger) release(pod *v1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.change(pod.Namespace); q != nil {
		q.remove(pod.UID)
	}
}
