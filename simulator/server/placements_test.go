package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/placement"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

type fakePlacements struct{ last *transfer.Report }

func (fakePlacements) Compare(_ context.Context, q placement.Query) (placement.Comparison, error) {
	return placement.Comparison{Comparison: replay.Comparison{
		Counts: replay.Counts{Compared: 3}, Items: []replay.Decision{},
		Continue: fmt.Sprint(q.Outcome, q.Cause, q.Limit),
	}}, nil
}

func (fakePlacements) Sides(context.Context) (clusterdiff.Comparison, error) {
	return clusterdiff.Comparison{A: clusterdiff.Side{Nodes: 7}}, nil
}

func (f fakePlacements) Last() *transfer.Report { return f.last }

func TestPlacements(t *testing.T) {
	h := serve(t, Options{})
	f := &fakePlacements{}
	err := h.SetBackend(Backend{ClientConfig: &rest.Config{Host: "http://127.0.0.1:1"}, Results: &watchtest.Results{}, Configuration: &fakeConfiguration{}, Placements: f})
	if err != nil {
		t.Fatal(err)
	}
	const path = importPath + "/placements"
	for _, tc := range []struct {
		path, want string
		code       int
	}{
		{path, `"lacks":[]`, http.StatusOK},
		{path, `"gone":0`, http.StatusOK},
		{path + "?outcome=different&cause=nodeRejected&plugin=Fit&limit=5", `"continue":"different{nodeRejected Fit} 5"`, http.StatusOK},
		{path + "?outcome=lost", "want one of matching, different", http.StatusBadRequest},
		{path + "?continue=x", "want the continue value of an earlier page", http.StatusBadRequest},
		{importPath + "/sides", `"nodes":7`, http.StatusOK},
	} {
		if a := h.get(tc.path); a.StatusCode != tc.code || !strings.Contains(a.body, tc.want) {
			t.Errorf("%s: %d %s, want %d %s", tc.path, a.StatusCode, a.body, tc.code, tc.want)
		}
	}
	f.last = &transfer.Report{StartTime: time.Unix(0, 0).UTC(), LeftToScheduler: 5, Lacks: []transfer.Lack{{Kind: "Node"}}}
	a := h.get(path)
	for _, part := range []string{`"startTime":"1970-01-01T00:00:00Z"`, `"gone":2`, `"kind":"Node"`} {
		if !strings.Contains(a.body, part) {
			t.Errorf("%s lacks %s", a.body, part)
		}
	}
}
