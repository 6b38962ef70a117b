package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func TestDefaultReadsBack(t *testing.T) {
	def, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseWith(def.YAML, Options{})
	if err != nil {
		t.Fatalf("the default configuration does not parse: %v\n%s", err, def.YAML)
	}
	if diff := cmp.Diff(def.Internal.Profiles[0].SchedulerName, back.Internal.Profiles[0].SchedulerName); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]NoEffect{}, back.NoEffect()); diff != "" {
		t.Errorf("the default, written out, is reported as without effect:\n%s", diff)
	}
	differences := Compare(def, back)
	if diff := cmp.Diff([]Difference{}, differences); diff != "" {
		t.Errorf("the default, written out, differs from the default:\n%s", diff)
	}
	text := string(def.YAML)
	for _, want := range []string{"kind: KubeSchedulerConfiguration", "name: NodeResourcesFit", "kind: NodeResourcesFitArgs", "type: LeastAllocated"} {
		if !strings.Contains(text, want) {
			t.Errorf("the default configuration lacks %q:\n%s", want, text)
		}
	}
}

// These are typical documents: each is accepted, is the same after encoding and decoding, and has a
// one-line summary of its changes.
func TestDocuments(t *testing.T) {
	def, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"added-affinity.yaml":          "NodeAffinity: addedAffinity none → {…}",
		"all-arguments.yaml":           "DefaultPreemption: minCandidateNodesAbsolute 100 → 10; +14 more",
		"capacity-ratio.yaml":          "NodeResourcesFit: scoringStrategy.resources[cpu].weight 1 → 3; +6 more",
		"default-constraints.yaml":     "PodTopologySpread: defaultingType System → List; +1 more",
		"extenders.json":               "NodeResourcesFit: ignoredResources none → […]; +extender http://127.0.0.1:8888/gpu; +1 more",
		"least-settings.yaml":          "no change",
		"most-allocated.yaml":          "NodeResourcesFit: scoringStrategy.type LeastAllocated → MostAllocated; +1 more",
		"multi-point.yaml":             "TaintToleration: score weight 3 → 20; Coscheduling enabled; Coscheduling: args none → {…}; +1 more",
		"no-preemption.yaml":           "DefaultPreemption disabled at postFilter",
		"only-node-resources-fit.yaml": "NodeResourcesFit: score weight 1 → 7; 17 plugins disabled",
		"per-point.yaml":               "PodTopologySpread: score weight 2 → 50; InterPodAffinity disabled at preScore; +2 more",
		"several-profiles.yaml":        "percentageOfNodesToScore 0 → 50; +profile bin-packing; +profile no-scoring",
	} {
		t.Run(name, func(t *testing.T) {
			c := mustParse(t, readTestdata(t, name))
			text, err := Encode(c.Internal)
			if err != nil {
				t.Fatal(err)
			}
			back := mustParse(t, text)
			again, err := Encode(back.Internal)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(again)); diff != "" {
				t.Errorf("encoding and parsing changed it:\n%s", diff)
			}
			differences := Compare(def, c)
			if diff := cmp.Diff(want, Summarize(differences)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func mustParse(t testing.TB, document []byte) *Configuration {
	t.Helper()
	c, err := ParseWith(document, Options{OutOfTree: []string{"Coscheduling"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return c
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJSON(t *testing.T) {
	c := mustParse(t, []byte(head+"parallelism: 3\n"))
	data, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":3}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

func TestParseKeepsNothingOfTheCaller(t *testing.T) {
	document := []byte(head + "parallelism: 3\n")
	c := mustParse(t, document)
	for i := range document {
		document[i] = 'x'
	}
	if want := head + "parallelism: 3\n"; string(c.YAML) != want {
		t.Errorf("the document became %q", c.YAML)
	}
}

func TestParsePassesAPluginThatItDoesNotKnow(t *testing.T) {
	document := []byte(head + "profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: Mine\n  pluginConfig:\n  - name: Mine\n    args: {anything: goes}\n")
	if _, err := Parse(document); err != nil {
		t.Error(err)
	}
	if _, err := ParseWith(document, Options{OutOfTree: []string{"Mine"}}); err != nil {
		t.Error(err)
	}
	var e *Error
	if _, err := ParseWith(document, Options{}); !errors.As(err, &e) || len(e.Mistakes) != 2 {
		t.Errorf("err = %v, want two mistakes", err)
	}
}

// TestPluginsOfSchedulerPlugins: a plugin that others have is no typing mistake.
func TestPluginsOfSchedulerPlugins(t *testing.T) {
	document := func(name string) []byte {
		return []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n" +
			"  plugins: {multiPoint: {enabled: [{name: " + name + "}]}}\n  pluginConfig: [{name: " + name + ", args: {}}]\n")
	}
	options := Options{OutOfTree: []string{"Coscheduling"}}
	for _, name := range elsewhere {
		_, err := ParseWith(document(name), options)
		want := name + " is a plugin of kubernetes-sigs/scheduler-plugins that is not available here"
		if err == nil || strings.Count(err.Error(), want) != 2 || strings.Contains(err.Error(), "no plugin is named") {
			t.Errorf("%s: %v, want %q for both places", name, err, want)
		}
		if _, err := ParseWith(document(name), Options{OutOfTree: []string{name}}); err != nil {
			t.Errorf("a simulator that has %s: %v", name, err)
		}
	}
	if _, err := ParseWith(document("NodeResourcesAllocatabel"), options); err == nil || !strings.Contains(err.Error(), "no plugin is named") {
		t.Errorf("a typing mistake: %v", err)
	}
}
