// Command beside runs Kueue itself beside a simulator, until it is interrupted. It builds the version that the judge's go.mod
// names, or the user's own checkout.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"kube-scheduler-simulator/simulator/batch/kueue/judge/original"
)

var (
	kubeconfig    = flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the simulator's kubeconfig")
	sources       = flag.String("sources", "", "a checkout of Kueue; by default the module that the judge compares with")
	configuration = flag.String("configuration", "", "a file with a Configuration of Kueue's")
	directory     = flag.String("dir", "", "where the program, its certificate and its log go; by default a directory of the user's cache")
	buildOnly     = flag.Bool("build", false, "build Kueue and start nothing")
)

func main() {
	flag.Parse()
	ctrllog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if *kubeconfig == "" && !*buildOnly {
		return errors.New("say which cluster by --kubeconfig or KUBECONFIG; the simulator prints the path when it is ready")
	}
	dir, err := workplace()
	if err != nil {
		return err
	}
	kueue := original.Checkout(*sources)
	if *sources == "" {
		if kueue, err = original.Module(); err != nil {
			return err
		}
	}
	text := []byte("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [batch/job, pod, deployment, statefulset]}\n")
	if *configuration != "" {
		if text, err = os.ReadFile(*configuration); err != nil {
			return err
		}
	}
	fmt.Println("building Kueue: some minutes when Go has none of its packages yet")
	program, err := kueue.Build(ctx, dir)
	if err != nil || *buildOnly {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	manager, err := kueue.Start(ctx, c, program, dir, *kubeconfig, string(text), func([]byte) {})
	if err == nil {
		fmt.Printf("ready: Kueue decides; its log is %s. Interrupt this to let the simulator's own queues decide again\n", filepath.Join(dir, "manager.log"))
		select {
		case <-ctx.Done():
		case <-manager.Exited:
			err = fmt.Errorf("Kueue ended: see %s", filepath.Join(dir, "manager.log"))
		}
	}
	manager.Stop()
	return errors.Join(err, kueue.Forget(context.WithoutCancel(ctx), c))
}

func workplace() (string, error) {
	dir := *directory
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "kube-scheduler-simulator", "kueue")
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, fs.ModePerm)
	}
	return dir, err
}
