package submit

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/configuration"
	"kube-scheduler-simulator/simulator/questions/why"
)

// ConfigMap is where an installed Kueue has its Configuration, in configurationKey.
var ConfigMap = types.NamespacedName{Namespace: "kueue-system", Name: "kueue-manager-config"}

const configurationKey = "controller_manager_config.yaml"

type ConfiguredFrom string

const (
	// FromSimulator: the simulated cluster's own.
	FromSimulator ConfiguredFrom = "simulator"
	// FromConfigMap: that of ConfigMap.
	FromConfigMap ConfiguredFrom = "configMap"
	// FromDefault: Kueue's default, because the cluster has none or it cannot be read.
	FromDefault ConfiguredFrom = "default"
)

// Configured says which Configuration of Kueue the queues follow.
type Configured struct {
	From ConfiguredFrom `json:"from"`
	// Text says it in English.
	Text string `json:"text"`
	// FairSharing and BlockAdmission are the parts of it that change most answers.
	FairSharing    bool `json:"fairSharing"`
	BlockAdmission bool `json:"blockAdmission"`
	// notes are what is not followed.
	notes []why.NotJudged
}

// Simulated is what the queues of the simulated cluster follow.
func Simulated(settings admission.Settings) *Configured {
	return configuredBy(FromSimulator, "the simulator's own Configuration of Kueue", settings)
}

func configuredBy(from ConfiguredFrom, text string, s admission.Settings) *Configured {
	return &Configured{From: from, Text: text, FairSharing: s.FairSharing != nil, BlockAdmission: s.WaitForPodsReady != nil && s.WaitForPodsReady.BlockAdmission}
}

// configurationOf reads the Configuration of a cluster. One that cannot be read counts as Kueue's default, and a note says so.
func configurationOf(ctx context.Context, c why.Cluster) (admission.Settings, *Configured) {
	fallback := func(note string) (admission.Settings, *Configured) {
		out := configuredBy(FromDefault, "Kueue's default Configuration: the cluster's ConfigMap "+ConfigMap.String()+" is not there", admission.Settings{})
		if note != "" {
			out.Text = "Kueue's default Configuration: the cluster's own could not be read"
			out.notes = []why.NotJudged{{What: "the Configuration of Kueue", Text: note + ". Quota is judged with Kueue's defaults."}}
		}
		return admission.Settings{}, out
	}
	o, err := c.Get(ctx, v1.SchemeGroupVersion.WithKind("ConfigMap"), ConfigMap.Namespace, ConfigMap.Name)
	if _, missing := errors.AsType[*whatif.NotFoundError](err); missing {
		return fallback("")
	}
	if err != nil {
		return fallback("The ConfigMap " + ConfigMap.String() + " cannot be read: " + err.Error())
	}
	m, is := o.(*v1.ConfigMap)
	if !is || m.Data[configurationKey] == "" {
		return fallback("The ConfigMap " + ConfigMap.String() + " has no " + configurationKey)
	}
	parsed, err := configuration.Parse([]byte(m.Data[configurationKey]))
	if err != nil {
		return fallback("The Configuration in the ConfigMap " + ConfigMap.String() + " is one that Kueue would refuse: " + err.Error())
	}
	s := parsed.Settings()
	if parsed.WaitForPodsReady == nil {
		// The Kueue of a cluster whose Configuration leaves it out has it off, and its workloads have no condition PodsReady.
		s.WaitForPodsReady = nil
	}
	out := configuredBy(FromConfigMap, "the Configuration of Kueue in the cluster's ConfigMap "+ConfigMap.String(), s)
	for _, part := range parsed.Ignored {
		out.notes = append(out.notes, why.NotJudged{What: "the Configuration of Kueue", Text: part.Text})
	}
	return s, out
}
