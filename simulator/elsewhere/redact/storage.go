package redact

import (
	"regexp"
	"slices"
	"strings"
)

var (
	knownDuration = regexp.MustCompile(`^([0-9]{1,9}(\.[0-9]{1,9})?(ns|us|ms|s|m|h))+$`)
	// knownPlugins match the names of volume plugins that were built in.
	knownPlugins = regexp.MustCompile(`^(kubernetes\.io/(aws-ebs|azure-disk|azure-file|cinder|gce-pd|portworx-volume|rbd|vsphere-volume),?)+$`)
	drivers      = text((*Redactor).driver)
)

// Kubernetes translates built-in volumes to these drivers.
var knownDrivers = []string{
	"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "file.csi.azure.com",
	"cinder.csi.openstack.org", "csi.vsphere.vmware.com", "pxd.portworx.com", "kubernetes.io/no-provisioner",
}

// driver is for drivers of volumes and devices, provisioners, and domains of devices' attributes.
func (r *Redactor) driver(name string) string {
	if slices.Contains(knownDrivers, name) || knownPlugins.MatchString(name) && !strings.Contains(name, ",") {
		return name
	}
	return r.word("driver", name)
}

var (
	accessMode = oneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
	volumeMode = oneOf("Filesystem", "Block")
	reclaim    = oneOf("Retain", "Delete", "Recycle")
)

var claimSpec = object(fields{
	"accessModes": each(accessMode), "volumeMode": volumeMode,
	"selector": selector, "resources": object(fields{"requests": amounts(resourceName), "limits": amounts(resourceName)}),
	"volumeName": volume, "storageClassName": classes, "volumeAttributesClassName": classes,
})

// reference is for an ObjectReference to a claim.
var reference = object(fields{
	"apiVersion": oneOf("v1"), "kind": oneOf("PersistentVolumeClaim"), "namespace": namespace, "name": claimName, "uid": uids,
})

// knownSources are the volume sources that matter, because nodes limit how many volumes of a driver
// they take. Any other becomes a hostPath.
var knownSources = fields{
	"csi":       object(fields{"driver": drivers, "volumeHandle": volume, "readOnly": boolean}),
	"local":     object(fields{"path": path}),
	"hostPath":  object(fields{"path": path}),
	"azureDisk": object(fields{"diskName": volume, "diskURI": volume, "readOnly": boolean, "kind": oneOf("Managed")}),
}.with(disks)

var path = text(func(r *Redactor, s string) string { return "/" + r.word("path", s) })

var volumeFields = fields{
	"capacity": amounts(resourceName), "accessModes": each(accessMode), "volumeMode": volumeMode,
	"claimRef": reference, "persistentVolumeReclaimPolicy": reclaim, "storageClassName": classes,
	"nodeAffinity": object(fields{"required": nodeSelector}), "volumeAttributesClassName": classes,
}

func volumeSpec(r *Redactor, v any) any {
	redacted, ok := object(volumeFields.with(knownSources))(r, v).(map[string]any)
	if !ok {
		return nil
	}
	for name := range knownSources {
		if redacted[name] != nil {
			return redacted
		}
	}
	redacted["hostPath"] = map[string]any{"path": "/"}
	return redacted
}

var volumeCount = object(fields{"count": number})

var storageKinds = map[string]kind{
	"StorageClass": {name: classes, fields: fields{
		"provisioner": drivers, "reclaimPolicy": reclaim, "allowVolumeExpansion": boolean,
		"volumeBindingMode": oneOf("Immediate", "WaitForFirstConsumer"), "allowedTopologies": each(topologyTerm),
	}},
	"CSINode": {name: nodeName, fields: fields{"spec": object(fields{"drivers": each(object(fields{
		"name": drivers, "nodeID": nodeName, "topologyKeys": each(labelKeys), "allocatable": volumeCount,
	}))})}},
	"CSIDriver": {name: drivers, fields: fields{"spec": object(fields{
		"attachRequired": boolean, "podInfoOnMount": boolean, "storageCapacity": boolean, "requiresRepublish": boolean, "seLinuxMount": boolean,
		"preventPodSchedulingIfMissing": boolean,
		"volumeLifecycleModes":          each(oneOf("Persistent", "Ephemeral")), "fsGroupPolicy": oneOf("ReadWriteOnceWithFSType", "File", "None"),
	})}},
	"CSIStorageCapacity": {name: words("capacity"), fields: fields{
		"nodeTopology": selector, "storageClassName": classes, "capacity": amount, "maximumVolumeSize": amount,
	}},
	"VolumeAttachment": {name: words("attachment"), fields: fields{
		"spec":   object(fields{"attacher": drivers, "nodeName": nodeName, "source": object(fields{"persistentVolumeName": volume})}),
		"status": object(fields{"attached": boolean}),
	}},
	"VolumeAttributesClass": {name: classes, fields: fields{"driverName": drivers}},
}
