package schedulertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/memory"
)

// APIServer stores objects and serves the Kubernetes API over HTTP, all in memory. It is
// the transport of a client. It has no network, no goroutines between calls, and no
// admission. The real clients and informers work with it unchanged.
//
// It is meant for a bubble of testing/synctest, where its latencies take no real
// time and give every request and every watch event a distinct instant, so that
// concurrent goroutines act in the same order in every run.
type APIServer struct {
	controllers controllers

	mu       sync.Mutex
	version  uint64
	created  map[string]int
	kinds    map[string]map[string]*stored // resource → namespace/name
	history  []change
	watches  map[*watchBody]struct{}
	lastSent time.Time
	writes   func(write)
	failures map[string]int // how many more requests fail, by method and path
	late     map[string]time.Duration
	unserved map[string]bool // resources
}

// object is the JSON form of an object.
type object = map[string]any

type stored struct {
	object object
	raw    []byte
}

type change struct {
	resource string
	version  uint64
	kind     string // ADDED, MODIFIED, DELETED
	raw      []byte
	at       time.Time
}

// write is a request that changed something.
type write struct {
	method, resource, key, subresource string
	before, after                      object
	agent                              string
}

// NewAPIServer returns a server without objects.
func NewAPIServer() *APIServer {
	s := &APIServer{
		created:  map[string]int{},
		kinds:    map[string]map[string]*stored{},
		watches:  map[*watchBody]struct{}{},
		failures: map[string]int{},
		late:     map[string]time.Duration{},
	}
	s.controllers.server = s
	return s
}

// Config returns the configuration of a client of s.
func (s *APIServer) Config(userAgent string) *rest.Config {
	return &rest.Config{
		Host:          "http://apiserver.test",
		Transport:     s,
		QPS:           -1,
		UserAgent:     userAgent,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

// Annotator is the user agent of the simulator's annotation writer. Its writes take no turn in the
// order of events, so it does not shift anything else.
const Annotator = "annotator"

var _ http.RoundTripper = (*APIServer)(nil)

// RoundTrip serves a request.
func (s *APIServer) RoundTrip(r *http.Request) (*http.Response, error) {
	target, err := parsePath(r.URL.Path)
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	select {
	case <-time.After(latency(r, target)):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if !s.serves(target) {
		return statusResponse(apierrors.NewNotFound(schema.GroupResource{}, "")), nil
	}
	query := r.URL.Query()
	if r.Method == http.MethodGet && query.Get("watch") != "" {
		if query.Get("sendInitialEvents") == "true" {
			return statusResponse(apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)), nil
		}
		return s.watch(r.Context(), target, query.Get("resourceVersion")), nil
	}
	out, err := s.serve(r, target, body)
	if err != nil {
		return statusResponse(err), nil
	}
	return jsonResponse(http.StatusOK, out), nil
}

// Unserve makes s answer requests for a resource as a server that does not know it.
func (s *APIServer) Unserve(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unserved == nil {
		s.unserved = map[string]bool{}
	}
	s.unserved[resource] = true
}

func (s *APIServer) serves(t target) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unserved[t.resource]
}

// latency is different for requests that could otherwise happen at the same
// instant.
func latency(r *http.Request, t target) time.Duration {
	if r.UserAgent() == Annotator {
		return 300 * time.Microsecond
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, r.Method, t)
	return time.Millisecond + time.Duration(h.Sum32()%1_000_000)*time.Nanosecond
}

// target is the object or collection that a path names.
type target struct {
	group, version, resource, namespace, name, subresource string
}

func (t target) kind() string { return t.group + "/" + t.version + "/" + t.resource }
func (t target) key() string {
	if t.namespace == "" {
		return t.name
	}
	return t.namespace + "/" + t.name
}

func parsePath(path string) (target, error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var t target
	switch {
	case len(parts) > 2 && parts[0] == "api":
		t.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		t.group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, fmt.Errorf("no such path: %s", path)
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		t.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	t.resource, t.name, t.subresource = parts[0], parts[1], parts[2]
	return t, nil
}

func (s *APIServer) serve(r *http.Request, t target, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.failures[r.Method+" "+t.kind()+" "+t.key()+" "+t.subresource]; n > 0 {
		s.failures[r.Method+" "+t.kind()+" "+t.key()+" "+t.subresource]--
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: t.resource}, t.key(), errors.New("the test makes this request fail"))
	}
	agent := r.UserAgent()[strings.LastIndex(r.UserAgent(), "/")+1:]
	switch {
	case r.Method == http.MethodGet && t.name == "":
		return s.list(t), nil
	case r.Method == http.MethodGet:
		found, err := s.find(t)
		if err != nil {
			return nil, err
		}
		return found.object, nil
	case r.Method == http.MethodPost && t.subresource == "binding":
		return s.bind(t, body, agent)
	case r.Method == http.MethodPost:
		return s.create(t, body, agent)
	case r.Method == http.MethodPut:
		return s.update(t, body, agent)
	case r.Method == http.MethodPatch:
		return s.patch(t, types.PatchType(r.Header.Get("Content-Type")), body, agent)
	case r.Method == http.MethodDelete:
		return s.delete(t, body, agent)
	}
	return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Group: t.group, Resource: t.resource}, r.Method)
}

