package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

// Papers are the published measurements that Paper repeats.
var Papers = []string{"kueue"}

// The load of Kueue's own performance test, test/performance/scheduler/configs/baseline/generator.yaml of its module: in each of
// the queues, so many workloads of each class come one after the other, and run as long after their admission.
const (
	paperCohorts, paperQueues             = 5, 6
	paperNominal, paperBorrowing    int64 = 20, 100
	paperNamespace, paperFlavorName       = "kueue", "rf"
)

type paperClass struct {
	name           string
	count          int
	every, runs    time.Duration
	priority       int32
	cpu            int64
	admitted       int
	waited, latest time.Duration
}

func paperClasses() []*paperClass {
	return []*paperClass{
		{name: "small", count: 350, every: 100 * time.Millisecond, runs: 200 * time.Millisecond, priority: 50, cpu: 1},
		{name: "medium", count: 100, every: 500 * time.Millisecond, runs: 500 * time.Millisecond, priority: 100, cpu: 5},
		{name: "large", count: 50, every: 1200 * time.Millisecond, runs: time.Second, priority: 200, cpu: 20},
	}
}

// PaperReport is one run of that load in virtual time.
type PaperReport struct {
	Workloads, Queues, Cohorts int
	Classes                    []PaperClass
	// Usage is the mean share of the nominal quota that the ClusterQueues had reserved until the last workload ended, and
	// LeastUsage that of the queue with the least.
	Usage, LeastUsage float64
	// Virtual is the time from the first creation to the last end, Evictions what preemption took on the way.
	Virtual   time.Duration
	Evictions int
	// Wall is how long the run took.
	Wall time.Duration
}

// PaperClass is what became of the workloads of a class.
type PaperClass struct {
	Name              string
	Count             int
	MeanToAdmission   time.Duration
	LatestToAdmission time.Duration
}

// Paper repeats a published measurement and writes a table to out, with what differs.
func Paper(ctx context.Context, paper string, out io.Writer) error {
	if !slices.Contains(Papers, paper) {
		return fmt.Errorf("--paper: must be one of %v", Papers)
	}
	r, err := paperOfKueue(ctx, paperCohorts)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Kueue's performance test in virtual time: %d workloads, %d ClusterQueues, %d cohorts\n\n", r.Workloads, r.Queues, r.Cohorts)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLASS\tWORKLOADS\tMEAN TIME TO ADMISSION\tLONGEST")
	for _, c := range r.Classes {
		fmt.Fprintf(t, "%s\t%d\t%.1f s\t%.1f s\n", c.Name, c.Count, c.MeanToAdmission.Seconds(), c.LatestToAdmission.Seconds())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `
Use of nominal quota: %.1f %% on average, %.1f %% in the ClusterQueue with the least
Total: %.1f s of virtual time, %d evictions, in %.1f s

What differs from Kueue's own run: there, a cycle and each write to the API server take time, and the runner that ends workloads
hears of admissions late, so quota is idle meanwhile. Here both take none, so the times are those of quota alone.
An evicted workload begins again, and counts as waiting until its first admission.
`, 100*r.Usage, 100*r.LeastUsage, r.Virtual.Seconds(), r.Evictions, r.Wall.Seconds())
	return err
}

