package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/agents"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/control"
	"kube-scheduler-simulator/simulator/host/version"
)

// agents answers agents over HTTP.
func (s *simulator) agents() http.Handler {
	return agents.New(agents.Options{
		Open: func(context.Context) (agents.Cluster, error) { return agentsCluster{s.hypotheses.doors}, nil },
		Decisions: func(_ context.Context, q result.Query) (*result.Page, error) {
			page, err := s.store.List(q)
			return &page, err
		},
		Queues: agentsQueues{s.queueing}, Runs: agents.Local{Runs: s.runs}, Version: version.Get().Simulator,
	}).Handler()
}

type agentsCluster struct{ *doors }

var _ agents.Cluster = agentsCluster{}

func (c agentsCluster) Name() string { return c.Grounds().Cluster }

func (c agentsCluster) Node(ctx context.Context, name string) ([]byte, error) {
	node, err := c.Get(ctx, v1.SchemeGroupVersion.WithKind("Node"), "", name)
	if err != nil {
		return nil, err
	}
	return json.Marshal(node)
}

type agentsQueues struct{ *queueing }

var _ agents.Queues = agentsQueues{}

func (q agentsQueues) Waiting(context.Context) (all []admission.Pending, off string, err error) {
	view, err := q.View()
	if errors.Is(err, control.ErrOff) {
		if _, off = q.State(); off == "" {
			off = "Kueue is off in this simulator; start it with --kueue"
		}
		return nil, off, nil
	}
	if err != nil {
		return nil, "", err
	}
	return view.Pending, "", nil
}
