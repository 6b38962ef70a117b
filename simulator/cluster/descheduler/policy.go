package descheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/api/v1alpha2"
	"sigs.k8s.io/descheduler/pkg/descheduler/scheme"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

const policyKind = "DeschedulerPolicy"

// Policy is a policy that was read and checked. It does not change.
type Policy struct {
	internal *api.DeschedulerPolicy
	// Ignored are the fields that have no effect, with why, in English.
	Ignored []string
}

// Enabled returns the names of the plugins that evict, in the order in which they run.
func (p *Policy) Enabled() (names []string) {
	for _, profile := range p.internal.Profiles {
		names = append(names, profile.Plugins.Deschedule.Enabled...)
	}
	for _, profile := range p.internal.Profiles {
		names = append(names, profile.Plugins.Balance.Enabled...)
	}
	return names
}

// GracePeriodSeconds is how long evicted pods get at most; nil for what each pod says.
func (p *Policy) GracePeriodSeconds() *int64 { return p.internal.GracePeriodSeconds }

// Read reads a policy of descheduler/v1alpha2, in YAML or JSON. The descheduler's own code converts, validates and defaults it. The error is a
// yamlsource.Errors with all mistakes: also fields that the descheduler overlooks, and what a copy of a cluster cannot have.
func Read(ctx context.Context, text []byte) (*Policy, error) {
	plugins := registry()
	root, wrong := yamlsource.Parse(ctx, text, yamlsource.Settings)
	if wrong != nil {
		return nil, yamlsource.Errors{*wrong}
	}
	if root == nil {
		return nil, yamlsource.Errors{{Message: "the policy is empty; it begins with apiVersion: " + v1alpha2.SchemeGroupVersion.String()}}
	}
	document, wrong := yamlsource.NewDocument(root, text)
	if wrong != nil {
		return nil, yamlsource.Errors{*wrong}
	}
	r := &reader{Document: document}
	if r.header(); len(r.found) > 0 {
		return nil, r.found
	}
	written := &v1alpha2.DeschedulerPolicy{}
	if r.found = yamlsource.DecodeNode(root, document.JSON, written); len(r.found) > 0 {
		return nil, r.found
	}
	for i := range written.Profiles {
		r.profile(&written.Profiles[i], yamlsource.Path{}.Child("profiles").At(i))
	}
	r.rest(written)
	if len(r.found) > 0 {
		return nil, yamlsource.Sorted(r.found)
	}
	p := &Policy{internal: &api.DeschedulerPolicy{}, Ignored: r.ignored}
	if err := scheme.Scheme.Convert(written, p.internal, nil); err != nil {
		return nil, yamlsource.Errors{{Message: err.Error()}}
	}
	for i := range p.internal.Profiles {
		profile := &p.internal.Profiles[i]
		withEvictor(profile)
		for j, c := range profile.PluginConfigs {
			at := yamlsource.Path{}.Child("profiles").At(i).Child("pluginConfig").At(indexOf(written.Profiles[i].PluginConfigs, c.Name)).Child("args")
			if validate := plugins[c.Name].PluginArgValidator; validate != nil {
				if err := validate(c.Args); err != nil {
					r.add(at, "%s: %s", c.Name, err)
					continue
				}
			}
			if defaults := plugins[c.Name].PluginArgDefaulter; defaults != nil {
				defaults(profile.PluginConfigs[j].Args)
			}
			if low, is := c.Args.(*nodeutilization.LowNodeUtilizationArgs); is && low.MetricsUtilization != nil {
				r.add(at.Child("metricsUtilization"), "%s: it goes by metrics of what pods use, which a copy of a cluster does not have; without it, the plugin goes by requests", c.Name)
			}
		}
	}
	if len(r.found) > 0 {
		return nil, yamlsource.Sorted(r.found)
	}
	return p, nil
}

func indexOf(configs []v1alpha2.PluginConfig, plugin string) int {
	return max(0, slices.IndexFunc(configs, func(c v1alpha2.PluginConfig) bool { return c.Name == plugin }))
}

// withEvictor enables the plugin DefaultEvictor where a profile does not, as the descheduler does when it loads a policy.
func withEvictor(profile *api.DeschedulerProfile) {
	for _, set := range []*api.PluginSet{&profile.Plugins.Filter, &profile.Plugins.PreEvictionFilter} {
		if !slices.Contains(set.Enabled, defaultevictor.PluginName) {
			set.Enabled = append([]string{defaultevictor.PluginName}, set.Enabled...)
		}
	}
	if slices.ContainsFunc(profile.PluginConfigs, func(c api.PluginConfig) bool { return c.Name == defaultevictor.PluginName }) {
		return
	}
	profile.PluginConfigs = append([]api.PluginConfig{{Name: defaultevictor.PluginName, Args: &defaultevictor.DefaultEvictorArgs{PodProtections: defaultevictor.PodProtections{
		DefaultDisabled: []defaultevictor.PodProtection{}, ExtraEnabled: []defaultevictor.PodProtection{},
	}}}}, profile.PluginConfigs...)
}

// reader collects the mistakes of a policy.
type reader struct {
	*yamlsource.Document
	found   yamlsource.Errors
	ignored []string
}

func (r *reader) add(at yamlsource.Path, format string, args ...any) {
	r.found = append(r.found, r.Mistake(at, format, args...))
}

