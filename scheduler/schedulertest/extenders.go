package schedulertest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// Extenders is a server on the loopback interface that acts as any number of
// scheduler extenders, one for each first segment of a path. An answer depends only
// on the extender's name, the pod and the nodes, so it is the same in every run. It
// may be a failure. Extenders cannot be used in a bubble.
type Extenders struct {
	server *httptest.Server
	// failures maps extender and verb, as in "e1/filter", to one of Failures.
	failures map[string]string
	closing  chan struct{}

	mu       sync.Mutex
	client   kubernetes.Interface
	requests map[string][]string // by pod
}

// Failures are the ways in which an extender fails.
var Failures = []string{"status", "garbage", "error", "slow", "hang up"}

// RejectsAll is a failure of filter that is none to the scheduler: the extender rejects every node.
const RejectsAll = "rejects all"

// NewExtenders starts a server. The caller must close it.
func NewExtenders(failures map[string]string) *Extenders {
	e := &Extenders{failures: failures, closing: make(chan struct{}), requests: map[string][]string{}}
	e.server = httptest.NewServer(e)
	return e
}

// URL returns the URL prefix of an extender.
func (e *Extenders) URL(name string) string { return e.server.URL + "/" + name }

// Close stops the server.
func (e *Extenders) Close() {
	close(e.closing)
	e.server.Close()
}

// Begin discards the requests so far. Later bind requests use client.
func (e *Extenders) Begin(client kubernetes.Interface) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.client, e.requests = client, map[string][]string{}
}

// Requests returns the requests about a pod: verbs and nodes, in order. The
// prioritize requests are sorted, because they arrive concurrently.
func (e *Extenders) Requests(pod string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.requests[pod])
	prioritizes := func(s string) bool { return strings.Contains(s, "/prioritize") }
	if from := slices.IndexFunc(out, prioritizes); from >= 0 {
		to := from
		for to < len(out) && prioritizes(out[to]) {
			to++
		}
		slices.Sort(out[from:to])
	}
	return out
}

// request has the fields of the arguments of all verbs.
type request struct {
	extenderv1.ExtenderArgs
	extenderv1.ExtenderBindingArgs
	NodeNameToVictims     map[string]*extenderv1.Victims
	NodeNameToMetaVictims map[string]*extenderv1.MetaVictims
}

func (r *request) nodes() []string {
	switch {
	case r.NodeNames != nil:
		return *r.NodeNames
	case r.Nodes != nil:
		var out []string
		for _, n := range r.Nodes.Items {
			out = append(out, n.Name)
		}
		return out
	case r.Node != "":
		return []string{r.Node}
	case r.NodeNameToVictims != nil:
		return slices.Sorted(maps.Keys(r.NodeNameToVictims))
	}
	return slices.Sorted(maps.Keys(r.NodeNameToMetaVictims))
}

// ServeHTTP answers the path /NAME/VERB.
func (e *Extenders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, verb, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	args := &request{}
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod := args.PodName
	if args.Pod != nil {
		pod = args.Pod.Name
	}
	e.mu.Lock()
	e.requests[pod] = append(e.requests[pod], fmt.Sprintf("%s/%s %v whole %t", name, verb, args.nodes(), args.Nodes != nil || args.NodeNameToVictims != nil))
	client := e.client
	e.mu.Unlock()

	if failure := e.failures[name+"/"+verb]; failure != "" {
		e.fail(w, r, failure)
		return
	}
	var answer any
	switch verb {
	case "filter":
		answer = filterAnswer(name, args)
	case "prioritize":
		answer = prioritizeAnswer(name, args)
	case "preempt":
		answer = preemptAnswer(name, args)
	case "bind":
		err := client.CoreV1().Pods(args.PodNamespace).Bind(r.Context(), &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: args.PodName, UID: args.PodUID}, Target: v1.ObjectReference{Name: args.Node},
		}, metav1.CreateOptions{})
		result := extenderv1.ExtenderBindingResult{}
		if err != nil {
			result.Error = err.Error()
		}
		answer = result
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (e *Extenders) fail(w http.ResponseWriter, r *http.Request, failure string) {
	switch failure {
	case "status":
		http.Error(w, "overloaded", http.StatusServiceUnavailable)
	case "garbage":
		_, _ = fmt.Fprint(w, "{no")
	case "error":
		_, _ = fmt.Fprint(w, `{"Error":"the extender is tired"}`)
	case RejectsAll:
		_, _ = fmt.Fprint(w, `{"Nodes":{"items":[]},"NodeNames":[]}`)
	case "slow":
		select {
		case <-r.Context().Done():
		case <-e.closing:
		}
	case "hang up":
		panic(http.ErrAbortHandler)
	}
}

// chance returns a pseudorandom number that is the same in every run.
func chance(words ...string) int {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, words)
	return int(h.Sum32() >> 1)
}

// filterAnswer rejects some nodes: with a reason, as unresolvable, or without a
// reason.
func filterAnswer(extender string, args *request) extenderv1.ExtenderFilterResult {
	out := extenderv1.ExtenderFilterResult{FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	kept := []string{}
	for _, node := range args.nodes() {
		switch chance("filter", extender, args.Pod.Name, node) % 9 {
		case 0:
			out.FailedNodes[node] = "not for " + args.Pod.Name
		case 1:
			out.FailedAndUnresolvableNodes[node] = "never for " + args.Pod.Name
		case 2:
		default:
			kept = append(kept, node)
		}
	}
	if args.Nodes == nil {
		out.NodeNames = &kept
		return out
	}
	out.Nodes = &v1.NodeList{}
	for _, n := range args.Nodes.Items {
		if slices.Contains(kept, n.Name) {
			out.Nodes.Items = append(out.Nodes.Items, n)
		}
	}
	return out
}

// prioritizeAnswer sometimes omits a node, names one twice, or names one that was
// not in the request. The scheduler accepts scores outside of 0 to 10.
func prioritizeAnswer(extender string, args *request) extenderv1.HostPriorityList {
	out := extenderv1.HostPriorityList{{Host: "elsewhere", Score: 99}}
	for i, node := range args.nodes() {
		score := int64(chance("prioritize", extender, args.Pod.Name, node) % 997)
		switch {
		case i == 1 && score%3 == 0:
			continue
		case i == 2:
			out = append(out, extenderv1.HostPriority{Host: node, Score: -7})
		}
		out = append(out, extenderv1.HostPriority{Host: node, Score: score})
	}
	return out
}

// preemptAnswer removes a candidate if there are several, and spares a victim if
// there are several.
func preemptAnswer(extender string, args *request) extenderv1.ExtenderPreemptionResult {
	out := extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	nodes := args.nodes()
	for _, node := range nodes {
		victims := &extenderv1.MetaVictims{}
		if args.NodeNameToMetaVictims != nil {
			victims = args.NodeNameToMetaVictims[node]
		} else {
			for _, pod := range args.NodeNameToVictims[node].Pods {
				victims.Pods = append(victims.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
		}
		if len(victims.Pods) > 1 && chance("spare", extender, node)%2 == 0 {
			victims.Pods = victims.Pods[:len(victims.Pods)-1]
		}
		out.NodeNameToMetaVictims[node] = victims
	}
	if len(nodes) > 1 {
		delete(out.NodeNameToMetaVictims, nodes[chance("remove", extender)%len(nodes)])
	}
	return out
}
