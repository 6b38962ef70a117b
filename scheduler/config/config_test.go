package config

import (
	"strings"
	"testing"
)

func TestDefaultReadsBack(t *testing.T) {
	def, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(def.YAML)
	if err != nil {
		t.Fatalf("the default configuration does not parse: %v\n%s", err, def.YAML)
	}
	if got := back.Internal.Profiles[0].SchedulerName; got != "default-scheduler" {
		t.Errorf("scheduler name = %q", got)
	}
	text := string(def.YAML)
	for _, want := range []string{"kind: KubeSchedulerConfiguration", "name: NodeResourcesFit", "kind: NodeResourcesFitArgs", "type: LeastAllocated"} {
		if !strings.Contains(text, want) {
			t.Errorf("the default configuration lacks %q:\n%s", want, text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for _, tc := range []struct{ name, document, want string }{
		{"not YAML", "{", "decoding"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", "Pod"},
		{"an old version", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n", "v1beta3"},
		{"an unknown field", head + "paralelism: 3\n", "paralelism"},
		{"a repeated field", head + "parallelism: 3\nparallelism: 4\n", "parallelism"},
		{"an invalid value", head + "parallelism: -1\n", "parallelism"},
		{"invalid arguments", head + "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 1000\n", "hardPodAffinityWeight"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.document))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not contain %q", err, tc.want)
			}
		})
	}
}
