package process

import (
	"slices"
	"testing"

	_ "k8s.io/kubernetes/pkg/features"
)

// TestEmulate changes the process, so all of it is one test.
func TestEmulate(t *testing.T) {
	gate := func(name string) Gate { // none if the version does not know it
		gates := Gates()
		if i := slices.IndexFunc(gates, func(g Gate) bool { return g.Name == name }); i >= 0 {
			return gates[i]
		}
		return Gate{}
	}
	all := Emulatable()
	if len(all) != emulatedReleases+1 || all[0] != own().String() {
		t.Fatalf("%s can emulate %v", own(), all)
	}
	for minor, want := range map[string]string{
		"1.12":   "cannot emulate Kubernetes 1.12: this program has " + all[0] + ", and can emulate " + all[3] + " to " + all[0],
		"9.9":    "cannot emulate Kubernetes 9.9: this program has " + all[0] + ", and can emulate " + all[3] + " to " + all[0],
		"newest": `"newest" is no minor version of Kubernetes, such as ` + all[0],
		"1.35.4": `"1.35.4" is no minor version of Kubernetes, such as ` + all[0],
	} {
		if err := Emulate(minor, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", minor, err, want)
		}
	}
	if !gate("StorageCapacityScoring").Enabled || gate("DRAFractionalCapacityRange").Enabled || Emulated() != "" {
		t.Errorf("by itself the program has %v and %v", gate("StorageCapacityScoring"), gate("DRAFractionalCapacityRange"))
	}
	if err := Emulate("", all[0]); err != nil || !gate("DRAFractionalCapacityRange").Enabled {
		t.Errorf("with parts of its own version only: %v, %v", err, gate("DRAFractionalCapacityRange"))
	}
	want := "the minimum compatibility version is a minor version from " + all[3] + " to " + all[2] + `, not "` + all[0] + `"`
	if err := Emulate(all[2], all[0]); err == nil || err.Error() != want {
		t.Errorf("parts newer than what is emulated: %v, want %s", err, want)
	}
	if err := Emulate(all[2], ""); err != nil || gate("StorageCapacityScoring").Enabled || Emulated() != all[2] {
		t.Errorf("emulating %s: %v, %v", Emulated(), err, gate("StorageCapacityScoring"))
	}
	if err := SetGates("StorageCapacityScoring=true"); err != nil || !gate("StorageCapacityScoring").Enabled {
		t.Errorf("a gate that the user sets: %v, %v", err, gate("StorageCapacityScoring"))
	}
}
