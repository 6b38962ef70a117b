package proxy

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// documentOf writes how a configuration differs from this version's default, which the other version replaces by its own. It is empty for the
// default.
func documentOf(c *schedulerapi.KubeSchedulerConfiguration) (string, error) {
	standard, err := config.Default()
	if err != nil {
		return "", err
	}
	byDefault := standard.Internal
	if equality.Semantic.DeepEqual(c, byDefault) {
		return "", nil
	}
	c = c.DeepCopy()
	for i := range c.Profiles {
		own(&c.Profiles[i], &byDefault.Profiles[0])
	}
	text, err := config.Encode(c)
	return string(text), err
}

// own leaves out of a profile what the default profile has.
func own(p, byDefault *schedulerapi.KubeSchedulerProfile) {
	p.PluginConfig = slices.DeleteFunc(p.PluginConfig, func(pc schedulerapi.PluginConfig) bool {
		return slices.ContainsFunc(byDefault.PluginConfig, func(other schedulerapi.PluginConfig) bool {
			return other.Name == pc.Name && equality.Semantic.DeepEqual(other.Args, pc.Args)
		})
	})
	if p.Plugins == nil {
		return
	}
	given, standard := &p.Plugins.MultiPoint, byDefault.Plugins.MultiPoint.Enabled
	if slices.ContainsFunc(given.Disabled, func(plugin schedulerapi.Plugin) bool { return plugin.Name == "*" }) {
		return
	}
	for _, plugin := range standard {
		if !slices.ContainsFunc(given.Enabled, func(other schedulerapi.Plugin) bool { return other.Name == plugin.Name }) {
			given.Disabled = append(given.Disabled, schedulerapi.Plugin{Name: plugin.Name})
		}
	}
	given.Enabled = slices.DeleteFunc(given.Enabled, func(plugin schedulerapi.Plugin) bool { return slices.Contains(standard, plugin) })
}

// configurationOf returns a configuration with which the scheduler here runs the plugins of the other version.
func configurationOf(c *schedulerapi.KubeSchedulerConfiguration, started *wire.Started) *schedulerapi.KubeSchedulerConfiguration {
	c = c.DeepCopy()
	c.PercentageOfNodesToScore = ptr.To[int32](100)
	for i := range c.Profiles {
		p := &c.Profiles[i]
		p.PercentageOfNodesToScore = nil
		at := slices.IndexFunc(started.Profiles, func(other wire.Profile) bool { return other.Name == p.SchedulerName })
		if at < 0 {
			continue
		}
		p.Plugins = &schedulerapi.Plugins{}
		for _, point := range started.Profiles[at].Points {
			enable(p.Plugins, point)
		}
	}
	return c
}

// enable enables the plugins of a point, unless it decides about a pod group as a whole: the program decides about single pods.
func enable(plugins *schedulerapi.Plugins, point wire.ExtensionPoint) {
	if strings.HasPrefix(point.Name, "podGroup") || strings.HasPrefix(point.Name, "placement") {
		return
	}
	field := reflect.ValueOf(plugins).Elem().FieldByName(strings.ToUpper(point.Name[:1]) + point.Name[1:])
	if !field.IsValid() {
		return
	}
	set, ok := field.Addr().Interface().(*schedulerapi.PluginSet)
	if !ok {
		return
	}
	for _, p := range point.Plugins {
		set.Enabled = append(set.Enabled, schedulerapi.Plugin{Name: p.Name, Weight: p.Weight})
	}
}
