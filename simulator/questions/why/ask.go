package why

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Cluster is a cluster that is asked. Nothing that it does changes the cluster. Methods are safe for concurrent use if
// those of the questions are.
type Cluster interface {
	// Grounds complete Answer.Judged and Answer.NotJudged.
	Grounds() Grounds
	WhatIf(ctx context.Context, q hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error)
	Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error)
	// Get returns an object as the cluster stores it. The error is a *whatif.NotFoundError for an object that does not exist.
	Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error)
	// List returns the objects of a kind in a namespace, in no particular order.
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]runtime.Object, error)
	// Record returns the recorded decision that placed a pod; nil if nobody keeps one.
	Record(ctx context.Context, pod types.UID) (*result.Cycle, error)
}

// Grounds say which cluster judges.
type Grounds struct {
	// Cluster, Version and Configuration are as in Judged.
	Cluster, Version, Configuration string
	// ReadSeconds is as in Judged.
	ReadSeconds float64
	// Missing is what could not be read.
	Missing []NotJudged
}

// MaxNearest bounds Answer.Nearest.
const MaxNearest = 3

// refuse returns the error for a question that nobody can answer as the client wrote it.
func refuse(field, message string) error {
	return &hypothesis.Refused{Message: field + ": " + message}
}

// Ask answers a question. Errors about the question are a *hypothesis.Refused or a *whatif.NotFoundError.
func Ask(ctx context.Context, c Cluster, q Question) (*Answer, error) {
	begun := time.Now()
	a := &asking{cluster: c, q: q, answer: newAnswer(c.Grounds())}
	defer func() { a.answer.Judged.Seconds = time.Since(begun).Seconds() }()
	if q.Configuration != nil {
		a.answer.Judged.Configuration = "file"
	}
	a.answer.Judged.After = q.After
	given := 0
	for _, is := range []bool{q.Pod != nil, q.PodRef != nil, q.Workload != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, refuse("pod", "want exactly one of pod, podRef and workload")
	case q.KubernetesVersion != "":
		return nil, refuse("kubernetesVersion", "this question explains by the rules of its own version; ask a what-if")
	case q.Limit < 0 || q.Limit > fit.MaxLimit:
		return nil, refuse("limit", fmt.Sprintf("want a number from 1 to %d", fit.MaxLimit))
	case q.Replicas < 0 || q.Replicas > hypothesis.MaxCopies:
		return nil, refuse("replicas", fmt.Sprintf("want a number from 0 to %d", hypothesis.MaxCopies))
	}
	if q.Node != "" {
		if _, err := c.Get(ctx, v1.SchemeGroupVersion.WithKind("Node"), "", q.Node); err != nil && !bringsNode(ctx, q) {
			return nil, err
		}
		a.answer.Subject.Node = q.Node
	}
	var err error
	switch {
	case q.Workload != nil:
		err = a.workload(ctx, *q.Workload)
	case q.PodRef != nil:
		err = a.existing(ctx, *q.PodRef)
	default:
		err = a.new(ctx)
	}
	if err != nil {
		if unknown := a.foreign(err); unknown {
			return a.answer, nil
		}
		return nil, err
	}
	return a.answer, nil
}

func newAnswer(g Grounds) *Answer {
	return &Answer{
		APIVersion: APIVersion, Kind: Kind, Verdict: Unknown, Subject: Subject{Requests: map[string]string{}},
		Nodes: []string{}, Reasons: []Reason{}, Nearest: []Nearest{}, Waits: []Wait{}, Changes: []hypothesis.Suggestion{}, Lasting: []Lasting{},
		Judged:    Judged{Cluster: g.Cluster, Version: g.Version, Configuration: g.Configuration, ReadSeconds: g.ReadSeconds, At: metav1.NewTime(time.Now().UTC().Truncate(time.Second))},
		NotJudged: append([]NotJudged{}, g.Missing...),
	}
}

