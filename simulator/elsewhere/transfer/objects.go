package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// WriteObjects writes given objects, which it changes, as Export writes those of the cluster: in
// the order of their ranks, without what belongs only to their cluster, and without what every
// cluster has. document is a scheduler configuration in YAML or JSON; nil for none.
func WriteObjects(w io.Writer, all []*unstructured.Unstructured, document []byte) error {
	buffered := bufio.NewWriterSize(w, 256<<10)
	out := writerOf(JSON, buffered)
	if err := out.begin(); err != nil {
		return err
	}
	for _, u := range inOrder(all) {
		if !Exported(u) {
			continue
		}
		data, err := json.Marshal(u.Object)
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		if err := out.item(data); err != nil {
			return err
		}
	}
	if document != nil {
		data, err := ConfigurationJSON(document)
		if err != nil {
			return err
		}
		if err := out.field(manifest.ConfigurationField, data); err != nil {
			return err
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("writing the export: %w", err)
	}
	return nil
}

// Exported reduces an object, in place, to what an export holds of it, and reports whether an export
// holds it.
func Exported(u *unstructured.Unstructured) bool {
	if isStartState(u) || leftOutOfExport(u) {
		return false
	}
	neutralForExport(u, isCustom(u))
	return true
}

// inOrder sorts objects by their ranks, and pods by their creation.
func inOrder(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		byRank := cmp.Compare(objects.RankOf(a.GroupVersionKind().GroupKind()), objects.RankOf(b.GroupVersionKind().GroupKind()))
		if byRank != 0 || a.GroupVersionKind().GroupKind() != objects.Pod {
			return byRank
		}
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
			strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName()))
	})
	return all
}

func isCustom(u *unstructured.Unstructured) bool {
	uses := objects.KindOf(u.GroupVersionKind().GroupKind()).Uses
	return uses&objects.Exported == 0 || uses&objects.Custom != 0
}

// ConfigurationJSON returns a scheduler configuration as exports hold it: in JSON on one line, and
// without the private keys of extenders.
func ConfigurationJSON(document []byte) ([]byte, error) {
	document, wrong := yamlsource.ToJSON(context.Background(), document, yamlsource.Settings)
	if wrong != nil {
		return nil, fmt.Errorf("converting the scheduler configuration to JSON: %w", wrong)
	}
	document, err := withoutKeys(document)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	return compact.Bytes(), nil
}
