package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"kube-scheduler-simulator/simulator/controlplane"
)

// EtcdOptions say where the API server keeps its state, when that is not here. See
// controlplane.Etcd.
type EtcdOptions struct {
	Servers                   []string
	Prefix                    string
	CAFile, CertFile, KeyFile string
}

// checkControlPlane returns what is wrong with the options that say whose control
// plane is used.
func (o Options) checkControlPlane() error {
	if o.Kubeconfig == "" {
		if o.KubeContext != "" {
			return errors.New("--context names a context of --kubeconfig, which is not given")
		}
		return o.Etcd.check()
	}
	if _, err := os.Stat(o.Kubeconfig); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	for _, excluded := range []struct {
		given bool
		flag  string
		why   string
	}{
		{len(o.Etcd.Servers) > 0, "--etcd-servers", "the API server has its etcd"},
		{!slices.Equal(o.Controllers, DefaultOptions().Controllers), "--controllers", "the cluster has its own"},
		{o.NoVirtualNodes, "--no-virtual-nodes", "the cluster has its own nodes, and none are made here"},
		{o.Stages != "", "--stages", "the cluster has its own nodes"},
		{o.Devices != "", "--devices", "the cluster has its own nodes"},
		{o.Replay != nil, "a replay", "it empties the cluster, and this one is not the simulator's own"},
		{o.Source.SyncKubeconfig != "", "--sync-kubeconfig", "it deletes what the other cluster has not, and this one is not the simulator's own"},
	} {
		if excluded.given {
			return fmt.Errorf("--kubeconfig and %s exclude each other: %s", excluded.flag, excluded.why)
		}
	}
	return nil
}

func (o EtcdOptions) check() error {
	if len(o.Servers) == 0 {
		if o.Prefix != "" || o.CAFile != "" || o.CertFile != "" || o.KeyFile != "" {
			return errors.New("--etcd-prefix, --etcd-cafile, --etcd-certfile and --etcd-keyfile belong to --etcd-servers, which is not given")
		}
		return nil
	}
	encrypted := 0
	for _, server := range o.Servers {
		u, err := url.Parse(server)
		if err != nil || !slices.Contains([]string{"http", "https", "unix"}, u.Scheme) || u.Host+u.Path == "" {
			return fmt.Errorf("--etcd-servers: %q is no address such as http://127.0.0.1:2379, https://etcd.example.com:2379 or unix:///run/etcd.sock", server)
		}
		if u.Scheme == "https" {
			encrypted++
		}
	}
	switch {
	case encrypted > 0 && encrypted < len(o.Servers):
		return errors.New("--etcd-servers: either all or none are https")
	case encrypted == 0 && (o.CAFile != "" || o.CertFile != "" || o.KeyFile != ""):
		return errors.New("--etcd-cafile, --etcd-certfile and --etcd-keyfile are for --etcd-servers with https")
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("--etcd-certfile and --etcd-keyfile are given together")
	}
	for _, file := range []string{o.CAFile, o.CertFile, o.KeyFile} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("reading etcd's certificates: %w", err)
		}
	}
	return nil
}

// connect uses a control plane that is there already.
func (s *simulator) connect(ctx context.Context) error {
	s.external = controlplane.NewExternal(controlplane.ExternalOptions{
		Kubeconfig: s.options.Kubeconfig,
		Context:    s.options.KubeContext,
		DataDir:    s.prepared.dataDir,
		Changed:    s.tellExternal,
	})
	s.controlPlane = s.external
	if err := s.external.Start(ctx); err != nil {
		return err
	}
	s.onStop(s.external.Stop)
	return nil
}

// tellExternal logs what has changed. The status follows within healthEvery.
func (s *simulator) tellExternal() {
	state := s.external.State()
	for _, warning := range state.Warnings {
		s.options.Logger.Info(warning)
	}
	if state.Unreachable != "" {
		s.options.Logger.Info(state.Unreachable)
	} else if len(state.Warnings) == 0 {
		s.options.Logger.Info("the API server answers", "address", s.external.ClientConfig().Host)
	}
}