// header checks what the document is before anything in it.
func (r *reader) header() {
	if r.Root.Kind != yaml.MappingNode {
		r.add(nil, "want a %s, not %s", policyKind, yamlsource.Describe(r.Root))
		return
	}
	version, kind := yamlsource.Path{}.Child("apiVersion"), yamlsource.Path{}.Child("kind")
	switch is := r.At(version); is {
	case v1alpha2.SchemeGroupVersion.String():
	case "descheduler/v1alpha1":
		r.add(version, "the descheduler no longer reads descheduler/v1alpha1: write profiles in %s", v1alpha2.SchemeGroupVersion)
	case nil:
		r.add(version, "want %s", v1alpha2.SchemeGroupVersion)
	default:
		r.add(version, "want %s, not %v", v1alpha2.SchemeGroupVersion, is)
	}
	if is := r.At(kind); is != policyKind {
		r.add(kind, "want %s", policyKind)
	}
}

func (r *reader) profile(p *v1alpha2.DeschedulerProfile, at yamlsource.Path) {
	plugins, configured := registry(), map[string]bool{}
	for i, c := range p.PluginConfigs {
		at := at.Child("pluginConfig").At(i)
		known, is := plugins[c.Name]
		if !is {
			r.unknown(at.Child("name"), c.Name, nil)
			continue
		}
		if configured[c.Name] {
			r.add(at.Child("name"), "%s is configured twice in this profile; the descheduler would take the first", c.Name)
		}
		configured[c.Name] = true
		if c.Args.Raw == nil {
			continue
		}
		node, _ := yamlsource.Locate(r.Root, at.Child("args"), false)
		for _, wrong := range yamlsource.DecodeNode(node, c.Args.Raw, known.PluginArgInstance.DeepCopyObject()) {
			wrong.Message = c.Name + ": " + wrong.Message
			wrong.Field = strings.TrimSuffix(at.Child("args").String()+"."+wrong.Field, ".")
			r.found = append(r.found, wrong)
		}
	}
	sets := []struct {
		point extensionPoint
		of    v1alpha2.PluginSet
	}{{atDeschedule, p.Plugins.Deschedule}, {atBalance, p.Plugins.Balance}, {atFilter, p.Plugins.Filter}, {atPreEviction, p.Plugins.PreEvictionFilter}}
	for _, s := range sets {
		at := at.Child("plugins").Child(s.point.field)
		for i, name := range s.of.Enabled {
			at := at.Child("enabled").At(i)
			known, is := plugins[name]
			switch {
			case !is || !s.point.fits(known.PluginType):
				r.unknown(at, name, &s.point)
			case !configured[name] && name != defaultevictor.PluginName:
				r.add(at, "%s: the descheduler enables no plugin without an entry in pluginConfig; its args may be empty", name)
			}
		}
		if len(s.of.Disabled) > 0 {
			r.ignore(at.Child("disabled"), "the descheduler enables only what is named under enabled")
		}
	}
	for field, set := range map[string]v1alpha2.PluginSet{"presort": p.Plugins.PreSort, "sort": p.Plugins.Sort} {
		if len(set.Enabled)+len(set.Disabled) > 0 {
			r.ignore(at.Child("plugins").Child(field), "the descheduler has no plugins there")
		}
	}
}

// unknown reports a name that is no plugin, or none of the extension point.
func (r *reader) unknown(at yamlsource.Path, name string, point *extensionPoint) {
	plugins := registry()
	var fit, elsewhere []string
	for _, known := range slices.Sorted(maps.Keys(plugins)) {
		if point == nil || point.fits(plugins[known].PluginType) {
			fit = append(fit, known)
		}
	}
	if known, is := plugins[name]; is {
		for _, other := range []extensionPoint{atDeschedule, atBalance, atFilter} {
			if other.fits(known.PluginType) {
				elsewhere = append(elsewhere, other.field)
			}
		}
		r.add(at, "%s is no plugin of %s; it is one of %s", name, point.field, strings.Join(elsewhere, " and "))
		return
	}
	if like := yamlsource.DidYouMean(name, fit); like != "" {
		r.add(at, "the descheduler %s has no plugin %q%s", Version, name, like)
		return
	}
	r.add(at, "the descheduler %s has no plugin %q; there are %s", Version, name, strings.Join(fit, ", "))
}

func (r *reader) ignore(at yamlsource.Path, why string) {
	r.ignored = append(r.ignored, fmt.Sprintf("%s has no effect: %s.", at, why))
	slices.Sort(r.ignored)
}

// rest checks what is not in a profile.
func (r *reader) rest(p *v1alpha2.DeschedulerPolicy) {
	top := yamlsource.Path{}
	evicts := slices.ContainsFunc(p.Profiles, func(one v1alpha2.DeschedulerProfile) bool {
		return len(one.Plugins.Deschedule.Enabled)+len(one.Plugins.Balance.Enabled) > 0
	})
	if !evicts {
		r.add(top.Child("profiles"), "no profile enables a plugin at deschedule or balance, so no pod would be evicted")
	}
	if p.NodeSelector != nil {
		if _, err := labels.Parse(*p.NodeSelector); err != nil {
			r.add(top.Child("nodeSelector"), "%s", err)
		}
	}
	if g := p.GracePeriodSeconds; g != nil && *g < 0 {
		r.add(top.Child("gracePeriodSeconds"), "want 0 or more")
	}
	if p.MetricsCollector != nil {
		r.ignore(top.Child("metricsCollector"), "a copy of a cluster has no metrics of what pods use")
	}
	if len(p.MetricsProviders) > 0 {
		r.ignore(top.Child("metricsProviders"), "a copy of a cluster has no metrics of what pods use")
	}
}

// JSON is the policy as the descheduler reads it, with defaults, for tests and people.
func (p *Policy) JSON() ([]byte, error) { return json.MarshalIndent(p.internal, "", "  ") }