// bringsNode reports whether the question's changes create its node.
func bringsNode(ctx context.Context, q Question) bool {
	return slices.ContainsFunc(q.Changes, func(c hypothesis.Change) bool {
		node := &v1.Node{}
		read(ctx, c.Apply, node)
		return node.Kind == "Node" && node.Name == q.Node
	})
}

// read decodes a document of a question as far as it can: whether the document is right, admission decides.
func read(ctx context.Context, document hypothesis.Document, into any) {
	if data, wrong := yamlsource.ToJSON(ctx, document, yamlsource.Object); wrong == nil {
		_ = json.Unmarshal(data, into) // see above
	}
}

type asking struct {
	cluster Cluster
	q       Question
	answer  *Answer
}

// foreign answers for a pod whose scheduler nobody knows, and reports whether err is about that.
func (a *asking) foreign(err error) bool {
	refused, ok := errors.AsType[*hypothesis.Refused](err)
	if !ok || len(refused.Mistakes) == 0 || refused.Mistakes[0].Field != "pod.spec.schedulerName" {
		return false
	}
	s := &a.answer.Subject
	a.answer.Verdict = Unknown
	a.answer.Sentence = fmt.Sprintf("%s names the scheduler %q, which is not known here, so nobody can tell where it goes.", s.title(), a.answer.Judged.Scheduler)
	a.unjudged("schedulerName", refused.Mistakes[0].Message)
	return true
}

func (a *asking) unjudged(what, text string) {
	a.answer.NotJudged = append(a.answer.NotJudged, NotJudged{what, text})
}

func (s Subject) title() string {
	name := s.Namespace + "/" + s.Name
	if s.Kind != "" && s.Kind != "Pod" {
		name = s.Kind + " " + name
	}
	return name
}

// about fills in the subject from a pod, which may be the template of others.
func (a *asking) about(pod *v1.Pod, exists bool) {
	s := &a.answer.Subject
	if s.Kind == "" {
		s.Kind, s.Namespace, s.Name, s.Exists = "Pod", cmp.Or(pod.Namespace, v1.NamespaceDefault), cmp.Or(pod.Name, pod.GenerateName), exists
		s.Created = createdAt(pod)
	}
	for name, amount := range requestsOf(pod) {
		s.Requests[string(name)] = amount.String()
	}
	if pod.Spec.Priority != nil {
		s.Priority = *pod.Spec.Priority
	}
	a.answer.Judged.Scheduler = cmp.Or(a.q.Profile, pod.Spec.SchedulerName, v1.DefaultSchedulerName)
	if _, reported := conditionOf(pod); reported != "" && pod.Spec.NodeName == "" {
		s.Reported = reported
	}
}

func conditionOf(pod *v1.Pod) (since *metav1.Time, message string) {
	for i, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return &pod.Status.Conditions[i].LastTransitionTime, c.Message
		}
	}
	return nil, ""
}

// new answers about a pod, or about the copies of one, that do not exist.
func (a *asking) new(ctx context.Context) error {
	pod := &v1.Pod{}
	read(ctx, a.q.Pod, pod)
	a.about(pod, false)
	if a.q.Replicas > 0 {
		a.answer.Subject.Pods = &Pods{Wanted: a.q.Replicas}
		a.answer.Subject.Kind = cmp.Or(a.q.Kind, a.answer.Subject.Kind)
	}
	return a.ask(ctx, a.q.Question, max(a.q.Replicas, 1), pod)
}