func (s *APIServer) find(t target) (*stored, error) {
	if found := s.kinds[t.kind()][t.key()]; found != nil {
		return found, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: t.group, Resource: t.resource}, t.name)
}

func (s *APIServer) list(t target) any {
	all := s.kinds[t.kind()]
	items := make([]json.RawMessage, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		items = append(items, all[key].raw)
	}
	return object{
		"apiVersion": schema.GroupVersion{Group: t.group, Version: t.version}.String(), "kind": kindOf(t).Kind + "List",
		"metadata": object{"resourceVersion": strconv.FormatUint(s.version, 10)},
		"items":    items,
	}
}

func (s *APIServer) create(t target, body []byte, agent string) (any, error) {
	o, err := decode(body)
	if err != nil {
		return nil, err
	}
	m := field(o, "metadata")
	t.name, _ = m["name"].(string)
	if _, err := s.find(t); err == nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: t.group, Resource: t.resource}, t.name)
	}
	if t.namespace != "" {
		m["namespace"] = t.namespace
	}
	s.created[t.kind()+" "+t.key()]++
	m["uid"] = fmt.Sprintf("%s/%s#%d", t.resource, t.key(), s.created[t.kind()+" "+t.key()])
	m["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	m["generation"] = 1
	if gvk := kindOf(t); gvk.Kind != "" {
		o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	}
	return s.put(t, "ADDED", nil, o, agent, http.MethodPost)
}

func (s *APIServer) update(t target, body []byte, agent string) (any, error) {
	found, err := s.find(t)
	if err != nil {
		return nil, err
	}
	o, err := decode(body)
	if err != nil {
		return nil, err
	}
	want, _ := field(o, "metadata")["resourceVersion"].(string)
	if is := field(found.object, "metadata")["resourceVersion"]; want != "" && want != is {
		return nil, conflict(t, "the object has been modified")
	}
	return s.replace(t, found, o, agent, http.MethodPut)
}

func (s *APIServer) patch(t target, kind types.PatchType, body []byte, agent string) (any, error) {
	found, err := s.find(t)
	if err != nil {
		return nil, err
	}
	o, err := patched(t, found, kind, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if field(o, "metadata")["uid"] != field(found.object, "metadata")["uid"] {
		return nil, conflict(t, "the UID in the precondition does not match")
	}
	return s.replace(t, found, o, agent, http.MethodPatch)
}

func patched(t target, found *stored, kind types.PatchType, body []byte) (object, error) {
	like, err := scheme.Scheme.New(kindOf(t))
	if err != nil {
		like = &unstructured.Unstructured{}
	}
	out, err := memory.Patched(found.raw, like, kind, body)
	if err != nil {
		return nil, err
	}
	return decode(out)
}

// replace changes the status only through the status subresource, and everything
// else only without it.
func (s *APIServer) replace(t target, found *stored, o object, agent, method string) (any, error) {
	next := maps.Clone(found.object)
	if t.subresource == "status" {
		next["status"] = o["status"]
	} else {
		maps.Copy(next, o)
		if status, ok := found.object["status"]; ok {
			next["status"] = status
		}
	}
	m := maps.Clone(field(o, "metadata"))
	for _, own := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "resourceVersion"} {
		delete(m, own)
		if value, ok := field(found.object, "metadata")[own]; ok {
			m[own] = value
		}
	}
	next["metadata"] = m
	if same(found.object, next) {
		return found.object, nil
	}
	return s.put(t, "MODIFIED", found.object, next, agent, method)
}

