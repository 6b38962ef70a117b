package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/simulator/scenarios/report"
	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

const (
	// runTime is how long a call waits for the end of a run. Another call may ask for it later.
	runTime = 30 * time.Second
	// runPoll is the time between looks at a run.
	runPoll = 50 * time.Millisecond
)

type scenarioQuestion struct {
	Scenario string `json:"scenario,omitempty"`
	Run      string `json:"run,omitempty"`
}

var runScenario = tool[scenarioQuestion]{
	name:  "run_scenario",
	title: "Run a scenario",
	description: "What happens to a whole workload over time? Use it for questions about many pods, or about a sequence: create nodes and pods, wait, check expectations. " +
		"Runs a Scenario file in memory, apart from every cluster, and says which expectations hold and where pods land. A long run is asked for again with run.",
	properties: map[string]*jsonschema.Schema{
		"scenario": document("The text of a Scenario: apiVersion kube-scheduler-simulator.sigs.k8s.io/v1alpha1, kind Scenario, steps such as create, wait and expect. It can name no files."),
		"run":      name("The number of a run that had not ended when an earlier call returned."),
	},
	without: true,
	answer: func(ctx context.Context, c *call, in scenarioQuestion) (any, error) {
		all := c.server.options.Runs
		switch {
		case all == nil:
			return nil, errors.New(c.server.options.Missing)
		case (in.Scenario == "") == (in.Run == ""):
			return nil, errors.New("want one of scenario and run")
		}
		id := in.Run
		if id == "" {
			begun, err := all.StartRun(ctx, runs.Request{Scenario: in.Scenario})
			if err != nil {
				return nil, err
			}
			id = begun.ID
		}
		e, err := await(ctx, all, id)
		if err != nil {
			return nil, err
		}
		c.run(e)
		return e, nil
	},
}

// await returns a run that has ended, or as it is after a while.
func await(ctx context.Context, all Runs, id string) (*runs.Entry, error) {
	waiting, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	ticks := time.NewTicker(runPoll)
	defer ticks.Stop()
	for {
		e, err := all.Run(ctx, id)
		if err != nil || e.State == runs.Ended || e.State == runs.Canceled || waiting.Err() != nil {
			return e, err
		}
		select {
		case <-ticks.C:
		case <-waiting.Done():
		}
	}
}

func (c *call) run(e *runs.Entry) {
	c.line("run %s of %s: %s, %d of %s done, %d passed", e.ID, e.Name, word(e.State), e.Done, counted(e.Total, "run"), e.Passed)
	if e.Error != "" {
		c.line("error: %s", e.Error)
	}
	if e.State != runs.Ended && e.State != runs.Canceled {
		c.line("ask again with run %s", e.ID)
	}
	for _, r := range e.Results {
		if r != nil {
			c.result(r)
		}
	}
}

func (c *call) result(r *scenario.Result) {
	c.line("under %s: %s, %d of %s held", r.Configuration, word(r.Outcome), r.Held, counted(r.Expectations, "expectation"))
	if r.Error != "" {
		c.line("  error: %s", r.Error)
	}
	for _, f := range report.Failures(r) {
		c.line("  line %d failed: %s", f.Line, f.Title)
		for _, line := range f.Lines {
			c.line("    %s", strings.Join(strings.Fields(line), " "))
		}
	}
	placed := 0
	of := map[string]int{}
	var nodes, pending []string
	for _, p := range r.Pods {
		if p.Node == "" {
			pending = append(pending, p.Namespace+"/"+p.Name)
			continue
		}
		placed++
		if of[p.Node]++; of[p.Node] == 1 {
			nodes = append(nodes, p.Node)
		}
	}
	if len(r.Pods) > 0 {
		c.line("  at the end %d of %s have a node", placed, counted(len(r.Pods), "pod"))
	}
	if len(pending) > 0 {
		c.line("  pending: %s", pending)
	}
	for _, node := range nodes {
		c.line("  %s has %d", node, of[node])
	}
}

// Local are runs of this program.
type Local struct{ *runs.Runs }

var _ Runs = Local{}

func (l Local) StartRun(ctx context.Context, q runs.Request) (*runs.Entry, error) {
	e, err := l.Start(ctx, q)
	return &e, err
}

func (l Local) Run(_ context.Context, id string) (*runs.Entry, error) {
	e, known := l.Get(id)
	if !known {
		return nil, fmt.Errorf("there is no run %q; the oldest are forgotten", id)
	}
	return &e, nil
}
