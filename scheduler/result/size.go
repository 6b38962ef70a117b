package result

import "unsafe"

// Size estimates the bytes that c holds in memory, for bounding a store. It counts
// everything that grows with the cluster, the pod or the plugins' answers. It leaves out
// what cycles share: the names of nodes, plugins, extension points and statuses, and a
// profile's list of plugins.
// A list that two parts of c share counts once.
func (c *Cycle) Size() int {
	size := sizeOf(*c) + c.Pod.size() + len(c.Message)
	if c.Refusal != nil {
		size += sizeOf(*c.Refusal) + len(c.Refusal.Reason) + sizeOfList(c.Refusal.Further)
		for _, f := range c.Refusal.Further {
			size += len(f.Reason)
		}
	}
	if c.Owner != nil {
		size += sizeOf(*c.Owner) + len(c.Owner.Name)
	}
	size += c.Queue.size() + c.PodGroup.size() + c.Preemption.size()
	if c.Hint != nil {
		size += sizeOf(*c.Hint)
	}
	size += sizeOfPointer(c.Nomination) + sizeOfList(c.ExtensionPoints) + sizeOfList(c.PreFilterExtensions) + c.PermitWait.size()
	for i := range c.PreFilterExtensions {
		size += sizeOfTexts(c.PreFilterExtensions[i].Errors)
	}
	for _, answers := range c.Answers() {
		size += sizeOfAnswers(answers)
	}
	size += c.Filter.size() + c.Score.size()
	if c.Filter != nil && c.Score != nil && c.Filter.Nodes.shares(c.Score.Nodes) {
		size -= c.Score.Nodes.size()
	}
	for i := range c.Claims {
		size += c.Claims[i].size()
	}
	size += sizeOfList(c.Facts)
	for _, f := range c.Facts {
		size += len(f.Value)
	}
	for i := range c.Extenders {
		size += c.Extenders[i].size()
	}
	size += sizeOfList(c.Panics)
	for _, p := range c.Panics {
		size += len(p.Call) + len(p.Value) + len(p.Stack)
	}
	return size
}

// sizeOf leaves out what the value points to.
func sizeOf[T any](v T) int { return int(unsafe.Sizeof(v)) }

// sizeOfList leaves out what the elements point to.
func sizeOfList[T any](list []T) int {
	var v T
	return len(list) * int(unsafe.Sizeof(v))
}

func sizeOfTexts(list []string) int {
	size := sizeOfList(list)
	for _, s := range list {
		size += len(s)
	}
	return size
}

func sizeOfPointer[T any](p *T) int {
	if p == nil {
		return 0
	}
	return sizeOf(*p)
}

func sizeOfDurations(list []*float64) int { return 2 * sizeOfList(list) }

func (p Pod) size() int { return len(p.Namespace) + len(p.Name) + len(p.UID) }

func sizeOfPods(pods []Pod) int {
	size := sizeOfList(pods)
	for _, p := range pods {
		size += p.size()
	}
	return size
}

func sizeOfAnswers(answers []PluginResult) int {
	size := sizeOfList(answers)
	for i := range answers {
		size += sizeOfTexts(answers[i].Reasons) + sizeOfList(answers[i].Nodes)
	}
	return size
}

func (q *Queue) size() int {
	if q == nil {
		return 0
	}
	size := sizeOf(*q) + sizeOfList(q.RejectedBy) + sizeOfPointer(q.InitialAttemptTime) + sizeOfPointer(q.BackoffUntil)
	if r := q.RequeuedBy; r != nil {
		size += sizeOf(*r) + len(r.Event) + len(r.Namespace) + len(r.Name)
	}
	return size
}

func (f *Filter) size() int {
	if f == nil {
		return 0
	}
	size := sizeOf(*f) + f.Nodes.size() + sizeOfList(f.Verdicts) + sizeOfList(f.VerdictOf) + sizeOfDurations(f.DurationSeconds)
	for _, v := range f.Verdicts {
		size += len(v.States) + sizeOfTexts(v.Reasons) + sizeOfList(v.Also)
		for _, also := range v.Also {
			size += sizeOfTexts(also.Reasons)
		}
	}
	size += sizeOfComparisons(f.Comparisons) + f.Passes.size() + sizeOfList(f.Nominated) + sizeOfList(f.Requests)
	for i := range f.Requests {
		size += f.Requests[i].size()
	}
	for _, n := range f.Nominated {
		size += sizeOfPods(n.Pods)
	}
	return size
}