// bind acts like the binding subresource and then the kubelet. Every pod has a
// different start time, because preemption breaks its last tie by it.
func (s *APIServer) bind(t target, body []byte, agent string) (any, error) {
	found, err := s.find(t)
	if err != nil {
		return nil, err
	}
	binding, err := decode(body)
	if err != nil {
		return nil, err
	}
	if field(found.object, "spec")["nodeName"] != nil {
		return nil, conflict(t, "the pod is already assigned to a node")
	}
	next := maps.Clone(found.object)
	spec := maps.Clone(field(next, "spec"))
	spec["nodeName"] = field(binding, "target")["name"]
	next["spec"] = spec
	status := maps.Clone(field(next, "status"))
	s.created["started"]++
	status["phase"] = string(v1.PodRunning)
	status["startTime"] = time.Date(2000, 1, 1, 0, 0, s.created["started"], 0, time.UTC).Format(time.RFC3339)
	status["conditions"] = []any{object{"type": string(v1.PodScheduled), "status": "True"}}
	delete(status, "nominatedNodeName")
	next["status"] = status
	if _, err := s.put(t, "MODIFIED", found.object, next, agent, http.MethodPost); err != nil {
		return nil, err
	}
	return success, nil
}

var success = object{"apiVersion": "v1", "kind": "Status", "status": "Success"}

// delete removes an object immediately, or starts the graceful deletion of a running
// pod.
func (s *APIServer) delete(t target, body []byte, agent string) (any, error) {
	found, err := s.find(t)
	if err != nil {
		return nil, err
	}
	options, _ := decode(body)
	if uid := field(options, "preconditions")["uid"]; uid != nil && uid != field(found.object, "metadata")["uid"] {
		return nil, conflict(t, "the UID in the precondition does not match")
	}
	grace := s.controllers.grace(t, found.object)
	if grace > 0 {
		if field(found.object, "metadata")["deletionTimestamp"] != nil {
			return success, nil
		}
		next := maps.Clone(found.object)
		m := maps.Clone(field(next, "metadata"))
		m["deletionTimestamp"] = time.Now().Add(grace).UTC().Format(time.RFC3339)
		next["metadata"] = m
		s.controllers.after(grace, func() { s.remove(t, m["uid"], "kubelet") })
		_, err := s.put(t, "MODIFIED", found.object, next, agent, http.MethodDelete)
		return success, err
	}
	s.drop(t, found, agent)
	return success, nil
}

func (s *APIServer) remove(t target, uid any, agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, err := s.find(t); err == nil && field(found.object, "metadata")["uid"] == uid {
		s.drop(t, found, agent)
	}
}

func (s *APIServer) drop(t target, found *stored, agent string) {
	delete(s.kinds[t.kind()], t.key())
	s.version++
	o := maps.Clone(found.object)
	m := maps.Clone(field(o, "metadata"))
	m["resourceVersion"] = strconv.FormatUint(s.version, 10)
	o["metadata"] = m
	s.publish(t, "DELETED", mustEncode(o), agent)
	s.note(write{method: http.MethodDelete, resource: t.resource, key: t.key(), before: found.object, agent: agent})
	s.controllers.deleted(t, found.object)
}

func (s *APIServer) put(t target, event string, before, o object, agent, method string) (any, error) {
	s.version++
	m := maps.Clone(field(o, "metadata"))
	m["resourceVersion"] = strconv.FormatUint(s.version, 10)
	if before != nil && !same(field(before, "spec"), field(o, "spec")) {
		generation, _ := m["generation"].(float64)
		m["generation"] = generation + 1
	}
	o["metadata"] = m
	// A round trip copies the parts that are shared with the previous version.
	raw := mustEncode(o)
	next, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if s.kinds[t.kind()] == nil {
		s.kinds[t.kind()] = map[string]*stored{}
	}
	s.kinds[t.kind()][t.key()] = &stored{object: next, raw: raw}
	s.publish(t, event, raw, agent)
	s.note(write{method: method, resource: t.resource, key: t.key(), subresource: t.subresource, before: before, after: next, agent: agent})
	s.controllers.written(t, before, next)
	return next, nil
}

func (s *APIServer) note(w write) {
	if s.writes != nil {
		s.writes(w)
	}
}

const (
	// turn is the time between two watch events, so that all effects of the first
	// happen before the second.
	turn = 10 * time.Microsecond
	// delay is the time between a write and its watch event, so that the writer
	// gets its response first.
	delay = 137 * time.Microsecond
)

