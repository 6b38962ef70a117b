package explain

import (
	"math"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// The bounds between which ImageLocality scores the size of images.
const (
	mebibyte           = 1024 * 1024
	fewestImageBytes   = 23 * mebibyte
	mostContainerBytes = 1000 * mebibyte
)

// images follows sumImageScores and calculatePriority.
func (w *work) images(s *result.ImageScore) int64 {
	sum, found := int64(0), 0
	for _, image := range s.Images {
		size, nodes := image.Size[w.at], image.Nodes[w.at]
		if nodes == 0 {
			continue
		}
		found++
		scaled := image.Times * int64(float64(size)*(float64(nodes)/float64(s.ClusterNodes)))
		sum += scaled
		values := []string{
			"image", image.Name, "size", ofBytes(size), "nodes", whole(nodes), "clusterNodes", sprintf("%d", s.ClusterNodes), "score", ofBytes(scaled),
		}
		if image.Times > 1 {
			w.say("imageTimes", append(values, "times", whole(image.Times))...)
			continue
		}
		w.say("image", values...)
	}
	most := int64(mostContainerBytes) * int64(s.Containers)
	containers := sprintf("%d", s.Containers)
	switch {
	case found == 0:
		w.say("imageNone")
		return 0
	case sum <= fewestImageBytes:
		w.say("imageLow", "sum", ofBytes(sum))
		return 0
	case sum >= most:
		w.say("imageHigh", "sum", ofBytes(sum), "containers", containers)
		return maxScore
	}
	raw := maxScore * (sum - fewestImageBytes) / (most - fewestImageBytes)
	w.say("imageRaw", "sum", ofBytes(sum), "containers", containers, "raw", whole(raw))
	return raw
}

// preferences follows PreferredSchedulingTerms.Score.
func (w *work) preferences(s *result.PreferenceScore) int64 {
	total := int64(0)
	var terms []string
	for i := range s.Terms {
		t := &s.Terms[i]
		source := "preference"
		if t.Source == "addedAffinity" {
			source = "added"
		}
		if !t.Met[w.at] {
			w.say(source+"Unmet", "term", requirements(t.Requirements))
			terms = append(terms, "0")
			continue
		}
		w.say(source+"Met", "term", requirements(t.Requirements), "weight", whole(t.Weight))
		terms = append(terms, whole(t.Weight))
		total += t.Weight
	}
	return w.sum(terms, total)
}

// requirements writes a term as the web does.
func requirements(all []result.Requirement) string {
	var out []string
	for _, r := range all {
		text := r.Key + " " + r.Operator
		if len(r.Values) > 0 {
			text += " [" + strings.Join(r.Values, ", ") + "]"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// taints follows countIntolerableTaintsPreferNoSchedule.
func (w *work) taints(s *result.TaintScore) int64 {
	total := int64(0)
	var terms []string
	for _, t := range s.Taints {
		if !t.On[w.at] {
			continue
		}
		text := t.Key
		if t.Value != "" {
			text += "=" + t.Value
		}
		w.say("taint", "taint", text+":PreferNoSchedule")
		terms = append(terms, "1")
		total++
	}
	if total == 0 {
		w.say("taintNone")
		return 0
	}
	return w.sum(terms, total)
}

// spread follows PodTopologySpread.Score and scoreForCount.
func (w *work) spread(s *result.SpreadScore) int64 {
	switch s.Source {
	case "system":
		w.say("spreadSystem")
	case "default":
		w.say("spreadDefault")
	}
	if s.Ignored != nil && s.Ignored[w.at] {
		w.say("spreadIgnored")
		return 0
	}
	sum := 0.0
	var terms []string
	for i := range s.Constraints {
		c := &s.Constraints[i]
		if c.Domain[w.at] == nil {
			w.say("spreadUnlabeled", "key", c.TopologyKey)
			continue
		}
		score := float64(c.Matching[w.at])*math.Log(float64(c.Domains+2)) + float64(c.MaxSkew-1)
		sum += score
		terms = append(terms, decimal(score, 2))
		w.say("spread", "domain", c.TopologyKey+"="+*c.Domain[w.at], "matching", whole(c.Matching[w.at]), "domains", whole(c.Domains), "maxSkew", whole(c.MaxSkew), "score", decimal(score, 2))
	}
	if len(terms) == 0 {
		terms = []string{"0"}
	}
	raw, kind := int64(math.Round(sum)), "sumRounded"
	if len(terms) == 1 {
		kind = "rounded"
	}
	w.say(kind, "terms", strings.Join(terms, " + "), "raw", whole(raw))
	return raw
}

// podTerms follows InterPodAffinity.Score.
func (w *work) podTerms(s *result.PodTermScore) int64 {
	domains, total := map[string]string{}, int64(0)
	var terms []string
	for i := range s.Domains {
		d := &s.Domains[i]
		if d.Domain[w.at] == nil {
			w.say("unlabeled", "key", d.TopologyKey)
			continue
		}
		domains[d.TopologyKey] = d.TopologyKey + "=" + *d.Domain[w.at]
		total += d.Sum[w.at]
		if s.Terms == nil {
			w.say("podDomain", "domain", domains[d.TopologyKey], "score", whole(d.Sum[w.at]))
			terms = append(terms, operand(d.Sum[w.at]))
		}
	}
	if s.Terms == nil {
		w.say("podDomainsOnly")
		return w.sum(atLeastZero(terms), total)
	}
	total = 0
	for i := range s.Terms {
		t := &s.Terms[i]
		domain, labelled := domains[t.TopologyKey]
		if !labelled || t.Pods[w.at] == 0 && t.Rule != result.Preferred {
			continue
		}
		score := t.Pods[w.at] * t.Weight
		total += score
		terms = append(terms, operand(score))
		w.say(podTermKind(t), "pods", whole(t.Pods[w.at]), "weight", operand(t.Weight), "score", whole(score), "domain", domain, "selector", t.Selector)
	}
	return w.sum(atLeastZero(terms), total)
}

func podTermKind(t *result.ScoredPodTerm) string {
	switch {
	case t.Rule == result.Preferred:
		return "podTerm"
	case t.Rule == result.ExistingRequired:
		return "existingHard"
	case t.Weight < 0:
		return "existingApart"
	}
	return "existingNear"
}

func atLeastZero(terms []string) []string {
	if len(terms) == 0 {
		return []string{"0"}
	}
	return terms
}

// devices follows computeScore of DynamicResources.
func (w *work) devices(s *result.DeviceScore) int64 {
	if len(s.Requests) == 0 {
		w.say("noAlternatives")
		return 0
	}
	total := int64(0)
	var terms []string
	for i := range s.Requests {
		r := &s.Requests[i]
		name, chosen := r.Claim+"/"+r.Request, r.Chosen[w.at]
		if chosen < 0 {
			w.say("deviceNone", "request", name)
			terms = append(terms, "0")
			continue
		}
		score := result.MostAlternatives - chosen
		w.say("device", "request", name, "alternative", r.Alternatives[chosen], "n", whole(chosen+1), "score", sprintf("%d − %d = %d", result.MostAlternatives, chosen, score))
		terms = append(terms, whole(score))
		total += score
	}
	return w.sum(terms, total)
}
