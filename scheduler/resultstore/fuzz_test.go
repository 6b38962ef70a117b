package resultstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// FuzzList checks that every query is either refused as a bad one, or that its pages
// together contain each match once.
func FuzzList(f *testing.F) {
	s := New(Options{})
	const pods, attempts = 5, 3
	for attempt := 1; attempt <= attempts; attempt++ {
		for i := range pods {
			s.Put(cycle(fmt.Sprintf("pod-%d", i), attempt, result.Outcomes[i%len(result.Outcomes)]))
		}
	}
	f.Add("", "", "", "", "", 0, "")
	f.Add("default", "pod-1", "pod-1", string(result.Scheduled), "", 1, "")
	f.Add("", "", "", string(result.Unschedulable), "", 2, "7")
	f.Add("", "", "pod-2", "", "", 1, "18446744073709551615")
	f.Add("kube-system", "", "none", "nothing", "", -1, "0")
	f.Add("", "", "", "", "pod ault/", 1<<40, "-1")
	f.Add("", "", "", "", "Default/POD-1", 3, "0x10")
	f.Add("", "", "", "", "/ // \xff", 2, "")
	f.Fuzz(func(t *testing.T, namespace, name, uid, outcome, text string, limit int, token string) {
		q := result.Query{Namespace: namespace, Name: name, UID: types.UID(uid), Outcome: result.Outcome(outcome), Text: text, Counts: true, Limit: limit, Continue: token}
		var got []string
		for pages := 0; ; pages++ {
			page, err := s.List(q)
			if errors.Is(err, ErrBadQuery) && pages == 0 {
				return
			}
			if err != nil || pages > pods*attempts {
				t.Fatalf("page %d of %+v: %v", pages, q, err)
			}
			got = append(got, names(page.Items)...)
			if page.Continue == "" {
				break
			}
			q.Continue = page.Continue
		}
		q.Limit, q.Continue = result.MaxLimit, token
		whole, err := s.List(q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names(whole.Items), got); diff != "" {
			t.Errorf("%+v: pages (-at once +one after another):\n%s", q, diff)
		}
	})
}