// existing answers about a pod of the cluster.
func (a *asking) existing(ctx context.Context, name hypothesis.PodName) error {
	name.Namespace = cmp.Or(name.Namespace, v1.NamespaceDefault)
	o, err := a.cluster.Get(ctx, podKind, name.Namespace, name.Name)
	if err != nil {
		return err
	}
	pod, ok := o.(*v1.Pod)
	if !ok {
		return fmt.Errorf("the pod %s/%s is a %T", name.Namespace, name.Name, o)
	}
	a.about(pod, true)
	switch {
	case pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed:
		a.answer.Sentence = fmt.Sprintf("%s has ended (%s), so there is nothing to schedule.", a.answer.Subject.title(), pod.Status.Phase)
		a.answer.SelectedNode = pod.Spec.NodeName
		a.unjudged("an ended pod", "The pod has ended. Ask about the workload that made it, or about a file with -f.")
		return nil
	case pod.DeletionTimestamp != nil && pod.Spec.NodeName == "":
		a.answer.Sentence = fmt.Sprintf("%s is being deleted, and the scheduler leaves it alone.", a.answer.Subject.title())
		a.unjudged("a pod that is deleted", "The scheduler does not try a pod that is being deleted.")
		return nil
	case pod.Spec.NodeName != "" && a.q.Node == "" && len(a.q.Changes) == 0 && a.q.Configuration == nil:
		return a.running(ctx, pod)
	}
	q := a.q.Question
	q.PodRef = &name
	return a.ask(ctx, q, 1, pod)
}

// ask answers about n pods that are not placed. pod is one of them.
func (a *asking) ask(ctx context.Context, q hypothesis.Question, n int, pod *v1.Pod) error {
	answer, err := a.cluster.WhatIf(ctx, hypothesis.WhatIf{Question: q, Copies: n})
	if err != nil {
		return err
	}
	a.grounds(answer.Grounds)
	for _, d := range answer.Decisions {
		if d.Outcome == result.Scheduled {
			a.answer.Nodes = append(a.answer.Nodes, d.SelectedNode)
		}
	}
	placed := len(a.answer.Nodes)
	if pods := a.answer.Subject.Pods; pods != nil {
		pods.Fit = placed
	}
	// Decisions about copies are alike; the first that fails says why no more fit.
	at := max(0, slices.IndexFunc(answer.Decisions, func(d explain.Explained) bool { return d.Outcome != result.Scheduled }))
	decided := answer.Decisions[at]
	a.decided(decided, placed == len(answer.Decisions))
	a.gates(ctx, pod)
	if !a.q.NoChanges && (a.answer.Verdict != Fits || a.answer.Subject.Exists) {
		if err := a.changes(ctx, q); err != nil {
			return err
		}
	}
	a.answer.Sentence = a.sentence(decided, placed)
	return nil
}

func (a *asking) grounds(g hypothesis.Grounds) {
	a.answer.Judged.State = g.State
	a.unasked(g.NotAsked)
	for _, s := range g.NotCounted {
		a.unjudged("a new node", s.String())
	}
}

// autoscaler takes over what Karpenter would do: then it was asked, after all.
func (a *asking) autoscaler(found *hypothesis.Autoscaler) {
	a.answer.Autoscaler = found
	if found == nil {
		return
	}
	for _, u := range (whatif.NotAsked{AutoscalersNotAsked: []string{"Karpenter"}}).Unasked() {
		a.answer.NotJudged = slices.DeleteFunc(a.answer.NotJudged, func(n NotJudged) bool { return n == NotJudged{string(u.Of), u.Text} })
	}
}

// unasked notes each kind of what was not asked once. Gates are among the waits.
func (a *asking) unasked(n whatif.NotAsked) {
	for _, u := range n.Unasked() {
		note := NotJudged{string(u.Of), u.Text}
		if u.Of != whatif.OfGates && !slices.Contains(a.answer.NotJudged, note) {
			a.answer.NotJudged = append(a.answer.NotJudged, note)
		}
	}
}

