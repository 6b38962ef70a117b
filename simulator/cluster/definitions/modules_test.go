package definitions

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write Kueue's definitions from those of its module")

// newest is the reason of what the module does not have yet. The simulator follows Kueue's main branch.
const newest = "Kueue's main branch"

// podSchema is the reason of templates of pods.
const podSchema = "the schema of pods is a megabyte; the intake and the pods' own checks read templates"

func anything(schema object) {
	delete(schema, "properties")
	schema["x-kubernetes-preserve-unknown-fields"] = true
}

const levelValues = "status.admission.podSetAssignments[].topologyAssignment.slices[].valuesPerLevel[]"

// differences are what our definitions have in place of the module's, and why. A resource may name
// one of its versions. A field is one of the schema, by dots; [] is an item of a list, "." the object,
// and "" the version itself. A difference applies where the field is.
var differences = []struct {
	resource, field, why string
	change               func(object)
}{
	{"workloads", "spec.podSets[].template", podSchema, anything},
	{"jobsets", "spec.replicatedJobs[].template.spec.template", podSchema, anything},
	{"leaderworkersets", "spec.leaderWorkerTemplate.leaderTemplate", podSchema, anything},
	{"leaderworkersets", "spec.leaderWorkerTemplate.workerTemplate", podSchema, anything},
	{"workloads", "spec.podSets", newest, func(schema object) {
		schema["maxItems"] = 18
		schema["description"] = strings.Replace(schema["description"].(string), "at most 8", "at most 18", 1)
	}},
	{"workloads", "status.admission.podSetAssignments", newest, set("maxItems", 18)},
	{"workloads", "status.admissionChecks[].podSetUpdates", newest, set("maxItems", 18)},
	{"workloads", "status.reclaimablePods", newest, set("maxItems", 18)},
	{"workloads", "status.resourceRequests", newest, set("maxItems", 18)},
	{"workloads", "spec.podSets", "Kueue's webhook", rule("at most one podSet can use minCount", "self.filter(ps, has(ps.minCount)).size() <= 1")},

	{"workloads/v1beta2", levelValues, "the module's rule costs too much for 18 pod sets", remove("exactly one of the fields in [universal individual] must be set")},
	{"workloads/v1beta2", levelValues, "the module's rule costs too much for 18 pod sets", rule("exactly one of the fields in [universal individual] must be set", "has(self.universal) != has(self.individual)")},
	{"workloads", "status.unhealthyNodes[].name", newest, set("maxLength", 317)},
	{"workloads", "status.admission", "an admission without them says nothing", set("required", []any{"clusterQueue", "podSetAssignments"})},
	{"workloads/v1beta1", ".", "the module's rule fails where there is no class", remove("priorityClassSource is immutable while workload quota reserved")},
	{"workloads/v1beta1", ".", "the module's rule fails where there is no class", rule("priorityClassSource is immutable while workload quota reserved",
		"!(has(oldSelf.status) && has(oldSelf.status.conditions) && oldSelf.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status == 'True')) || "+
			"!has(oldSelf.spec.priorityClassSource) || !has(self.spec.priorityClassSource) || oldSelf.spec.priorityClassSource == self.spec.priorityClassSource")},
	{"workloads/v1beta2", "", newest, set("selectableFields", []any{object{"jsonPath": ".status.admission.clusterQueue"}})},

	{"clusterqueues/v1beta2", "spec", newest, func(schema object) {
		schema["properties"].(object)["concurrentAdmissionPolicy"] = object{"description": "Alpha in Kueue; kept, and not acted on.", "type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}},
	{"clusterqueues/v1beta1", "spec", "Kueue's webhook", rule("admissionChecks and admissionChecksStrategy cannot both be set", "!has(self.admissionChecks) || !has(self.admissionChecksStrategy)")},
	{"clusterqueues/v1beta1", "spec", "Kueue's webhook", rule("lendingLimit must be nil when cohort is empty", without("cohort", "lendingLimit"))},
	{"clusterqueues/v1beta2", "spec", "Kueue's webhook", rule("lendingLimit must be nil when cohort is empty", without("cohortName", "lendingLimit"))},
	{"cohorts", "spec", "Kueue's webhook", rule("borrowingLimit must be nil when parent is empty", without("parentName", "borrowingLimit"))},
	{"cohorts", "spec", "Kueue's webhook", rule("lendingLimit must be nil when parent is empty", without("parentName", "lendingLimit"))},

	// A ClusterQueue has up to 64 flavors and resources in each of its groups.
	{"localqueues", "status.flavorsReservation", newest, set("maxItems", 64)},
	{"localqueues", "status.flavorsReservation[].resources", newest, set("maxItems", 64)},
	{"localqueues", "status.flavorsUsage", newest, set("maxItems", 64)},
	{"localqueues", "status.flavorsUsage[].resources", newest, set("maxItems", 64)},
	{"localqueues", "status.flavorUsage", newest, set("maxItems", 64)},
	{"localqueues", "status.flavorUsage[].resources", newest, set("maxItems", 64)},

	{"resourceflavors", "spec", newest, remove("nodeLabels are immutable when topologyName is set")},
	{"resourceflavors", "spec", newest, remove("tolerations are immutable when topologyName is set")},
	{"resourceflavors", "spec", "the module's rule fails where there are no labels", remove("at least one nodeLabel is required when topology is set")},
	{"resourceflavors", "spec", "the module's rule fails where there are no labels", rule("at least one nodeLabel is required when topology is set", "!has(self.topologyName) || has(self.nodeLabels) && size(self.nodeLabels) >= 1")},
	{"resourceflavors", "spec.tolerations", "Kubernetes has two more operators", remove("supported toleration values: 'Equal'(default), 'Exists'")},
	{"resourceflavors", "spec.tolerations", "Kubernetes has two more operators", rule("supported toleration values: 'Equal'(default), 'Exists', 'Lt', 'Gt'", "self.all(x, !has(x.operator) || x.operator in ['Equal', 'Exists', 'Lt', 'Gt'])")},

	{"topologies/v1beta2", "spec.levels", newest, remove("field is immutable")},
	{"topologies/v1beta2", "spec.levels", newest, rule("field is immutable", "self == oldSelf || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname' && oldSelf[size(oldSelf) - 1].nodeLabel == 'kubernetes.io/hostname'")},
}

// shortNames are those of Kueue's main branch that the module lacks.
var shortNames = map[string][]any{"admissionchecks": {"ac"}, "cohorts": {"co"}, "topologies": {"topo"}, "workloadpriorityclasses": {"wpc"}}

type object = map[string]any

func set(keyword string, value any) func(object) {
	return func(schema object) { schema[keyword] = value }
}

func rule(message, rule string) func(object) {
	return func(schema object) {
		rules, _ := schema["x-kubernetes-validations"].([]any)
		schema["x-kubernetes-validations"] = append(rules, object{"message": message, "rule": rule})
	}
}

func remove(message string) func(object) {
	return func(schema object) {
		rules, _ := schema["x-kubernetes-validations"].([]any)
		schema["x-kubernetes-validations"] = slices.DeleteFunc(rules, func(r any) bool { return r.(object)["message"] == message })
	}
}

// without is the rule that quotas have no limit unless a field is set.
func without(field, limit string) string {
	return "has(self." + field + ") || !has(self.resourceGroups) || self.resourceGroups.all(rg, rg.flavors.all(f, f.resources.all(r, !has(r." + limit + "))))"
}

// at returns the schema of a field in a version; nil if there is none.
func at(version object, field string) object {
	if field == "" {
		return version
	}
	schema := version["schema"].(object)["openAPIV3Schema"].(object)
	if field == "." {
		return schema
	}
	for name := range strings.SplitSeq(strings.ReplaceAll(field, "[]", ".[]"), ".") {
		if name == "[]" {
			schema, _ = schema["items"].(object)
			continue
		}
		properties, _ := schema["properties"].(object)
		schema, _ = properties[name].(object)
	}
	return schema
}

// modules are where definitions come from.
var modules = map[string]struct{ path, definitions string }{
	Kueue:           {"sigs.k8s.io/kueue", "config/components/crd/bases"},
	JobSet:          {"sigs.k8s.io/jobset", "config/components/crd/bases"},
	LeaderWorkerSet: {"sigs.k8s.io/lws", "config/crd/bases"},
	AppWrapper:      {"github.com/project-codeflare/appwrapper", "config/crd/bases"},
}

// TestDefinitionsOfModules: they are those of their modules but for differences.
func TestDefinitionsOfModules(t *testing.T) {
	used := make([]bool, len(differences))
	for _, d := range Of(slices.Collect(maps.Keys(modules))) {
		module := modules[d.Plugin]
		if d.Kind.Kind == "ProvisioningRequest" {
			module.path, module.definitions = "k8s.io/autoscaler/cluster-autoscaler/apis", "config/crd"
		}
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module.path).Output()
		if err != nil {
			t.Fatal(err)
		}
		original := filepath.Join(strings.TrimSpace(string(dir)), module.definitions, d.Kind.Group+"_"+d.Resource+".yaml")
		want := read(t, original)
		spec := want["spec"].(object)
		if names := shortNames[d.Resource]; names != nil {
			spec["names"].(object)["shortNames"] = names
		}
		if patch := filepath.Join(filepath.Dir(filepath.Dir(original)), "patches", "webhook_in_"+d.Resource+".yaml"); d.Plugin == Kueue && d.Resource != "resourceflavors" && exists(patch) {
			spec["conversion"] = read(t, patch)["spec"].(object)["conversion"]
			spec["conversion"].(object)["webhook"].(object)["clientConfig"] = object{"service": object{"namespace": "kueue-system", "name": "kueue-webhook-service", "path": "/convert"}}
		}
		for _, version := range spec["versions"].([]any) {
			version := version.(object)
			for i, difference := range differences {
				resource, only, _ := strings.Cut(difference.resource, "/")
				if field := at(version, difference.field); resource == d.Resource && (only == "" || only == version["name"]) && field != nil {
					difference.change(field)
					used[i] = true
				}
			}
		}
		file := d.Resource + ".yaml"
		if *update {
			data, err := yaml.Marshal(want)
			if err == nil {
				err = os.WriteFile(file, append([]byte("# Generated by make generate from its module. DO NOT EDIT.\n"), data...), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		data, err := json.Marshal(want) // the numbers of a file are floats
		if err != nil {
			t.Fatal(err)
		}
		want = nil
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read(t, file)); diff != "" {
			t.Errorf("%s differs from its module; run make generate, or name the difference (-want +got):\n%s", file, diff)
		}
	}
	for i, difference := range differences {
		if !used[i] {
			t.Errorf("%s has no field %s", difference.resource, difference.field)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func read(t *testing.T, file string) object {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := yaml.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
