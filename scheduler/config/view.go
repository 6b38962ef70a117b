package config

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// view is a configuration in a form for comparisons: JSON values, and plugins at the extension points
// where they run.
type view struct {
	// global are the fields outside profiles and extenders.
	global    map[string]any
	profiles  []*profileView
	extenders []any
}

type profileView struct {
	declared  *config.KubeSchedulerProfile
	running   *config.Plugins
	arguments map[string]any // by plugin, without their kind
}

// newView does not change c, and shares its profiles.
func newView(c *config.KubeSchedulerConfiguration) (*view, error) {
	external := &configv1.KubeSchedulerConfiguration{}
	global := *c
	global.Profiles = nil
	if err := scheme.Scheme.Convert(&global, external, nil); err != nil {
		return nil, fmt.Errorf("converting the scheduler configuration: %w", err)
	}
	// Credentials must not leave the document.
	for i := range external.Extenders {
		external.Extenders[i] = withoutCredentials(external.Extenders[i])
	}
	value, err := jsonValue(external)
	if err != nil {
		return nil, err
	}
	fields := value.(map[string]any)
	v := &view{global: fields}
	v.extenders, _ = fields["extenders"].([]any)
	for _, name := range []string{"kind", "apiVersion", "profiles", "extenders"} {
		delete(fields, name)
	}
	if _, set := fields["delayCacheUntilActive"]; !set {
		fields["delayCacheUntilActive"] = false
	}
	for i := range c.Profiles {
		p, err := newProfileView(c, &c.Profiles[i])
		if err != nil {
			return nil, err
		}
		v.profiles = append(v.profiles, p)
	}
	return v, nil
}

func (v *view) running(actual map[string]*config.Plugins) *view {
	out := *v
	out.profiles = make([]*profileView, len(v.profiles))
	for i, p := range v.profiles {
		profile := *p
		if plugins := actual[p.declared.SchedulerName]; plugins != nil {
			profile.running = plugins
		}
		out.profiles[i] = &profile
	}
	return &out
}

func newProfileView(c *config.KubeSchedulerConfiguration, profile *config.KubeSchedulerProfile) (*profileView, error) {
	p := &profileView{declared: profile, running: expand(profile.Plugins), arguments: map[string]any{}}
	ignored := ignoredResources(c)
	for _, pc := range profile.PluginConfig {
		args := pc.Args
		if fit, ok := args.(*config.NodeResourcesFitArgs); ok && pc.Name == names.NodeResourcesFit && len(ignored) > 0 {
			// Like upstream's scheduler.New.
			fit = fit.DeepCopy()
			fit.IgnoredResources = ignored
			args = fit
		}
		value, err := argumentsValue(args)
		if err != nil {
			return nil, fmt.Errorf("encoding the arguments of %s: %w", pc.Name, err)
		}
		if value != nil {
			p.arguments[pc.Name] = value
		}
	}
	return p, nil
}

// names returns the sorted names of the plugins that run at some extension point.
func (p *profileView) names() []string {
	all := map[string]bool{}
	for _, point := range runningPoints() {
		for _, plugin := range point.set(p.running).Enabled {
			all[plugin.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// ignoredResources returns the resources that extenders handle instead of NodeResourcesFit.
func ignoredResources(c *config.KubeSchedulerConfiguration) []string {
	var out []string
	for _, e := range c.Extenders {
		for _, r := range e.ManagedResources {
			if r.IgnoredByScheduler {
				out = append(out, r.Name)
			}
		}
	}
	return out
}

func withoutCredentials(e configv1.Extender) configv1.Extender {
	if e.TLSConfig == nil {
		return e
	}
	tls := *e.TLSConfig
	tls.CertData, tls.KeyData, tls.CAData = nil, nil, nil
	e.TLSConfig = &tls
	return e
}

// argumentsValue returns the arguments of a plugin as a JSON value without their kind; nil if there
// are none.
func argumentsValue(args runtime.Object) (any, error) {
	switch args := args.(type) {
	case nil:
		return nil, nil
	case *runtime.Unknown:
		var v any
		if len(args.Raw) == 0 {
			return nil, nil
		}
		err := utiljson.Unmarshal(args.Raw, &v)
		return v, err
	}
	external, err := scheme.Scheme.ConvertToVersion(args, configv1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	return withoutKind(external)
}

func withoutKind(obj runtime.Object) (any, error) {
	value, err := jsonValue(obj)
	if fields, ok := value.(map[string]any); ok {
		delete(fields, "kind")
		delete(fields, "apiVersion")
	}
	return value, err
}

// defaultArguments returns Kubernetes' default arguments of a plugin; nil if it takes none or is not
// Kubernetes'.
func defaultArguments(plugin string) any {
	obj, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(plugin + "Args"))
	if err != nil {
		return nil
	}
	scheme.Scheme.Default(obj)
	value, err := withoutKind(obj)
	if err != nil {
		return nil
	}
	return value
}

// jsonValue returns obj as a JSON value, with integers as int64.
func jsonValue(obj any) (any, error) {
	data, err := utiljson.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var v any
	err = utiljson.Unmarshal(data, &v)
	return v, err
}
