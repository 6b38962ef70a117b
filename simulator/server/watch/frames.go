package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/result"
)

// A subscriber to results first gets this list.
var newestResults = result.Query{Limit: maxNewest}

type clientFrame struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Topic     string    `json:"topic"`
	Resource  *Resource `json:"resource"`
	Namespace string    `json:"namespace"`
}

// Resource names the kind that a client subscribes to.
type Resource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

const (
	subscribe   = "subscribe"
	unsubscribe = "unsubscribe"

	topicResults = "results"
	topicStatus  = "status"
	topicQueues  = "queues"
	// topicAdmissions is the state of Kueue's queues.
	topicAdmissions = "admissions"

	maxID = 256
)

// pathSegment matches groups, versions, resources and namespaces. Anything else, put into a path,
// could address another part of the API.
var pathSegment = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// parseFrame returns a valid frame. If it fails, the frame still has the id, if the client sent
// one.
func parseFrame(data []byte) (clientFrame, *refusal) {
	var f clientFrame
	if err := json.Unmarshal(data, &f); err != nil {
		return clientFrame{}, refuse(http.StatusBadRequest, "invalid frame: %v", err)
	}
	if f.ID == "" || len(f.ID) > maxID {
		return clientFrame{}, refuse(http.StatusBadRequest, "invalid frame: id must have 1 to %d bytes", maxID)
	}
	switch f.Type {
	case unsubscribe:
		return f, nil
	case subscribe:
		return f, f.checkSubscribe()
	}
	return clientFrame{}, refuse(http.StatusBadRequest, "invalid frame: type is %q, want %s or %s", f.Type, subscribe, unsubscribe)
}

func (f *clientFrame) checkSubscribe() *refusal {
	switch f.Topic {
	case topicResults, topicStatus, topicQueues, topicAdmissions:
		return nil
	case "":
	default:
		return refuse(http.StatusNotFound, "there is no topic %q", f.Topic)
	}
	r := f.Resource
	if r == nil {
		return refuse(http.StatusBadRequest, "a subscription needs a resource or a topic")
	}
	if r.Group != "" && !pathSegment.MatchString(r.Group) || !pathSegment.MatchString(r.Version) || !pathSegment.MatchString(r.Resource) {
		return refuse(http.StatusNotFound, "there is no resource %q in version %q of group %q", r.Resource, r.Version, r.Group)
	}
	if f.Namespace != "" && !pathSegment.MatchString(f.Namespace) {
		return refuse(http.StatusBadRequest, "%q is not the name of a namespace", f.Namespace)
	}
	return nil
}

func (f *clientFrame) key() feedKey {
	return feedKey{
		schema.GroupVersionResource{Group: f.Resource.Group, Version: f.Resource.Version, Resource: f.Resource.Resource},
		f.Namespace,
	}
}

// A frame writes its objects one by one, without copying them into one buffer first.
type frame interface{ writeTo(w *frameWriter) }

type listFrame struct {
	id          []byte
	items       [][]byte
	first, more bool
}

func (f *listFrame) writeTo(w *frameWriter) {
	w.write(`{"type":"list","id":`).writeBytes(f.id)
	if f.first {
		w.write(`,"first":true`)
	}
	w.write(`,"items":[`)
	for i, item := range f.items {
		w.comma(i).writeBytes(item)
	}
	w.write(`],"more":`).write(strconv.FormatBool(f.more)).write(`}`)
}

type eventsFrame struct {
	id     []byte
	events []event
}

func (f *eventsFrame) writeTo(w *frameWriter) {
	w.write(`{"type":"events","id":`).writeBytes(f.id).write(`,"events":[`)
	for i, e := range f.events {
		w.comma(i).write(`{"type":"`).write(e.change).write(`","object":`).writeBytes(e.object).write(`}`)
	}
	w.write(`]}`)
}

// refusal says why a client does not get what it asks for.
type refusal struct {
	// Code is an HTTP status.
	Code    int
	Message string
}

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorFrame ends the subscription ID. Without an ID, it says that a frame was invalid.
type ErrorFrame struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"`
	Message string `json:"message"`
	Code    int    `json:"code"`
}

func newErrorFrame(id string, why *refusal) *ErrorFrame {
	return &ErrorFrame{Type: "error", ID: id, Message: why.Message, Code: why.Code}
}

func (f *ErrorFrame) writeTo(w *frameWriter) { w.writeBytes(mustMarshal(f)) }

// frameWriter writes until the first error and keeps that error.
type frameWriter struct {
	to  io.Writer
	err error
}

func (w *frameWriter) writeBytes(b []byte) *frameWriter {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
	return w
}

func (w *frameWriter) write(s string) *frameWriter {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
	return w
}

// comma separates element i from the one before it.
func (w *frameWriter) comma(i int) *frameWriter {
	if i == 0 {
		return w
	}
	return w.write(",")
}

// mustMarshal marshals our own types, which cannot fail.
func mustMarshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("marshalling %T: %v", v, err))
	}
	return data
}