func (s *APIServer) publish(t target, kind string, raw []byte, agent string) {
	c := change{resource: t.kind(), version: s.version, kind: kind, raw: raw, at: time.Now()}
	if agent != Annotator {
		c.at = c.at.Add(delay)
		if next := s.lastSent.Add(turn); next.After(c.at) {
			c.at = next
		}
		s.lastSent = c.at
	}
	c.at = c.at.Add(s.late[t.resource])
	s.history = append(s.history, c)
	for w := range s.watches {
		if w.resource == c.resource {
			w.send(c)
		}
	}
}

// FailBinding makes the next bindings of a pod fail.
func (s *APIServer) FailBinding(pod string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures["POST /v1/pods "+Namespace+"/"+pod+" binding"] = times
}

// DelayTermination makes pods take that long to terminate. Call it before the first
// deletion.
func (s *APIServer) DelayTermination(d time.Duration) { s.controllers.podGrace = d }

// DelayEvents makes the watch events of a resource, such as "resourceclaims", arrive
// later by d than those of other resources.
func (s *APIServer) DelayEvents(resource string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late[resource] = d
}

// watch streams the changes of a resource after a version. It does not stream
// existing objects, so that informers list them and keep the order of the list.
func (s *APIServer) watch(ctx context.Context, t target, version string) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &watchBody{resource: t.kind(), server: s, now: make(chan struct{}, 1), closed: make(chan struct{})}
	from, _ := strconv.ParseUint(version, 10, 64)
	for _, c := range s.history {
		if c.resource == w.resource && c.version > from {
			w.send(c)
		}
	}
	s.watches[w] = struct{}{}
	w.stop = context.AfterFunc(ctx, func() { _ = w.Close() })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: w}
}

// watchBody is the stream of a watch. Its reader waits for each event's turn.
type watchBody struct {
	resource string
	server   *APIServer
	stop     func() bool

	mu      sync.Mutex
	pending []change
	buffer  bytes.Reader
	now     chan struct{}
	once    sync.Once
	closed  chan struct{}
}

func (w *watchBody) send(c change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, c)
	select {
	case w.now <- struct{}{}:
	default:
	}
}

func (w *watchBody) next() (change, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 {
		return change{}, false
	}
	c := w.pending[0]
	w.pending = w.pending[1:]
	return c, true
}

// Read is called by one goroutine, the client's.
func (w *watchBody) Read(p []byte) (int, error) {
	for w.buffer.Len() == 0 {
		c, ok := w.next()
		if !ok {
			select {
			case <-w.now:
				continue
			case <-w.closed:
				return 0, io.EOF
			}
		}
		select {
		case <-time.After(time.Until(c.at)):
		case <-w.closed:
			return 0, io.EOF
		}
		frame := fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", c.kind, c.raw)
		w.buffer.Reset(frame)
	}
	return w.buffer.Read(p)
}

func (w *watchBody) Close() error {
	w.once.Do(func() {
		close(w.closed)
		w.server.mu.Lock()
		delete(w.server.watches, w)
		stop := w.stop
		w.server.mu.Unlock()
		if stop != nil {
			stop()
		}
	})
	return nil
}

// kindsByResource maps the resources of all APIs of the client.
var kindsByResource = sync.OnceValue(func() map[string]schema.GroupVersionKind {
	out := map[string]schema.GroupVersionKind{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		out[gvk.Group+"/"+gvk.Version+"/"+plural.Resource] = gvk
	}
	return out
})

// kindOf returns the kind of a resource; the zero value for a custom one.
func kindOf(t target) schema.GroupVersionKind { return kindsByResource()[t.kind()] }

func decode(data []byte) (object, error) {
	o := object{}
	if len(data) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o, nil
}

func mustEncode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of JSON values can always be encoded
	}
	return data
}

// same compares the encodings, which sort the fields of maps.
func same(a, b any) bool { return bytes.Equal(mustEncode(a), mustEncode(b)) }

func field(o object, path ...string) object {
	for _, name := range path {
		next, ok := o[name].(object)
		if !ok {
			return object{}
		}
		o = next
	}
	return o
}

func conflict(t target, why string) error {
	return apierrors.NewConflict(schema.GroupResource{Group: t.group, Resource: t.resource}, t.name, errors.New(why))
}

func statusResponse(err error) *http.Response {
	status := apierrors.NewInternalError(err)
	if known, ok := err.(*apierrors.StatusError); ok {
		status = known
	}
	out := status.Status()
	out.APIVersion, out.Kind = "v1", "Status"
	return jsonResponse(int(out.Code), out)
}

func jsonResponse(code int, v any) *http.Response {
	return &http.Response{
		StatusCode: code,
		Header:     http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		Body:       io.NopCloser(bytes.NewReader(mustEncode(v))),
	}
}
