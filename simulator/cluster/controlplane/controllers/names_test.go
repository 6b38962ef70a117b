package controllers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers/kubecontrollers"
)

func TestChoose(t *testing.T) {
	sorted := func(lists ...[]string) []string {
		all := slices.Concat(lists...)
		slices.Sort(all)
		return all
	}
	without := func(list []string, name string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == name })
	}
	usual := sorted(bareControllers, usualControllers)
	tests := []struct {
		name string
		list []string
		want []string
	}{
		{"nothing said", nil, sorted(bareControllers)},
		{"all usual ones", []string{"*"}, usual},
		{"all but one", []string{"*", "-job-controller"}, without(usual, "job-controller")},
		{"an older name", []string{"*", "-replicaset", "-podgc"}, without(without(usual, "replicaset-controller"), "pod-garbage-collector-controller")},
		{"one more", []string{"*", "ttl-controller"}, sorted(usual, []string{"ttl-controller"})},
		{"the first word counts", []string{"-job-controller", "job-controller", "deployment-controller"}, []string{"deployment-controller"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			chosen, err := Choose(test.list)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for name, on := range chosen {
				if on {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(test.want, sorted(got)); diff != "" {
				t.Errorf("controllers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownControllers(t *testing.T) {
	for list, want := range map[string]string{
		"jobs":                  `there is no "jobs"; the controllers are`,
		"-node-ipam-controller": "node-ipam-controller does not run in the simulator",
		"-nodeipam":             "node-ipam-controller does not run in the simulator",
	} {
		if err := Check([]string{"*", list}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %q", list, err, want)
		}
	}
}

// TestControllersAreBuilt: every name must stand for a controller that kubecontrollers builds, or
// for one of our own.
func TestControllersAreBuilt(t *testing.T) {
	want := slices.Concat(kubecontrollers.Names(), ownControllers)
	slices.Sort(want)
	if diff := cmp.Diff(want, All()); diff != "" {
		t.Errorf("controllers (-built +named):\n%s", diff)
	}
}