// paperOfKueue runs the load of that many cohorts.
func paperOfKueue(ctx context.Context, cohorts int) (*PaperReport, error) {
	started := time.Now()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	state := admission.New(admission.Settings{})
	state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: paperNamespace}})
	state.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: paperFlavorName}})
	classes := paperClasses()
	report := &PaperReport{Queues: cohorts * paperQueues, Cohorts: cohorts}
	of := func(w *kueue.Workload) *paperClass {
		return classes[slices.IndexFunc(classes, func(c *paperClass) bool { return c.name == w.Labels["class"] })]
	}
	created := map[types.UID]time.Time{}
	// used is what each queue holds, since when, and what it has used in core seconds so far.
	type use struct {
		cores int64
		since time.Time
		sum   float64
	}
	uses := map[string]*use{}
	hold := func(w *kueue.Workload, at time.Time, cores int64) {
		u := uses[string(w.Spec.QueueName)]
		u.sum += float64(u.cores) * at.Sub(u.since).Seconds()
		u.cores, u.since = u.cores+cores, at
	}
	last := begin
	run := forward.New(forward.Options{
		State: state, Begin: begin,
		Duration: func(w *kueue.Workload, _ time.Time) (time.Duration, bool) { return of(w).runs, true },
		Told: func(e forward.Event) bool {
			c := of(e.Workload)
			last = e.At
			switch e.What {
			case forward.Reserved:
				hold(e.Workload, e.At, c.cpu)
			case forward.Admitted:
				if at, first := created[e.Workload.UID]; first {
					waited := e.At.Sub(at)
					c.admitted, c.waited, c.latest = c.admitted+1, c.waited+waited, max(c.latest, waited)
					delete(created, e.Workload.UID)
				}
			case forward.Released, forward.Ended:
				hold(e.Workload, e.At, -c.cpu)
				if e.What == forward.Released {
					report.Evictions++
				}
			}
			return true
		},
	})
	for i := range report.Queues {
		name := fmt.Sprintf("cq-%d", i)
		uses[name] = &use{since: begin}
		state.SetClusterQueue(paperQueue(name, fmt.Sprintf("cohort-%d", i/paperQueues)))
		state.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: paperNamespace, Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
		for _, c := range classes {
			for n := range c.count {
				at := begin.Add(time.Duration(n) * c.every)
				w := paperWorkload(c, fmt.Sprintf("%s-%d-%d", c.name, i, n), name, at)
				created[w.UID] = at
				report.Workloads++
				run.Arrive(w, at)
			}
		}
	}
	if err := run.Until(ctx, begin.Add(24*time.Hour)); err != nil {
		return nil, fmt.Errorf("running the queues: %w", err)
	}
	if len(created) > 0 {
		return nil, fmt.Errorf("%d of %d workloads were never admitted", len(created), report.Workloads)
	}
	report.Virtual, report.LeastUsage = last.Sub(begin), 1
	for _, u := range uses {
		share := u.sum / (float64(paperNominal) * report.Virtual.Seconds())
		report.Usage += share / float64(report.Queues)
		report.LeastUsage = min(report.LeastUsage, share)
	}
	for _, c := range classes {
		report.Classes = append(report.Classes, PaperClass{Name: c.name, Count: c.admitted, MeanToAdmission: c.waited / time.Duration(c.admitted), LatestToAdmission: c.latest})
	}
	report.Wall = time.Since(started)
	return report, nil
}

func paperQueue(name, cohort string) *kueue.ClusterQueue {
	return &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
		CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{},
		Preemption: &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyAny},
		ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []v1.ResourceName{v1.ResourceCPU}, Flavors: []kueue.FlavorQuotas{{
			Name: paperFlavorName, Resources: []kueue.ResourceQuota{{
				Name: v1.ResourceCPU, NominalQuota: *resource.NewQuantity(paperNominal, resource.DecimalSI), BorrowingLimit: resource.NewQuantity(paperBorrowing, resource.DecimalSI),
			}},
		}}}},
	}}
}

func paperWorkload(c *paperClass, name, queue string, at time.Time) *kueue.Workload {
	set := kueue.PodSet{Name: kueue.DefaultPodSetName, Count: 1}
	set.Template.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(c.cpu, resource.DecimalSI)}}}}
	return &kueue.Workload{
		// An API server keeps whole seconds.
		ObjectMeta: metav1.ObjectMeta{Namespace: paperNamespace, Name: name, UID: types.UID(name), Labels: map[string]string{"class": c.name}, CreationTimestamp: metav1.NewTime(at.Truncate(time.Second))},
		Spec:       kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(queue), Active: ptr.To(true), Priority: &c.priority, PodSets: []kueue.PodSet{set}},
	}
}
