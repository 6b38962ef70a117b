package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutlook(t *testing.T) {
	for _, tc := range []struct {
		name, commands, workload string
		asIs                     bool
		want                     []string
	}{
		{
			name:     "it would be admitted anyway",
			commands: "cq a f:10\nheld v a 6\nwl w1 a 4",
			workload: "w1", asIs: true,
		},
		{
			name:     "more nominal quota, or the end of the right workload",
			commands: "cq a a100:10\nheld train-7 a 6 on a100\nheld train-8 a 2 on a100\nwl w1 a 6\ncycle",
			workload: "w1",
			want:     []string{"nominalQuota of cpu in flavor a100 of ClusterQueue a were 4 more", "train-7 finished"},
		},
		{
			name:     "only several workloads together",
			commands: "cq a f:10\nheld v1 a 3\nheld v2 a 3\nheld v3 a 4\nwl w1 a 7\ncycle",
			workload: "w1",
			want:     []string{"nominalQuota of cpu in flavor f of ClusterQueue a were 7 more", "v3, v1 finished"},
		},
		{
			name:     "a borrowing limit",
			commands: "cq a co=co f:4/+2\ncq b co=co f:6\nwl w1 a 8\ncycle",
			workload: "w1",
			want: []string{
				"nominalQuota of cpu in flavor f of ClusterQueue a were 2 more",
				"borrowingLimit of cpu in flavor f of ClusterQueue a were 2 more",
			},
		},
		{
			name:     "a priority that may evict",
			commands: "cq a within=LowerPriority f:4\nheld v a 4 @5\nwl w1 a 4 @5\ncycle",
			workload: "w1",
			want:     []string{"nominalQuota of cpu in flavor f of ClusterQueue a were 4 more", "v finished", "its priority were 6"},
		},
		{
			name:     "fewer pods",
			commands: "cq a f:10\nwl w1 a 12x1\ncycle",
			workload: "w1",
			want:     []string{"nominalQuota of cpu in flavor f of ClusterQueue a were 2 more", "pod set main had 10 pods"},
		},
		{
			name:     "whoever is ahead takes what is freed",
			commands: "cq a StrictFIFO f:4\nheld v a 4\nwl w1 a 4\nwl w2 a 4\ncycle",
			workload: "w2",
			want:     []string{"nominalQuota of cpu in flavor f of ClusterQueue a were 8 more"},
		},
		{
			name:     "a stopped queue",
			commands: "cq a stop=Hold f:4\nwl w1 a 4",
			workload: "w1",
			want:     []string{"ClusterQueue a were resumed"},
		},
		{
			name:     "a stopped LocalQueue",
			commands: "cq a f:4\nlocalqueue a a Hold\nwl w1 a 4",
			workload: "w1",
			want:     []string{"LocalQueue a were resumed"},
		},
		{
			name:     "nothing helps against an uncovered resource",
			commands: "cq a f:4\nwl w1 a cpu=1,gpu=1\ncycle",
			workload: "w1",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			for line := range strings.Lines(tc.commands) {
				w.do(strings.TrimSpace(line))
			}
			before := w.state.Quotas()
			outlook, ok := w.state.Outlook(w.key(tc.workload), w.now)
			if !ok {
				t.Fatal("no outlook")
			}
			if got := outlook.AsIs != nil; got != tc.asIs {
				t.Errorf("admitted as it is: %t, want %t", got, tc.asIs)
			}
			var got []string
			for _, s := range outlook.Suggestions {
				got = append(got, s.Change.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("suggestions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, w.state.Quotas()); diff != "" {
				t.Errorf("asking changed the State:\n%s", diff)
			}
		})
	}
}
