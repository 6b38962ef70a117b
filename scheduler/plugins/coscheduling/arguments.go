package coscheduling

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/plugins/argument"
)

// Arguments are the CoschedulingArgs of kubescheduler.config.k8s.io/v1. setDefaults sets every
// field.
type Arguments struct {
	metav1.TypeMeta `json:",inline"`

	// PermitWaitingTimeSeconds is how long a pod waits at Permit when its group does not say.
	PermitWaitingTimeSeconds *int64 `json:"permitWaitingTimeSeconds,omitempty"`
	// PodGroupBackoffSeconds is how long PreFilter refuses a group whose waiting pods PostFilter
	// has rejected; 0 for not at all.
	PodGroupBackoffSeconds *int64 `json:"podGroupBackoffSeconds,omitempty"`
	// PodGroupRejectPercentage is the share of MinMember that may lack a place before PostFilter
	// rejects the waiting pods: 0 always rejects them, 100 never.
	PodGroupRejectPercentage *int32 `json:"podGroupRejectPercentage,omitempty"`
}

var _ runtime.Object = (*Arguments)(nil)

func (a *Arguments) DeepCopyObject() runtime.Object {
	out := &Arguments{TypeMeta: a.TypeMeta}
	for _, field := range []struct{ from, to **int64 }{
		{&a.PermitWaitingTimeSeconds, &out.PermitWaitingTimeSeconds}, {&a.PodGroupBackoffSeconds, &out.PodGroupBackoffSeconds},
	} {
		if *field.from != nil {
			*field.to = ptr.To(**field.from)
		}
	}
	if a.PodGroupRejectPercentage != nil {
		out.PodGroupRejectPercentage = ptr.To(*a.PodGroupRejectPercentage)
	}
	return out
}

func init() { argument.Register[Arguments](Name, setDefaults) }

func setDefaults(a *Arguments) {
	if a.PermitWaitingTimeSeconds == nil {
		a.PermitWaitingTimeSeconds = ptr.To[int64](60)
	}
	if a.PodGroupBackoffSeconds == nil {
		a.PodGroupBackoffSeconds = ptr.To[int64](0)
	}
	if a.PodGroupRejectPercentage == nil {
		a.PodGroupRejectPercentage = ptr.To[int32](10)
	}
}

// read returns valid arguments. Mistakes are argument.Errors.
func read(args runtime.Object) (*Arguments, error) {
	a, err := argument.Typed[Arguments](args, setDefaults)
	if err != nil {
		return nil, err
	}
	invalid := func(field string, value any, why string) error {
		return &argument.Error{Field: field, Message: fmt.Sprintf("Invalid value: %v: %s", value, why)}
	}
	var mistakes []error
	if v := *a.PermitWaitingTimeSeconds; v < 0 {
		mistakes = append(mistakes, invalid("permitWaitingTimeSeconds", v, "must be greater than 0"))
	}
	if v := *a.PodGroupBackoffSeconds; v < 0 {
		mistakes = append(mistakes, invalid("podGroupBackoffSeconds", v, "must be greater than 0"))
	}
	if v := *a.PodGroupRejectPercentage; v < 0 || v > 100 {
		mistakes = append(mistakes, invalid("podGroupRejectPercentage", v, "must be between 0 and 100"))
	}
	return a, errors.Join(mistakes...)
}

// Validate returns the mistakes in the plugin's arguments as argument.Errors.
func Validate(args runtime.Object) error {
	_, err := read(args)
	return err
}
