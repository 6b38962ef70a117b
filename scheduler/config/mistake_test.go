package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each document is followed by its mistakes, as line:column field: message.
func TestMistakes(t *testing.T) {
	const profile = head + "profiles:\n- "
	const fit = head + "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
	var b strings.Builder
	for _, tc := range []struct{ name, document string }{
		{"nothing", ""},
		{"only a comment", "# later\n"},
		{"only a separator", "---\n"},
		{"a list", "- a\n"},
		{"a text", "hello\n"},
		{"syntax", head + "profiles: [\n"},
		{"syntax in the first line", "a: b: c\n"},
		{"a tab", head + "profiles:\n- schedulerName: a\n\tplugins: {}\n"},
		{"indentation", head + "profiles:\n- schedulerName: a\n   plugins: {}\n"},
		{"an unknown alias", head + "parallelism: *p\n"},
		{"half of JSON", `{"apiVersion": "kubescheduler.config.k8s.io/v1",`},
		{"two documents", head + "---\n" + head},
		{"a second document that is not YAML", head + "---\na: [\n"},
		{"another kind", "apiVersion: v1\nkind: Pod\nspec: {}\n"},
		{"no kind", "apiVersion: kubescheduler.config.k8s.io/v1\nparallelism: 0\n"},
		{"no version", "kind: KubeSchedulerConfiguration\n"},
		{"an old version", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nhealthzBindAddress: 0.0.0.0:1\n"},
		{"an unknown field", head + "paralelism: 3\nsomethingElse: 1\n"},
		{"unknown fields everywhere", profile + "foo: 1\n  plugins:\n    filters: {}\n    score:\n      enable: []\n"},
		{"repeated fields", head + "parallelism: 3\nparallelism: 4\nprofiles:\n- schedulerName: a\n  schedulerName: b\n"},
		{"wrong types", head + "parallelism: three\npodInitialBackoffSeconds: 1.5\npercentageOfNodesToScore: 99999999999\ndelayCacheUntilActive: perhaps\nprofiles: {}\nleaderElection:\n  leaseDuration: soon\nclientConnection: []\n"},
		{"wrong types in lists", profile + "schedulerName: 3\n  plugins:\n    score:\n      enabled:\n      - NodeName\n      - name: NodeAffinity\n        weight: heavy\n"},
		{"settings out of range", head + "parallelism: -1\npercentageOfNodesToScore: 101\npodInitialBackoffSeconds: 0\npodMaxBackoffSeconds: -1\n"},
		{"a mistake of the type and one of the value", head + "parallelism: -1\nfoo: bar\npercentageOfNodesToScore: x\n"},
		{"two profiles without names", profile + "percentageOfNodesToScore: 5\n- plugins: {}\n"},
		{"two profiles of one name", profile + "schedulerName: a\n- schedulerName: a\n"},
		{"an unknown plugin", profile + "plugins:\n    multiPoint:\n      enabled:\n      - name: NodeResourceFit\n    score:\n      enabled:\n      - name: Zzzzzz\n      - weight: 3\n  pluginConfig:\n  - name: nodeaffinity\n"},
		{"a removed plugin", profile + "plugins:\n    filter:\n      enabled:\n      - name: EBSLimits\n  pluginConfig:\n  - name: EBSLimits\n"},
		{"a plugin at a point that it lacks", profile + "plugins:\n    score:\n      enabled:\n      - name: NodeName\n"},
		{"a plugin twice", profile + "plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n      - name: NodeAffinity\n  pluginConfig:\n  - name: NodeAffinity\n  - name: NodeAffinity\n"},
		{"no queue sort and no bind", profile + "plugins:\n    multiPoint:\n      disabled:\n      - name: \"*\"\n"},
		{"queue sorts that differ", profile + "schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n      enabled:\n      - name: PrioritySort\n      disabled:\n      - name: \"*\"\n"},
		{"arguments of another plugin", profile + "pluginConfig:\n  - name: NodeAffinity\n    args:\n      kind: NodeResourcesFitArgs\n      apiVersion: kubescheduler.config.k8s.io/v1beta1\n"},
		{"arguments that are no object", profile + "pluginConfig:\n  - name: NodeAffinity\n    args: everything\n"},
		{"the scoring strategy", fit + "      scoringStrategy:\n        type: Mostallocated\n        resources:\n        - {name: cpu, weight: 101}\n        shape: []\n      ignoredResourceGroups: [a/b]\n"},
		{"no shape", fit + "      scoringStrategy:\n        type: RequestedToCapacityRatio\n"},
		{"shapes", fit + "      scoringStrategy:\n        type: RequestedToCapacityRatio\n        requestedToCapacityRatio:\n          shape:\n          - {utilization: 50, score: 11}\n          - {utilization: 0, score: -1}\n"},
		{"all other arguments", profile + `pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 1000}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - key: disk
              operator: Near
              values: [ssd]
  - name: NodeResourcesBalancedAllocation
    args:
      resources:
      - {name: cpu, weight: 2}
      - {name: cpu}
  - name: PodTopologySpread
    args:
      defaultConstraints:
      - maxSkew: 0
        whenUnsatisfiable: Perhaps
        labelSelector: {}
  - name: VolumeBinding
    args: {bindTimeoutSeconds: -1, shape: [{utilization: 101, score: 1}]}
  - name: DynamicResources
    args: {filterTimeout: -1s, bindingTimeout: 0s}
`},
		{"leader election and client", head + "leaderElection: {leaderElect: true, leaseDuration: 5s, resourceLock: endpoints}\nclientConnection: {burst: -1}\n"},
		{"extenders", head + `extenders:
- urlPrefix: http://one
  prioritizeVerb: prioritize
  bindVerb: bind
  managedResources:
  - name: gpu
  - name: a b
- urlPrefix: http://two
  bindVerb: bind
  httpTimeout: 5
  tlsConfig: {certData: "%"}
`},
		{"an ignored resource without NodeResourcesFit", head + "profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: NodeResourcesFit\nextenders:\n- urlPrefix: http://one\n  managedResources:\n  - {name: example.com/gpu, ignoredByScheduler: true}\n"},
		{"JSON", "{\n  \"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n  \"kind\": \"KubeSchedulerConfiguration\",\n  \"parallelism\": -1,\n  \"foo\": {}, \"foo\": {}\n}\n"},
		{"in an alias", head + "profiles:\n- schedulerName: a\n  plugins: &p\n    score: {enabled: [{name: Nobody}]}\n- schedulerName: b\n  plugins: *p\n"},
		{"in a merged mapping", head + "profiles:\n- &a\n  schedulerName: a\n  percentageOfNodesToScore: 101\n- <<: *a\n  schedulerName: b\n"},
		{"control characters", head + "extenders:\n- urlPrefix: \"\\x7f\"\n"},
		{"a control character in JSON", `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "\u0001\/"}`},
		{"JSON that is not YAML", `{"apiVersion": "kubescheduler.config.k8s.io\/v1", "kind": "\ud83d\ude00"}`},
		{"a number that JSON lacks", head + "parallelism: .inf\n"},
	} {
		fmt.Fprintf(&b, "# %s\n%s\n%s\n", tc.name, numbered(tc.document), transcript(t, tc.document))
	}
	golden(t, "mistakes.golden", b.String())
}

// golden compares text with a file that -update writes.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (run with -update when you can explain every line):\n%s", name, diff)
	}
}

