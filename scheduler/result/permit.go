package result

// PermitWait is the wait of a pod that Permit plugins hold.
type PermitWait struct {
	// Plugins are those that answered Wait in Permit, in their order. Each must allow the pod.
	Plugins []string `json:"plugins"`
	// DurationSeconds spans Permit's answer and the end of the wait; nil while the pod
	// waits.
	DurationSeconds *float64 `json:"durationSeconds"`
	// Status is empty while the pod waits. Success means that every plugin allowed the pod,
	// Unschedulable that one rejected it, and Error that a preemptor needed its place.
	Status string `json:"status,omitempty"`
	// Plugin ended the wait with its rejection, its timeout or its preemption. It is
	// empty after a success, and when the pod was deleted or the scheduler stopped.
	Plugin string `json:"plugin,omitempty"`
	// TimedOut: Plugin neither allowed nor rejected the pod in time.
	TimedOut bool     `json:"timedOut,omitempty"`
	Reasons  []string `json:"reasons,omitempty"`
}

// answer returns the answer of the plugin that ended the wait, if one did. w may be nil.
func (w *PermitWait) answer() []PluginResult {
	if w == nil || w.Plugin == "" {
		return nil
	}
	return []PluginResult{{Plugin: w.Plugin, Status: w.Status, Reasons: w.Reasons}}
}

// ExtensionCalls are the calls of one plugin's PreFilterExtensions at one extension point. They
// update what the plugin computed in PreFilter, as if nodes gained or lost pods.
type ExtensionCalls struct {
	Plugin string `json:"plugin"`
	// Point is filter, for pods nominated to a node, or postFilter, for preemption's dry runs.
	Point   string `json:"point"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Failed counts the calls that failed, and Errors has their distinct errors: at most
	// MaxExtensionErrors.
	Failed int      `json:"failed,omitempty"`
	Errors []string `json:"errors,omitempty"`
	// DurationSeconds adds up the calls, many of which run at once.
	DurationSeconds float64 `json:"durationSeconds"`
}

// The extension points of ExtensionCalls.
const (
	ForNominatedPods = "filter"
	ForDryRuns       = "postFilter"
)

// MaxExtensionErrors bounds the errors of ExtensionCalls.
const MaxExtensionErrors = 8
