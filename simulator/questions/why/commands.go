package why

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// commands prints what makes each change, for a shell: the changes of one suggestion in order, each when the one
// before it has taken effect.
func (p *page) commands(a *Answer) {
	for i, s := range a.changesToMake() {
		p.line("")
		p.text("", fmt.Sprintf("# Change %d: %s", i+1, s.Text))
		for _, c := range s.Changes {
			p.out.WriteString(commandOf(c) + "\n")
		}
	}
}

func commandOf(c hypothesis.Change) string {
	switch {
	case c.Patch != nil:
		sub := ""
		if c.Patch.Subresource != "" {
			sub = " --subresource=" + c.Patch.Subresource
		}
		return fmt.Sprintf("kubectl patch %s%s -p %s", onto(c.Patch.Target), sub, quotedForShell(string(c.Patch.Patch)))
	case c.Delete != nil:
		return "kubectl delete " + onto(*c.Delete)
	}
	document, err := yaml.JSONToYAML(c.Apply)
	if err != nil {
		document = c.Apply
	}
	verb := "create"
	var o metav1.PartialObjectMetadata
	if json.Unmarshal(c.Apply, &o) == nil && o.Name != "" && o.Kind == "Node" {
		verb = "apply"
	}
	return "kubectl " + verb + " -f - <<'END'\n" + strings.TrimSuffix(string(document), "\n") + "\nEND"
}

// onto names an object as kubectl does.
func onto(t hypothesis.Target) string {
	gvk := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group != "" {
		kind += "." + gvk.Version + "." + gvk.Group
	}
	out := quotedForShell(kind) + " " + quotedForShell(t.Name)
	if t.Namespace != "" {
		out += " -n " + quotedForShell(t.Namespace)
	}
	return out
}

// quotedForShell quotes what is not one plain word.
func quotedForShell(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
