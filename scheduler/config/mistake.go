package config

import "kube-scheduler-simulator/scheduler/yamlsource"

type Mistake = yamlsource.Mistake

type Reason = yamlsource.Reason

const (
	// OtherMistake is every mistake that no other reason names.
	OtherMistake Reason = ""
	// UnknownField: the configuration API has no such field.
	UnknownField = yamlsource.UnknownField
	// UnknownPlugin: there is no plugin of that name.
	UnknownPlugin Reason = "unknownPlugin"
	// RemovedPlugin: Kubernetes had a plugin of that name and has removed it.
	RemovedPlugin Reason = "removedPlugin"
	// WrongExtensionPoint: the plugin does not run at that extension point.
	WrongExtensionPoint Reason = "wrongExtensionPoint"
)

// Error holds the mistakes in a document.
type Error struct {
	// Mistakes are in the order of the document, at least one and at most a hundred. If there
	// are more, the last one says how many.
	Mistakes []Mistake
}

func (e *Error) Error() string {
	return "the scheduler configuration is not valid: " + yamlsource.Errors(e.Mistakes).Error()
}

// newError returns the error for mistakes, of which there is at least one.
func newError(mistakes []Mistake) *Error { return &Error{yamlsource.Sorted(mistakes)} }
