package command

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/host/version"
)

func showVersion(args []string, out io.Writer) error {
	flags := newFlags("simulator version [flags]", "Prints the versions of the simulator and of the parts that it was built from.")
	output := flags.StringP("output", "o", "", "`format`: json or yaml (default: text)")
	if done, err := flags.parse(args); done || err != nil {
		return err
	}
	return writeVersion(out, version.Get(), *output)
}

func writeVersion(out io.Writer, v version.Info, format string) error {
	var data []byte
	var err error
	switch format {
	case "":
		data = fmt.Appendf(nil, "Simulator: %s\nKubernetes: %s\netcd: %s\nGo: %s\n", v.Simulator, v.Kubernetes, v.Etcd, v.Go)
	case "json":
		data, err = json.MarshalIndent(v, "", "  ")
		data = append(data, '\n')
	case "yaml":
		data, err = yaml.Marshal(v)
	default:
		return fmt.Errorf("--output must be json or yaml, not %q", format)
	}
	if err != nil {
		return fmt.Errorf("encoding the versions: %w", err)
	}
	_, err = out.Write(data)
	return err
}
