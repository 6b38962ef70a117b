package comparison

import "testing"

func TestUnknownPluginsHaveNoComparer(t *testing.T) {
	if c := (InTree{}).Comparer("NodeQuota", nil, nil); c != nil {
		t.Errorf("%v, want nil", c)
	}
}
