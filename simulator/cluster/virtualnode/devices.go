package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	names "k8s.io/apimachinery/pkg/util/validation"
	resourceinternal "k8s.io/kubernetes/pkg/apis/resource"
	resourceconversion "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// DeviceGroup are devices that are alike, as on AnnotationDevices:
//
//   - driver: gpu.example.com
//     count: 4
//     name: gpu
//     attributes: {model: a100, memoryGiB: 80, nvlink: true}
//     capacity: {memory: 80Gi}
type DeviceGroup struct {
	// Driver is the name of the DRA driver, a DNS subdomain. Required.
	Driver string `json:"driver"`
	// Count is how many there are. Default: 1.
	Count *int `json:"count,omitempty"`
	// Name is the prefix of their names: gpu gives gpu-0, gpu-1 and so on. Default:
	// device.
	Name string `json:"name,omitempty"`
	// Attributes are the same for all: strings, whole numbers and booleans, or
	// {version: 1.2.3}.
	Attributes map[string]any `json:"attributes,omitempty"`
	// Capacity is each device's.
	Capacity map[string]resource.Quantity `json:"capacity,omitempty"`
}

// NodeDevices are the devices of the nodes with those labels. A file of devices is a
// list of NodeDevices.
type NodeDevices struct {
	// NodeSelector are labels that a node must have. Default: every node.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Devices      []DeviceGroup     `json:"devices"`
}

const (
	defaultDeviceName = "device"
	// maxDevices bounds the devices of one driver on one node.
	maxDevices = 1024
)

// LoadDevices reads a list of NodeDevices from a file, in YAML or JSON. Devices that
// the API server would refuse are an error.
func LoadDevices(file string) ([]NodeDevices, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the devices: %w", err)
	}
	all, err := parseNodeDevices(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

func parseNodeDevices(data []byte) ([]NodeDevices, error) {
	if err := checkShape(data, "a list of {nodeSelector, devices}"); err != nil {
		return nil, err
	}
	var all []NodeDevices
	if err := decode(data, &all); err != nil {
		return nil, err
	}
	for i, entry := range all {
		if _, err := labels.ValidatedSelectorFromSet(entry.NodeSelector); err != nil {
			return nil, fmt.Errorf("[%d].nodeSelector: %w", i, err)
		}
		if len(entry.Devices) == 0 {
			return nil, fmt.Errorf("[%d].devices: there are none", i)
		}
		devices, err := byDriver(entry.Devices)
		if err != nil {
			return nil, fmt.Errorf("[%d].devices%w", i, err)
		}
		if err := checkSlices(devices); err != nil {
			return nil, fmt.Errorf("[%d].devices: %w", i, err)
		}
	}
	return all, nil
}

// checkShape says what the file should be when it is something else than a list, such as
// a manifest.
func checkShape(data []byte, wanted string) error {
	documents, wrong := yamlsource.Documents(context.Background(), data, yamlsource.Settings)
	switch {
	case wrong != nil:
		return wrong
	case len(documents) > 1:
		return fmt.Errorf("it has several documents; want one, %s", wanted)
	case len(documents) == 0:
		return fmt.Errorf("it is empty; want %s", wanted)
	case documents[0].Kind == yaml.SequenceNode:
		return nil
	}
	if kind := yamlsource.Text(documents[0], "kind"); kind != "" {
		return fmt.Errorf("it is a %s; want %s", yamlsource.Cut(kind, 40), wanted)
	}
	return fmt.Errorf("it is not a list; want %s", wanted)
}

func decode(text []byte, into any) error {
	return yamlsource.Decode(context.Background(), text, yamlsource.Settings, into).Err()
}

// checkSlices finds devices that the API server would refuse on any node.
func checkSlices(devices map[string][]resourceapi.Device) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "uid"}}
	for _, slice := range slicesOf(node, devices) {
		internal := &resourceinternal.ResourceSlice{}
		if err := resourceconversion.Convert_v1_ResourceSlice_To_resource_ResourceSlice(slice, internal, nil); err != nil {
			return fmt.Errorf("%s: %w", slice.Spec.Driver, err)
		}
		if wrong := validation.ValidateResourceSlice(internal); len(wrong) > 0 {
			return fmt.Errorf("%s: %s", slice.Spec.Driver, strings.TrimPrefix(wrong[0].Error(), "spec.devices"))
		}
	}
	return nil
}

func parseDevices(value string) ([]DeviceGroup, error) {
	if value == "" {
		return nil, nil
	}
	var groups []DeviceGroup
	if err := decode([]byte(value), &groups); err != nil {
		return nil, err
	}
	return groups, nil
}

// groupsOf returns the devices of the file first.
func groupsOf(node *corev1.Node, file []NodeDevices) ([]DeviceGroup, error) {
	var groups []DeviceGroup
	for _, entry := range file {
		if labels.SelectorFromSet(entry.NodeSelector).Matches(labels.Set(node.Labels)) {
			groups = append(groups, entry.Devices...)
		}
	}
	more, err := parseDevices(node.Annotations[objects.AnnotationDevices])
	return append(groups, more...), err
}

