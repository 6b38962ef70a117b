// Command cmd writes zz_generated_compositions.go into the working directory.
package main

import (
	"context"
	"log"
	"os"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"kube-scheduler-simulator/scheduler/recorder/internal/compose"
)

func main() {
	if err := generate(); err != nil {
		log.Fatal(err)
	}
}

func generate() error {
	// With every gate on, each plugin that depends on a gate can be created.
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"AllAlpha": true, "AllBeta": true}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sets, err := compose.Sets(ctx)
	if err != nil {
		return err
	}
	source, err := compose.Source(sets)
	if err != nil {
		return err
	}
	return os.WriteFile("zz_generated_compositions.go", source, 0o644)
}
