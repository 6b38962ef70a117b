package perf

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// step is a step of an operation whose parameters are set.
type step struct {
	what string
	do   func(r *run) (string, error)
}

func steps(what string, do func(r *run) (string, error)) []step { return []step{{what, do}} }

// common is what all operations have.
type common struct {
	Opcode string `yaml:"opcode"`
}

// labels are labels that select pods.
type labels map[string]string

func (p *labels) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	*p = labels{}
	d.Fields(n, at, nil, func(key, value *yaml.Node) { (*p)[key.Value] = value.Value })
}

func (p labels) match(labels map[string]string) bool {
	for key, value := range p {
		if got, set := labels[key]; !set || got != value {
			return false
		}
	}
	return true
}

// duration is a duration that may be 0.
type duration struct{ time.Duration }

func (p *duration) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	var err error
	if p.Duration, err = time.ParseDuration(n.Value); err != nil || p.Duration < 0 {
		d.Add(n, at, "want a duration such as 90s or 5m, not %s", yamlsource.Describe(n))
	}
}

func (w *load) duration(field string, given duration, param string) time.Duration {
	if param == "" {
		return given.Duration
	}
	value := w.param(field+"Param", param)
	parsed, err := time.ParseDuration(fmt.Sprint(value))
	if value != nil && (err != nil || parsed < 0) {
		w.wrong(field+"Param", "want a duration such as 90s or 5m, not %v", value)
	}
	return parsed
}

type nodes struct {
	common
	Count                    int             `yaml:"count"`
	CountParam               string          `yaml:"countParam"`
	NodeTemplatePath         string          `yaml:"nodeTemplatePath"`
	TemplateParams           decoder.Raw     `yaml:"templateParams"`
	NodeAllocatableStrategy  *allocatable    `yaml:"nodeAllocatableStrategy"`
	LabelNodePrepareStrategy *nodeLabels     `yaml:"labelNodePrepareStrategy"`
	UniqueNodeLabelStrategy  *nodeUniqueness `yaml:"uniqueNodeLabelStrategy"`
}

type allocatable struct {
	NodeAllocatable    labels      `yaml:"nodeAllocatable"`
	CsiNodeAllocatable decoder.Raw `yaml:"csiNodeAllocatable"`
	MigratedPlugins    []string    `yaml:"migratedPlugins"`
}

type nodeLabels struct {
	LabelKey    string   `yaml:"labelKey"`
	LabelValues []string `yaml:"labelValues"`
}

type nodeUniqueness struct {
	LabelKey string `yaml:"labelKey"`
}

func (p *nodes) resolve(w *load) []step {
	count, number := w.count("count", p.Count, p.CountParam, scenario.MaxCount), w.number
	t := w.template("nodeTemplatePath", p.NodeTemplatePath, w.templateParams(p.TemplateParams), false)
	var drivers map[string]any
	if s := p.NodeAllocatableStrategy; s != nil && s.CsiNodeAllocatable.Node != nil {
		drivers, _ = w.Value(s.CsiNodeAllocatable.Node, "csiNodeAllocatable").(map[string]any)
	}
	if s := p.LabelNodePrepareStrategy; s != nil && (s.LabelKey == "" || len(s.LabelValues) == 0) {
		w.wrong("labelNodePrepareStrategy", "want labelKey and labelValues")
	}
	return steps(scenario.Plural(count, "node"), func(r *run) (string, error) {
		var made []runtime.Object
		for i := range count {
			node := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"generateName": fmt.Sprintf("node-%d-", number)},
				"status": map[string]any{"capacity": map[string]any{"pods": "110", "cpu": "4", "memory": "32Gi"}},
			}}
			if t != nil {
				var err error
				if node, err = t.make(r.ctx, i, count); err != nil {
					return "", err
				}
				if err := r.Holds(node.Object); err != nil {
					return "", err
				}
			}
			name := node.GetName()
			if name == "" {
				r.nodes++
				name = fmt.Sprintf("%s%d", node.GetGenerateName(), r.nodes)
			}
			labels := node.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[v1.LabelHostname] = name
			if s := p.LabelNodePrepareStrategy; s != nil {
				labels[s.LabelKey] = s.LabelValues[i%len(s.LabelValues)]
			}
			if s := p.UniqueNodeLabelStrategy; s != nil {
				labels[s.LabelKey] = name
			}
			node.SetName(name)
			node.SetGenerateName("")
			node.SetLabels(labels)
			made = append(made, node)
			if s := p.NodeAllocatableStrategy; s != nil {
				allocatable, _, _ := unstructured.NestedStringMap(node.Object, "status", "allocatable")
				if allocatable == nil {
					allocatable, _, _ = unstructured.NestedStringMap(node.Object, "status", "capacity")
				}
				if allocatable == nil {
					allocatable = map[string]string{}
				}
				for resource, amount := range s.NodeAllocatable {
					allocatable[resource] = amount
				}
				if err := unstructured.SetNestedStringMap(node.Object, allocatable, "status", "allocatable"); err != nil {
					return "", err
				}
				made = append(made, s.csiNode(name, drivers))
			}
		}
		return scenario.Plural(count, "node"), r.create(made)
	})
}

