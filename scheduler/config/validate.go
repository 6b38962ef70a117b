package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// parse implements Parse and, if plugins holds the names of all plugins, ParseWith.
func parse(text []byte, plugins []string, options Options) (*Configuration, error) {
	text = bytes.Clone(text)
	d, mistakes := read(text)
	if d == nil {
		return nil, newError(mistakes)
	}
	mistakes, readable := d.header()
	if !readable {
		return nil, newError(mistakes)
	}
	internal, found, wrong := d.strictly()
	mistakes = append(mistakes, found...)
	if internal != nil {
		v := &validator{document: d, internal: internal, plugins: plugins, arguments: options.Arguments, extender: options.Extender, reported: wrong}
		mistakes = append(mistakes, v.validate()...)
	}
	if len(mistakes) > 0 {
		return nil, newError(mistakes)
	}
	if internal == nil {
		return nil, newError([]Mistake{{Message: "want a " + kind}})
	}
	c, err := newConfiguration(text, internal, d.value)
	if err != nil {
		return nil, newError([]Mistake{{Message: err.Error()}})
	}
	c.document = d
	return c, nil
}

// validator finds the mistakes in a decoded configuration.
type validator struct {
	document *document
	internal *config.KubeSchedulerConfiguration
	plugins  []string // all names; nil if they are not known
	// arguments checks the arguments of out-of-tree plugins; it may be nil.
	arguments func(plugin string, args runtime.Object) []*argument.Error
	// extender says why an extender may not be called; it may be nil.
	extender func(urlPrefix string) error
	reported []path // fields that have a mistake already
	yamlsource.Mistakes
}

func (v *validator) validate() []Mistake {
	if err := validation.ValidateKubeSchedulerConfiguration(v.internal); err != nil {
		v.add(err)
	}
	v.extenders()
	ignoring := slices.IndexFunc(v.internal.Extenders, ignoresResources)
	for i := range v.internal.Profiles {
		profile := &v.internal.Profiles[i]
		at := path{{Key: "profiles"}}.At(i)
		v.fitArguments(profile, at)
		v.outOfTreeArguments(profile, at)
		sound := v.pluginNames(profile, at)
		if profile.Plugins == nil {
			continue
		}
		sound = v.pluginPoints(at) && sound
		if sound {
			v.requiredPlugins(profile, at)
		}
		if ignoring >= 0 && !slices.ContainsFunc(profile.PluginConfig, func(c config.PluginConfig) bool { return c.Name == names.NodeResourcesFit }) {
			v.report(path{{Key: "extenders"}}.At(ignoring).Child("managedResources"),
				"ignoredByScheduler is implemented by %s, which profile %q does not enable", names.NodeResourcesFit, profile.SchedulerName)
		}
	}
	return v.List
}

func (v *validator) extenders() {
	if v.extender == nil {
		return
	}
	for i, e := range v.internal.Extenders {
		if err := v.extender(e.URLPrefix); err != nil {
			v.report(path{{Key: "extenders"}}.At(i).Child("urlPrefix"), "%v", err)
		}
	}
}

func ignoresResources(e config.Extender) bool {
	return slices.ContainsFunc(e.ManagedResources, func(r config.ExtenderManagedResource) bool { return r.IgnoredByScheduler })
}

// report adds a mistake unless an earlier check found one at its field.
func (v *validator) report(at path, format string, args ...any) {
	v.reportBecause(OtherMistake, at, format, args...)
}

func (v *validator) reportBecause(reason Reason, at path, format string, args ...any) {
	if v.Full() {
		return
	}
	for _, known := range v.reported {
		if at.Within(known) {
			return
		}
	}
	m := v.document.Mistake(at, format, args...)
	m.Reason = reason
	v.Note(m)
}

// add adds the single mistakes of upstream's errors.
func (v *validator) add(err error) {
	var aggregate utilerrors.Aggregate
	if errors.As(err, &aggregate) {
		for _, err := range aggregate.Errors() {
			v.add(err)
		}
		return
	}
	var invalid *field.Error
	if !errors.As(err, &invalid) {
		v.Note(Mistake{Message: err.Error()})
		return
	}
	at := parsePath(invalid.Field)
	v.reportBecause(upstreamReason(invalid, at), at, "%s", body(invalid))
}