// decided fills in what follows from one decision.
func (a *asking) decided(d explain.Explained, fits bool) {
	c := d.Cycle
	a.answer.Judged.Scheduler = cmp.Or(c.Profile, a.answer.Judged.Scheduler)
	a.answer.Reasons = ReasonsOf(c, a.q.Node)
	if fits {
		a.answer.Verdict, a.answer.SelectedNode = Fits, c.SelectedNode
		if a.answer.Subject.Pods != nil {
			a.answer.SelectedNode = ""
		} else {
			a.answer.Choice = choiceOf(d)
		}
	} else {
		a.answer.Verdict = DoesNotFit
		a.answer.Nearest = nearestOf(c)
	}
	if c.Outcome == result.Waiting {
		a.answer.Verdict = Waits
		a.waitFor(ForGroup, "", d.Explanation.Headline.String(), nil)
	}
	switch d.Explanation.Headline.Operands.(type) {
	case explain.QuotaAtMax, explain.QuotasUsedUp:
		a.waitFor(ForQuota, c.Pod.Namespace, said(c), nil)
	}
	a.answer.Evicts = EvictsOf(c)
	if a.q.Node == "" {
		return
	}
	a.answer.Nearest = []Nearest{}
	if len(a.answer.Reasons) == 0 && c.Filter != nil && c.Filter.Nodes.Index(a.q.Node) >= 0 {
		a.answer.Verdict = Fits
	} else {
		a.answer.Verdict = DoesNotFit
	}
	if e := a.answer.Evicts; e != nil && e.Node != a.q.Node {
		a.answer.Evicts = nil
	}
}

func (a *asking) waitFor(what WaitsFor, name, text string, until *metav1.Time) {
	a.answer.Waits = append(a.answer.Waits, Wait{For: what, Name: name, Text: text, Until: until})
}

// changes looks for the changes that make the pod fit, or one more copy of it after those that fit.
func (a *asking) changes(ctx context.Context, q hypothesis.Question) error {
	if pods := a.answer.Subject.Pods; pods != nil && q.Pod != nil && a.answer.Verdict != Fits {
		there, err := placed(q.Pod, a.answer, 0)
		if err != nil {
			return err
		}
		q.Changes = append(slices.Clone(q.Changes), there...)
		if pods.Example != "" {
			// The changes of a pod that exists are those of its workload.
			q.Pod, q.PodRef = nil, &hypothesis.PodName{Namespace: a.answer.Subject.Namespace, Name: pods.Example}
		}
	}
	found, err := a.cluster.Fit(ctx, hypothesis.Fit{Question: q, Node: a.q.Node, Limit: a.q.Limit})
	if err != nil {
		return err
	}
	a.answer.Changes = append(a.answer.Changes, found.Suggestions...)
	// What evicts one of the pods that are there for the question only is no change to make.
	a.answer.Changes = slices.DeleteFunc(a.answer.Changes, func(s hypothesis.Suggestion) bool {
		return slices.ContainsFunc(s.Changes, func(c hypothesis.Change) bool { return c.Delete != nil && isPlaced(*c.Delete, a.answer) })
	})
	if a.answer.Subject.Exists && q.Pod != nil {
		// They would create a pod beside the workload.
		a.answer.Changes = slices.DeleteFunc(a.answer.Changes, func(s hypothesis.Suggestion) bool { return s.Kind == fit.KindPod })
		a.unjudged("changes of the template", "None of the missing pods exists yet. Ask again when one does: the changes of a pod that exists include those of its workload's template.")
	}
	for _, i := range found.Incurable {
		a.answer.Lasting = append(a.answer.Lasting, Lasting{Plugin: i.Plugin, Text: i.Reason, Guarded: i.Guarded, Nodes: i.Nodes})
	}
	for _, s := range found.LeftOut {
		a.unjudged("changes", s.String())
	}
	a.unasked(found.NotAsked)
	for _, s := range found.Suggestions {
		a.waiting(s)
	}
	a.autoscaler(found.Autoscaler)
	return nil
}

