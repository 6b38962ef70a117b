package server

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/versions/wire"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/live"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/configuration"
	"kube-scheduler-simulator/simulator/batch/kueue/control"
	"kube-scheduler-simulator/simulator/batch/kueue/ledger"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/placement"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/upgrade"
	"kube-scheduler-simulator/simulator/questions/why"
	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/server/watch"
)

type openAPIDocument struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas map[string]apiSchema
	}
}

type apiSchema struct {
	Ref        string `json:"$ref"`
	Const      string
	OneOf      []apiSchema
	Required   []string
	Properties map[string]apiSchema
	Items      *apiSchema
	AllOf      []apiSchema
	Enum       []any
}

func readOpenAPI(t *testing.T) openAPIDocument {
	t.Helper()
	var doc openAPIDocument
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestEveryRouteIsDocumented: an undocumented route fails, and so does a documented path
// that is no route.
func TestEveryRouteIsDocumented(t *testing.T) {
	var documented, routed []string
	for path, operations := range readOpenAPI(t).Paths {
		for method := range operations {
			if method != "parameters" {
				documented = append(documented, strings.ToUpper(method)+" "+path)
			}
		}
	}
	for _, route := range New(Options{}).echo.Routes() {
		// The document says once that every GET answers HEAD.
		if route.Method != http.MethodHead {
			routed = append(routed, route.Method+" "+asTemplate(route.Path))
		}
	}
	sort.Strings(documented)
	sort.Strings(routed)
	want(t, "routes", routed, documented)
}

// asTemplate converts a path from echo's notation to OpenAPI's.
func asTemplate(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		switch {
		case s == "*":
			segments[i] = "{path}"
		case strings.HasPrefix(s, ":"):
			segments[i] = "{" + s[1:] + "}"
		}
	}
	return strings.Join(segments, "/")
}

