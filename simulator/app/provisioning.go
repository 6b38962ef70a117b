package app

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/simulator/autoscaling/live"
	"kube-scheduler-simulator/simulator/autoscaling/provisioning"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// answerRequests answers ProvisioningRequests beside Karpenter's controllers, until the function that it returns has been called.
func (a *autoscaler) answerRequests(ctx context.Context, k *live.Karpenter) (stop func(), err error) {
	client, err := provisioning.NewClient(a.s.embedded.ClientConfig())
	if err != nil {
		return nil, fmt.Errorf("making a client for ProvisioningRequests: %w", err)
	}
	return provisioning.Start(ctx, provisioning.Options{Client: client, Ask: a.room, Buy: k.Buy, Log: &a.log, Logger: a.s.options.Logger}), nil
}

// room asks the question about new nodes, and takes from its answer what an answer to a ProvisioningRequest needs.
func (a *autoscaler) room(ctx context.Context, pods []*v1.Pod) (*provisioning.Room, error) {
	q := autoscale.Question{OnlyObjects: true}
	for _, p := range pods {
		document, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("writing a pod: %w", err)
		}
		q.Objects = append(q.Objects, hypothesis.Document(document))
	}
	answer, err := a.s.hypotheses.doors.Autoscale(ctx, q)
	if err != nil {
		return nil, err
	}
	room := &provisioning.Room{Pods: map[string]provisioning.Pod{}, NewNodes: answer.NewNodes}
	for _, p := range answer.Pods {
		of := provisioning.Pod{Sentence: p.Sentence}
		if s := p.Scheduler; s != nil {
			of.Fits, of.Then = s.Node != "", s.Then != ""
		}
		room.Pods[p.Namespace+"/"+p.Name] = of
	}
	return room, nil
}