func sizeOfComparisons(list []Comparison) int {
	size := sizeOfList(list)
	for i := range list {
		size += list[i].size()
	}
	return size
}

func (c *Comparison) size() int {
	size := sizeOfList(c.Resources) + sizeOfPointer(c.Taint) + sizeOfList(c.Tolerated) + sizeOfList(c.Terms) + sizeOfList(c.PodTerms) + sizeOfList(c.Spread) +
		sizeOfList(c.Ports) + sizeOfList(c.Claims) + sizeOfList(c.Devices) + sizeOfList(c.Limits) + sizeOfList(c.Volumes) + sizeOfList(c.Features)
	for i := range c.Resources {
		size += len(c.Resources[i].Name) + c.Resources[i].Use.size()
	}
	if t := c.Taint; t != nil {
		size += len(t.Key) + len(t.Value)
	}
	for i := range c.Tolerated {
		t := &c.Tolerated[i]
		size += len(t.Key) + len(t.Value) + len(t.By.Key) + len(t.By.Value)
	}
	for i := range c.Terms {
		t := &c.Terms[i]
		size += len(t.Volume) + len(t.Claim) + len(t.Key) + sizeOfTexts(t.Values) + sizeOfText(t.Actual)
	}
	for i := range c.PodTerms {
		t := &c.PodTerms[i]
		size += len(t.TopologyKey) + sizeOfText(t.Domain) + len(t.Selector) + sizeOfTexts(t.Namespaces) + sizeOfText(t.NamespaceSelector) + sizeOfPointer(t.Pod)
		if t.Pod != nil {
			size += t.Pod.size()
		}
		if e := t.Match; e != nil {
			size += sizeOf(*e) + e.Pod.size() + sizeOfText(e.Domain)
		}
	}
	for i := range c.Spread {
		s := &c.Spread[i]
		size += len(s.TopologyKey) + sizeOfText(s.Domain) + len(s.Selector) + sizeOfList(s.Fewest)
		for j := range s.Fewest {
			size += len(s.Fewest[j].Name) + sizeOfList(s.Fewest[j].Nodes)
		}
	}
	for i := range c.Ports {
		size += len(c.Ports[i].HostIP)
	}
	for i := range c.Claims {
		size += len(c.Claims[i].Claim) + len(c.Claims[i].StorageClass) + len(c.Claims[i].Volume)
	}
	for i := range c.Devices {
		d := &c.Devices[i]
		size += len(d.Resource) + len(d.Claim) + len(d.Request) + len(d.DeviceClass) + sizeOfList(d.Drivers) + sizeOfList(d.Allocated)
		for _, driver := range d.Drivers {
			size += len(driver.Driver)
		}
		for _, a := range d.Allocated {
			size += len(a.Request) + len(a.Driver) + len(a.Pool) + len(a.Device)
		}
	}
	for i := range c.Limits {
		size += len(c.Limits[i].Driver) + sizeOfPointer(c.Limits[i].Limit)
	}
	for i := range c.Volumes {
		v := &c.Volumes[i]
		size += len(v.Volume) + len(v.Claim) + sizeOfPointer(v.Pod)
		if v.Pod != nil {
			size += v.Pod.size()
		}
	}
	for i := range c.Features {
		size += len(c.Features[i].Name)
	}
	if a := c.Alignment; a != nil {
		size += sizeOf(*a) + len(a.Role) + len(a.Container) + sizeOfList(a.Zones)
		for i := range a.Zones {
			size += len(a.Zones[i].Zone) + sizeOfList(a.Zones[i].Short)
			for j := range a.Zones[i].Short {
				size += len(a.Zones[i].Short[j].Resource)
			}
		}
	}
	size += sizeOfList(c.Aligned)
	for _, p := range c.Aligned {
		size += len(p.Role) + len(p.Container) + len(p.Zone)
	}
	return size
}

func sizeOfText(s *string) int {
	if s == nil {
		return 0
	}
	return sizeOf(*s) + len(*s)
}