// TestSchemasMatchTypes: the JSON of a type's zero value has exactly the required
// properties, and the JSON of a filled value has all properties.
func TestSchemasMatchTypes(t *testing.T) {
	doc := readOpenAPI(t)
	for name, full := range map[string]any{
		"AdmissionAmount":       &admission.Amount{},
		"AdmissionCheckFlip":    &checkRequest{},
		"AdmissionDomain":       &admission.DomainPods{},
		"AdmissionEntry":        &ledger.Entry{},
		"AdmissionFlavor":       &admission.FlavorTrial{},
		"AdmissionGroup":        &admission.GroupSearch{},
		"AdmissionHead":         &admission.Head{},
		"AdmissionPage":         &ledger.Page{},
		"AdmissionPodSet":       &admission.PodSetSearch{},
		"AdmissionProblem":      &admission.Problem{},
		"AdmissionResource":     &admission.ResourceTrial{},
		"AdmissionShare":        &admission.NodeShare{},
		"AdmissionSuggestion":   &suggest.Suggestion{},
		"AdmissionSuggestions":  &suggest.Answer{},
		"AdmissionVictim":       &admission.Victim{},
		"Kueue":                 &kueueAnswer{},
		"Karpenter":             &karpenterAnswer{},
		"KarpenterBarePods":     &live.BarePods{},
		"KarpenterEntry":        &live.Entry{},
		"KarpenterInterruption": &interruption{},
		"KarpenterObject":       &live.Object{},
		"KarpenterPlace":        &live.Place{},
		"KarpenterSettings":     &KarpenterSettings{},
		"IgnoredConfiguration":  &configuration.Ignored{},
		"KueueConfiguration":    &configuration.Configuration{},
		"KueueView":             &control.View{},
		"PendingWorkload":       &admission.Pending{},
		"QueueNode":             &admission.NodeQuota{},
		"QueueQuota":            &admission.ResourceQuota{},
		"QuotaHolder":           &control.Holder{},
		"WorkloadName":          &workloadRequest{},
		"WorkloadRef":           &admission.Ref{},
		"Autoscale":             &autoscale.Question{},
		"AutoscaleRounds":       &dryrun.Rounds{},
		"AutoscaleRound":        &dryrun.Round{},
		"AutoscaleBought":       &dryrun.Bought{},
		"AutoscaleAnswer":       &autoscale.Answer{},
		"AutoscaleBefore":       &autoscale.Before{},
		"AutoscaleBlocker":      &dryrun.Blocker{},
		"AutoscaleCheaper":      &dryrun.Cheaper{},
		"AutoscaleConflict":     &dryrun.Conflict{},
		"AutoscaleCost":         &dryrun.Cost{},
		"AutoscaleDeparture":    &dryrun.Departure{},
		"AutoscaleDisagreement": &autoscale.Disagreement{},
		"AutoscaleJudged":       &autoscale.Judged{},
		"AutoscaleMove":         &dryrun.Move{},
		"AutoscaleNeeded":       &dryrun.Needed{},
		"AutoscaleNewNode":      &dryrun.NewNode{},
		"AutoscaleOffer":        &provider.Offer{},
		"AutoscaleOutcome":      &dryrun.Outcome{},
		"AutoscalePod":          &autoscale.Pod{},
		"AutoscalePool":         &dryrun.Pool{},
		"AutoscaleRefusal":      &dryrun.Refusal{},
		"AutoscaleScheduler":    &autoscale.Scheduler{},
		"AutoscaleShortage":     &dryrun.Shortage{},
		"AutoscaleSource":       &instances.Source{},
		"AutoscaleSummary":      &autoscale.Summary{},
		"AutoscaleTypeGroup":    &dryrun.TypeGroup{},
		"Drain":                 &drain.Question{},
		"DrainCost":             &drain.Cost{},
		"DrainPassed":           &drain.Passed{},
		"DrainAnswer":           &drain.Answer{},
		"DrainSummary":          &drain.Summary{},
		"DrainNode":             &drain.Node{},
		"DrainEviction":         &drain.Eviction{},
		"DrainBudget":           &drain.Budget{},
		"DrainStep":             &drain.Step{},
		"DrainJudged":           &drain.Judged{},
		"Upgrade":               &upgrade.Question{},
		"UpgradeAnswer":         &upgrade.Answer{},
		"UpgradeArgsChange":     &upgrade.ArgsChange{},
		"UpgradeCandidate":      &wire.Candidate{},
		"UpgradeCase":           &upgrade.Case{},
		"UpgradeCause":          &upgrade.Cause{},
		"UpgradeChanges":        &upgrade.Changes{},
		"UpgradeDecision":       &wire.Decision{},
		"UpgradeExample":        &upgrade.Example{},
		"UpgradeGate":           &wire.Gate{},
		"UpgradeGateChange":     &upgrade.GateChange{},
		"UpgradeIgnored":        &upgrade.Ignored{},
		"UpgradeJob":            &upgrade.Job{},
		"UpgradeJudged":         &upgrade.Judged{},
		"UpgradePlugin":         &wire.Plugin{},
		"UpgradePluginChange":   &upgrade.PluginChange{},
		"UpgradePreemption":     &wire.Preemption{},
		"UpgradeProgress":       &upgrade.Progress{},
		"UpgradeReference":      &wire.Reference{},
		"UpgradeRejection":      &wire.Rejection{},
		"UpgradeScores":         &wire.Scores{},
		"UpgradeSide":           &upgrade.Version{},
		"UpgradeState":          &upgradeState{},
		"UpgradeStatus":         &wire.Status{},
		"UpgradeTable":          &wire.Table{},
		"UpgradeVersion":        &upgradeVersion{},
		"Deschedule":            &deschedule.Question{},
		"DescheduleAnswer":      &deschedule.Answer{},
		"DescheduleSummary":     &deschedule.Summary{},
		"DescheduleRound":       &deschedule.Round{},
		"DescheduleEviction":    &deschedule.Eviction{},
		"DescheduleRefused":     &deschedule.Refused{},
		"DescheduleProtected":   &deschedule.Protected{},
		"DescheduleDryRun":      &deschedule.DryRunEviction{},
		"DescheduleNode":        &deschedule.Node{},
		"DescheduleUse":         &deschedule.Use{},
		"DescheduleJudged":      &deschedule.Judged{},
		"Autoscaler":            &hypothesis.Autoscaler{},
		"BoughtNode":            &hypothesis.BoughtNode{},
		"RefusedPool":           &hypothesis.RefusedPool{},
		"Branch":                &branch.Branch{},
		"BranchCall":            &branch.Call{},
		"BranchPromotion":       &promotion{},
		"PlayLine":              &playLine{},
		"BranchComparison":      &clusterdiff.Comparison{},
		"BranchField":           &clusterdiff.Field{},
		"BranchList":            &listOf[branch.Branch]{},
		"BranchMoment":          &branch.Moment{},
		"BranchNode":            &clusterdiff.Node{},
		"BranchPod":             &clusterdiff.Pod{},
		"BranchRequest":         &branch.Request{},
		"BranchSide":            &clusterdiff.Side{},
		"BranchUse":             &clusterdiff.Use{},
		"OwnBranch":             &ownBranch{},
		"Error":                 &apiError{},
		"ExerciseKey":           &lesson.ExerciseKey{},
		"RunRequest":            &runs.Request{},
		"RunEntry":              &runs.Entry{},
		"RunSweep":              &scenario.SweepResult{},
		"RunParameter":          &scenario.Parameter{},
		"RunGoal":               &scenario.Goal{},
		"RunPoint":              &scenario.SweepPoint{},
		"RunResult":             &scenario.Result{},
		"RunAutoscaling":        &scenario.Autoscaling{},
		"RunAutoscalerEvent":    &stepwise.Event{},
		"RunUnhelped":           &stepwise.Unhelped{},
		"RunStep":               &scenario.StepResult{},
		"RunPlaced":             &scenario.Placed{},
		"RunExpectation":        &scenario.ExpectationResult{},
		"RunFinding":            &scenario.Finding{},
		"RunDomain":             &scenario.Domain{},
		"RunPod":                &scenario.PlacedPod{},
		"RunMetrics":            &scenario.Metrics{},
		"RunMeasurement":        &scenario.Measurement{},
		"RunQuantiles":          &scenario.Quantiles{},
		"RunComparison":         &scenario.Comparison{},
		"RunMetricComparison":   &scenario.MetricComparison{},
		"RunRange":              &scenario.Range{},
		"RunPairs":              &scenario.Pairs{},
		"RunMoved":              &scenario.Moved{},
		"ErrorDetail":           &config.Mistake{},
		"Status":                &Status{},
		"Operation":             &operation.Status{},
		"Sync":                  &mirror.Status{},
		"Reset":                 &Reset{},
		"ImportProgress":        &transfer.Progress{},
		"ImportItem":            &transfer.Item{},
		"ImportKind":            &transfer.KindCount{},
		"RemovedField":          &transfer.RemovedField{},
		"ImportCause":           &transfer.Cause{},
		"ImportConfiguration":   &transfer.ConfigurationReport{},
		"ImportReport":          &transfer.Report{},
		"ImportLack":            &transfer.Lack{},
		"ImportPlacements":      &importPlacements{},
		"PlacementCause":        &placement.CauseCount{},
		"Inactive":              &transfer.InactiveObject{},
		"InactiveList":          &listOf[transfer.InactiveObject]{},
		"Activation":            &activation{},
		"Definition":            &definitions.State{},
		"DefinitionList":        &listOf[definitions.State]{},
		"ImportLine":            &importLine{},
		"ImportState":           &importState{},
		"SchedulerStatus":       &SchedulerStatus{},
		"PodRef":                &result.Pod{},
		"NodeCounts":            &result.NodeCounts{},
		"Summary":               &result.Summary{},
		"Page":                  &result.Page{},
		"Counts":                &result.Counts{},
		"Facets":                &result.Facets{},
		"Facet":                 &result.Facet{},
		"FacetValue":            &result.FacetValue{},
		"Timeline":              &result.Timeline{},
		"Owner":                 &result.Owner{},
		"FurtherReason":         &result.FurtherReason{},
		"Attempts":              &attempts{},
		"ExtensionPoint":        &result.ExtensionPoint{},
		"PluginResult":          &result.PluginResult{},
		"NodeReasons":           &result.NodeReasons{},
		"Filter":                &result.Filter{},
		"ScorePlugin":           &result.ScorePlugin{},
		"ScoreFacts":            &result.ScoreFacts{},
		"PluginScoreFacts":      &result.PluginScoreFacts{},
		"ResourceScore":         &result.ResourceScore{},
		"ShapePoint":            &result.ShapePoint{},
		"ScoredResource":        &result.ScoredResource{},
		"ImageScore":            &result.ImageScore{},
		"ScoredImage":           &result.ScoredImage{},
		"PreferenceScore":       &result.PreferenceScore{},
		"Preference":            &result.Preference{},
		"Requirement":           &result.Requirement{},
		"TaintScore":            &result.TaintScore{},
		"ScoredTaint":           &result.ScoredTaint{},
		"SpreadScore":           &result.SpreadScore{},
		"ScoredConstraint":      &result.ScoredConstraint{},
		"PodTermScore":          &result.PodTermScore{},
		"ScoredDomain":          &result.ScoredDomain{},
		"ScoredPodTerm":         &result.ScoredPodTerm{},
		"VolumeScore":           &result.VolumeScore{},
		"ScoredClass":           &result.ScoredClass{},
		"DeviceScore":           &result.DeviceScore{},
		"ScoredRequest":         &result.ScoredRequest{},
		"ExtenderCall":          &result.ExtenderCall{},
		"ExtenderFailure":       &explain.ExtenderFailure{},
		"Score":                 &result.Score{},
		"Cycle":                 &result.Cycle{},
		"ExplainedCycle":        &explain.Explained{Cycle: &result.Cycle{}},
		"Explanation":           &explain.Explanation{},
		"Rejection":             &result.Rejection{},
		"ReasonCount":           &result.ReasonCount{},
		"Rejecter":              &explain.Rejecter{},
		"GroupShortfall":        &explain.GroupShortfall{},
		"NearestPlacement":      &explain.NearestPlacement{},
		"Blocker":               &explain.Blocker{},
		"ChosenPlacement":       &explain.ChosenPlacement{},
		"BestPlacement":         &explain.BestPlacement{},
		"ClaimDevices":          &explain.ClaimDevices{},
		"DevicesOfDriver":       &explain.DevicesOfDriver{},
		"Margin":                &explain.Margin{},
		"MarginPart":            &explain.Part{},
		"NotEvaluated":          &explain.NotEvaluated{},
		"DeviceShortage":        &explain.DeviceShortage{},
		"Lack":                  &explain.Lack{},
		"Queue":                 &result.Queue{},
		"Queues":                &result.Queues{},
		"QueueState":            &result.QueueState{},
		"QueueEvent":            &result.QueueEvent{},
		"Requeue":               &result.Requeue{},
		"Hint":                  &result.Hint{},
		"PodGroup":              &result.PodGroup{},
		"Placement":             &result.Placement{},
		"Block":                 &result.Block{},
		"ClaimAllocation":       &result.ClaimAllocation{},
		"AllocatedDevice":       &result.AllocatedDevice{},
		"DeviceComparison":      &result.DeviceComparison{},
		"DriverDevices":         &result.DriverDevices{},
		"Preemption":            &result.Preemption{},
		"GroupPreemption":       &result.GroupPreemption{},
		"Candidate":             &result.Candidate{},
		"Victim":                &result.Victim{},
		"UnhelpfulNodes":        &result.UnhelpfulNodes{},
		"NominatedPass":         &result.NominatedPass{},
		"Fact":                  &result.Fact{},
		"Nomination":            &result.Nomination{},
		"PermitWait":            &result.PermitWait{Plugins: []string{}},
		"ExtensionCalls":        &result.ExtensionCalls{},
		"Evictions":             &result.Evictions{},
		"EvictionFailure":       &result.EvictionFailure{},
		"Comparison":            &result.Comparison{},
		"ResourceComparison":    &result.ResourceComparison{},
		"ResourceUse":           &result.ResourceUse{},
		"ResourceHolder":        &result.ResourceHolder{},
		"Resize":                &result.Resize{},
		"PodRequest":            &result.PodRequest{},
		"RequestPart":           &result.RequestPart{},
		"ScoreDefaults":         &result.ScoreDefaults{},
		"Taint":                 &result.Taint{},
		"ToleratedTaint":        &result.ToleratedTaint{},
		"Toleration":            &result.Toleration{},
		"Passes":                &result.Passes{},
		"PassedResource":        &result.PassedResource{},
		"VolumeLimit":           &result.VolumeLimit{},
		"ExclusiveVolume":       &result.ExclusiveVolume{},
		"FeatureComparison":     &result.FeatureComparison{},
		"AlignedPart":           &result.AlignedPart{},
		"TermComparison":        &result.TermComparison{},
		"PodTermComparison":     &result.PodTermComparison{},
		"SpreadComparison":      &result.SpreadComparison{},
		"SpreadDomain":          &result.SpreadDomain{},
		"PodMatch":              &result.PodMatch{},
		"ClaimComparison":       &result.ClaimComparison{},
		"Port":                  &result.Port{},
		"Applied":               &config.Applied{},
		"Revision":              &config.Revision{},
		"Revisions":             &listOf[config.Revision]{},
		"NoEffect":              &config.NoEffect{},
		"Effective":             &config.Effective{},
		"Setting":               &config.Setting{},
		"EffectiveProfile":      &config.EffectiveProfile{},
		"EffectivePoint":        &config.EffectivePoint{},
		"PointPlugin":           &config.PointPlugin{},
		"EffectivePlugin":       &config.EffectivePlugin{},
		"EffectiveExtender":     &config.EffectiveExtender{},
		"Difference":            &config.Difference{},
		"FeatureGate":           &process.Gate{},
		"FeatureGates":          &listOf[process.Gate]{},
		"Shadow":                &shadowAnswer{Configuration: json.RawMessage("null")},
		"ShadowRequest":         &shadowRequest{Configuration: hypothesis.Document("{}")},
		"ShadowDraft":           &draftRequest{Configuration: hypothesis.Document("{}")},
		"ShadowDraftAnswer":     &shadow.Draft{},
		"ShadowItem":            &shadow.Item{},
		"ShadowCounts":          &shadow.Counts{},
		"Placed":                &shadow.Place{},
		"PartedBy":              &shadow.Parting{},
		"PodName":               &hypothesis.PodName{},
		"WhatIf":                &hypothesis.WhatIf{},
		"Fit":                   &hypothesis.Fit{},
		"Capacity":              &hypothesis.Capacity{},
		"Change":                &hypothesis.Change{},
		"ChangeTarget":          &hypothesis.Target{},
		"ChangePatch":           &hypothesis.Patch{},
		"HypotheticalState":     &whatif.State{},
		"WhatIfAnswer":          &hypothesis.WhatIfAnswer{},
		"FitAnswer":             &hypothesis.FitAnswer{Answer: &fit.Answer{}},
		"Suggestion":            &hypothesis.Suggestion{},
		"Why":                   &why.Question{},
		"WhyAnswer":             &why.Answer{},
		"WhySubject":            &why.Subject{},
		"WhyPods":               &why.Pods{},
		"WhyChoice":             &why.Choice{},
		"WhyReason":             &why.Reason{},
		"WhyDetail":             &why.Detail{},
		"WhyNearest":            &why.Nearest{},
		"WhyWait":               &why.Wait{},
		"WhyLasting":            &why.Lasting{},
		"WhyEvicts":             &why.Evicts{},
		"WhyVictim":             &why.Victim{},
		"WhyJudged":             &why.Judged{},
		"WhyNotJudged":          &why.NotJudged{},
		"WhyWorkload":           &why.Workload{},
		"Incurable":             &fit.Incurable{},
		"CapacityAnswer":        &capacity.Answer{},
		"CapacityCost":          &capacity.Cost{},
		"NodeCount":             &capacity.Node{},
		"RemainingResource":     &capacity.Resource{},
		"NodesNeeded":           &capacity.NodesNeeded{},
		"Copies":                &hypothesis.Copies{},
		"NodesNeededAnswer":     &capacity.Needed{},
		"RequestCut":            &explain.RequestCut{},
		"LabelRequirement":      &explain.LabelRequirement{},
		"PodTerm":               &explain.PodTerm{},
		"LabelChange":           &explain.LabelChange{},
		"EvictedPod":            &explain.EvictedPod{},
		"Replacement":           &explain.Replacement{},
		"WaitingPodName":        &explain.PodName{},
		"NominatedPod":          &explain.NominatedPod{},
		"AttachedVolume":        &explain.AttachedVolume{},
		"ShortGroup":            &explain.ShortGroup{},
		"Awaited":               &fit.Awaited{},
		"Replay":                &replay.Status{},
		"ReplayControl":         &replay.Control{},
		"ReplayCounts":          &replay.Counts{},
		"ReplayComparison":      &replay.Comparison{},
		"ReplayDecision":        &replay.Decision{},
		"ReplayRejection":       &replay.Rejection{},
		"ReplayParted":          &replay.Parted{},
		"LessonList":            &listOf[lesson.Summary]{},
		"LessonSummary":         &lesson.Summary{},
		"Lesson":                &lesson.View{},
		"LessonStep":            &lesson.StepView{},
		"LessonButton":          &lesson.DoView{},
		"LessonPart":            &lesson.Part{},
		"LessonCheck":           &lesson.CheckView{},
		"LessonOption":          &lesson.OptionView{},
		"LessonGrade":           &gradedAnswer{Grade: &lesson.Grade{}},
		"NodeGrade":             &lesson.NodeGrade{},
		"Prediction":            &lesson.Prediction{},
		"ExerciseKinds":         &exerciseKinds{},
		"ExercisePrediction":    &exercisePrediction{},
		"TimeLine":              &timeline.Line{},
		"Usage":                 &timeline.Usage{},
		"ResourceUsage":         &timeline.ResourceUsage{},
		"TimeLineStep":          &timeline.Step{},
		"TimeLineBucket":        &timeline.Bucket{},
		"TimeLineObject":        &timeline.ObjectRef{},
		"TimeLinePoint":         &timeline.Point{},
		"TimeLineMoment":        &timeline.Moment{},
		"TimeLineCounts":        &timeline.MomentCounts{},
		"TimeLineDifference":    &timeline.Difference{},
		"TimeLineChange":        &timeline.ObjectChange{},
		"TimeLineField":         &timeline.FieldChange{},
		"TimeLinePlacement":     &timeline.Placement{},
		"Undo":                  &timeline.Undo{},
		"UndoFailure":           &timeline.UndoFailure{},
		"UndoRequest":           &undoRequest{},
		"Undone":                &timeline.Undone{},
		"ErrorFrame":            &watch.ErrorFrame{},
		"GroupVersionResource":  &watch.Resource{},
	} {
		t.Run(name, func(t *testing.T) {
			required, properties := doc.members(doc.Components.Schemas[name])
			if name == "ErrorFrame" {
				required = append(required, "type")
				required = slices.Compact(slices.Sorted(slices.Values(required)))
			}
			want(t, "required", keysOf(t, full), required)
			fill(reflect.ValueOf(full).Elem())
			want(t, "properties", keysOf(t, full), properties)
		})
	}
}