// csiNode says how many volumes the node takes.
func (p *allocatable) csiNode(name string, drivers map[string]any) *unstructured.Unstructured {
	var list []any
	for _, driver := range sortedKeysOf(drivers) {
		list = append(list, map[string]any{"name": driver, "nodeID": name, "allocatable": runtime.DeepCopyJSONValue(drivers[driver])})
	}
	migrated := ""
	for i, plugin := range p.MigratedPlugins {
		if i > 0 {
			migrated += ","
		}
		migrated += plugin
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{v1.MigratedPluginsAnnotationKey: migrated}},
		"spec":     map[string]any{"drivers": list},
	}}
}

func sortedKeysOf(m map[string]any) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

type namespaces struct {
	common
	Prefix                string `yaml:"prefix"`
	Count                 int    `yaml:"count"`
	CountParam            string `yaml:"countParam"`
	NamespaceTemplatePath string `yaml:"namespaceTemplatePath"`
}

func (p *namespaces) resolve(w *load) []step {
	count := w.count("count", p.Count, p.CountParam, scenario.MaxCount)
	t := w.template("namespaceTemplatePath", p.NamespaceTemplatePath, nil, true)
	return steps(fmt.Sprintf("%d of %s", count, p.Prefix), func(r *run) (string, error) {
		for i := range count {
			var base *unstructured.Unstructured
			if t != nil {
				var err error
				if base, err = t.make(r.ctx, i, count); err != nil {
					return "", err
				}
			}
			if err := r.namespace(fmt.Sprintf("%s-%d", p.Prefix, i), base); err != nil {
				return "", err
			}
		}
		return scenario.Plural(count, "namespace"), nil
	})
}

type createPods struct {
	common
	Count                             int         `yaml:"count"`
	CountParam                        string      `yaml:"countParam"`
	CountMultiplierParam              string      `yaml:"countMultiplierParam"`
	SteadyState                       bool        `yaml:"steadyState"`
	SteadyStateParam                  string      `yaml:"steadyStateParam"`
	Duration                          duration    `yaml:"duration"`
	DurationParam                     string      `yaml:"durationParam"`
	CollectMetrics                    bool        `yaml:"collectMetrics"`
	Namespace                         string      `yaml:"namespace"`
	PodTemplatePath                   string      `yaml:"podTemplatePath"`
	SkipWaitToCompletion              bool        `yaml:"skipWaitToCompletion"`
	PersistentVolumeTemplatePath      string      `yaml:"persistentVolumeTemplatePath"`
	PersistentVolumeClaimTemplatePath string      `yaml:"persistentVolumeClaimTemplatePath"`
	TemplateParams                    decoder.Raw `yaml:"templateParams"`
	SignatureBatchSize                int         `yaml:"signatureBatchSize"`
	SignatureBatchSizeParam           string      `yaml:"signatureBatchSizeParam"`
}

// podsToMake is createPods with its parameters.
type podsToMake struct {
	*createPods
	namespace             string
	count, batch          int
	steady                time.Duration
	pods, volumes, claims *template
	load                  *load
}

func (p *createPods) resolve(w *load) []step {
	return p.into(w, cmp.Or(p.Namespace, fmt.Sprintf("namespace-%d", w.number)))
}

