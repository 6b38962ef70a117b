package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// maxSummary is about the length of a line, in characters.
const maxSummary = 100

// Summarize describes differences in a line: first changed values, then additions and removals, and
// then the number of further differences.
func Summarize(found []Difference) string {
	var changed, rest []clause
	added := map[string]bool{} // new profiles, whose fields are not listed
	for _, d := range found {
		profile, field := splitProfile(d.Field)
		if added[profile] {
			continue
		}
		added[profile] = profile != "" && field == "" && d.Default == nil
		c := newClause(profile, field, d)
		if scalar(d.Default) && scalar(d.Current) {
			changed = append(changed, c)
		} else {
			rest = append(rest, c)
		}
	}
	clauses := append(changed, grouped(rest)...)
	if len(clauses) == 0 {
		return "no change"
	}
	const room = maxSummary - len("; +100 more")
	line := cutText(clauses[0].text, room)
	for i, c := range clauses[1:] {
		longer := line + "; " + c.text
		if utf8.RuneCountInString(longer) > room {
			return fmt.Sprintf("%s; +%d more", line, len(clauses)-1-i)
		}
		line = longer
	}
	return line
}

// clause describes one difference. Clauses of a group can be replaced by their number.
type clause struct{ text, group string }

// grouped replaces more than two clauses of a group by their number.
func grouped(clauses []clause) []clause {
	members := map[string]int{}
	for _, c := range clauses {
		members[c.group]++
	}
	var out []clause
	for _, c := range clauses {
		switch n := members[c.group]; {
		case c.group == "" || n <= 2 && n > 0:
			out = append(out, c)
		case n > 2:
			out = append(out, clause{text: strings.Replace(c.group, "#", strconv.Itoa(n), 1)})
			members[c.group] = -1
		}
	}
	return out
}

// splitProfile splits profiles[NAME].FIELD. The name is empty if the field is not in a profile.
func splitProfile(path string) (profile, field string) {
	inside, ok := strings.CutPrefix(path, "profiles[")
	if !ok {
		return "", path
	}
	profile, field, _ = strings.Cut(inside, "]")
	return profile, strings.TrimPrefix(field, ".")
}

func newClause(profile, field string, d Difference) clause {
	did := "changed"
	switch {
	case d.Default == nil:
		did = "enabled"
	case d.Current == nil:
		did = "disabled"
	}
	prefix, in := "", ""
	if profile != "" && profile != v1.DefaultSchedulerName {
		prefix, in = profile+": ", " in "+profile
	}
	if item, ok := wholeItem(profile, field); ok {
		return clause{text: map[string]string{"enabled": "+", "disabled": "-", "changed": ""}[did] + item}
	}
	if m := regexp.MustCompile(`^pluginConfig\[([^\]]*)\]\.args\.?(.*)$`).FindStringSubmatch(field); m != nil {
		if m[2] == "" {
			m[2] = "args"
		}
		return clause{text: prefix + m[1] + ": " + m[2] + " " + change(d)}
	}
	if m := regexp.MustCompile(`^plugins\.(\w+)\.order$`).FindStringSubmatch(field); m != nil {
		return clause{text: prefix + "different order at " + m[1]}
	}
	if m := regexp.MustCompile(`^plugins(?:\.(\w+))?\[([^\]]*)\](?:\.(\w+))?$`).FindStringSubmatch(field); m != nil {
		point, name, inner := m[1], m[2], m[3]
		switch {
		case inner != "":
			return clause{text: prefix + name + ": " + point + " " + inner + " " + change(d)}
		case point != "":
			return clause{text: prefix + name + " " + did + " at " + point, group: "# plugins " + did + " at " + point + in}
		default:
			return clause{text: prefix + name + " " + did, group: "# plugins " + did + in}
		}
	}
	return clause{text: prefix + field + " " + change(d)}
}

// wholeItem names a profile or an extender if the difference is the whole item.
func wholeItem(profile, field string) (string, bool) {
	if profile != "" {
		return "profile " + profile, field == ""
	}
	url, ok := strings.CutPrefix(field, "extenders[")
	url, whole := strings.CutSuffix(url, "]")
	return "extender " + url, ok && whole
}

func change(d Difference) string { return short(d.Default) + " → " + short(d.Current) }

func short(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return cutText(v, 32)
	case map[string]any:
		return "{…}"
	case []any:
		return "[…]"
	default:
		return yamlsource.Quoted(v)
	}
}

func scalar(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any:
		return false
	default:
		return true
	}
}

func cutText(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
