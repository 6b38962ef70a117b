package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/utils/ptr"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// SchedulerName is that of the pods that the flow scheduler serves.
const SchedulerName = "poseidon"

// GangAnnotation, of a pod, is the percentage of its controller's pods that must be placed together.
const GangAnnotation = "firmament-gang-scheduling"

// The profiles of Judge: arcs follows hard constraints other than room, and fit checks room too.
const (
	arcsProfile = "arcs"
	fitProfile  = "fit"
)

// Judge returns the kube-scheduler configuration on which rounds work.
func Judge() (*config.KubeSchedulerConfiguration, error) {
	c, err := schedulerconfig.Parse([]byte(judge))
	if err != nil {
		return nil, fmt.Errorf("making the predicates of the flow scheduler: %w", err)
	}
	return c.Internal, nil
}

const judge = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: arcs
  plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeUnschedulable}, {name: TaintToleration}, {name: NodeAffinity}, {name: NodePorts}, {name: InterPodAffinity}]
- schedulerName: fit
  plugins:
    multiPoint:
      disabled: [{name: DefaultPreemption}]
`

// Options are the inputs of a round besides the state. The zero value of a field means its default.
type Options struct {
	// Model is CPUMem by default.
	Model Model
	// Seed is for TRIVIAL and RANDOM.
	Seed uint64
	// Preemption lets running tasks be evicted or moved.
	Preemption bool
	// MaxTasks is how many tasks a machine may have; 50 by default.
	MaxTasks int
	// Parallelism returns how many pods a controller makes; nil, or false for an unknown one, counts those that there are.
	Parallelism func(namespace string, owner *metav1.OwnerReference) (int, bool)
	// Clock is time.Now by default.
	Clock func() time.Time
}

const defaultMaxTasks = 50

// Record is one round. It is immutable.
type Record struct {
	// Number counts the rounds of the program, from 1; Run leaves it to its caller.
	Number          int64     `json:"number"`
	Model           Model     `json:"model"`
	Preemption      bool      `json:"preemption,omitempty"`
	StartTime       time.Time `json:"startTime"`
	DurationSeconds float64   `json:"durationSeconds"`
	SolveSeconds    float64   `json:"solveSeconds"`
	// Unscheduled is the cost of a task without a machine.
	Unscheduled int64       `json:"unscheduled"`
	Cost        int64       `json:"cost"`
	Placements  []Placement `json:"placements"`
	// Refused are the places that a predicate refused afterwards, because the slots of one class ignore the other classes.
	Refused map[string]string `json:"refused,omitempty"`
	// Network is nil if it has more than MaxArcs arcs; Arcs is their number.
	Network *Network `json:"network,omitempty"`
	Arcs    int      `json:"arcs"`
	Error   string   `json:"error,omitempty"`
}

// MaxArcs bounds the network of a record.
const MaxArcs = 4000

// WaitingMessage is what Poseidon writes into the condition of a pod that found no place.
const WaitingMessage = "Firmament unable to schedule the pod"

type Bind struct {
	Pod  *v1.Pod
	Node string
}

// Outcome is what a round leaves to its caller to carry out.
type Outcome struct {
	Record *Record
	Binds  []Bind
	// Evictions are pods to be deleted: Poseidon deletes the pods that migrate, too.
	Evictions []*v1.Pod
	// Waiting are the pods that found no place.
	Waiting []*v1.Pod
	Cycles  []*result.Cycle
}

type round struct {
	ctx     context.Context
	trial   *whatif.Trial
	options Options
	problem *Problem
	pods    []*v1.Pod
	cycles  []*result.Cycle
}

// Run runs one round on a trial whose engine has Judge's configuration. It returns nil if no pod waits.
func Run(ctx context.Context, trial *whatif.Trial, options Options) (*Outcome, error) {
	options = options.defaulted()
	start := options.Clock()
	var waiting, apart, running []*v1.Pod
	for _, pod := range trial.Pods() {
		switch {
		case pod.Spec.SchedulerName != SchedulerName || pod.DeletionTimestamp != nil:
		case pod.Spec.NodeName != "":
			running = append(running, pod)
		case len(pod.Spec.SchedulingGates) > 0:
		case podAffinity(pod):
			apart = append(apart, pod)
		default:
			waiting = append(waiting, pod)
		}
	}
	if len(waiting)+len(apart) == 0 {
		return nil, nil
	}
	out := &Outcome{Record: &Record{Model: options.Model, Preemption: options.Preemption, StartTime: start, Placements: []Placement{}, Unscheduled: options.Model.Unscheduled(), Refused: map[string]string{}}}
	sortPods(waiting)
	sortPods(apart)
	if options.Preemption {
		sortPods(running)
		waiting = append(waiting, running...)
	}
	// Pods with pod affinity are placed one by one, after the others.
	sets := [][]*v1.Pod{waiting}
	for _, pod := range apart {
		sets = append(sets, []*v1.Pod{pod})
	}
	for i, pods := range sets {
		if len(pods) == 0 {
			continue
		}
		if err := runSet(ctx, trial, options, pods, i == 0, out); err != nil {
			return nil, err
		}
	}
	out.Record.DurationSeconds = options.Clock().Sub(start).Seconds()
	return out, nil
}

func (o Options) defaulted() Options {
	o.Model = cmp.Or(o.Model, CPUMem)
	o.MaxTasks = cmp.Or(o.MaxTasks, defaultMaxTasks)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

func sortPods(pods []*v1.Pod) {
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

func podAffinity(pod *v1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil)
}

// runSet solves one network and carries its placements out on the copy.
func runSet(ctx context.Context, trial *whatif.Trial, options Options, pods []*v1.Pod, drawn bool, out *Outcome) error {
	r := &round{ctx: ctx, trial: trial, options: options, pods: pods}
	if err := r.make(); err != nil {
		return err
	}
	solving := options.Clock()
	s := r.problem.Solve(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	record := out.Record
	record.SolveSeconds += options.Clock().Sub(solving).Seconds()
	record.Cost += s.Cost
	record.Arcs += len(s.Network.Arcs)
	if drawn && len(s.Network.Arcs) <= MaxArcs {
		record.Network = s.Network
	}
	for i, p := range s.Placements {
		if err := r.carryOut(pods[i], &p, out); err != nil {
			return err
		}
		record.Placements = append(record.Placements, p)
	}
	return nil
}

// carryOut does on the copy what a placement says, and notes it for the cluster.
func (r *round) carryOut(pod *v1.Pod, p *Placement, out *Outcome) error {
	reason := "the flow leaves it unscheduled: every path to a machine costs more, or is taken"
	switch p.Delta {
	case Keep:
		return nil
	case Preempt, Migrate:
		out.Evictions = append(out.Evictions, pod)
		return nil
	case NoOp:
		reason = "its gang has too few places in this round"
	case Place:
		err := r.trial.Place(r.ctx, pod, fitProfile, p.Machine)
		var unfit *whatif.UnfitError
		switch {
		case err == nil:
			out.Binds = append(out.Binds, Bind{pod, p.Machine})
			out.Cycles = append(out.Cycles, r.cycle(pod, p, ""))
			return nil
		case !errors.As(err, &unfit):
			return err
		}
		reason = fmt.Sprintf("the flow chose %s, but other tasks of the round took its room: %s", p.Machine, strings.Join(unfit.Reasons, ", "))
		out.Record.Refused[p.Task] = reason
		p.Delta = NoOp
	}
	out.Waiting = append(out.Waiting, pod)
	out.Cycles = append(out.Cycles, r.cycle(pod, p, reason))
	return nil
}

// cycle makes the record of a pod's attempt: the predicates of its class, and the machine that the flow chose.
func (r *round) cycle(pod *v1.Pod, p *Placement, reason string) *result.Cycle {
	c := *r.cycles[r.problem.Tasks[p.task].Class]
	c.Pod = result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	c.Hypothetical, c.Profile, c.Score, c.PreScore = false, SchedulerName, nil, nil
	c.Owner, c.SelectedNode, c.Message = nil, p.Machine, reason
	if owner := metav1.GetControllerOf(pod); owner != nil {
		c.Owner = &result.Owner{Kind: owner.Kind, Name: owner.Name}
	}
	c.Outcome = result.Scheduled
	if reason != "" {
		c.Outcome = result.Unschedulable
		if c.Nodes.Feasible > 0 { // otherwise the predicates have said it
			c.Permit = []result.PluginResult{{Plugin: "flow", Status: "Unschedulable", Reasons: []string{reason}}}
		}
	}
	c.Refusal = result.FindRefusal(&c)
	return &c
}

// About returns the record of a pod among those of a round, as a hypothetical one. A round leaves out pods that are being deleted, and
// those that wait for their gates.
func About(pod *v1.Pod, cycles []*result.Cycle, nodes int) *result.Cycle {
	plugin, message := "flow", "the round did not look at the pod"
	switch {
	case pod.DeletionTimestamp != nil:
		message = "the pod is being deleted"
	case len(pod.Spec.SchedulingGates) > 0:
		plugin, message = "SchedulingGates", "the pod has scheduling gates"
	}
	c := &result.Cycle{Summary: result.Summary{
		Pod: result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, Profile: SchedulerName, Outcome: result.Unschedulable,
		Message: message, Nodes: result.NodeCounts{Total: nodes},
	}}
	if at := slices.IndexFunc(cycles, func(c *result.Cycle) bool { return c.Pod.UID == pod.UID }); at >= 0 {
		found := *cycles[at]
		c = &found
	} else {
		c.PreFilter = []result.PluginResult{{Plugin: plugin, Status: "Unschedulable", Reasons: []string{c.Message}}}
		c.Refusal = result.FindRefusal(c)
	}
	c.Hypothetical = true
	return c
}

func (r *round) make() error {
	r.problem = &Problem{Model: r.options.Model, Seed: r.options.Seed, Preemption: r.options.Preemption}
	index := map[string]int{}
	for _, info := range r.trial.Nodes() {
		node := info.Node()
		m := Machine{
			// A node may say that it has more allocatable than capacity. Costs by its capacity would be negative then, which no flow of least cost allows.
			Name: node.Name, Capacity: resources(node.Status.Capacity).atLeast(resources(node.Status.Allocatable)), Allocatable: resources(node.Status.Allocatable),
			MaxPods: int(node.Status.Allocatable.Pods().Value()), MaxTasks: r.options.MaxTasks,
		}
		for _, p := range info.GetPods() {
			pod := p.GetPod()
			request := resources(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
			m.Requested.CPU += request.CPU
			m.Requested.Memory += request.Memory
			m.Pods++
			if pod.Spec.SchedulerName == SchedulerName {
				m.Running++
			}
		}
		index[m.Name] = len(r.problem.Machines)
		r.problem.Machines = append(r.problem.Machines, m)
	}
	classes, jobs := map[string]int{}, map[string]int{}
	for _, pod := range r.pods {
		job := jobOf(pod)
		j, known := jobs[job.key]
		if !known {
			j = len(r.problem.Jobs)
			jobs[job.key] = j
			r.problem.Jobs = append(r.problem.Jobs, Job{Name: job.name, Least: r.least(pod)})
		}
		key := classKey(pod, job.key)
		c, known := classes[key]
		if !known {
			c = len(r.problem.Classes)
			classes[key] = c
			if err := r.addClass(pod, job.name, index); err != nil {
				return err
			}
		}
		on := -1
		if m, ok := index[pod.Spec.NodeName]; ok {
			on = m
		}
		r.problem.Tasks = append(r.problem.Tasks, Task{Name: pod.Namespace + "/" + pod.Name, Job: j, Class: c, On: on})
	}
	return nil
}

func resources(list v1.ResourceList) Resources {
	return Resources{CPU: list.Cpu().MilliValue(), Memory: list.Memory().Value()}
}

// requestOf is what Poseidon sums up: the containers, without init containers.
func requestOf(pod *v1.Pod) Resources {
	without := *pod
	without.Spec.InitContainers = nil
	return resources(resourcehelper.PodRequests(&without, resourcehelper.PodResourcesOptions{}))
}

type owner struct{ key, name string }

// jobOf returns a pod's controller, else the label of its controller, else the pod itself.
func jobOf(pod *v1.Pod) owner {
	if o := metav1.GetControllerOf(pod); o != nil {
		return owner{string(o.UID), o.Name}
	}
	if uid := pod.Labels["controller-uid"]; uid != "" {
		return owner{uid, uid}
	}
	return owner{string(pod.UID), pod.Name}
}

// classKey is the same for pods that are alike.
func classKey(pod *v1.Pod, job string) string {
	request := requestOf(pod)
	size := fmt.Sprint(request.CPU, " ", request.Memory)
	// Every pod has the two tolerations that an admission plugin adds.
	if pod.Spec.Affinity != nil || len(pod.Spec.Tolerations) > 2 {
		return "job " + job + " " + size
	}
	keys := make([]string, 0, len(pod.Spec.NodeSelector))
	for key, value := range pod.Spec.NodeSelector {
		keys = append(keys, key+"="+value)
	}
	slices.Sort(keys)
	ports := ""
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports += fmt.Sprint(" ", p.HostPort, p.Protocol, p.HostIP)
			}
		}
	}
	tolerations := ""
	for _, t := range pod.Spec.Tolerations {
		tolerations += t.String()
	}
	return strings.Join(keys, ",") + " " + size + ports + tolerations
}

// Parallelism returns how many pods a controller makes, and whether it is of a kind that says so. owner may be nil.
func Parallelism(owner runtime.Object) (int, bool) {
	switch o := owner.(type) {
	case *batchv1.Job:
		return int(ptr.Deref(o.Spec.Parallelism, 1)), true
	case *appsv1.ReplicaSet:
		return int(ptr.Deref(o.Spec.Replicas, 1)), true
	}
	return 0, false
}

// least is the minimum of a pod's gang, 0 for none.
func (r *round) least(pod *v1.Pod) int {
	percent, err := strconv.Atoi(pod.Annotations[GangAnnotation])
	if err != nil || percent <= 0 || percent > 100 {
		return 0
	}
	of := metav1.GetControllerOf(pod)
	if of == nil {
		return 0
	}
	parallelism, known := 0, false
	if r.options.Parallelism != nil {
		parallelism, known = r.options.Parallelism(pod.Namespace, of)
	}
	if !known {
		for _, other := range r.pods {
			if o := metav1.GetControllerOf(other); o != nil && o.UID == of.UID {
				parallelism++
			}
		}
	}
	return parallelism * percent / 100
}

// addClass asks kube-scheduler's predicates where a pod may run, and its scores for the preferences.
func (r *round) addClass(pod *v1.Pod, job string, index map[string]int) error {
	r.trial.Among(nil)
	cycle, err := r.trial.Decide(r.ctx, pod, arcsProfile)
	if err != nil {
		return err
	}
	if cycle.Outcome == result.Error {
		return fmt.Errorf("judging machines for %s/%s: %s", pod.Namespace, pod.Name, cycle.Message)
	}
	class := Class{Name: className(pod, job), Request: requestOf(pod)}
	arcs := map[string]*ClassArc{}
	if cycle.Filter != nil {
		for i, name := range cycle.Filter.Nodes.All() {
			if cycle.Filter.Verdict(i).Plugin == "" {
				arcs[name] = &ClassArc{Machine: index[name]}
			}
		}
	}
	if cycle.Score != nil {
		for n, plugin := range cycle.Score.Plugins {
			for i, name := range cycle.Score.Nodes.All() {
				if a := arcs[name]; a != nil {
					a.prefer(plugin.Name, cycle.Score.Raw[n].At(i))
				}
			}
		}
	}
	for _, m := range r.problem.Machines {
		if a := arcs[m.Name]; a != nil {
			class.Arcs = append(class.Arcs, *a)
		}
	}
	r.problem.Classes, r.cycles = append(r.problem.Classes, class), append(r.cycles, cycle)
	return nil
}

// prefer notes what a plugin of kube-scheduler found out about a machine.
func (a *ClassArc) prefer(plugin string, raw int64) {
	switch plugin {
	case "NodeAffinity":
		a.NodeAffinity = raw
	case "InterPodAffinity":
		a.PodAffinity = raw
	case "TaintToleration":
		a.Taints = raw
	}
}

func className(pod *v1.Pod, job string) string {
	request := requestOf(pod)
	return fmt.Sprintf("%s (%dm, %dMi)", job, request.CPU, request.Memory>>20)
}

// CompareState is Compare for all pods of a state that have neither ended nor begun to leave, outside of an engine.
func CompareState(ctx context.Context, nodes []*v1.Node, pods []*v1.Pod, options Options) (*Comparison, error) {
	judge, err := Judge()
	if err != nil {
		return nil, err
	}
	var objects []runtime.Object
	for _, n := range nodes {
		objects = append(objects, n)
	}
	var compared []*v1.Pod
	for _, p := range pods {
		if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			continue
		}
		objects = append(objects, p)
		if p.DeletionTimestamp == nil {
			compared = append(compared, p)
		}
	}
	engine := whatif.New(whatif.Options{Source: whatif.Objects(objects), Configuration: func() *config.KubeSchedulerConfiguration { return judge }})
	defer engine.Stop()
	var out *Comparison
	err = engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) (err error) {
		out, err = Compare(ctx, trial, compared, options)
		return err
	})
	return out, err
}

// Compare prices the present places of pods by a cost model, beside the optimum for the same pods. The pods count as not placed for it. A pod
// without a node is one that found none.
func Compare(ctx context.Context, trial *whatif.Trial, pods []*v1.Pod, options Options) (*Comparison, error) {
	options = options.defaulted()
	r := &round{ctx: ctx, trial: trial, options: options}
	given := make([]string, len(pods))
	for i, pod := range pods {
		given[i] = pod.Spec.NodeName
		pending, err := trial.Pod(pod.Namespace, pod.Name)
		if err != nil {
			return nil, err
		}
		r.pods = append(r.pods, pending)
	}
	if err := r.make(); err != nil {
		return nil, err
	}
	machines := make([]int, len(pods))
	for i, name := range given {
		machines[i] = slices.IndexFunc(r.problem.Machines, func(m Machine) bool { return m.Name == name })
	}
	return r.problem.Gap(ctx, machines), context.Cause(ctx)
}
