package ask

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// PrintFit prints what makes a pod fit. pod is its name, for people.
func PrintFit(w io.Writer, target Target, pod string, a *hypothesis.FitAnswer, format Format) error {
	if format == JSON || format == YAML {
		return encode(w, a, format)
	}
	p := &printer{w: w}
	p.asked(target, a.State)
	switch n := len(a.Suggestions); {
	case a.Fits:
		p.line("%s fits as it is.", pod)
	case n == 0:
		p.line("%s does not fit, and no change was found that makes it fit.", pod)
	case a.Suggestions[0].Kind == fit.KindWait && n == 1:
		p.line("%s does not fit yet, and needs no change:", pod)
	case a.Suggestions[0].Kind == fit.KindWait:
		p.line("%s does not fit yet, and needs no change. Who cannot wait may change something; -o yaml has the changes:", pod)
	case n == 1:
		p.line("%s does not fit. This makes it fit; -o yaml has the changes:", pod)
	default:
		p.line("%s does not fit. Each of these makes it fit, the gentlest first; -o yaml has the changes:", pod)
	}
	if len(a.Suggestions) > 0 {
		p.table([]string{"#", "CHANGES", "GOES TO", "FITS ON", "SUGGESTION"}, func(t table) {
			for i, s := range a.Suggestions {
				t.row(strconv.Itoa(i+1), string(s.Kind), cmp.Or(s.SelectedNode, none), nodes(s.Nodes, format), s.Text)
			}
		})
	}
	var reasons, guarded []rejection
	for _, i := range a.Incurable {
		to := &reasons
		if i.Guarded {
			to = &guarded
		}
		*to = append(*to, rejection{i.Plugin, i.Reason, i.Nodes})
	}
	p.rejections("No change was found against:", reasons, format)
	p.rejections("Pods that may not be evicted are in the way:", guarded, format)
	if len(a.LeftOut) > 0 {
		p.line("")
		for _, s := range a.LeftOut {
			p.line("%s", s)
		}
	}
	p.notAsked(a.NotAsked, "")
	return p.err
}

// rejection is a reason for which a plugin rejects nodes.
type rejection struct {
	plugin, reason string
	nodes          []string
}

func (p *printer) rejections(title string, all []rejection, format Format) {
	if len(all) == 0 {
		return
	}
	p.line("\n%s", title)
	p.table([]string{"NODES", "PLUGIN", "REASON"}, func(t table) {
		for _, r := range all {
			t.row(nodes(r.nodes, format), r.plugin, cmp.Or(r.reason, none))
		}
	})
}

func nodes(names []string, format Format) string {
	if format == Wide && len(names) > 0 {
		return strings.Join(names, ",")
	}
	return strconv.Itoa(len(names))
}