// TestStatementsMatchTypes: each kind of statement is documented with its operands.
func TestStatementsMatchTypes(t *testing.T) {
	doc := readOpenAPI(t)
	for name, kinds := range map[string][]explain.Operands{
		"Headline": explain.Headlines(), "Remark": explain.Remarks(),
		"ReplayReason": explain.Comparisons(), "AdviceStep": explain.Steps(), "AdviceManner": explain.Manners(), "AdviceOmission": explain.Omissions(),
	} {
		var documented, known []string
		for _, one := range doc.Components.Schemas[name].OneOf {
			documented = append(documented, one.Ref)
		}
		for _, zero := range kinds {
			kind := reflect.TypeOf(zero)
			ref := "#/components/schemas/Statement" + kind.Name()
			known = append(known, ref)
			schema := apiSchema{Ref: ref}
			required, properties := doc.members(schema)
			want(t, ref+" required", keysOf(t, explain.Statement{Operands: zero}), required)
			full := reflect.New(kind)
			fill(full.Elem())
			want(t, ref+" properties", keysOf(t, explain.Statement{Operands: full.Elem().Interface().(explain.Operands)}), properties)
			want(t, ref+" kind", string(explain.KindOf(zero)), doc.kind(schema))
		}
		want(t, name, known, documented)
	}
}

