package command

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/spf13/cobra"
	"io"
	"os"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/host/version"
)

func showVersion() *cobra.Command {
	flags := newFlags("version [flags]", "Prints the versions of the simulator and of the parts that it was built from.")
	output := flags.StringP("output", "o", "", "`format`: json or yaml (default: text)")
	return flags.runs(func(context.Context) error {
		return writeVersion(os.Stdout, version.Get(), *output)
	})
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
