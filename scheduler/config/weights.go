package config

import "k8s.io/kubernetes/pkg/scheduler/apis/config"

// Unweighed splits a configuration into the weights of its Score plugins, by profile, and the rest.
// Two configurations with the same rest find the same nodes feasible, and give them the same
// normalized scores for each plugin that scores under both. A profile with out-of-tree plugins at
// multiPoint has no weights: nothing here knows where such plugins run, so the rest has the profile
// as it is.
func Unweighed(c *config.KubeSchedulerConfiguration) (rest *config.KubeSchedulerConfiguration, weights map[string]map[string]int64) {
	rest = c.DeepCopy()
	weights = map[string]map[string]int64{}
	for i := range rest.Profiles {
		p := &rest.Profiles[i]
		if p.Plugins == nil {
			continue
		}
		running := expand(p.Plugins)
		if len(running.MultiPoint.Enabled) > 0 {
			continue
		}
		of := map[string]int64{}
		for _, plugin := range running.Score.Enabled {
			of[plugin.Name] = int64(plugin.Weight)
		}
		weights[p.SchedulerName] = of
		running.Score = config.PluginSet{}
		p.Plugins = running
	}
	return rest, weights
}
