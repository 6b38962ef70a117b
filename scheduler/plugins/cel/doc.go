// Package cel provides the scheduler plugins CELFilter and CELScore, whose
// arguments are CEL expressions, so that users can try an idea by editing the
// scheduler's configuration:
//
//	profiles:
//	- plugins:
//	    multiPoint:
//	      enabled: [{name: CELFilter}, {name: CELScore, weight: 2}]
//	  pluginConfig:
//	  - name: CELFilter
//	    args:
//	      expression: >-
//	        !('team' in node.metadata.labels) ||
//	        node.metadata.labels['team'] == pod.metadata.labels[?'team'].orValue('')
//	      messageExpression: "'node(s) belong to team ' + node.metadata.labels['team']"
//	  - name: CELScore
//	    args:
//	      expression: nodeRequested.cpu / nodeAllocatable.cpu
//	      normalize: true
//
// An expression is evaluated for a pod and one node. Its variables:
//
//	pod, node        the API objects, with the field names of YAML: pod.spec.tolerations,
//	                 node.metadata.labels['zone'], node.status.allocatable['cpu']
//	podsOnNode       the pods that count as running on the node, a list of such objects
//	podRequest       what the pod requests,
//	nodeRequested    what the pods on the node request, and
//	nodeAllocatable  what the node has for pods: each with cpu (in cores), memory and
//	                 ephemeralStorage (in bytes), pods and extended['example.com/gpu'],
//	                 all of them doubles, to calculate with
//
// Expressions may use CEL's own functions, the libraries that Kubernetes adds for
// admission policies (quantity(), semver(), ip(), cidr(), url(), find(), lists,
// sets, strings, optional values), the math functions such as math.least(), and
// cel.bind().
//
// Quantities are strings, as in YAML: quantity(node.status.allocatable['memory']).
// Fields are checked when the configuration is applied: a field that the API does not
// have is an error with its position. A field that is not set reads as empty, zero or
// false, but one whose absence means something (pod.spec.affinity, pod.spec.priority)
// is an error to read; check it first with has(pod.spec.affinity). So is a missing
// key of a map: check it first with 'zone' in node.metadata.labels, or write
// node.metadata.labels[?'zone'].orValue("").
//
// An evaluation may take 50,000 units of CEL's cost, a few milliseconds. One that
// takes more, or fails, is an error of the plugin on that node, which ends the
// pod's attempt.
//
// Both plugins sign pods for opportunistic batching, by the fields of the pod that
// the expression reads, so batching stays on. An expression that reads something
// unique to a pod, such as its name or its status, turns batching off.
//
// The package may import the scheduling framework, CEL, scheduler/pluginfact and
// scheduler/plugins/argument.
package cel
