package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// cycles is what the original's log says of its scheduling cycles.
type cycles struct {
	mu       sync.Mutex
	complete int
	// tried has the number of complete cycles when a workload of a namespace was last at the head of its queue.
	tried map[string]int
}

func (c *cycles) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complete, c.tried = 0, map[string]int{}
}

func (c *cycles) read(line []byte) {
	starts, ends := bytes.Contains(line, []byte(`"Attempting to schedule workload"`)), bytes.Contains(line, []byte(`"Scheduling cycle complete"`))
	if !starts && !ends {
		return
	}
	var entry struct {
		Workload struct {
			Namespace string `json:"namespace"`
		} `json:"workload"`
	}
	if json.Unmarshal(line, &entry) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ends {
		c.complete++
	} else {
		c.tried[entry.Workload.Namespace] = c.complete + 1
	}
}

// seen returns how many cycles are complete, and the latest cycle of each namespace.
func (c *cycles) seen() (int, map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.complete, maps.Clone(c.tried)
}

// A pulse is how the judge knows that a Kueue has come round to everything before it, however slow the machine is. A queue of its own has
// quota for one workload and always has two. A pulse deletes the one that is admitted and waits until the other is. Quota that becomes
// free makes the original try again what it has refused, one second later and in the order in which quota became free. So whatever
// became free before the pulse has been tried again at its end, in a full cycle. Two pulses in a row want different amounts, and a pulse waits
// until the status of its queue says so: the built-in queues write all statuses in turn, and on a busy machine seconds apart.
const (
	pulseMark     = "pulse"
	pulseResource = "example.com/pulse"
)

var pulseObjects = []map[string]any{
	parse(`{apiVersion: v1, kind: Namespace, metadata: {name: pulse}}`),
	parse(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: pulse}}`),
	parse(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: pulse}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [example.com/pulse], flavors: [{name: pulse, resources: [{name: example.com/pulse, nominalQuota: 2}]}]}]}}`),
	parse(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: pulse, namespace: pulse}, spec: {clusterQueue: pulse}}`),
}

func (c *cluster) addPulse(ctx context.Context) error {
	c.pulses++
	return c.client.Create(ctx, object("Workload", fmt.Sprint("pulse-", time.Now().UnixNano()), parse(`{metadata: {namespace: pulse}, spec: {queueName: pulse, active: true, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {example.com/pulse: %d}}}]}}}]}}`, 1+c.pulses%2)))
}

func (c *cluster) pulse(ctx context.Context) error {
	admitted, err := c.pulseAdmitted(ctx, "")
	if err == nil {
		err = c.client.Delete(ctx, admitted)
	}
	if err == nil {
		admitted, err = c.pulseAdmitted(ctx, admitted.Name)
	}
	if err == nil {
		err = c.pulseSaid(ctx, admitted)
	}
	if err == nil {
		err = c.addPulse(ctx)
	}
	return err
}

// pulseSaid waits until the status of the pulse's queue says what the workload takes.
func (c *cluster) pulseSaid(ctx context.Context, admitted *kueue.Workload) error {
	taken := admitted.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests[pulseResource]
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var queue kueue.ClusterQueue
		if err := c.cache.Get(ctx, client.ObjectKey{Name: pulseMark}, &queue); err != nil {
			return false, err
		}
		reservation := queue.Status.FlavorsReservation
		return len(reservation) == 1 && len(reservation[0].Resources) == 1 && reservation[0].Resources[0].Total.Cmp(taken) == 0, nil
	})
	if err != nil {
		err = fmt.Errorf("waiting for the status of a queue of %s: %w", c.name, err)
	}
	return err
}

// pulseAdmitted waits for the workload that is admitted and has another name.
func (c *cluster) pulseAdmitted(ctx context.Context, but string) (*kueue.Workload, error) {
	var out *kueue.Workload
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var all kueue.WorkloadList
		if err := c.cache.List(ctx, &all, client.InNamespace(pulseMark)); err != nil {
			return false, err
		}
		for i := range all.Items {
			if w := &all.Items[i]; w.Name != but && meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted) {
				out = w
			}
		}
		return out != nil, nil
	})
	if err != nil {
		err = fmt.Errorf("waiting for a cycle of %s: %w", c.name, err)
	}
	return out, err
}

const (
	// calm is for how many pulses in a row nothing may change.
	calm = 2
	// fullCycles is how many cycles of a pulse may try the same heads again before they count as refused.
	fullCycles = 4
	// tooLong is after how many pulses a scenario is taken as it is.
	tooLong = 20
)

// settle waits until nothing changes in any place, and returns what is there.
func settle(ctx context.Context, places []place, log func(format string, args ...any)) ([]observation, error) {
	clusters := map[*cluster]bool{}
	for _, p := range places {
		clusters[p.cluster] = true
	}
	now, since := make([]observation, len(places)), make([]int, len(places))
	for i, p := range places {
		var err error
		if now[i], err = p.observe(ctx); err != nil {
			return nil, err
		}
	}
	for n := range tooLong {
		before := map[*cluster]int{}
		var pulses errgroup.Group
		for c := range clusters {
			before[c], _ = c.cycles.seen()
			pulses.Go(func() error { return c.pulse(ctx) })
		}
		if err := pulses.Wait(); err != nil {
			return nil, err
		}
		all, last := true, ""
		for i, p := range places {
			o, err := p.observe(ctx)
			if err != nil {
				return nil, err
			}
			complete, tried := p.cycles.seen()
			idle := tried[p.mark] <= before[p.cluster] || complete-before[p.cluster] >= fullCycles
			if idle && len(o.moving) == 0 && len(changed(now[i].facts, o.facts)) == 0 {
				since[i]++
			} else {
				since[i] = 0
			}
			if since[i] < calm {
				all, last = false, fmt.Sprintf("%s on %s: idle %t, moving %v, changed %v", p.mark, p.name, idle, o.moving, changed(now[i].facts, o.facts))
			}
			now[i] = o
		}
		if all {
			return now, nil
		}
		if n == tooLong-1 {
			log("taken as it is: %s", last)
			for i := range now {
				now[i].unsettled = since[i] < calm
			}
		}
	}
	return now, nil
}

// changed are the names of the facts that differ.
func changed(before, after map[string]string) []string {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, after)
	maps.DeleteFunc(names, func(name, _ string) bool { return before[name] == after[name] })
	return slices.Sorted(maps.Keys(names))
}
