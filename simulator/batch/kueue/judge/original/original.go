// Package original runs the manager of Kueue itself against a simulator's API server, as a process beside it. Nodes of the simulator run
// no containers, so that a Deployment of Kueue's would start nothing.
//
// A manager needs three things of a cluster, and Start makes them: Kueue's definitions, unless they are there, its webhooks, which
// the API server reaches by URL because there is no network of services, and a certificate for these.
package original

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// patience is how long a manager may take to answer.
const patience = 2 * time.Minute

// Kueue is a version of Kueue's sources.
type Kueue struct {
	// sources is the directory of its module.
	sources string
	// checkout says that the directory is the user's own, not the module cache's.
	checkout bool
}

// Module is the version that the go.mod of the judge names.
func Module() (Kueue, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		return Kueue{}, fmt.Errorf("finding the module sigs.k8s.io/kueue: %w", err)
	}
	return Kueue{sources: strings.TrimSpace(string(out))}, nil
}

// Checkout is the version in a directory of the user's.
func Checkout(dir string) Kueue { return Kueue{sources: dir, checkout: true} }

// Build compiles the manager into a directory and returns the program's path. One path in its main file changes: without its own
// management of certificates, the manager reads those of its metrics, even if it serves none, from a directory that only a container has.
func (k Kueue) Build(ctx context.Context, dir string) (string, error) {
	const path = `"/etc/kueue/metrics/certs"`
	main := filepath.Join(k.sources, "cmd/kueue/main.go")
	text, err := os.ReadFile(main)
	if err != nil {
		return "", err
	}
	if bytes.Count(text, []byte(path)) != 1 {
		return "", fmt.Errorf("%s no longer has the path %s once", main, path)
	}
	// Go refuses to replace files of the module cache, so the copy stands in for a package of ours that has no other file.
	from, target, replaced := k.sources, "./cmd/kueue", main
	if !k.checkout {
		if from, err = os.Getwd(); err != nil {
			return "", err
		}
		target, replaced = "./manager", filepath.Join(from, "manager", "main.go")
	}
	changed, overlay, program := filepath.Join(dir, "main.go.changed"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "manager")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: changed}})
	if err != nil {
		return "", err
	}
	text = bytes.ReplaceAll(text, []byte(path), []byte(strconv.Quote(dir)))
	if err := errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, target)
	build.Dir = from
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building Kueue: %w\n%s", err, out)
	}
	return program, nil
}