func (p *createPods) into(w *load, namespace string) []step {
	made := &podsToMake{createPods: p, namespace: namespace, load: w}
	made.count = w.count("count", p.Count, p.CountParam, 10*scenario.MaxCount)
	if p.CountMultiplierParam != "" {
		made.count *= w.count("countMultiplier", 0, p.CountMultiplierParam, scenario.MaxCount)
	}
	made.batch = max(1, w.count("signatureBatchSize", p.SignatureBatchSize, p.SignatureBatchSizeParam, scenario.MaxCount))
	steady := p.SteadyState
	if p.SteadyStateParam != "" {
		steady, _ = w.param("steadyStateParam", p.SteadyStateParam).(bool)
	}
	duration := w.duration("duration", p.Duration, p.DurationParam)
	switch {
	case p.CollectMetrics && p.SkipWaitToCompletion:
		w.wrong("collectMetrics", "collectMetrics and skipWaitToCompletion exclude each other")
	case p.SkipWaitToCompletion && steady:
		w.wrong("steadyState", "steadyState and skipWaitToCompletion exclude each other")
	case steady && duration == 0:
		w.wrong("steadyState", "a steady state needs a duration")
	case steady:
		made.steady = duration
	}
	if (p.PersistentVolumeTemplatePath == "") != (p.PersistentVolumeClaimTemplatePath == "") {
		w.wrong("persistentVolumeTemplatePath", "want both of persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath, or neither")
	}
	made.pods = w.template("podTemplatePath", cmp.Or(p.PodTemplatePath, w.kase.DefaultPodTemplatePath), w.templateParams(p.TemplateParams), false)
	made.volumes = w.template("persistentVolumeTemplatePath", p.PersistentVolumeTemplatePath, nil, true)
	made.claims = w.template("persistentVolumeClaimTemplatePath", p.PersistentVolumeClaimTemplatePath, nil, true)
	return steps(fmt.Sprintf("%s in %s", scenario.Plural(made.count, "pod"), namespace), made.run)
}

func (p *podsToMake) run(r *run) (string, error) {
	if err := r.namespace(p.namespace, nil); err != nil {
		return "", err
	}
	if p.CollectMetrics {
		if err := r.collect(p.load, p.namespace, []string{p.namespace}, nil); err != nil {
			return "", err
		}
	}
	err := p.place(r)
	if err == nil && p.CollectMetrics {
		err = r.stop()
	}
	if err != nil {
		return "", err
	}
	scheduled, all, err := r.scheduled([]string{p.namespace}, nil)
	return fmt.Sprintf("%d of %d pods have a node", scheduled, all), err
}

func (p *podsToMake) place(r *run) error {
	if p.steady > 0 {
		return p.keepSteady(r)
	}
	made, err := p.make(r, p.count)
	if err != nil {
		return err
	}
	if err := r.create(made); err != nil {
		return err
	}
	if p.SkipWaitToCompletion {
		r.waiting[p.namespace] = true
		return nil
	}
	return r.wait([]string{p.namespace}, nil, p.count, false)
}

// make returns pods, with their volumes and claims.
func (p *podsToMake) make(r *run, count int) ([]runtime.Object, error) {
	var out []runtime.Object
	for i := range count {
		pod := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"generateName": "pod-"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": map[string]any{
				"limits": map[string]any{"cpu": "100m", "memory": "500Mi"}, "requests": map[string]any{"cpu": "100m", "memory": "500Mi"},
			}}}},
		}}
		if p.pods != nil {
			var err error
			if pod, err = p.pods.make(r.ctx, i, count); err != nil {
				return nil, err
			}
			if err := r.Holds(pod.Object); err != nil {
				return nil, err
			}
		}
		labels := pod.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["signature"] = fmt.Sprintf("signature-label-%d", i/p.batch)
		pod.SetLabels(labels)
		pod.SetNamespace(p.namespace)
		r.name(pod)
		if p.claims != nil {
			volume, claim, err := p.bound(r, i)
			if err != nil {
				return nil, err
			}
			out = append(out, claim, volume)
			err = unstructured.SetNestedSlice(pod.Object, []any{map[string]any{"name": "vol", "persistentVolumeClaim": map[string]any{"claimName": claim.GetName()}}}, "spec", "volumes")
			if err != nil {
				return nil, err
			}
		}
		out = append(out, pod)
	}
	return out, nil
}

