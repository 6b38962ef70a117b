package scenario

import (
	"testing"

	"kube-scheduler-simulator/scheduler/result"
)

// wholeFields are exactly the fields of a decision that load the whole cycle.
func TestWholeFields(t *testing.T) {
	for name, f := range objectTypes[decisionType.TypeName()] {
		loaded := false
		f.get(&decided{Summary: &result.Summary{}, load: func() (*result.Cycle, error) {
			loaded = true
			return nil, nil
		}})
		if loaded != wholeFields.Has(name) {
			t.Errorf("%s loads the whole cycle: %t", name, loaded)
		}
	}
}
