// Command example runs the example scheduler extender; see README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/scheduler/examples/extender/reservation"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8888", "address to serve on")
	kubeconfig := flag.String("kubeconfig", "", "file for reaching the API server, to bind pods and to look up nodes that are sent by name only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "example extender:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, listen, kubeconfig string) error {
	extender := &reservation.Extender{Log: log.New(os.Stderr, "", log.LstdFlags)}
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		if extender.Client, err = kubernetes.NewForConfig(config); err != nil {
			return fmt.Errorf("making a client: %w", err)
		}
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	log.Printf("serving on http://%s", listener.Addr())
	server := &http.Server{Handler: extender.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
