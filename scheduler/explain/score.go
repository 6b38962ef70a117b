package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// ScoreCell explains one cell of the Score table: how a plugin came to its score for a
// node. It follows from the cycle; the formulas are the plugins'.
type ScoreCell struct {
	// Arithmetic leads to the raw score. It is nil when the inputs are not kept.
	Arithmetic []Step `json:"arithmetic,omitempty"`
	// Raw is the result of Arithmetic; nil without it.
	Raw *int64 `json:"raw,omitempty"`
	// Normalization leads from the raw scores of all nodes to the normalized score. It is
	// nil in records of earlier versions.
	Normalization []Step `json:"normalization,omitempty"`
	// Normalized is the result of Normalization; nil without it, and when the plugin has a
	// rule that is not known.
	Normalized *int64 `json:"normalized,omitempty"`
}

// Step is one line of arithmetic, as data. Go and the web render it with a sentence for
// each kind.
type Step struct {
	Kind string `json:"kind"`
	// Values are numbers and names as they are shown, by the names in the sentence.
	Values map[string]string `json:"values,omitempty"`
}

func (s Step) String() string {
	out := stepEnglish[s.Kind]
	for name, value := range s.Values {
		out = strings.ReplaceAll(out, "{"+name+"}", value)
	}
	return out
}

// Score explains the score of a plugin for a node. It reports false when the plugin did
// not score the node.
func Score(s *result.Score, plugin, node string) (ScoreCell, bool) {
	if s == nil {
		return ScoreCell{}, false
	}
	p := slices.IndexFunc(s.Plugins, func(p result.ScorePlugin) bool { return p.Name == plugin })
	row := s.Nodes.Index(node)
	if p < 0 || row < 0 {
		return ScoreCell{}, false
	}
	var out ScoreCell
	facts, at := s.Facts.Of(plugin), -1
	if s.Facts != nil {
		at = slices.Index(s.Facts.Nodes, node)
	}
	if facts != nil && at >= 0 {
		w := &work{at: at}
		raw := w.raw(facts)
		out.Arithmetic, out.Raw = w.steps, &raw
	}
	w := &work{at: at}
	out.Normalized = w.normalize(s, p, row, facts)
	out.Normalization = w.steps
	return out, true
}

// work gathers steps about the node at a position of the facts, −1 if the facts of the
// node are not kept.
type work struct {
	at    int
	steps []Step
}

// say adds a step. pairs are names and values.
func (w *work) say(kind string, pairs ...string) {
	var values map[string]string
	for i := 0; i < len(pairs); i += 2 {
		if values == nil {
			values = map[string]string{}
		}
		values[pairs[i]] = pairs[i+1]
	}
	w.steps = append(w.steps, Step{kind, values})
}

func (w *work) raw(f *result.PluginScoreFacts) int64 {
	switch {
	case f.Resources != nil && f.Resources.Strategy == result.BalancedAllocation:
		return w.balance(f.Resources)
	case f.Resources != nil:
		return w.resources(f.Resources)
	case f.Images != nil:
		return w.images(f.Images)
	case f.Preferences != nil:
		return w.preferences(f.Preferences)
	case f.Taints != nil:
		return w.taints(f.Taints)
	case f.Spread != nil:
		return w.spread(f.Spread)
	case f.PodTerms != nil:
		return w.podTerms(f.PodTerms)
	case f.Volumes != nil:
		return w.volumes(f.Volumes)
	case f.Devices != nil:
		return w.devices(f.Devices)
	}
	return 0
}

// sum adds up terms. Their sum is total. It says nothing about a single term.
func (w *work) sum(terms []string, total int64) int64 {
	if len(terms) == 1 {
		return total
	}
	w.say("sum", "terms", strings.Join(terms, " + "), "raw", whole(total))
	return total
}

// whole writes a number with the sign that the web writes.
func whole(n int64) string {
	if n < 0 {
		return sprintf("−%d", -n)
	}
	return sprintf("%d", n)
}

// operand is whole, in parentheses if it is negative.
func operand(n int64) string {
	if n < 0 {
		return "(" + whole(n) + ")"
	}
	return whole(n)
}

