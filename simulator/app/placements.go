package app

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/placement"
	"kube-scheduler-simulator/simulator/server"
)

// placements say where imported pods are, and what the last import lacked.
type placements struct {
	*placement.Comparer
	*transfer.Cluster
}

var _ server.Placements = placements{}

func (s *simulator) placements() placements {
	return placements{placement.New(placement.Options{State: s.nodesAndPods, Results: s.store}), s.transfers}
}

// nodesAndPods returns what the API server has, and the pods of our own cluster without the
// annotations that hold results.
func (s *simulator) nodesAndPods(ctx context.Context) (nodes []*v1.Node, pods []*v1.Pod, err error) {
	client, err := kubernetes.NewForConfig(s.controlPlane.ClientConfig())
	if err != nil {
		return nil, nil, fmt.Errorf("preparing a client: %w", err)
	}
	nodeList, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("listing nodes: %w", err)
	}
	for i := range nodeList.Items {
		nodes = append(nodes, &nodeList.Items[i])
	}
	if s.embedded != nil {
		pods, err := s.embedded.Informers().Core().V1().Pods().Lister().List(labels.Everything())
		return nodes, pods, err
	}
	podList, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("listing pods: %w", err)
	}
	for i := range podList.Items {
		pods = append(pods, &podList.Items[i])
	}
	return nodes, pods, nil
}
