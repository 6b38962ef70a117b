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
		if isStartState(u) || leftOutOfExport(u) {
			continue
		}
		data, err := item(u, isCustom(u))
		if err != nil {
			return err
		}
		if err := out.item(data); err != nil {
			return err
		}
	}
	if document != nil {
		data, err := configurationJSON(document)
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

func configurationJSON(document []byte) ([]byte, error) {
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