// stepEnglish are the sentences of the kinds of Step. The web has the same ones.
var stepEnglish = map[string]string{
	"defaults":        "{resource}: containers without a request count as {each} each here, {containers} of them in {pods}, which adds {amount}; kubectl describe shows {described} in use",
	"ownDefaults":     "{resource}: containers of this pod without a request count as {each} each here, {containers} of them, which adds {amount}",
	"least":           "{resource}: {inUse} in use + {pod} requested = {total}; 100 × ({allocatable} − {total}) / {allocatable} = {score}",
	"leastFull":       "{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable, so 0",
	"most":            "{resource}: {inUse} in use + {pod} requested = {total}; 100 × {total} / {allocatable} = {score}",
	"mostFull":        "{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable, so 100",
	"shape":           "{resource}: {inUse} in use + {pod} requested = {total}; 100 × {total} / {allocatable} = {utilization}% used, for which the shape gives {score}",
	"shapeFull":       "{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable; for 100% used, the shape gives {score}",
	"shapeZero":       "{resource}: {inUse} in use + {pod} requested = {total} of {allocatable}, for which the shape gives 0, so it does not count",
	"shapePoints":     "Shape: {points}",
	"notOnNode":       "{resource}: does not count, because the node has none",
	"notRequested":    "{resource}: does not count, because the pod requests none",
	"mean":            "Mean: {terms} = {raw}",
	"meanDown":        "Mean, rounded down: {terms} = {raw}",
	"meanOfOne":       "Nothing else counts on this node, so the raw score is {raw}.",
	"meanRounded":     "Mean, rounded: {terms} = {raw}",
	"nothingCounts":   "Nothing counts on this node, so the raw score is 0.",
	"share":           "{resource}: {inUse} of {allocatable} in use = {without}%; {total} with the pod = {with}%",
	"balanceWithout":  "Without the pod: standard deviation {deviation}; 100 × (1 − {deviation}) = {score}",
	"balanceWith":     "With the pod: standard deviation {deviation}; 100 × (1 − {deviation}) = {score}",
	"balance":         "Balance gained or lost: 50 + (50 + {with} − {without}) / 2 = {raw}",
	"image":           "{image}: {size} × {nodes} / {clusterNodes} nodes that have it = {score}",
	"imageTimes":      "{image}, in {times} containers: {times} × {size} × {nodes} / {clusterNodes} nodes that have it = {score}",
	"imageNone":       "The node has none of the pod’s images, so the raw score is 0.",
	"imageLow":        "{sum} is not above the lower bound of 23 Mi, so the raw score is 0.",
	"imageHigh":       "{sum} is not below the upper bound of {containers} × 1000 Mi, so the raw score is 100.",
	"imageRaw":        "100 × ({sum} − 23 Mi) / ({containers} × 1000 Mi − 23 Mi) = {raw}",
	"preferenceMet":   "{term}: met, {weight}",
	"preferenceUnmet": "{term}: not met, 0",
	"addedMet":        "{term}, added by the plugin’s arguments: met, {weight}",
	"addedUnmet":      "{term}, added by the plugin’s arguments: not met, 0",
	"taint":           "{taint}: not tolerated, 1",
	"taintNone":       "The node has no PreferNoSchedule taint that the pod does not tolerate, so the raw score is 0.",
	"spreadSystem":    "The pod has no constraints of its own. These are the defaults that are built into Kubernetes.",
	"spreadDefault":   "The pod has no constraints of its own. These are the defaults of the plugin’s arguments.",
	"spread":          "{domain}: matching pods {matching} × ln(domains {domains} + 2) + (maxSkew {maxSkew} − 1) = {score}",
	"spreadUnlabeled": "{key}: the node lacks the label, so it adds 0",
	"spreadIgnored":   "The node lacks the label of a constraint, so its raw score is 0.",
	"sum":             "Sum: {terms} = {raw}",
	"rounded":         "Rounded: {terms} becomes {raw}",
	"sumRounded":      "Sum, rounded: {terms} = {raw}",
	"podTerm":         "{pods} × {weight} = {score}: pods in {domain} that match {selector}",
	"existingNear":    "{pods} × {weight} = {score}: pods in {domain} that prefer to be near pods like this one",
	"existingApart":   "{pods} × {weight} = {score}: pods in {domain} that prefer to be apart from pods like this one",
	"existingHard":    "{pods} × {weight} = {score}: pods in {domain} that require affinity to pods like this one (hardPodAffinityWeight)",
	"podDomain":       "{domain}: {score}",
	"podDomainsOnly":  "The terms are not listed, because there were too many pods to count them one by one.",
	"unlabeled":       "{key}: does not count, because the node lacks the label",
	"class":           "{class}: 100 × {requested} / {capacity} = {utilization}% used, for which the shape gives {score}",
	"classFull":       "{class}: {requested} of {capacity}; for 100% used, the shape gives {score}",
	"device":          "{request}: {alternative} is alternative {n}, {score}",
	"deviceNone":      "{request}: nothing is allocated, 0",
	"noAlternatives":  "No request of the pod for devices has alternatives, so the raw score is 0.",

	"normNone":        "Not normalized: {raw} stays {normalized}",
	"normHighest":     "More is better, and the highest raw score, {highest}, becomes 100: 100 × {raw} / {highest} = {normalized}",
	"normHighestZero": "The raw score is 0 on every node, so all stay 0.",
	"normLowest":      "Fewer is better: 0 becomes 100, and the highest raw score, {highest}, becomes 0: 100 − 100 × {raw} / {highest} = {normalized}",
	"normLowestZero":  "Fewer is better: the raw score is 0 on every node, so all become 100.",
	"normRange":       "More is better: the lowest raw score, {lowest}, becomes 0, and the highest, {highest}, becomes 100: 100 × ({raw} − {less}) / ({most} − {less}) = {normalized}",
	"normCutOff":      "kube-scheduler computes this in floating point. The result is just below {next}, and the fraction is cut off.",
	"normRangeSame":   "The raw score is {raw} on every node, so all become 0.",
	"normSpread":      "Fewer is better: the lowest raw score, {lowest}, becomes 100: 100 × ({highest} + {lowest} − {raw}) / {highest} = {normalized}",
	"normSpreadZero":  "Fewer is better: the raw score is 0 on every node, so all become 100.",
	"normIgnored":     "The node lacks the label of a constraint, so its score becomes 0.",
	"normSpreadSome":  "Fewer is better, and nodes that lack the label of a constraint become 0: {raw} becomes {normalized}",
	"normOwn":         "The plugin has a rule of its own: {raw} becomes {normalized}",
	"normAll":         "Over all nodes: {examples}",
}
