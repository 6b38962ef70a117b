package scenario

import (
	"errors"
	"strings"
	"testing"
)

const policyYAML = `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: RemoveDuplicates}]
  plugins: {balance: {enabled: [RemoveDuplicates]}}
`

// TestDeschedulePolicies: a policy is read beside the scenario, or in it, and its mistakes are at their lines.
func TestDeschedulePolicies(t *testing.T) {
	inline := "    policy:\n      " + strings.ReplaceAll(strings.TrimSpace(policyYAML), "\n", "\n      ") + "\n"
	for name, tc := range map[string]struct{ step, want string }{
		"a file":            {"- deschedule: {policy: policy.yaml, rounds: 3, interval: 1m}\n", ""},
		"inline":            {"- deschedule:\n" + inline, ""},
		"none":              {"- deschedule: {rounds: 2}\n", "test.yaml:5: steps[0].deschedule: want a policy"},
		"no file":           {"- deschedule: {policy: none.yaml}\n", "test.yaml:5: reading none.yaml"},
		"mistake in a file": {"- deschedule: {policy: wrong.yaml}\n", `wrong.yaml:5: profiles[0].pluginConfig[0].name: the descheduler v0.36.0 has no plugin "RemoveDuplicate"`},
		"mistake inline":    {"- deschedule:\n" + strings.Replace(inline, "name: RemoveDuplicates", "name: RemoveDuplicate", 1), `test.yaml:11: steps[0].deschedule.policy.profiles[0].pluginConfig[0].name: the descheduler`},
		"grace":             {"- deschedule: {policy: grace.yaml}\n", "gracePeriodSeconds: in a scenario, a pod goes as its own"},
		"rounds":            {"- deschedule: {policy: policy.yaml, rounds: 0}\n", "steps[0].deschedule.rounds: want a number from 1 to 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, head+"steps:\n"+tc.step, map[string]string{
				"policy.yaml": policyYAML, "wrong.yaml": strings.Replace(policyYAML, "name: RemoveDuplicates", "name: RemoveDuplicate", 1), "grace.yaml": policyYAML + "gracePeriodSeconds: 5\n",
			})
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if wrong, is := errors.AsType[*Error](err); !is || !strings.Contains(wrong.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}
