package ask

import (
	"errors"
	"fmt"
	"strings"

	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

// podKinds are the names that kubectl has for pods, and for the kinds that own them.
var podKinds = map[string]string{
	"po": "Pod", "pod": "Pod", "pods": "Pod",
	"deploy": "Deployment", "deployment": "Deployment", "deployments": "Deployment",
	"sts": "StatefulSet", "statefulset": "StatefulSet", "statefulsets": "StatefulSet",
	"ds": "DaemonSet", "daemonset": "DaemonSet", "daemonsets": "DaemonSet",
	"rs": "ReplicaSet", "replicaset": "ReplicaSet", "replicasets": "ReplicaSet",
	"rc": "ReplicationController", "replicationcontroller": "ReplicationController", "replicationcontrollers": "ReplicationController",
	"job": "Job", "jobs": "Job",
}

// ParseNames reads POD, TYPE/NAME or TYPE NAME, as kubectl does, and returns a question about each.
func ParseNames(args []string, namespace string) ([]why.Question, error) {
	var out []why.Question
	if len(args) == 2 && !strings.Contains(args[0]+args[1], "/") {
		if _, isType := podKinds[withoutGroup(args[0])]; isType {
			args = []string{args[0] + "/" + args[1]}
		}
	}
	for _, arg := range args {
		kind, name := "Pod", arg
		if before, after, both := strings.Cut(arg, "/"); both {
			known, is := podKinds[withoutGroup(before)]
			switch {
			case withoutGroup(before) == "cj" || strings.HasPrefix(withoutGroup(before), "cronjob"):
				return nil, fmt.Errorf("%q: a CronJob makes Jobs, which make the pods: ask about job/NAME, or about its file with -f", arg)
			case !is:
				return nil, fmt.Errorf("%q: %q is no kind with pods that a scheduler places; want pod, deployment, statefulset, daemonset, replicaset, replicationcontroller or job", arg, before)
			}
			kind, name = known, after
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q names nothing: want POD or TYPE/NAME, such as web-0 or deployment/web", arg)
		}
		q := why.Question{Workload: &why.Workload{Kind: kind, Namespace: namespace, Name: name}}
		if kind == "Pod" {
			q = why.Question{Question: hypothesis.Question{PodRef: &hypothesis.PodName{Namespace: namespace, Name: name}}}
		}
		out = append(out, q)
	}
	if len(out) == 0 {
		return nil, errors.New("name a pod or a workload, as POD or TYPE/NAME, or a file with -f (see --help)")
	}
	return out, nil
}

// withoutGroup leaves the group of a kind out: deployments.apps is deployments.
func withoutGroup(s string) string {
	name, _, _ := strings.Cut(strings.ToLower(s), ".")
	return name
}
