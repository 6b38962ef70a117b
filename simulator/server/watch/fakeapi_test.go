package watch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// fakeAPI serves config maps to a reflector as an API server does.
type fakeAPI struct {
	*httptest.Server

	mu sync.Mutex
	// version counts changes; compacted is the last one that watches no longer get.
	version, compacted int
	objects            map[string]fakeObject
	changes            []fakeChange
	// changed is closed and replaced on every change.
	changed chan struct{}
	// epoch, when increased, ends all watches.
	epoch int
	// unstreamed makes the server refuse to stream lists.
	unstreamed bool
	// refusal, unless it is 0, is the status of every answer.
	refusal int
	// refused counts those answers.
	refused int
	// watches counts the open watches; lists counts the answered lists.
	watches, lists int
}

type fakeObject struct {
	name, data   string
	uid, version int
}

type fakeChange struct {
	change string
	object fakeObject
}

func newFakeAPI(t *testing.T) *fakeAPI {
	f := &fakeAPI{objects: map[string]fakeObject{}, changed: make(chan struct{}), version: 10}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// String returns the object as an API server sends it in a watch.
func (o fakeObject) String() string {
	return `{"kind":"ConfigMap","apiVersion":"v1",` + o.item()[1:]
}

// item returns the object as an API server sends it in a list.
func (o fakeObject) item() string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"default","uid":"u%d","resourceVersion":"%d",`+
		`"annotations":{"kube-scheduler-simulator.sigs.k8s.io/filter-result":"{\"n\":{}}","keep":"me"},`+
		`"managedFields":[{"manager":"m","fieldsV1":{"f:data":{}}}]},"data":{"v":%q}}`, o.name, o.uid, o.version, o.data)
}

// put creates or changes an object.
func (f *fakeAPI) put(name, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	o, known := f.objects[name]
	change := modified
	if !known {
		change, o = added, fakeObject{name: name, uid: f.version}
	}
	o.data, o.version = data, f.version
	f.objects[name] = o
	f.note(change, o)
}

func (f *fakeAPI) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	o := f.objects[name]
	o.version = f.version
	delete(f.objects, name)
	f.note(deleted, o)
}

func (f *fakeAPI) note(change string, o fakeObject) {
	f.changes = append(f.changes, fakeChange{change, o})
	f.announce()
}

func (f *fakeAPI) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// do changes f under its lock and lets watches see it.
func (f *fakeAPI) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.announce()
}

// until waits for a condition, which it checks under f's lock.
func (f *fakeAPI) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	clustertest.EventuallyTrue(t, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return condition()
	})
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refusal := f.refusal
	if refusal != 0 {
		f.refused++
	}
	f.mu.Unlock()
	if refusal == 0 && r.URL.Path != "/api/v1/configmaps" && r.URL.Path != "/api/v1/namespaces/default/configmaps" {
		refusal = http.StatusNotFound
	}
	q := r.URL.Query()
	switch {
	case refusal != 0:
		refuseAsKubernetes(w, refusal)
	case q.Get("watch") == "":
		f.list(w)
	case q.Get("sendInitialEvents") == "true" && f.unstreamed:
		refuseAsKubernetes(w, http.StatusUnprocessableEntity)
	default:
		f.watch(w, r)
	}
}

func refuseAsKubernetes(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintln(w, kubernetesStatus(code))
}

func kubernetesStatus(code int) string {
	reason := map[int]string{404: "NotFound", 403: "Forbidden", 410: "Expired", 422: "Invalid"}[code]
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"refused with %d","reason":%q,"code":%d}`, code, reason, code)
}

func (f *fakeAPI) list(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	var items []string
	for _, o := range f.sorted() {
		items = append(items, o.item())
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`+"\n", f.version, strings.Join(items, ","))
}

func (f *fakeAPI) sorted() []fakeObject {
	var all []fakeObject
	for _, o := range f.objects {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b fakeObject) int { return strings.Compare(a.name, b.name) })
	return all
}

func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request) {
	send := func(change, object string) {
		fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", change, object)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches++
	defer func() {
		f.watches--
		f.announce()
	}()
	f.announce()
	epoch := f.epoch
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		f.lists++
		for _, o := range f.sorted() {
			send(added, o.String())
		}
		send("BOOKMARK", fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}`, f.version))
		from = f.version
	}
	for {
		if from < f.compacted {
			send("ERROR", kubernetesStatus(http.StatusGone))
			return
		}
		for _, c := range f.changes {
			if c.object.version > from {
				from = c.object.version
				send(c.change, c.object.String())
			}
		}
		w.(http.Flusher).Flush()
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		f.mu.Lock()
		if f.epoch != epoch || r.Context().Err() != nil {
			return
		}
	}
}