// upstreamReason recognises a plugin that Kubernetes has removed. Upstream's validation
// (validatePluginConfig and validatePluginSetForInvalidPlugins) reports it as the invalid name
// of an item of pluginConfig or of an enabled list, and reports no other invalid string there.
func upstreamReason(e *field.Error, at path) Reason {
	if _, named := e.BadValue.(string); !named || e.Type != field.ErrorTypeInvalid || len(at) < 2 {
		return OtherMistake
	}
	list, item := at[len(at)-2], at[len(at)-1]
	if item.Key == "" && (list.Key == "enabled" || list.Key == "pluginConfig") {
		return RemovedPlugin
	}
	return OtherMistake
}

// body returns the message of an error, without values that are not readable.
func body(e *field.Error) string {
	value := reflect.ValueOf(e.BadValue)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.IsValid() {
		if d, ok := value.Interface().(metav1.Duration); ok {
			return fmt.Sprintf("%s: %q: %s", e.Type, d.Duration, e.Detail)
		}
	}
	if other, ok := e.BadValue.(*field.Path); ok {
		return fmt.Sprintf("%s: the same as %s", e.Type, other)
	}
	switch value.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return fmt.Sprintf("%s: %s", e.Type, e.Detail)
	default:
		return e.ErrorBody()
	}
}

// fitArguments validates the arguments of NodeResourcesFit, because upstream registers that validation
// under a name that no plugin has. Otherwise the plugin's factory would report one mistake at a
// time.
func (v *validator) fitArguments(profile *config.KubeSchedulerProfile, at path) {
	for j, c := range profile.PluginConfig {
		if c.Name != names.NodeResourcesFit {
			continue
		}
		p := field.NewPath(at.Child("pluginConfig").At(j).Child("args").String())
		args, ok := c.Args.(*config.NodeResourcesFitArgs)
		if !ok {
			v.report(parsePath(p.String()), "has to match plugin args")
		} else if err := validation.ValidateNodeResourcesFitArgs(p, args); err != nil {
			v.add(err)
		}
	}
}

// outOfTreeArguments checks the arguments of out-of-tree plugins, also of those that are enabled
// without arguments.
func (v *validator) outOfTreeArguments(profile *config.KubeSchedulerProfile, at path) {
	if v.arguments == nil {
		return
	}
	types, checked := inTree(), map[string]bool{}
	for j, c := range profile.PluginConfig {
		if _, known := types[c.Name]; known {
			continue
		}
		checked[c.Name] = true
		args := at.Child("pluginConfig").At(j).Child("args")
		for _, m := range v.arguments(c.Name, c.Args) {
			v.reportWithin(append(slices.Clip(args), parsePath(m.Field)...), m)
		}
	}
	v.written(at, func(_ extensionPoint, name string, at path) {
		if _, known := types[name]; known || checked[name] {
			return
		}
		checked[name] = true
		for _, m := range v.arguments(name, nil) {
			v.report(at.Child("name"), "%s needs arguments in pluginConfig: %s", name, strings.TrimPrefix(m.Field+": "+m.Message, ": "))
		}
	})
}

// reportWithin adds a mistake within the text of a field. In a literal block it points to
// the line of the block, and otherwise to the field.
func (v *validator) reportWithin(at path, m *argument.Error) {
	before := len(v.List)
	if m.Line == 0 {
		v.report(at, "%s", m.Message)
		return
	}
	v.report(at, "line %d, column %d: %s", m.Line, m.Column, m.Message)
	if len(v.List) == before {
		return
	}
	if text, _ := yamlsource.Locate(v.document.Root, at, false); text.Style&yaml.LiteralStyle != 0 {
		v.List[before].Line, v.List[before].Column = text.Line+m.Line, 0
	}
}

// elsewhere are the plugins of kubernetes-sigs/scheduler-plugins that the simulator does not ship. Users come with
// configurations that enable them.
var elsewhere = []string{
	"CrossNodePreemption", "LoadVariationRiskBalancing", "LowRiskOverCommitment", "NetworkOverhead", "NodeResourcesAllocatable", "Peaks",
	"PodState", "PreemptionToleration", "QOSSort", "SySched", "TargetLoadPacking", "TopologicalSort",
}

