package scenario

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/celcost"
	"kube-scheduler-simulator/scheduler/config"
)

const head = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
`

const podYAML = `apiVersion: v1
kind: Pod
metadata: {name: etl, labels: {app: etl}}
spec:
  containers:
  - {name: main, image: busybox, resources: {requests: {cpu: "1"}}}
`

const deploymentYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: busybox}]}
`

func load(t *testing.T, text string, files map[string]string) (*Scenario, error) {
	t.Helper()
	return Load(context.Background(), []byte(text), Options{
		File: "test.yaml", Parse: config.Parse,
		Read: func(name string) ([]byte, error) {
			if content, ok := files[name]; ok {
				return []byte(content), nil
			}
			return nil, fs.ErrNotExist
		},
	})
}

var files = map[string]string{
	"etl.yaml": podYAML, "web.yaml": deploymentYAML, "cluster.yaml": strings.ReplaceAll(podYAML, "etl", "old"), "nodes.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n",
	"packing.yaml": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
	"trace.csv":    "at,cpu\n0,1\n5,2\n",
}

// TestVocabulary: the scenario in which the vocabulary was drawn loads as it stands.
func TestVocabulary(t *testing.T) {
	s, err := load(t, `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: zones-stay-balanced}
cluster: cluster.yaml            # a file or inline objects; optional
matrix:                          # optional; every combination is a run
  configuration: [default, packing.yaml]
  featureGates: [{}, {GenericWorkload: true}]
  seed: 1..10
let:                             # named CEL expressions, evaluated anew at each expect
  web: pods.filter(p, p.labels.app == "web")
steps:                           # one verb each; may have a name
- create: {file: nodes.yaml, count: 6}
- apply: {file: web.yaml, replicas: 12}
- wait: settled                  # or {for: CEL, timeout: 30s}
- advance: 5m                    # virtual time
- fail: {node: node-c2}
- expect:
  - that: web.all(p, p.node != "")
    say: every web pod has a node
  - that: spread(web, "zone") <= 1
`, files)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Matrix.Combinations()); n != 40 {
		t.Errorf("%d runs, want 2 × 2 × 10", n)
	}
	var got []string
	for _, step := range s.Steps {
		got = append(got, fmt.Sprintf("%d %s %s", step.Line, step.Verb, step.action.describe()))
	}
	want := []string{"12 create 6 of nodes.yaml", "13 apply web.yaml, 12 replicas", "14 wait settled", "15 advance 5m0s", "16 fail node-c2", "17 expect 2 expectations"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMistakes: a wrong file is refused at load, with its line.
func TestMistakes(t *testing.T) {
	step := func(text string) string { return head + "steps:\n" + text }
	for name, test := range map[string]struct {
		text string
		// want are the file and line of the first mistake, and a part of its message.
		want, message string
	}{
		"no YAML":                     {"a: [", "test.yaml:1", "not YAML"},
		"nothing":                     {"", "test.yaml:1", "want one document"},
		"a list":                      {"- a", "test.yaml:1", "want a mapping"},
		"another apiVersion":          {strings.Replace(head, "v1alpha1", "v9", 1) + "steps: [{wait: settled}]", "test.yaml:1", "want kube-scheduler-simulator"},
		"no steps":                    {head, "test.yaml:1", "at least one step"},
		"an unknown field":            {head + "stepz: []\nsteps: [{wait: settled}]", "test.yaml:4", "unknown field"},
		"a field twice":               {head + "metadata: {name: b}\nsteps: [{wait: settled}]", "test.yaml:4", "duplicate field"},
		"two verbs":                   {step("- wait: settled\n  advance: 5m\n"), "test.yaml:6", "one verb"},
		"no verb":                     {step("- name: a\n"), "test.yaml:5", "one verb"},
		"no such verb":                {step("- crate: {}\n"), "test.yaml:5", "unknown field"},
		"no duration":                 {step("- advance: soon\n"), "test.yaml:5", "want a duration"},
		"a negative duration":         {step("- advance: -5m\n"), "test.yaml:5", "more than 0"},
		"no such file":                {step("- create: {file: none.yaml}\n"), "test.yaml:5", "reading none.yaml"},
		"no source":                   {step("- create: {count: 3}\n"), "test.yaml:5", "want one of file"},
		"an impossible count":         {step("- create:\n    file: etl.yaml\n    count: 0\n"), "test.yaml:7", "want 1 to"},
		"a huge count":                {step("- create: {file: etl.yaml, count: 1000000000}\n"), "test.yaml:5", "want 1 to"},
		"no number":                   {step("- create: {file: etl.yaml, count: many}\n"), "test.yaml:5", "whole number"},
		"replicas of a pod":           {step("- apply: {file: etl.yaml, replicas: 3}\n"), "test.yaml:5", "none of these objects has replicas"},
		"no object":                   {step("- create:\n    objects:\n    - {a: b}\n"), "test.yaml:7", "apiVersion or kind is missing"},
		"no name":                     {step("- create:\n    objects:\n    - apiVersion: v1\n      kind: Pod\n"), "test.yaml:7", "no metadata.name"},
		"an unknown field inside":     {step("- create:\n    objects:\n    - apiVersion: v1\n      kind: Pod\n      metadata: {name: a}\n      spec:\n        nodes: 3\n"), "test.yaml:11", `unknown field "spec.nodes"`},
		"a wrong type inside":         {step("- create:\n    objects:\n    - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: 3}}\n"), "test.yaml:7", "containers"},
		"no such kind":                {step("- create:\n    objects:\n    - {apiVersion: v1, kind: Pot, metadata: {name: a}}\n"), "test.yaml:7", "no kind Pot"},
		"a wrong expression":          {step("- expect:\n  - that: pods.all(p, p.nod != \"\")\n"), "test.yaml:6", "undefined field 'nod'"},
		"no such variable":            {step("- expect:\n  - that: web.size() > 0\n"), "test.yaml:6", "the variables are"},
		"not true or false":           {step("- expect:\n  - that: pods.size()\n"), "test.yaml:6", "want true or false"},
		"an expression of two lines":  {step("- expect:\n  - that: |\n      pods.size() > 0 &&\n      pods.sice() > 0\n"), "test.yaml:8", "undeclared reference to 'sice'"},
		"syntax":                      {step("- wait: {for: pods.size( > 1}\n"), "test.yaml:5", "extraneous input"},
		"a let that needs itself":     {head + "let:\n  a: b.size() > 1\n  b: \"a ? pods : pods\"\nsteps: [{wait: settled}]", "test.yaml:5", "it needs itself: a needs b needs a"},
		"a let that hides another":    {head + "let: {pods: nodes}\nsteps: [{wait: settled}]", "test.yaml:4", "a name of the language"},
		"a wrong rate":                {step("- arrive: {file: etl.yaml, rate: fast, for: 1m}\n"), "test.yaml:5", "want a rate"},
		"a rate without an end":       {step("- arrive: {file: etl.yaml, rate: 2/s}\n"), "test.yaml:5", "say when it ends"},
		"too many arrivals":           {step("- arrive: {file: etl.yaml, rate: 1000/s, for: 24h}\n"), "test.yaml:5", "more than 100000 arrivals"},
		"seeds":                       {head + "matrix: {seed: 9..1}\nsteps: [{wait: settled}]", "test.yaml:4", "is empty"},
		"a configuration":             {head + "matrix:\n  configuration:\n  - bad.yaml\nsteps: [{wait: settled}]", "bad.yaml:3", "profilez"},
		"an inline configuration":     {step("- configure:\n    apiVersion: kubescheduler.config.k8s.io/v1\n    kind: KubeSchedulerConfiguration\n    profilez: []\n"), "test.yaml:8", "profilez"},
		"a mistake in a file":         {step("- create: {file: badpod.yaml}\n"), "badpod.yaml:3", "unknown field"},
		"a trace with a gap":          {step("- arrive: {trace: gap.csv, file: etl.yaml}\n"), "gap.csv:3", "cpu is missing"},
		"a trace that goes back":      {step("- arrive: {trace: back.csv, file: etl.yaml}\n"), "back.csv:3", "goes back from 5s to 3s"},
		"a trace with a short line":   {step("- arrive: {trace: short.csv, file: etl.yaml}\n"), "short.csv:2", "wrong number of fields"},
		"an empty trace":              {step("- arrive: {trace: empty.csv, file: etl.yaml}\n"), "empty.csv:1", "no arrivals"},
		"a computed field":            {step("- create:\n    template:\n      apiVersion: v1\n      kind: Node\n      metadata: {name: \"n-${j}\"}\n"), "test.yaml:9", "undeclared reference to 'j'"},
		"a computed field not closed": {step("- create:\n    template: {apiVersion: v1, kind: Node, metadata: {name: \"n-${i\"}}\n"), "test.yaml:6", "not closed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, test.text, map[string]string{
				"etl.yaml": podYAML, "bad.yaml": files["packing.yaml"] + "profilez: []\n",
				"badpod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labelz: {}}\n",
				"gap.csv":     "at,cpu\n0,1\n5,\n", "back.csv": "at,cpu\n5,1\n3,1\n", "short.csv": "at,cpu\n5\n", "empty.csv": "at\n",
			})
			wrong, ok := err.(*Error)
			if !ok {
				t.Fatalf("error %v", err)
			}
			m := wrong.Mistakes[0]
			if got := fmt.Sprintf("%s:%d", m.File, m.Line); got != test.want || !strings.Contains(m.String(), test.message) {
				t.Errorf("%s\nwant %s: %s", err, test.want, test.message)
			}
		})
	}
}

// TestFunctionsWithoutAPrice: every function of the languages can be called.
func TestFunctionsWithoutAPrice(t *testing.T) {
	for name, make := range map[string]func() (*language, error){"cluster": clusterLanguage, "made": madeLanguage} {
		l, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if unpriced := celcost.Unpriced(l.env); len(unpriced) > 0 {
			t.Errorf("%s: %v have no price", name, unpriced)
		}
	}
}