// bound returns a volume and a claim that are bound to each other.
func (p *podsToMake) bound(r *run, i int) (volume, claim *unstructured.Unstructured, err error) {
	if claim, err = p.claims.make(r.ctx, i, p.count); err != nil {
		return nil, nil, err
	}
	if volume, err = p.volumes.make(r.ctx, i, p.count); err != nil {
		return nil, nil, err
	}
	claim.SetName(fmt.Sprintf("pvc-%d", i))
	claim.SetNamespace(p.namespace)
	volume.SetName(fmt.Sprintf("%s-vol-%d", p.namespace, i))
	sets := []struct {
		o     *unstructured.Unstructured
		value any
		path  []string
	}{
		{claim, volume.GetName(), []string{"spec", "volumeName"}},
		{claim, string(v1.ClaimBound), []string{"status", "phase"}},
		{volume, string(v1.VolumeBound), []string{"status", "phase"}},
		{volume, map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": p.namespace, "name": claim.GetName()}, []string{"spec", "claimRef"}},
	}
	if _, csi, _ := unstructured.NestedMap(volume.Object, "spec", "csi"); csi {
		sets = append(sets, struct {
			o     *unstructured.Unstructured
			value any
			path  []string
		}{volume, volume.GetName(), []string{"spec", "csi", "volumeHandle"}})
	}
	for _, s := range sets {
		if err := unstructured.SetNestedField(s.o.Object, s.value, s.path...); err != nil {
			return nil, nil, err
		}
	}
	return volume, claim, nil
}

// keepSteady creates pods, and replaces each scheduled one by a new one, for a time of the machine.
func (p *podsToMake) keepSteady(r *run) error {
	end, replaced := time.Now().Add(p.steady), 0
	for next := p.count; ; {
		made, err := p.make(r, next)
		if err == nil {
			err = r.create(made)
		}
		if err != nil {
			return err
		}
		_, pods, err := r.cluster.State(r.ctx)
		if err != nil {
			return err
		}
		next = 0
		for _, pod := range pods {
			if pod.Namespace == p.namespace && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
				if err := r.timed(func() error { return r.cluster.Delete(r.ctx, podGVK, pod.Namespace, pod.Name) }); err != nil {
					return err
				}
				next++
			}
		}
		replaced += next
		// What terminates needs a moment of the cluster's time.
		if err := r.pass(2 * time.Second); err != nil {
			return err
		}
		switch left := time.Until(end); {
		case left > 0 && (replaced > 0 || r.isReal()):
		case replaced == 0:
			return &scenario.UnmetError{Message: "no pod got a node in the steady state"}
		default:
			return nil
		}
	}
}

var podGVK = v1.SchemeGroupVersion.WithKind("Pod")

type podSets struct {
	common
	Count           int        `yaml:"count"`
	CountParam      string     `yaml:"countParam"`
	NamespacePrefix string     `yaml:"namespacePrefix"`
	CreatePodsOp    createPods `yaml:"createPodsOp"`
}

func (p *podSets) resolve(w *load) []step {
	var out []step
	for i := range w.count("count", p.Count, p.CountParam, scenario.MaxCount) {
		out = append(out, p.CreatePodsOp.into(w, fmt.Sprintf("%s-%d", p.NamespacePrefix, i))...)
	}
	return out
}

type remove struct {
	common
	Namespace            string `yaml:"namespace"`
	LabelSelector        labels `yaml:"labelSelector"`
	SkipWaitToCompletion bool   `yaml:"skipWaitToCompletion"`
	DeletePodsPerSecond  int    `yaml:"deletePodsPerSecond"`
}

