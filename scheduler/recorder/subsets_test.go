package recorder

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// named and the types below have the methods of one plugin interface each, so that a
// struct of some of them is a plugin with those interfaces.
type named struct{}

func (named) Name() string { return "Subset" }

type preEnqueues struct{}

func (preEnqueues) PreEnqueue(context.Context, *v1.Pod) *fwk.Status { return nil }

type sorts struct{}

func (sorts) Less(_, _ fwk.QueuedEntityInfo) bool { return false }

type extends struct{}

func (extends) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}}}, nil
}

type preFilters struct{}

func (preFilters) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, nil
}
func (preFilters) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

type filters struct{}

func (filters) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status { return nil }

type postFilters struct{}

func (postFilters) PostFilter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	return nil, nil
}

type preScores struct{}

func (preScores) PreScore(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) *fwk.Status {
	return nil
}

type scoresNodes struct{}

func (scoresNodes) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}
func (scoresNodes) ScoreExtensions() fwk.ScoreExtensions { return nil }

type reserves struct{}

func (reserves) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }
func (reserves) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string)           {}

type permits struct{}

func (permits) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	return nil, 0
}

type preBinds struct{}

func (preBinds) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}
func (preBinds) PreBind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

type binds struct{}

func (binds) Bind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

type postBinds struct{}

func (postBinds) PostBind(context.Context, fwk.CycleState, *v1.Pod, string) {}

type signs struct{}

func (signs) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return []fwk.SignFragment{{Key: "subset", Value: 1}}, nil
}

type groupPostFilters struct{}

func (groupPostFilters) PodGroupPostFilter(context.Context, fwk.PodGroupCycleState, fwk.PodGroupInfo, fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	return nil, nil
}

type generates struct{}

func (generates) GeneratePlacements(context.Context, fwk.PodGroupCycleState, fwk.PodGroupInfo, *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	return nil, nil
}

type scoresPlacements struct{}

func (scoresPlacements) ScorePlacement(context.Context, fwk.PlacementCycleState, fwk.PodGroupInfo, *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	return 0, nil
}
func (scoresPlacements) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return nil }

type closes struct{}

func (closes) Close() error { return errors.New("closed") }

