package extender

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// This file renders requests and responses in the terms of k8s.io/kube-scheduler/extender/v1. It
// writes names for whole nodes and victims, because thousands of nodes would take megabytes. It
// leaves out empty fields.

// maxBytes bounds each request and each response. A longer one loses entries of its
// lists and maps but stays valid JSON.
const maxBytes = 16 << 10

// document writes a JSON object, or a list, within maxBytes.
type document struct {
	b    bytes.Buffer
	cut  bool
	open int
}

// room reports whether n bytes fit beside the closing brackets; if not, the document is cut.
func (d *document) room(n int) bool {
	fits := d.b.Len()+n+d.open <= maxBytes
	d.cut = d.cut || !fits
	return fits
}

func (d *document) begin(bracket byte) {
	d.b.WriteByte(bracket)
	d.open++
}

func (d *document) end(bracket byte) {
	d.b.WriteByte(bracket)
	d.open--
}

// comma writes nothing before a first element.
func (d *document) comma() {
	if last := d.b.Bytes()[d.b.Len()-1]; last != '{' && last != '[' {
		d.b.WriteByte(',')
	}
}

// name starts a field. The few names always fit.
func (d *document) name(name string) {
	d.comma()
	d.b.Write(encode(name))
	d.b.WriteByte(':')
}

// entry and member report whether the value fitted.
func (d *document) entry(value []byte) bool {
	if !d.room(len(value) + len(",")) {
		return false
	}
	d.comma()
	d.b.Write(value)
	return true
}

func (d *document) member(name string, value []byte) bool {
	key := encode(name)
	if !d.room(len(key) + len(value) + len(",:")) {
		return false
	}
	d.comma()
	d.b.Write(key)
	d.b.WriteByte(':')
	d.b.Write(value)
	return true
}

func (d *document) String() string { return d.b.String() }

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return data
}

// reserved keeps bytes free for the names of a document's fields.
const reserved = 256

// pod writes the pod, or only its identity when it is too long.
func (d *document) pod(pod *v1.Pod) {
	d.name("Pod")
	value := encode(pod)
	if !d.room(len(value) + reserved) {
		value = encode(identity(pod))
	}
	d.b.Write(value)
}

// podName has the form of a pod.
type podName struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

func identity(pod *v1.Pod) podName {
	return podName{metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
}

// nodes writes the names of nodes, as a list of names or of nodes.
func (d *document) nodes(nodes []fwk.NodeInfo, whole bool) {
	if whole {
		d.name("Nodes")
		d.begin('{')
		d.name("items")
	} else {
		d.name("NodeNames")
	}
	d.begin('[')
	for _, n := range nodes {
		entry := encode(n.Node().Name)
		if whole {
			entry = slices.Concat([]byte(`{"metadata":{"name":`), entry, []byte(`}}`))
		}
		if !d.entry(entry) {
			break
		}
	}
	d.end(']')
	if whole {
		d.end('}')
	}
}

func (d *document) failures(name string, failures extenderv1.FailedNodesMap) {
	if len(failures) == 0 || !d.room(reserved) {
		return
	}
	d.name(name)
	d.begin('{')
	for _, node := range slices.Sorted(maps.Keys(failures)) {
		if !d.member(node, encode(failures[node])) {
			break
		}
	}
	d.end('}')
}

// nodesRequest renders extenderv1.ExtenderArgs.
func nodesRequest(pod *v1.Pod, nodes []fwk.NodeInfo, whole bool) (string, bool) {
	d := &document{}
	d.begin('{')
	d.pod(pod)
	d.nodes(nodes, whole)
	d.end('}')
	return d.String(), d.cut
}

// filterResponse renders extenderv1.ExtenderFilterResult. The nodes that were kept
// come last: if not everything fits, the failures matter more.
func filterResponse(kept []fwk.NodeInfo, failed, unresolvable extenderv1.FailedNodesMap, whole bool) (string, bool) {
	d := &document{}
	d.begin('{')
	d.failures("FailedNodes", failed)
	d.failures("FailedAndUnresolvableNodes", unresolvable)
	if d.room(reserved) {
		d.nodes(kept, whole)
	}
	d.end('}')
	return d.String(), d.cut
}

func prioritizeResponse(answer extenderv1.HostPriorityList) (string, bool) {
	d := &document{}
	d.begin('[')
	for _, host := range answer {
		if !d.entry(encode(host)) {
			break
		}
	}
	d.end(']')
	return d.String(), d.cut
}

// preemptRequest renders extenderv1.ExtenderPreemptionArgs.
func preemptRequest(pod *v1.Pod, candidates map[string]*extenderv1.Victims, whole bool) (string, bool) {
	d := &document{}
	d.begin('{')
	d.pod(pod)
	if whole {
		d.victims("NodeNameToVictims", candidates, func(pod *v1.Pod) any { return identity(pod) })
	} else {
		d.victims("NodeNameToMetaVictims", candidates, metaPod)
	}
	d.end('}')
	return d.String(), d.cut
}

// preemptResponse renders extenderv1.ExtenderPreemptionResult.
func preemptResponse(answer map[string]*extenderv1.Victims) (string, bool) {
	d := &document{}
	d.begin('{')
	d.victims("NodeNameToMetaVictims", answer, metaPod)
	d.end('}')
	return d.String(), d.cut
}

func metaPod(pod *v1.Pod) any { return extenderv1.MetaPod{UID: string(pod.UID)} }

func (d *document) victims(name string, byNode map[string]*extenderv1.Victims, form func(*v1.Pod) any) {
	d.name(name)
	d.begin('{')
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		victims := struct {
			Pods             []any
			NumPDBViolations int64
		}{Pods: []any{}}
		if v := byNode[node]; v != nil {
			victims.NumPDBViolations = v.NumPDBViolations
			for _, pod := range v.Pods {
				victims.Pods = append(victims.Pods, form(pod))
			}
		}
		if !d.member(node, encode(victims)) {
			break
		}
	}
	d.end('}')
}

// bindRequest renders extenderv1.ExtenderBindingArgs.
func bindRequest(binding *v1.Binding) (string, bool) {
	return string(encode(extenderv1.ExtenderBindingArgs{
		PodName: binding.Name, PodNamespace: binding.Namespace, PodUID: binding.UID, Node: binding.Target.Name,
	})), false
}

func bindResponse() (string, bool) { return string(encode(extenderv1.ExtenderBindingResult{})), false }