// pluginNames finds unknown plugins. It reports whether all plugins are known.
func (v *validator) pluginNames(profile *config.KubeSchedulerProfile, at path) bool {
	before := len(v.List)
	if v.plugins == nil {
		return true
	}
	check := func(name string, at path) {
		if slices.Contains(v.plugins, name) || v.Full() || v.says(at) {
			return
		}
		if name == "" {
			v.report(at, "a plugin needs a name")
			return
		}
		if slices.Contains(elsewhere, name) {
			v.reportBecause(UnknownPlugin, at, "%s is a plugin of kubernetes-sigs/scheduler-plugins that is not available here", name)
			return
		}
		v.reportBecause(UnknownPlugin, at, "no plugin is named %q%s", yamlsource.Cut(name, 60), yamlsource.DidYouMean(name, v.plugins))
	}
	v.written(at, func(_ extensionPoint, name string, at path) { check(name, at.Child("name")) })
	for j, c := range profile.PluginConfig {
		check(c.Name, at.Child("pluginConfig").At(j).Child("name"))
	}
	return len(v.List) == before
}

// says reports whether upstream found a mistake in the list item that contains the field at.
func (v *validator) says(at path) bool {
	item := at[:len(at)-1].String()
	return slices.ContainsFunc(v.List, func(m Mistake) bool { return m.Field == item })
}

// written calls visit for every plugin that the document enables.
func (v *validator) written(at path, visit func(point extensionPoint, name string, at path)) {
	for _, point := range allPoints() {
		enabled := at.Child("plugins").Child(point.name).Child("enabled")
		items, _ := v.document.At(enabled).([]any)
		for j, item := range items {
			fields, _ := item.(map[string]any)
			name, _ := fields["name"].(string)
			visit(point, name, enabled.At(j))
		}
	}
}

// pluginPoints finds plugins that are listed twice at an extension point or do not run there. It
// reports whether there are none.
func (v *validator) pluginPoints(at path) bool {
	before := len(v.List)
	types := inTree()
	first := map[string]path{}
	v.written(at, func(point extensionPoint, name string, at path) {
		key := point.name + " " + name
		if other, twice := first[key]; twice {
			v.report(at.Child("name"), "duplicate plugin %q, enabled already by %s", name, other)
			return
		}
		first[key] = at
		if t, known := types[name]; known && point.kind != nil && !t.Implements(point.kind) {
			v.reportBecause(WrongExtensionPoint, at.Child("name"), "%s does not run at the extension point %s; it has %s", name, point.name, pointsOf(t))
		}
	})
	return len(v.List) == before
}

// pointsOf lists the extension points of a type of plugin.
func pointsOf(t reflect.Type) string {
	var b bytes.Buffer
	for _, point := range extensionPoints() {
		if t.Implements(point.kind) {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			b.WriteString(point.name)
		}
	}
	return b.String()
}

// requiredPlugins checks how many plugins an extension point needs, if all plugins of the profile are
// Kubernetes'.
func (v *validator) requiredPlugins(profile *config.KubeSchedulerProfile, at path) {
	types := inTree()
	for _, p := range profile.Plugins.MultiPoint.Enabled {
		if _, known := types[p.Name]; !known {
			return
		}
	}
	running := expand(profile.Plugins)
	at = at.Child("plugins")
	switch n := len(running.QueueSort.Enabled); {
	case n == 0:
		v.report(at.Child("queueSort"), "a profile needs one queue sort plugin, and none is enabled; Kubernetes' is %s", names.PrioritySort)
	case n > 1 && len(profile.Plugins.QueueSort.Enabled) <= 1: // otherwise upstream has reported it
		v.report(at.Child("queueSort"), "a profile needs one queue sort plugin, and %d are enabled", n)
	}
	if len(running.Bind.Enabled) == 0 {
		v.report(at.Child("bind"), "a profile needs a bind plugin, and none is enabled; Kubernetes' is %s", names.DefaultBinder)
	}
	if n := len(running.PlacementGenerate.Enabled); n > 1 {
		v.report(at.Child("placementGenerate"), "a profile may have one placement generate plugin, and %d are enabled", n)
	}
}
