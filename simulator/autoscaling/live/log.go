package live

import (
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Kind is what an entry of the log says.
type Kind string

const (
	// Launched, Joined and Ended are steps of an instance: it has an Offer, becomes a node, and is gone after Karpenter let it go.
	Launched Kind = "launched"
	Joined   Kind = "joined"
	Ended    Kind = "ended"
	// NoCapacity, LaunchFailed, Interrupted and Lost are failures of the cloud that a user asked for.
	NoCapacity   Kind = "noCapacity"
	LaunchFailed Kind = "launchFailed"
	Interrupted  Kind = "interrupted"
	Lost         Kind = "lost"
	// Said is an event of Karpenter's about an object, in its words.
	Said Kind = "said"
	// Answered is an answer to a ProvisioningRequest.
	Answered Kind = "answered"
	// Failed is an error of a controller.
	Failed Kind = "failed"
)

// Entry is something that Karpenter or its cloud did or said.
type Entry struct {
	// Number grows with each entry.
	Number int64 `json:"number"`
	Kind   Kind  `json:"kind"`
	// First and Last are when; they differ if it was said Count times.
	First metav1.Time `json:"first"`
	Last  metav1.Time `json:"last"`
	Count int         `json:"count"`
	// Node and NodePool are those of an instance.
	Node     string `json:"node,omitempty"`
	NodePool string `json:"nodePool,omitempty"`
	// Offer is what was launched, or what the cloud did not have.
	Offer *provider.Offer `json:"offer,omitempty"`
	// Seconds is the notice of an interruption.
	Seconds float64 `json:"seconds,omitempty"`
	// Object is what Karpenter speaks of, or the ProvisioningRequest. Reason is its word for why, such as FailedScheduling, and Message its sentence.
	Object  *Object `json:"object,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Object is an object of the cluster.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// maxEntries bounds the log. Of each kind of thing that is said again and again there is one entry, so this is a long time.
const maxEntries = 1000

// Log is what Karpenter and its cloud did and said, in full: Karpenter's events leave out most of what repeats within minutes. The zero
// value is empty. Its methods may be called from any goroutine.
type Log struct {
	// Changed is called after each change, if it is set; it must not wait.
	Changed func()

	mu      sync.Mutex
	number  int64
	entries []*Entry // by their last time
}

// Add adds an entry. What has been said before in the same words moves to the end and counts.
func (l *Log) Add(e Entry) {
	l.mu.Lock()
	e.Last, e.Count = metav1.NewTime(time.Now()), 1
	e.First = e.Last
	if e.Kind == Said || e.Kind == Answered || e.Kind == Failed || e.Kind == LaunchFailed {
		if at := slices.IndexFunc(l.entries, func(old *Entry) bool { return old.same(e) }); at >= 0 {
			e.First, e.Count = l.entries[at].First, l.entries[at].Count+1
			l.entries = slices.Delete(l.entries, at, at+1)
		}
	}
	l.number++
	e.Number = l.number
	if l.entries = append(l.entries, &e); len(l.entries) > maxEntries {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.mu.Unlock()
	if l.Changed != nil {
		l.Changed()
	}
}

func (e *Entry) same(other Entry) bool {
	object := func(of *Object) Object {
		if of == nil {
			return Object{}
		}
		return *of
	}
	return e.Kind == other.Kind && e.Node == other.Node && object(e.Object) == object(other.Object) && e.Reason == other.Reason && e.Message == other.Message
}

// Latest returns up to so many entries, the latest first.
func (l *Log) Latest(most int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := []Entry{}
	for _, e := range slices.Backward(l.entries) {
		if len(found) == most {
			break
		}
		found = append(found, *e)
	}
	return found
}

// Clear forgets all entries.
func (l *Log) Clear() {
	l.mu.Lock()
	l.entries = nil
	l.mu.Unlock()
}

// recorder keeps every event, and hands it on to one that leaves some out.
func (l *Log) recorder(next events.Recorder) events.Recorder { return recorder{l, next} }

type recorder struct {
	log  *Log
	next events.Recorder
}

// Publish implements events.Recorder.
func (r recorder) Publish(all ...events.Event) {
	for _, e := range all {
		if twin(e, all) {
			continue
		}
		entry := Entry{Kind: Said, Reason: e.Reason, Message: e.Message}
		if o, err := meta.Accessor(e.InvolvedObject); err == nil {
			entry.Object = &Object{Namespace: o.GetNamespace(), Name: o.GetName()}
			if gvk, err := apiutil.GVKForObject(e.InvolvedObject.(client.Object), scheme.Scheme); err == nil {
				entry.Object.Kind = gvk.Kind
			}
		}
		r.log.Add(entry)
	}
	r.next.Publish(all...)
}

// twin reports whether an event about a NodeClaim only repeats the one about its node.
func twin(e events.Event, all []events.Event) bool {
	claim, is := e.InvolvedObject.(*karpenter.NodeClaim)
	return is && slices.ContainsFunc(all, func(other events.Event) bool {
		node, is := other.InvolvedObject.(*v1.Node)
		return is && node.Name == claim.Status.NodeName && other.Reason == e.Reason
	})
}

// sink keeps what the controllers log as errors. Karpenter logs each pod that it cannot help as one, every ten seconds; why it cannot is
// among the events.
func (l *Log) sink() logr.LogSink { return errorSink{l} }

type errorSink struct{ log *Log }

func (errorSink) Init(logr.RuntimeInfo)            {}
func (errorSink) Enabled(int) bool                 { return false }
func (errorSink) Info(int, string, ...any)         {}
func (s errorSink) WithValues(...any) logr.LogSink { return s }
func (s errorSink) WithName(string) logr.LogSink   { return s }
func (s errorSink) Error(err error, message string, _ ...any) {
	if message == "could not schedule pod" {
		return
	}
	if err != nil {
		message += ": " + err.Error()
	}
	s.log.Add(Entry{Kind: Failed, Message: message})
}
