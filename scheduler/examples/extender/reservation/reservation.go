// Package reservation is an example of a scheduler extender that implements all
// four verbs. Nodes can be reserved for a namespace and preferred over others, both
// by a label:
//
//	example.com/reserved-for: shop     only pods of the namespace shop go there
//	example.com/preference: "7"        the node's score, 0 to 10
//
// For preemption it keeps the nodes with the fewest victims. It binds pods through
// the API server.
//
// It may import the extender API and client-go; it knows nothing of the simulator
// or of a scheduler.
package reservation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// The node labels that the extender reads.
const (
	ReservedForLabel = "example.com/reserved-for"
	PreferenceLabel  = "example.com/preference"
)

// Extender answers the scheduler. Its zero value filters, prioritizes and
// preempts for a scheduler that sends nodes whole.
type Extender struct {
	// Client looks up nodes when the scheduler sends only names (nodeCacheCapable),
	// and binds pods. Without a client the extender can do neither.
	Client kubernetes.Interface
	// Log receives a line for each request, unless it is nil.
	Log *log.Logger
}

// maxRequestBytes is enough for thousands of whole nodes.
const maxRequestBytes = 256 << 20

const usage = `An example scheduler extender. It answers POST requests of a kube-scheduler:
  /filter      refuses nodes with the label ` + ReservedForLabel + ` of another namespace than the pod's
  /prioritize  scores nodes by the label ` + PreferenceLabel + `, 0 to 10
  /preempt     keeps the nodes with the fewest victims
  /bind        binds the pod
`

// Handler serves the four verbs, and a usage text at the root.
func (e *Extender) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", serve(e, e.filter))
	mux.HandleFunc("POST /prioritize", serve(e, e.prioritize))
	mux.HandleFunc("POST /preempt", serve(e, e.preempt))
	mux.HandleFunc("POST /bind", serve(e, e.bind))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, usage) })
	return mux
}

// serve decodes a request, calls answer and encodes the result. An error becomes
// status 500, which the scheduler treats as a failed call.
func serve[Request, Answer any](e *Extender, answer func(context.Context, *Request) (Answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request := new(Request)
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(request); err != nil {
			http.Error(w, fmt.Sprintf("reading the request: %v", err), http.StatusBadRequest)
			return
		}
		out, err := answer(r.Context(), request)
		if err != nil {
			e.logf("%s: %v", r.URL.Path, err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text, err := json.Marshal(out)
		if err != nil {
			http.Error(w, fmt.Sprintf("writing the answer: %v", err), http.StatusInternalServerError)
			return
		}
		e.logf("%s: %.300s", r.URL.Path, text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}
}

func (e *Extender) logf(format string, args ...any) {
	if e.Log != nil {
		e.Log.Printf(format, args...)
	}
}

// filter answers in the form of the request: with nodes or with names.
func (e *Extender) filter(ctx context.Context, args *extenderv1.ExtenderArgs) (*extenderv1.ExtenderFilterResult, error) {
	nodes, err := e.nodes(ctx, args)
	if err != nil {
		return &extenderv1.ExtenderFilterResult{Error: err.Error()}, nil
	}
	kept := []v1.Node{}
	refused := extenderv1.FailedNodesMap{}
	for _, node := range nodes {
		owner, reserved := node.Labels[ReservedForLabel]
		if reserved && owner != args.Pod.Namespace {
			refused[node.Name] = "node is reserved for the namespace " + owner
			continue
		}
		kept = append(kept, node)
	}
	// Removing pods from a reserved node would not help.
	out := &extenderv1.ExtenderFilterResult{FailedAndUnresolvableNodes: refused}
	if args.NodeNames == nil {
		out.Nodes = &v1.NodeList{Items: kept}
		return out, nil
	}
	names := []string{}
	for _, node := range kept {
		names = append(names, node.Name)
	}
	out.NodeNames = &names
	return out, nil
}

func (e *Extender) prioritize(ctx context.Context, args *extenderv1.ExtenderArgs) (extenderv1.HostPriorityList, error) {
	nodes, err := e.nodes(ctx, args)
	if err != nil {
		return nil, err
	}
	out := extenderv1.HostPriorityList{}
	for _, node := range nodes {
		out = append(out, extenderv1.HostPriority{Host: node.Name, Score: preference(node)})
	}
	return out, nil
}

// preference returns a node's score, or 0 if the label is missing or invalid.
func preference(node v1.Node) int64 {
	n, err := strconv.ParseInt(node.Labels[PreferenceLabel], 10, 64)
	if err != nil {
		return extenderv1.MinExtenderPriority
	}
	return min(max(n, extenderv1.MinExtenderPriority), extenderv1.MaxExtenderPriority)
}

// nodes returns the nodes of a request. If the request only names them, nodes looks
// them up in the API server.
func (e *Extender) nodes(ctx context.Context, args *extenderv1.ExtenderArgs) ([]v1.Node, error) {
	if args.Pod == nil {
		return nil, errors.New("the request has no pod")
	}
	if args.NodeNames == nil {
		if args.Nodes == nil {
			return nil, errors.New("the request has no nodes")
		}
		return args.Nodes.Items, nil
	}
	if e.Client == nil {
		return nil, errors.New("the request has only the names of nodes, and there is no API server to look them up: pass --kubeconfig, or set nodeCacheCapable: false")
	}
	all, err := e.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, fmt.Errorf("listing the nodes: %w", err)
	}
	byName := make(map[string]v1.Node, len(all.Items))
	for _, node := range all.Items {
		byName[node.Name] = node
	}
	var out []v1.Node
	for _, name := range *args.NodeNames {
		if node, ok := byName[name]; ok { // otherwise it was deleted in the meantime
			out = append(out, node)
		}
	}
	return out, nil
}

// preempt answers with the victims' UIDs, whatever the form of the request.
func (e *Extender) preempt(_ context.Context, args *extenderv1.ExtenderPreemptionArgs) (*extenderv1.ExtenderPreemptionResult, error) {
	candidates := args.NodeNameToMetaVictims
	if candidates == nil {
		candidates = map[string]*extenderv1.MetaVictims{}
		for node, victims := range args.NodeNameToVictims {
			meta := &extenderv1.MetaVictims{NumPDBViolations: victims.NumPDBViolations}
			for _, pod := range victims.Pods {
				meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
			candidates[node] = meta
		}
	}
	fewest := -1
	for _, victims := range candidates {
		if fewest < 0 || len(victims.Pods) < fewest {
			fewest = len(victims.Pods)
		}
	}
	out := &extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	for node, victims := range candidates {
		if len(victims.Pods) == fewest {
			out.NodeNameToMetaVictims[node] = victims
		}
	}
	return out, nil
}

func (e *Extender) bind(ctx context.Context, args *extenderv1.ExtenderBindingArgs) (*extenderv1.ExtenderBindingResult, error) {
	if e.Client == nil {
		return &extenderv1.ExtenderBindingResult{Error: "there is no API server to bind with: pass --kubeconfig, or leave bindVerb out"}, nil
	}
	err := e.Client.CoreV1().Pods(args.PodNamespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID},
		Target:     v1.ObjectReference{Kind: "Node", Name: args.Node},
	}, metav1.CreateOptions{})
	if err != nil {
		return &extenderv1.ExtenderBindingResult{Error: fmt.Sprintf("binding %s/%s to %s: %v", args.PodNamespace, args.PodName, args.Node, err)}, nil
	}
	return &extenderv1.ExtenderBindingResult{}, nil
}
