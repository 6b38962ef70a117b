package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/controlplane/external"
)

func (o Options) checkControlPlane() error {
	if o.Kubeconfig == "" {
		if o.KubeContext != "" {
			return errors.New("--context needs --kubeconfig")
		}
		return checkEtcd(o.Etcd)
	}
	if _, err := os.Stat(o.Kubeconfig); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	for _, excluded := range []struct {
		given bool
		flag  string
		why   string
	}{
		{len(o.Etcd.Servers) > 0, "--etcd-servers", "the API server has its own etcd"},
		{!slices.Equal(o.Controllers, DefaultOptions().Controllers), "--controllers", "the cluster has its own"},
		{o.NoVirtualNodes, "--no-virtual-nodes", "the cluster has its own nodes, so no virtual nodes run"},
		{o.Stages != "", "--stages", "the cluster has its own nodes"},
		{o.Devices != "", "--devices", "the cluster has its own nodes"},
		{o.NUMA != "", "--numa", "the cluster has its own nodes"},
		{o.Replay != nil, "a replay", "it empties the cluster, which is not the simulator's own"},
		{o.Kueue || o.KueueOff, "--kueue", "the simulator runs no controllers there; install Kueue itself"},
		{o.Karpenter, "--karpenter", "the simulator runs no controllers there; ask with simulator autoscale what Karpenter would do"},
		{o.Source.SyncKubeconfig != "", "--sync-kubeconfig", "it deletes objects that the other cluster does not have, and the cluster is not the simulator's own"},
	} {
		if excluded.given {
			return fmt.Errorf("--kubeconfig and %s exclude each other: %s", excluded.flag, excluded.why)
		}
	}
	return nil
}

func checkEtcd(o controlplane.Etcd) error {
	if len(o.Servers) == 0 {
		if o.Prefix != "" || o.CAFile != "" || o.CertFile != "" || o.KeyFile != "" {
			return errors.New("--etcd-prefix, --etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers")
		}
		return nil
	}
	encrypted := 0
	for _, server := range o.Servers {
		u, err := url.Parse(server)
		if err != nil || !slices.Contains([]string{"http", "https", "unix"}, u.Scheme) || u.Host+u.Path == "" {
			return fmt.Errorf("--etcd-servers: %q is not an address such as http://127.0.0.1:2379, https://etcd.example.com:2379 or unix:///run/etcd.sock", server)
		}
		if u.Scheme == "https" {
			encrypted++
		}
	}
	switch {
	case encrypted > 0 && encrypted < len(o.Servers):
		return errors.New("--etcd-servers: use https for all or none")
	case encrypted == 0 && (o.CAFile != "" || o.CertFile != "" || o.KeyFile != ""):
		return errors.New("--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers with https")
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("--etcd-certfile and --etcd-keyfile must be given together")
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

func (s *simulator) connect(ctx context.Context) error {
	s.external = external.New(external.Options{
		Kubeconfig: s.options.Kubeconfig,
		Context:    s.options.KubeContext,
		DataDir:    s.prepared.dataDir,
		Changed:    s.tellExternal,
	})
	s.controlPlane = s.external
	if err := s.external.Start(ctx); err != nil {
		return err
	}
	s.onStopOf("the connection to the control plane", 0, func(ctx context.Context) error { return ends(ctx, s.external.Stop) })
	return nil
}

// tellExternal logs a change of the connection. The status follows within healthInterval.
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
