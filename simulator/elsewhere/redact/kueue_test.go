package redact

import "testing"

// TestTheNamesOfQueuesStayTogether: a label that names a queue, and the queue, get the same word, and the
// gate that admission removes keeps its name.
func TestTheNamesOfQueuesStayTogether(t *testing.T) {
	r := New(nil)
	for key, rule := range map[string]rule{
		"kueue.x-k8s.io/queue-name": localQueues, "kueue.x-k8s.io/cluster-queue-name": clusterQueues, "kueue.x-k8s.io/priority-class": workloadClass, "kueue.x-k8s.io/pod-group-name": appName,
	} {
		if label, name := r.labelValue(key, "secret"), rule(r, "secret"); label != name || label == "secret" {
			t.Errorf("%s: the label has %v, the object %v", key, label, name)
		}
		if got := r.labelKey(key); got != key {
			t.Errorf("%s became %s", key, got)
		}
	}
	if got := r.labelKey("kueue.x-k8s.io/admission"); got != "kueue.x-k8s.io/admission" {
		t.Errorf("the gate became %s", got)
	}
}