var update = flag.Bool("update", false, "write the golden files")

func transcript(t *testing.T, document string) string {
	t.Helper()
	_, err := ParseWith([]byte(document), Options{})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %v of\n%s", err, document)
	}
	var b strings.Builder
	for _, m := range e.Mistakes {
		fmt.Fprintf(&b, "%d:%d %s: %s\n", m.Line, m.Column, m.Field, m.Message)
	}
	return b.String()
}

func numbered(document string) string {
	lines := strings.Split(strings.TrimSuffix(document, "\n"), "\n")
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%3d| %s", i+1, line)
	}
	return strings.Join(lines, "\n")
}

// Documents that need much memory or a deep stack are refused quickly.
func TestBounds(t *testing.T) {
	bomb := head + "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), c-1)
	}
	manyFields := head
	for i := range maxItems - 2 {
		manyFields += fmt.Sprintf("paralelism%d: 1\n", i)
	}
	long := strings.Repeat("x", 100_000)
	for _, tc := range []struct{ name, document, want string }{
		{"large", head + "# " + strings.Repeat("x", MaxSize), "1048654 bytes"},
		{"lists in lists", head + "profiles: " + strings.Repeat("[", 50_000), "nested deeper than 100"},
		{"mappings in mappings", head + "profiles: " + strings.Repeat("{a: ", 40_000), "nested deeper than 100"},
		{"many values", head + "profiles: [" + strings.Repeat("[],", 50_000) + "[]]", "more than 100000 values"},
		{"many values in JSON", `{"a":[` + strings.Repeat("[],", 50_000) + "[]]}", "more than 100000 values"},
		{"rather deep", head + "profiles: " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), "nested deeper than 100"},
		{"deep JSON", strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000), "nested deeper than 100"},
		{"aliases of lists", bomb, "too large when its aliases"},
		{"aliases of a text", head + "a: &a " + long + "\nb: [" + strings.Repeat("*a,", 1000) + "*a]\n", "too large when its aliases"},
		{"an alias of itself", head + "profiles: &p [*p]\n", "contains itself"},
		{"merging itself", head + "profiles: &p {<<: *p}\n", "contains itself"},
		{"many mistakes", head + "profiles: [" + strings.Repeat("x,", 400) + "x]\n", "and 302 more mistakes"},
		{"many items", head + "profiles: [{pluginConfig: [" + strings.Repeat("{},", maxItems) + "{}]}]\n", "10001 items"},
		{"many fields", manyFields, "and 901 more mistakes"},
		{"many profiles", head + "profiles: [" + strings.Repeat("{},", maxProfiles) + "{}]\n", "501 items"},
		{"a long value", head + "parallelism: " + long, "want a whole number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.document))
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 50_000 {
				t.Errorf("err = %v", err)
			}
		})
	}
}