func (p *remove) resolve(w *load) []step {
	if p.DeletePodsPerSecond < 0 {
		w.wrong("deletePodsPerSecond", "want 0 or more, not %d", p.DeletePodsPerSecond)
	}
	return steps("the pods in "+p.Namespace, func(r *run) (string, error) {
		_, pods, err := r.cluster.State(r.ctx)
		if err != nil {
			return "", err
		}
		pods = slices.DeleteFunc(pods, func(pod *v1.Pod) bool {
			return pod.Namespace != p.Namespace || pod.DeletionTimestamp != nil || !p.LabelSelector.match(pod.Labels)
		})
		count := len(pods)
		one := func() error {
			pod := pods[0]
			pods = pods[1:]
			err := r.timed(func() error { return r.cluster.Delete(r.ctx, podGVK, pod.Namespace, pod.Name) })
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
		every := time.Duration(0)
		if p.DeletePodsPerSecond > 0 {
			every = time.Second / time.Duration(p.DeletePodsPerSecond)
		}
		if p.SkipWaitToCompletion {
			r.beside(every, func() (bool, error) {
				if len(pods) == 0 {
					return false, nil
				}
				return true, one()
			})
			return scenario.Plural(count, "pod"), nil
		}
		for len(pods) > 0 {
			if err := r.pass(every); err != nil {
				return "", err
			}
			if err := one(); err != nil {
				return "", err
			}
		}
		return scenario.Plural(count, "pod"), nil
	})
}

type churn struct {
	common
	Mode                 string   `yaml:"mode"`
	Number               int      `yaml:"number"`
	IntervalMilliseconds int      `yaml:"intervalMilliseconds"`
	Namespace            string   `yaml:"namespace"`
	TemplatePaths        []string `yaml:"templatePaths"`
}

func (p *churn) resolve(w *load) []step {
	switch {
	case p.Mode != "create" && p.Mode != "recreate":
		w.wrong("mode", "want create or recreate, not %q", p.Mode)
	case p.Number < 0 || p.Mode == "recreate" && p.Number == 0:
		w.wrong("number", "want a number of objects, not %d", p.Number)
	case len(p.TemplatePaths) == 0:
		w.wrong("templatePaths", "want at least one file")
	case p.IntervalMilliseconds < 0:
		w.wrong("intervalMilliseconds", "want 0 or more, not %d", p.IntervalMilliseconds)
	}
	var templates []*template
	for _, path := range p.TemplatePaths {
		if t := w.template("templatePaths", path, nil, true); t != nil {
			templates = append(templates, t)
		}
	}
	namespace := cmp.Or(p.Namespace, fmt.Sprintf("namespace-%d", w.number))
	every := time.Duration(cmp.Or(p.IntervalMilliseconds, 500)) * time.Millisecond
	return steps(fmt.Sprintf("%s every %s", p.Mode, every), func(r *run) (string, error) {
		if err := r.namespace(namespace, nil); err != nil {
			return "", err
		}
		count, living := 0, map[int][]*unstructured.Unstructured{}
		r.beside(every, func() (bool, error) {
			if p.Mode == "create" && p.Number > 0 && count == p.Number {
				return false, nil
			}
			slot := count
			if p.Mode == "recreate" {
				slot %= p.Number
			}
			count++
			if old := living[slot]; old != nil {
				living[slot] = nil
				for _, o := range old {
					err := r.timed(func() error { return r.cluster.Delete(r.ctx, o.GroupVersionKind(), o.GetNamespace(), o.GetName()) })
					if err != nil && !apierrors.IsNotFound(err) {
						return false, err
					}
				}
				return true, nil
			}
			var made []*unstructured.Unstructured
			var list []runtime.Object
			for _, t := range templates {
				o, err := t.make(r.ctx, 0, 1)
				if err != nil {
					return false, err
				}
				into(o, namespace)
				r.name(o)
				made, list = append(made, o), append(list, o)
			}
			if p.Mode == "recreate" {
				living[slot] = made
			}
			return true, r.timed(func() error { return r.cluster.Create(r.ctx, list...) })
		})
		return "", nil
	})
}

// into puts an object into a namespace, unless its kind has none.
func into(o *unstructured.Unstructured, namespace string) {
	if objects.KindOf(o.GroupVersionKind().GroupKind()).Namespaced {
		o.SetNamespace(namespace)
	}
}

type barrier struct {
	common
	Namespaces       []string `yaml:"namespaces"`
	LabelSelector    labels   `yaml:"labelSelector"`
	StageRequirement string   `yaml:"stageRequirement"`
}

func (p *barrier) resolve(w *load) []step {
	if !slices.Contains([]string{"", "Scheduled", "Attempted"}, p.StageRequirement) {
		w.wrong("stageRequirement", "want Scheduled or Attempted, not %q", p.StageRequirement)
	}
	return steps(cmp.Or(p.StageRequirement, "Scheduled"), func(r *run) (string, error) {
		namespaces := p.Namespaces
		for _, name := range namespaces {
			if !r.namespaces[name] {
				return "", fmt.Errorf("no operation has made the namespace %s", name)
			}
		}
		if len(namespaces) == 0 {
			for name := range r.waiting {
				namespaces = append(namespaces, name)
			}
		}
		err := r.wait(namespaces, p.LabelSelector, -1, p.StageRequirement == "Attempted")
		if err == nil && p.StageRequirement != "Attempted" {
			for _, name := range namespaces {
				delete(r.waiting, name)
			}
		}
		scheduled, all, _ := r.scheduled(namespaces, p.LabelSelector)
		return fmt.Sprintf("%d of %d pods have a node", scheduled, all), err
	})
}

type sleep struct {
	common
	Duration      duration `yaml:"duration"`
	DurationParam string   `yaml:"durationParam"`
}

func (p *sleep) resolve(w *load) []step {
	d := w.duration("duration", p.Duration, p.DurationParam)
	return steps(d.String(), func(r *run) (string, error) { return "", r.pass(d) })
}

type start struct {
	common
	Name          string   `yaml:"name"`
	Namespaces    []string `yaml:"namespaces"`
	LabelSelector labels   `yaml:"labelSelector"`
}

func (p *start) resolve(w *load) []step {
	if len(p.Namespaces) == 0 {
		w.wrong("namespaces", "want at least one namespace")
	}
	return steps(p.Name, func(r *run) (string, error) { return "", r.collect(w, p.Name, p.Namespaces, p.LabelSelector) })
}

type stop struct {
	common
}

func (p *stop) resolve(*load) []step {
	return steps("", func(r *run) (string, error) { return "", r.stop() })
}

// allocate allocates claims that no pod uses, without the scheduler. Without such claims it does
// nothing, and others are refused.
type allocate struct {
	common
	Namespace string `yaml:"namespace"`
}

func (p *allocate) resolve(*load) []step {
	return steps("the claims in "+p.Namespace, func(r *run) (string, error) {
		claims, err := r.cluster.List(r.ctx, resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"))
		count := 0
		for _, o := range claims {
			if namespace := o.(metav1.Object).GetNamespace(); p.Namespace == "" || namespace == p.Namespace {
				count++
			}
		}
		if err == nil && count > 0 {
			err = fmt.Errorf("allocResourceClaims is not supported: it would allocate %s without the scheduler; set the parameter of their number to 0", scenario.Plural(count, "claim"))
		}
		return "no claims", err
	})
}

// anyObject makes objects of any kind, and with update changes those of their names.
type anyObject struct {
	common
	Namespace       string      `yaml:"namespace"`
	TemplatePath    string      `yaml:"templatePath"`
	Count           *int        `yaml:"count"`
	CountParam      string      `yaml:"countParam"`
	TemplateParams  decoder.Raw `yaml:"templateParams"`
	UpdatePerSecond int         `yaml:"updatePerSecond"`
	Subresources    []string    `yaml:"subresources"`

	update bool
}

// Decode refuses the fields of an update elsewhere.
func (p *anyObject) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	d.Mapping(n, p, at)
	if !p.update && (p.UpdatePerSecond != 0 || p.Subresources != nil) {
		d.Add(n, at, "updatePerSecond and subresources belong to updateAny")
	}
}

func (p *anyObject) resolve(w *load) []step {
	count := 1
	if p.Count != nil || p.CountParam != "" {
		given := 0
		if p.Count != nil {
			given = *p.Count
		}
		count = w.count("count", given, p.CountParam, scenario.MaxCount)
	}
	if p.TemplatePath == "" {
		w.wrong("templatePath", "want the file of the object")
	}
	if p.UpdatePerSecond < 0 {
		w.wrong("updatePerSecond", "want 0 or more, not %d", p.UpdatePerSecond)
	}
	t := w.template("templatePath", p.TemplatePath, w.templateParams(p.TemplateParams), false)
	return steps(fmt.Sprintf("%d of %s", count, p.TemplatePath), func(r *run) (string, error) {
		if p.Namespace != "" {
			if err := r.namespace(p.Namespace, nil); err != nil {
				return "", err
			}
		}
		var made []runtime.Object
		for i := range count {
			o, err := t.make(r.ctx, i, count)
			if err != nil {
				return "", err
			}
			if p.Namespace != "" {
				o.SetNamespace(p.Namespace)
			}
			if !p.update {
				r.name(o)
				made = append(made, o)
				continue
			}
			if p.UpdatePerSecond > 0 {
				if err := r.pass(time.Second / time.Duration(p.UpdatePerSecond)); err != nil {
					return "", err
				}
			}
			if err := p.change(r, o); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%d of %s", count, p.TemplatePath), r.create(made)
	})
}

// change replaces what the object says.
func (p *anyObject) change(r *run, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	content := map[string]any{}
	for key, value := range o.Object {
		if !slices.Contains([]string{"apiVersion", "kind"}, key) {
			content[key] = value
		}
	}
	patch, err := json.Marshal(content)
	if err != nil {
		return err
	}
	namespace := o.GetNamespace()
	return r.timed(func() error {
		return r.cluster.Patch(r.ctx, gvk, namespace, o.GetName(), apitypes.MergePatchType, patch)
	})
}