// Errors start with the place.
func byDriver(groups []DeviceGroup) (map[string][]resourceapi.Device, error) {
	devices := map[string][]resourceapi.Device{}
	for i, group := range groups {
		if wrong := names.IsDNS1123Subdomain(group.Driver); len(wrong) > 0 {
			return nil, fmt.Errorf("[%d].driver: %q: %s", i, group.Driver, wrong[0])
		}
		made, err := group.devices()
		if err != nil {
			return nil, fmt.Errorf("[%d]%w", i, err)
		}
		all := append(devices[group.Driver], made...)
		if len(all) > maxDevices {
			return nil, fmt.Errorf("[%d].count: %s has %d devices on a node; there can be %d", i, group.Driver, len(all), maxDevices)
		}
		devices[group.Driver] = all
	}
	for driver, all := range devices {
		if name, twice := duplicate(all); twice {
			return nil, fmt.Errorf(": two devices of %s are named %s; give one of the groups another name", driver, name)
		}
	}
	return devices, nil
}

func duplicate(devices []resourceapi.Device) (string, bool) {
	names := map[string]bool{}
	for _, device := range devices {
		if names[device.Name] {
			return device.Name, true
		}
		names[device.Name] = true
	}
	return "", false
}

func (g DeviceGroup) devices() ([]resourceapi.Device, error) {
	name := firstOf(g.Name, defaultDeviceName)
	if wrong := names.IsDNS1123Label(name + "-0"); len(wrong) > 0 {
		return nil, fmt.Errorf(".name: %q: %s", name, wrong[0])
	}
	count := ptr.Deref(g.Count, 1)
	if count < 0 || count > maxDevices {
		return nil, fmt.Errorf(".count: %d is not from 0 to %d", count, maxDevices)
	}
	attributes := map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{}
	for key, value := range g.Attributes {
		attribute, err := attributeOf(value)
		if err != nil {
			return nil, fmt.Errorf(".attributes[%s]: %w", key, err)
		}
		attributes[resourceapi.QualifiedName(key)] = attribute
	}
	capacity := map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}
	for key, value := range g.Capacity {
		capacity[resourceapi.QualifiedName(key)] = resourceapi.DeviceCapacity{Value: value}
	}
	devices := make([]resourceapi.Device, count)
	for i := range devices {
		devices[i] = resourceapi.Device{Name: fmt.Sprintf("%s-%d", name, i), Attributes: attributes, Capacity: capacity}
	}
	return devices, nil
}

var errAttribute = errors.New("it is neither a string, a whole number, a boolean, nor {version: 1.2.3}")

func attributeOf(value any) (resourceapi.DeviceAttribute, error) {
	switch v := value.(type) {
	case string:
		return resourceapi.DeviceAttribute{StringValue: &v}, nil
	case bool:
		return resourceapi.DeviceAttribute{BoolValue: &v}, nil
	case int64:
		return resourceapi.DeviceAttribute{IntValue: &v}, nil
	case float64:
		if whole := int64(v); float64(whole) == v {
			return resourceapi.DeviceAttribute{IntValue: &whole}, nil
		}
	case map[string]any:
		if version, ok := v["version"].(string); ok && len(v) == 1 {
			return resourceapi.DeviceAttribute{VersionValue: &version}, nil
		}
	}
	return resourceapi.DeviceAttribute{}, errAttribute
}

// Slices returns the ResourceSlices that a virtual node publishes for its annotation, by name. The
// error says what is wrong with the annotation.
func Slices(node *corev1.Node) ([]*resourceapi.ResourceSlice, error) {
	groups, err := groupsOf(node, nil)
	var devices map[string][]resourceapi.Device
	if err == nil {
		devices, err = byDriver(groups)
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", objects.AnnotationDevices, err)
	}
	made := slicesOf(node, devices)
	slices.SortFunc(made, func(a, b *resourceapi.ResourceSlice) int { return strings.Compare(a.Name, b.Name) })
	return made, nil
}

// slicesOf returns for each driver a pool with the node's name. The names of the slices are stable.
func slicesOf(node *corev1.Node, devices map[string][]resourceapi.Device) []*resourceapi.ResourceSlice {
	var made []*resourceapi.ResourceSlice
	for driver, all := range devices {
		chunks := slices.Collect(slices.Chunk(all, resourceapi.ResourceSliceMaxDevices))
		for i, chunk := range chunks {
			made = append(made, &resourceapi.ResourceSlice{
				ObjectMeta: metav1.ObjectMeta{
					Name:   fmt.Sprintf("%s-%s-%d", node.Name, driver, i),
					Labels: map[string]string{objects.LabelVirtualDriver: "true"},
					OwnerReferences: []metav1.OwnerReference{{
						APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: ptr.To(true),
					}},
				},
				Spec: resourceapi.ResourceSliceSpec{
					Driver:   driver,
					NodeName: &node.Name,
					Pool:     resourceapi.ResourcePool{Name: node.Name, Generation: 1, ResourceSliceCount: int64(len(chunks))},
					Devices:  chunk,
				},
			})
		}
	}
	return made
}
