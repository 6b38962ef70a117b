package following

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/host/datadir"
)

// Options say which other cluster to copy into this one. The simulator only reads from it, and
// never its secrets.
type Options struct {
	// ImportKubeconfig reaches a cluster to import once, SyncKubeconfig a cluster to follow. At
	// most one may be set; neither is by default.
	ImportKubeconfig, SyncKubeconfig string
	// Context is one of the kubeconfig's contexts; its current one by default.
	Context string
	// Namespaces restricts namespaced objects to these namespaces when it is not empty, and
	// Selector restricts pods.
	Namespaces []string
	Selector   string
	// Redact replaces every name that people have chosen.
	Redact bool
	// QPS bounds the requests per second; mirror.DefaultQPS by default.
	QPS float32
}

func (o Options) kubeconfig() string {
	if o.SyncKubeconfig != "" {
		return o.SyncKubeconfig
	}
	return o.ImportKubeconfig
}

// Open reads the kubeconfig and checks the options. It returns nil when there is no other cluster.
// dataDir keeps the salt of redacted names; it is empty for data that do not outlive the program.
func Open(o Options, dataDir string) (*mirror.Source, error) {
	switch {
	case o.ImportKubeconfig != "" && o.SyncKubeconfig != "":
		return nil, errors.New("a cluster is either imported or followed: --import-kubeconfig and --sync-kubeconfig exclude each other")
	case o.kubeconfig() == "" && (o.Context != "" || len(o.Namespaces) > 0 || o.Selector != "" || o.Redact):
		return nil, errors.New("there is no cluster to read from: give --import-kubeconfig or --sync-kubeconfig")
	case o.kubeconfig() == "":
		return nil, nil
	}
	options := mirror.SourceOptions{
		Kubeconfig: o.kubeconfig(), Context: o.Context, QPS: o.QPS,
		Selection: mirror.Selection{Namespaces: o.Namespaces, Pods: o.Selector},
	}
	if o.Redact {
		salt, err := salt(dataDir)
		if err != nil {
			return nil, err
		}
		options.Redactor = redact.New(salt)
	}
	return mirror.NewSource(options)
}

// saltFile is in a data directory that holds redacted objects: the next run must give them the same
// names.
const saltFile = "redaction-salt"

// salt returns nil for data that do not outlive the program: the redactor then makes a salt and
// stores it nowhere.
func salt(dataDir string) ([]byte, error) {
	if dataDir == "" {
		return nil, nil
	}
	path := filepath.Join(dataDir, saltFile)
	salt, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		salt = redact.NewSalt()
		if err := datadir.WriteFile(path, salt); err != nil {
			return nil, fmt.Errorf("keeping the salt of redacted names: %w", err)
		}
		return salt, nil
	}
	if want := len(redact.NewSalt()); err == nil && len(salt) != want {
		err = fmt.Errorf("has %d bytes, and a salt of redacted names has %d", len(salt), want)
	}
	if err != nil {
		return nil, &datadir.Damage{Path: path, Err: err, Do: "restore it from a backup: with another salt the same objects get other names"}
	}
	// With another salt the objects in the directory would have other names than those that come in
	// now.
	if len(salt) == 0 {
		return nil, fmt.Errorf("the salt of redacted names, %s, is empty: restore it, or use another data directory", path)
	}
	return salt, nil
}