func (c Column) size() int { return len(c.data) }

func (s *Score) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Plugins) + sizeOfList(s.Skipped) + s.Nodes.size() + sizeOfDurations(s.DurationSeconds) + s.Totals.size() + s.Facts.size()
	for p, columns := range [][]Column{s.Raw, s.Normalized, s.Weighted} {
		size += sizeOfList(columns)
		for i := range columns {
			// With weight 1, normalized is the same column as weighted.
			if normalized := p == 1; normalized && i < len(s.Plugins) && s.Plugins[i].Weight == 1 {
				continue
			}
			size += columns[i].size()
		}
	}
	size += sizeOfList(s.Extenders)
	for _, e := range s.Extenders {
		size += e.Answered.size() + e.Counted.size() + sizeOfList(e.Unscored)
	}
	return size
}

func (c *ExtenderCall) size() int {
	size := sizeOf(*c) + len(c.Request) + len(c.Response) + sizeOfTexts(c.Reasons)
	if r := c.Rejected; r != nil {
		size += sizeOf(*r) + sizeOfList(r.Nodes) + sizeOfList(r.ReasonOf) + sizeOfList(r.Reasons)
		for _, reason := range r.Reasons {
			size += len(reason.Reason)
		}
	}
	return size
}

func (c *ClaimAllocation) size() int {
	size := sizeOf(*c) + len(c.Name) + len(c.Claim) + sizeOfList(c.Devices)
	for i := range c.Devices {
		d := &c.Devices[i]
		size += len(d.Request) + len(d.Driver) + len(d.Pool) + len(d.Device)
	}
	return size
}

func (p *Preemption) size() int {
	if p == nil {
		return 0
	}
	size := sizeOf(*p) + sizeOfList(p.Candidates) + sizeOfList(p.Unhelpful) + p.Evictions.size()
	for i := range p.Candidates {
		size += sizeOfVictims(p.Candidates[i].Victims) + sizeOfVictims(p.Candidates[i].Reprieved)
	}
	for i := range p.Unhelpful {
		size += sizeOfTexts(p.Unhelpful[i].Reasons) + sizeOfList(p.Unhelpful[i].Nodes)
	}
	return size
}

func (e *Evictions) size() int {
	if e == nil {
		return 0
	}
	size := sizeOf(*e) + sizeOfList(e.Failures) + sizeOfPointer(e.DurationSeconds)
	for _, f := range e.Failures {
		size += f.Pod.size() + len(f.Error)
	}
	return size
}

func (w *PermitWait) size() int {
	if w == nil {
		return 0
	}
	return sizeOf(*w) + sizeOfList(w.Plugins) + sizeOfPointer(w.DurationSeconds) + sizeOfTexts(w.Reasons)
}

func sizeOfVictims(victims []Victim) int {
	size := sizeOfList(victims)
	for i := range victims {
		v := &victims[i]
		size += v.Pod.size() + sizeOfPointer(v.StartTime) + len(v.PodGroup)
	}
	return size
}

// size counts what the members of a group share for each of them.
func (g *PodGroup) size() int {
	if g == nil {
		return 0
	}
	size := sizeOf(*g) + len(g.Namespace) + len(g.Name) + len(g.Workload) + len(g.Template) + len(g.TopologyKey)
	size += sizeOfPods(g.Members) + sizeOfList(g.Placements) + sizeOfPointer(g.Placement) + sizeOfPointer(g.Chosen) + sizeOfAnswers(g.PostFilter)
	for i := range g.Placements {
		size += g.Placements[i].size()
	}
	if p := g.Preemption; p != nil {
		size += sizeOf(*p) + sizeOfVictims(p.Victims) + sizeOfVictims(p.Reprieved) + p.Evictions.size()
	}
	return size
}

func (p *Placement) size() int {
	const perEntry = 2 * (16 + 8) // of a map, which keeps room for growth
	size := len(p.Name) + sizeOfTexts(p.Reasons) + sizeOfList(p.BlockedBy) + perEntry*len(p.Scores) + sizeOfPointer(p.Total)
	for _, b := range p.BlockedBy {
		size += sizeOfTexts(b.Reasons)
	}
	return size
}
