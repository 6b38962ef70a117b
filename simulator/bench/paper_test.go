package bench

import (
	"strings"
	"testing"
)

// TestPaper: every workload of a cohort of Kueue's own load is admitted, the larger ones, of higher priority, sooner, and the quota that ends
// up in use is what the workloads ask for.
func TestPaper(t *testing.T) {
	r, err := paperOfKueue(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mean := map[string]float64{}
	cores := 0.0
	for i, c := range r.Classes {
		mean[c.Name] = c.MeanToAdmission.Seconds()
		cores += float64(c.Count) * float64(paperClasses()[i].cpu) * paperClasses()[i].runs.Seconds()
	}
	if r.Workloads != 3000 || mean["large"] >= mean["medium"] || mean["medium"] >= mean["small"] {
		t.Errorf("%d workloads, means %v", r.Workloads, mean)
	}
	if used := r.Usage * float64(paperNominal) * float64(r.Queues) * r.Virtual.Seconds(); used < cores*0.999 {
		t.Errorf("%.0f core seconds were used, and the workloads ran %.0f", used, cores)
	}
	var out strings.Builder
	if err := Paper(t.Context(), "other", &out); err == nil || !strings.Contains(err.Error(), "kueue") {
		t.Errorf("an unknown paper: %v", err)
	}
}
