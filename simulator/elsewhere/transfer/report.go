package transfer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// Mode says what an import does with the objects that are already in the cluster.
type Mode string

const (
	// Merge keeps them, and updates those that the input has too.
	Merge Mode = "merge"
	// Replace empties the cluster first.
	Replace Mode = "replace"
)

// Phase is a step of an import.
type Phase string

const (
	Reading  Phase = "reading"
	Clearing Phase = "clearing"
	Applying Phase = "applying"
	// Settling: the import waits for controllers to bind volumes and to untaint nodes.
	Settling Phase = "settling"
)

// Progress is what an import is doing.
type Progress struct {
	Phase Phase `json:"phase"`
	// Done of Total: while Reading, objects that were read, without a Total; while Clearing, none.
	// Applying and Settling share one count of all writes: each object, and once more each that
	// waits for its owner or behind the scheduling gate of imports.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Kind is the kind being applied.
	Kind string `json:"kind,omitempty"`
}

// Item is a remark about an object, or about a place in the input that is not readable as one.
type Item struct {
	// Source is where the object was read: the file and the document, as in "pods.yaml, document
	// 3", or the name of another cluster.
	Source     string `json:"source,omitempty"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Message    string `json:"message"`
}

func itemOf(o *manifest.Object, message string) Item {
	return Item{
		Source: o.Source, APIVersion: o.GVK.GroupVersion().String(), Kind: o.GVK.Kind,
		Namespace: o.Namespace, Name: o.Name, Message: message,
	}
}

// InputError says that the import could not read a source, in whole or in part.
type InputError struct {
	Message string
	// Items are the unreadable places.
	Items []Item
}

func (e *InputError) Error() string { return e.Message }

// Cause is one reason for which objects of a kind failed.
type Cause struct {
	// Kind is "" for unreadable places.
	Kind string `json:"kind"`
	// Message does not repeat the object's own name.
	Message string `json:"message"`
	Count   int    `json:"count"`
	// First is the first object, or place.
	First Item `json:"first"`
}

// KindCount counts the objects of a kind by outcome.
type KindCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Created    int    `json:"created"`
	Updated    int    `json:"updated"`
	Unchanged  int    `json:"unchanged"`
	Failed     int    `json:"failed"`
	Skipped    int    `json:"skipped"`
}

func (k KindCount) rank() objects.Rank {
	return objects.RankOf(schema.FromAPIVersionAndKind(k.APIVersion, k.Kind).GroupKind())
}

// Report is the result of an import.
type Report struct {
	Mode       Mode `json:"mode"`
	Reschedule bool `json:"reschedule"`
	// StartTime is when reading started.
	StartTime       time.Time `json:"startTime"`
	DurationSeconds float64   `json:"durationSeconds"`
	// Read counts the objects in the input, including those that the import left out.
	Read      int `json:"read"`
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	// Deleted counts the objects that Replace deleted first.
	Deleted int `json:"deleted"`
	// LeftToScheduler counts the pods that had a node in the input and were imported without it.
	LeftToScheduler int         `json:"leftToScheduler"`
	Kinds           []KindCount `json:"kinds"`

	// Lacks are the kinds of which the input has no or too few objects to schedule as the cluster did
	// that it comes from.
	Lacks []Lack `json:"lacks"`

	// Causes group what failed, the most frequent first.
	Causes []Cause `json:"causes"`

	// Each list holds at most MaxItems; the totals count all.
	Failed        []Item `json:"failed"`
	FailedTotal   int    `json:"failedTotal"`
	Skipped       []Item `json:"skipped"`
	SkippedTotal  int    `json:"skippedTotal"`
	Warnings      []Item `json:"warnings"`
	WarningsTotal int    `json:"warningsTotal"`
	// Inactive are imported objects that call no other program until a user activates them; see
	// Cluster.Inactive.
	Inactive      []Item `json:"inactive"`
	InactiveTotal int    `json:"inactiveTotal"`

	// Configuration is nil when the input had no scheduler configuration.
	Configuration *ConfigurationReport `json:"configuration,omitempty"`
}

// ConfigurationReport says what the import did with the input's scheduler configuration.
type ConfigurationReport struct {
	// Applied: it is in force, without the fields in Removed.
	Applied bool `json:"applied"`
	// Revision is its number, 0 when it is not applied.
	Revision int `json:"revision,omitempty"`
	// Message says why it was not applied.
	Message string `json:"message,omitempty"`
	// Removed are the fields that this version of Kubernetes no longer has.
	Removed []RemovedField `json:"removed"`
	// InactiveExtenders are the URLs of the extenders that are left out until a user activates
	// them.
	InactiveExtenders []string `json:"inactiveExtenders"`
}

// RemovedField is a part of a scheduler configuration that the import left out.
type RemovedField struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// MaxItems bounds each list of a Report.
const MaxItems = 1000

type outcome int

const (
	created outcome = iota
	updated
	unchanged
	failed
	skipped
)

// recorder writes a Report. Methods are safe for concurrent use.
type recorder struct {
	mu     sync.Mutex
	report Report
	kinds  map[schema.GroupVersionKind]*KindCount
}

func newRecorder(mode Mode, reschedule bool, now time.Time) *recorder {
	return &recorder{
		report: Report{
			Mode: mode, Reschedule: reschedule, StartTime: now,
			Kinds: []KindCount{}, Failed: []Item{}, Skipped: []Item{}, Warnings: []Item{}, Inactive: []Item{}, Causes: []Cause{}, Lacks: []Lack{},
		},
		kinds: map[schema.GroupVersionKind]*KindCount{},
	}
}

// message is for failed and skipped.
func (r *recorder) count(o *manifest.Object, what outcome, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[o.GVK]
	if k == nil {
		k = &KindCount{APIVersion: o.GVK.GroupVersion().String(), Kind: o.GVK.Kind}
		r.kinds[o.GVK] = k
	}
	switch what {
	case created:
		k.Created++
		r.report.Created++
	case updated:
		k.Updated++
		r.report.Updated++
	case unchanged:
		k.Unchanged++
		r.report.Unchanged++
	case failed:
		k.Failed++
		r.failed(itemOf(o, message))
	case skipped:
		k.Skipped++
		add(&r.report.Skipped, &r.report.SkippedTotal, itemOf(o, message))
	}
}

func (r *recorder) leftToScheduler() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.LeftToScheduler++
}

// unreadable records a place in the input that is not an object.
func (r *recorder) unreadable(source, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed(Item{Source: source, Message: message})
}

// failed adds an item and its cause. The caller holds the lock.
func (r *recorder) failed(i Item) {
	add(&r.report.Failed, &r.report.FailedTotal, i)
	c := Cause{Kind: i.Kind, Message: i.Message, Count: 1, First: i}
	if i.Name != "" {
		c.Message = strings.ReplaceAll(c.Message, strconv.Quote(i.Name), "…")
	}
	at := slices.IndexFunc(r.report.Causes, func(o Cause) bool { return o.Kind == c.Kind && o.Message == c.Message })
	switch {
	case at >= 0:
		r.report.Causes[at].Count++
	case len(r.report.Causes) < maxCauses:
		r.report.Causes = append(r.report.Causes, c)
	}
}

// maxCauses bounds the causes of a Report. Objects that fail for other causes are still among the
// items.
const maxCauses = 100

// ignored records a part of the input that holds no objects.
func (r *recorder) ignored(source, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.report.Skipped, &r.report.SkippedTotal, Item{Source: source, Message: message})
}

func (r *recorder) warn(i Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.report.Warnings, &r.report.WarningsTotal, i)
}

// inactive records an object that was made inactive.
func (r *recorder) inactive(o *manifest.Object, calls []objects.Call) {
	texts := make([]string, len(calls))
	for i, call := range calls {
		texts[i] = call.String()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.report.Inactive, &r.report.InactiveTotal, itemOf(o, "inactive: it would call "+strings.Join(texts, ", ")))
}

func (r *recorder) read(objects int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Read += objects
}

func add(list *[]Item, total *int, i Item) {
	*total++
	if len(*list) < MaxItems {
		*list = append(*list, i)
	}
}

// finish returns the sorted report. Do not use the recorder afterwards.
func (r *recorder) finish(now time.Time) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.DurationSeconds = now.Sub(r.report.StartTime).Seconds()
	for _, k := range r.kinds {
		r.report.Kinds = append(r.report.Kinds, *k)
	}
	slices.SortFunc(r.report.Kinds, func(a, b KindCount) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	slices.SortStableFunc(r.report.Causes, func(a, b Cause) int { return cmp.Compare(b.Count, a.Count) })
	return &r.report
}