// Define creates Kueue's definitions, and returns once the API server serves them: the manager ends if it does not. Those that exist
// stay as they are.
func (k Kueue) Define(ctx context.Context, c client.Client) error {
	err := k.manifests("crd/bases/*.yaml", func(o *unstructured.Unstructured) error {
		if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating the definition %s: %w", o.GetName(), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.manifests("crd/bases/*.yaml", func(o *unstructured.Unstructured) error {
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		versions, _, err := unstructured.NestedSlice(o.Object, "spec", "versions")
		if err != nil {
			return err
		}
		for _, v := range versions {
			v := v.(map[string]any)
			if served, _ := v["served"].(bool); !served {
				continue
			}
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(fmt.Sprintf("%s/%s", group, v["name"]))
			list.SetKind(kind + "List")
			var latest error
			if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
				latest = c.List(ctx, list, client.Limit(1))
				return latest == nil, nil
			}); err != nil {
				return fmt.Errorf("waiting for the kind %s: %w (%v)", kind, err, latest)
			}
		}
		return nil
	})
}

// manifests calls each with the objects of Kueue's own files, below config/components.
func (k Kueue) manifests(pattern string, each func(*unstructured.Unstructured) error) error {
	files, err := filepath.Glob(filepath.Join(k.sources, "config/components", pattern))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no manifests %s: %w", k.sources, pattern, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(raw, []byte("\n---\n")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &o.Object); err != nil {
				return err
			}
			if len(o.Object) > 0 {
				if err := each(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// webhooks calls each with Kueue's webhook configurations, at an address and with its certificate.
func (k Kueue) webhooks(address string, certificate []byte, each func(*unstructured.Unstructured) error) error {
	return k.manifests("webhook/manifests.yaml", func(o *unstructured.Unstructured) error {
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			hook := hook.(map[string]any)
			path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
			if err != nil {
				return err
			}
			hook["clientConfig"] = map[string]any{"url": "https://" + address + path, "caBundle": base64.StdEncoding.EncodeToString(certificate)}
			// As in Kueue's kustomization, which keeps its own namespace out.
			hook["namespaceSelector"] = map[string]any{"matchExpressions": []any{map[string]any{
				"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{"kube-system", "kueue-system"},
			}}}
		}
		o.Object["webhooks"] = hooks
		return each(o)
	})
}

// Forget deletes Kueue's webhooks from a cluster. While they are there and no manager answers them, the API server refuses every write of
// the kinds that Kueue manages.
func (k Kueue) Forget(ctx context.Context, c client.Client) error {
	return k.webhooks("", nil, func(o *unstructured.Unstructured) error { return client.IgnoreNotFound(c.Delete(ctx, o)) })
}

// Start starts a manager in a directory, which gets its certificate, its configuration and its log, and returns once it answers.
// The configuration is one of Kueue's; what a process outside of the cluster needs replaces what it says. Each line that the
// manager writes also goes to each.
func (k Kueue) Start(ctx context.Context, c client.Client, program, dir, kubeconfig, configuration string, each func(line []byte)) (*Process, error) {
	if err := k.Define(ctx, c); err != nil {
		return nil, err
	}
	certificate, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err == nil {
		// Build made the manager read the certificates of its metrics from its own directory.
		for _, where := range []string{dir, filepath.Dir(program)} {
			err = errors.Join(err, os.WriteFile(filepath.Join(where, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(where, "tls.key"), key, 0o600))
		}
	}
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	full, err := outside(configuration, port, dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "configuration.yaml")
	if err := os.WriteFile(file, full, 0o600); err != nil {
		return nil, err
	}
	err = k.webhooks(fmt.Sprintf("127.0.0.1:%d", port), certificate, func(o *unstructured.Unstructured) error {
		if err := client.IgnoreNotFound(c.Delete(ctx, o.DeepCopy())); err != nil {
			return err
		}
		return c.Create(ctx, o)
	})
	if err != nil {
		return nil, err
	}
	p, err := Launch(filepath.Join(dir, "manager.log"), each, program, "--config", file, "--kubeconfig", kubeconfig, "--zap-log-level=3")
	if err != nil {
		return nil, err
	}
	return p, p.answers(ctx, c)
}

// outside returns a configuration with what a process outside of the cluster needs.
func outside(configuration string, port int, certificates string) ([]byte, error) {
	all := map[string]any{}
	if err := yaml.Unmarshal([]byte(configuration), &all); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	maps.Copy(all, map[string]any{
		"health":                 map[string]any{"healthProbeBindAddress": "0"},
		"metrics":                map[string]any{"bindAddress": "0"},
		"webhook":                map[string]any{"port": port, "host": "127.0.0.1", "certDir": certificates},
		"leaderElection":         map[string]any{"leaderElect": false},
		"internalCertManagement": map[string]any{"enable": false},
		"clientConnection":       map[string]any{"qps": 500, "burst": 1000},
	})
	gates, ok := all["featureGates"].(map[string]any)
	if !ok {
		gates = map[string]any{}
		all["featureGates"] = gates
	}
	gates["VisibilityOnDemand"] = false // its server needs a service
	return yaml.Marshal(all)
}

// answers returns once the manager's webhooks do.
func (p *Process) answers(ctx context.Context, c client.Client) error {
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": map[string]any{"name": "answers"},
	}}
	var latest error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.Exited:
			return false, fmt.Errorf("it ended: see %s", p.log)
		default:
		}
		latest = c.Create(ctx, probe.DeepCopy(), client.DryRunAll)
		return latest == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for Kueue's manager: %w (%v)", err, latest)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Process is a program that runs until it is stopped.
type Process struct {
	// Exited is closed when it has ended.
	Exited chan struct{}
	cmd    *exec.Cmd
	log    string
}

// Launch starts a program. What it writes goes to a file, and each line to each as well.
func Launch(log string, each func(line []byte), path string, args ...string) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(path, args...), Exited: make(chan struct{}), log: log}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = in, in
	err = p.cmd.Start()
	in.Close()
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(p.Exited)
		defer file.Close()
		lines := bufio.NewReaderSize(io.TeeReader(out, file), 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			each(line)
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// Kill ends the program without a warning.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.Exited
}

// Stop ends the program, and kills it if it takes too long. A nil process has ended.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.Exited:
	case <-time.After(30 * time.Second):
		p.Kill()
	}
}