// subsets are plugins with each interface alone, with random sets of interfaces, and
// with all of them.
func subsets() []fwk.Plugin {
	return []fwk.Plugin{
		struct {
			named
			preEnqueues
		}{},
		struct {
			named
			sorts
		}{},
		struct {
			named
			extends
		}{},
		struct {
			named
			preFilters
		}{},
		struct {
			named
			filters
		}{},
		struct {
			named
			postFilters
		}{},
		struct {
			named
			preScores
		}{},
		struct {
			named
			scoresNodes
		}{},
		struct {
			named
			reserves
		}{},
		struct {
			named
			permits
		}{},
		struct {
			named
			preBinds
		}{},
		struct {
			named
			binds
		}{},
		struct {
			named
			postBinds
		}{},
		struct {
			named
			signs
		}{},
		struct {
			named
			groupPostFilters
		}{},
		struct {
			named
			generates
		}{},
		struct {
			named
			scoresPlacements
		}{},
		struct {
			named
			closes
		}{},
		struct {
			named
			extends
			postFilters
		}{},
		struct {
			named
			extends
			scoresNodes
		}{},
		struct {
			named
			preFilters
			scoresPlacements
		}{},
		struct {
			named
			preScores
			scoresPlacements
		}{},
		struct {
			named
			preScores
			closes
		}{},
		struct {
			named
			preEnqueues
			postFilters
			binds
		}{},
		struct {
			named
			sorts
			preFilters
			closes
		}{},
		struct {
			named
			sorts
			scoresNodes
			permits
		}{},
		struct {
			named
			preFilters
			filters
			generates
		}{},
		struct {
			named
			filters
			postBinds
			closes
		}{},
		struct {
			named
			preScores
			reserves
			binds
		}{},
		struct {
			named
			permits
			signs
			closes
		}{},
		struct {
			named
			extends
			preFilters
			generates
			closes
		}{},
		struct {
			named
			extends
			postFilters
			preScores
			generates
		}{},
		struct {
			named
			preFilters
			postBinds
			groupPostFilters
			generates
		}{},
		struct {
			named
			filters
			permits
			postBinds
			signs
		}{},
		struct {
			named
			preEnqueues
			sorts
			preFilters
			filters
			postBinds
		}{},
		struct {
			named
			preEnqueues
			preFilters
			reserves
			permits
			closes
		}{},
		struct {
			named
			extends
			scoresNodes
			preBinds
			generates
			scoresPlacements
		}{},
		struct {
			named
			sorts
			extends
			preFilters
			reserves
			groupPostFilters
			generates
		}{},
		struct {
			named
			sorts
			extends
			postFilters
			permits
			signs
			generates
		}{},
		struct {
			named
			sorts
			preFilters
			permits
			preBinds
			signs
			groupPostFilters
		}{},
		struct {
			named
			sorts
			reserves
			signs
			groupPostFilters
			generates
			scoresPlacements
		}{},
		struct {
			named
			extends
			preFilters
			postFilters
			reserves
			scoresPlacements
			closes
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			preScores
			preBinds
			signs
			groupPostFilters
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			postBinds
			groupPostFilters
			scoresPlacements
			closes
		}{},
		struct {
			named
			preEnqueues
			extends
			permits
			preBinds
			postBinds
			signs
			groupPostFilters
		}{},
		struct {
			named
			filters
			binds
			postBinds
			signs
			generates
			scoresPlacements
			closes
		}{},
		struct {
			named
			sorts
			extends
			preFilters
			preScores
			binds
			postBinds
			generates
			closes
		}{},
		struct {
			named
			extends
			preFilters
			filters
			preScores
			reserves
			permits
			preBinds
			groupPostFilters
		}{},
		struct {
			named
			sorts
			preFilters
			preBinds
			binds
			postBinds
			groupPostFilters
			generates
			scoresPlacements
			closes
		}{},
		struct {
			named
			extends
			filters
			postFilters
			reserves
			permits
			postBinds
			signs
			scoresPlacements
			closes
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			scoresNodes
			permits
			preBinds
			binds
			groupPostFilters
			scoresPlacements
			closes
		}{},
		struct {
			named
			sorts
			preFilters
			filters
			postFilters
			scoresNodes
			permits
			preBinds
			binds
			generates
			scoresPlacements
		}{},
		struct {
			named
			preFilters
			filters
			postFilters
			scoresNodes
			permits
			preBinds
			postBinds
			signs
			groupPostFilters
			generates
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			postFilters
			preScores
			permits
			binds
			signs
			groupPostFilters
			generates
			closes
		}{},
		struct {
			named
			preEnqueues
			sorts
			preFilters
			preScores
			scoresNodes
			reserves
			permits
			preBinds
			postBinds
			signs
			groupPostFilters
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			postFilters
			scoresNodes
			reserves
			permits
			preBinds
			binds
			postBinds
			signs
			groupPostFilters
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			preFilters
			scoresNodes
			reserves
			permits
			preBinds
			postBinds
			signs
			groupPostFilters
			generates
			scoresPlacements
		}{},
		struct {
			named
			preEnqueues
			sorts
			filters
			scoresNodes
			reserves
			permits
			preBinds
			binds
			postBinds
			signs
			groupPostFilters
			generates
			closes
		}{},
		struct {
			named
			preEnqueues
			sorts
			extends
			preFilters
			filters
			postFilters
			preScores
			scoresNodes
			reserves
			permits
			preBinds
			binds
			postBinds
			signs
			groupPostFilters
			generates
			scoresPlacements
			closes
		}{},
	}
}
