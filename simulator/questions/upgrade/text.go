package upgrade

import (
	"encoding/json"
	"fmt"
	"strings"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Text says in a sentence why pods differ.
func (c *Cause) Text() string {
	out := c.what()
	switch {
	case len(c.Gates) > 0:
		return out + ": " + list(c.Gates)
	case c.GatesNotAsked:
		return out + "; no feature gate was looked for"
	}
	return out + "; no feature gate explains it"
}

func (c *Cause) what() string {
	who := list(c.Plugins)
	switch {
	case who == "":
		return "no single plugin answers otherwise"
	case c.Class == Lost:
		return fmt.Sprintf("%s rejects the node now%s", who, said(c.After))
	case c.Class == Gained:
		return fmt.Sprintf("%s no longer rejects the node%s", who, said(c.Before))
	case c.Point == "score" && len(c.Plugins) == 1 && c.Proven:
		return who + " scores otherwise"
	case c.Point == "score" && c.Proven:
		return who + " score otherwise, and only together make the difference"
	case c.Point == "score":
		return who + " score otherwise, which does not explain all of it"
	case c.Point == "postFilter":
		return who + " chooses other pods to evict"
	case c.Before != nil && c.After != nil:
		return fmt.Sprintf("%s says %q instead of %q", who, reasons(c.After), reasons(c.Before))
	}
	return fmt.Sprintf("%s rejects other nodes", who)
}

func said(s *wire.Status) string {
	if s == nil || len(s.Reasons) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", reasons(s))
}

func reasons(s *wire.Status) string { return strings.Join(s.Reasons, ", ") }

// list joins names with commas and an and.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// MarshalJSON adds the names and the sentence as texts.
func (c Cause) MarshalJSON() ([]byte, error) {
	type plain Cause
	return json.Marshal(struct {
		plain
		Plugin string `json:"plugin"`
		Gate   string `json:"gate"`
		Text   string `json:"text"`
	}{plain(c), strings.Join(c.Plugins, ", "), strings.Join(c.Gates, ", "), c.Text()})
}