// kind returns the only value of a schema's property kind.
func (d openAPIDocument) kind(s apiSchema) string {
	if s.Ref != "" {
		return d.kind(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
	}
	for _, part := range s.AllOf {
		if kind := d.kind(part); kind != "" {
			return kind
		}
	}
	return s.Properties["kind"].Const
}

func (d openAPIDocument) members(s apiSchema) (required, properties []string) {
	if s.Ref != "" {
		return d.members(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
	}
	for _, part := range s.AllOf {
		r, p := d.members(part)
		required, properties = append(required, r...), append(properties, p...)
	}
	required = append(required, s.Required...)
	for name := range s.Properties {
		properties = append(properties, name)
	}
	sort.Strings(required)
	sort.Strings(properties)
	return required, properties
}

func keysOf(t *testing.T, v any) []string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for name := range members {
		keys = append(keys, name)
	}
	sort.Strings(keys)
	return keys
}

// fill sets every exported field to a value that is not its zero value.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time, result.Filter, result.Score, result.ExtenderRejections, explain.Statement, json.RawMessage, hypothesis.Document, whatif.Change, admission.Reason, v1.Node:
		fillSpecial(v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	}
}

// fillSpecial fills types whose JSON does not follow their fields.
func fillSpecial(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(1, 0)
	case *admission.Reason:
		p.Operands = admission.NotTried{}
	case *result.Filter:
		p.DurationSeconds, p.Comparisons, p.Nominated = make([]*float64, 1), make([]result.Comparison, 1), []result.NominatedPass{{PodCount: 1}}
		p.Passes, p.Requests = &result.Passes{}, make([]result.PodRequest, 1)
	case *result.Score:
		p.DurationSeconds, p.Skipped = make([]*float64, 1), []string{"x"}
		p.Nodes, p.Totals = result.NewNodeList("x", "y"), result.NewColumn([]int64{1, 1}) // tied
		p.Extenders = []result.ScoreExtender{{Answered: p.Totals, Counted: p.Totals}}
		p.Facts = &result.ScoreFacts{}
	case *explain.Statement:
		p.Operands = explain.NoNodes{}
	case *json.RawMessage:
		*p = json.RawMessage("{}")
	case *hypothesis.Document:
		*p = hypothesis.Document("{}")
	}
}

func TestOutcomesAreDocumented(t *testing.T) {
	var names []any
	for _, o := range result.Outcomes {
		names = append(names, string(o))
	}
	want(t, "outcomes", readOpenAPI(t).Components.Schemas["Outcome"].Enum, names)
}

func TestQueueNamesAreDocumented(t *testing.T) {
	var names []any
	for _, q := range result.QueueNames {
		names = append(names, string(q))
	}
	want(t, "queues", readOpenAPI(t).Components.Schemas["QueueName"].Enum, names)
}

// TestReferencesResolve: a schema that another one names exists.
func TestReferencesResolve(t *testing.T) {
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := readOpenAPI(t)
	for _, found := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(data, -1) {
		if _, known := doc.Components.Schemas[string(found[1])]; !known {
			t.Errorf("there is no schema %s", found[1])
		}
	}
}