// waiting notes that a suggestion is to wait.
func (a *asking) waiting(s hypothesis.Suggestion) {
	for _, step := range s.Steps {
		w, ok := step.Operands.(explain.Wait)
		if !ok {
			continue
		}
		what := ForEvictions
		switch {
		case w.Queue != "":
			what = ForAttempt
		case w.Group != nil:
			what = ForGroup
		}
		a.waitFor(what, "", s.Text, s.Until)
		if a.answer.Verdict == DoesNotFit {
			a.answer.Verdict = Waits
		}
	}
}

const (
	kueueGate  = "kueue.x-k8s.io/admission"
	kueueQueue = "kueue.x-k8s.io/queue-name"
)

// gates notes the scheduling gates of the pod: the scheduler does not try it before they are gone.
func (a *asking) gates(ctx context.Context, pod *v1.Pod) {
	for _, g := range pod.Spec.SchedulingGates {
		if g.Name == kueueGate {
			a.kueue(ctx, pod, pod.Labels[kueueQueue])
		} else {
			a.waitFor(ForGate, g.Name, fmt.Sprintf("A controller must remove the scheduling gate %s; until then the scheduler does not try the pod.", g.Name), nil)
		}
	}
	if len(pod.Spec.SchedulingGates) > 0 && a.answer.Verdict == Fits {
		a.answer.Verdict = Waits
	}
}

// kueue notes that Kueue has not admitted the owner of the gate, or of the suspension.
func (a *asking) kueue(ctx context.Context, owner metav1.Object, queue string) {
	text := fmt.Sprintf("Kueue must admit it from the queue %s first.", queue)
	if queue == "" {
		text = "Kueue must admit it first, and it names no queue."
	}
	if said := a.kueueSays(ctx, owner); said != "" {
		text += " Kueue says: " + said
	}
	a.waitFor(ForKueue, queue, text, nil)
}

var kueueWorkload = schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "Workload"}

// kueueSays returns the message of the condition of the owner's Workload that says why its quota is not reserved.
func (a *asking) kueueSays(ctx context.Context, owner metav1.Object) string {
	workloads, err := a.cluster.List(ctx, kueueWorkload, owner.GetNamespace())
	if err != nil {
		return ""
	}
	for _, o := range workloads {
		data, err := json.Marshal(o)
		var w struct {
			Metadata metav1.ObjectMeta
			Status   struct{ Conditions []metav1.Condition }
		}
		if err != nil || json.Unmarshal(data, &w) != nil ||
			!slices.ContainsFunc(w.Metadata.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }) {
			continue
		}
		for _, c := range w.Status.Conditions {
			if c.Type == "QuotaReserved" && c.Status != metav1.ConditionTrue {
				return c.Message
			}
		}
	}
	return ""
}

// sentence renders the answer about pods that are not placed.
func (a *asking) sentence(d explain.Explained, placed int) string {
	s := a.answer.Subject
	title := s.title()
	switch {
	case s.Node != "":
		return a.whyNotThere(d)
	case s.Pods != nil:
		return a.sentenceOfMany(d, placed)
	case a.answer.Verdict == Fits && s.Exists:
		return fmt.Sprintf("%s fits now and would go to %s%s The scheduler has yet to try it.", title, d.SelectedNode, chosen(d))
	case a.answer.Verdict == Fits:
		return fmt.Sprintf("%s would go to %s%s", title, d.SelectedNode, chosen(d))
	case d.Outcome == result.Scheduled: // a gate, or Kueue
		return fmt.Sprintf("%s waits: %s It would then go to %s%s", title, a.answer.Waits[0].Text, d.SelectedNode, chosen(d))
	case a.answer.Verdict == Waits:
		return fmt.Sprintf("%s waits, and needs no change. %s", title, said(d.Cycle))
	}
	return said(d.Cycle)
}

// said is the explanation of a decision with the whole name of its pod.
func said(c *result.Cycle) string {
	whole := *c
	whole.Pod.Name = c.Pod.Namespace + "/" + c.Pod.Name
	return explain.Cycle(&whole).Sentence
}
