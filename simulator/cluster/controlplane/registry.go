package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Etcd locates the etcd in which an API server keeps its state.
type Etcd struct {
	// Servers are endpoints: http://, https:// or unix://.
	Servers []string
	// Prefix is the prefix of all keys. Default: DefaultEtcdPrefix.
	Prefix string
	// CAFile, CertFile and KeyFile are for https. Default: the system's
	// authorities, and no client certificate.
	CAFile, CertFile, KeyFile string
}

// DefaultEtcdPrefix is kube-apiserver's default prefix.
const DefaultEtcdPrefix = "/registry"

func (e Etcd) prefix() string {
	if e.Prefix == "" {
		return DefaultEtcdPrefix
	}
	return "/" + strings.Trim(e.Prefix, "/")
}

// tls returns nil when no server uses https.
func (e Etcd) tls() (*tls.Config, error) {
	if !slices.ContainsFunc(e.Servers, func(s string) bool { return strings.HasPrefix(s, "https://") }) {
		return nil, nil
	}
	info := transport.TLSInfo{CertFile: e.CertFile, KeyFile: e.KeyFile, TrustedCAFile: e.CAFile}
	config, err := info.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read etcd's certificates: %w", err)
	}
	return config, nil
}

const (
	// An unreachable etcd is detected quickly.
	etcdDialTimeout = 3 * time.Second
	// The keys of a large cluster take a few megabytes.
	etcdMessageBytes = 1 << 30
	// startStateDir holds the copies of the start state. The API server does not read it.
	startStateDir = ownDir + "start-state/"
	ownerKey      = ownDir + "owner"
	ownDir        = "kube-scheduler-simulator/"
)

// registry gives access to the API server's keys in etcd.
type registry struct {
	client *clientv3.Client
	// prefix ends with a slash.
	prefix string
	// failures is for an external etcd.
	failures failures
	tls      *tls.Config
}

// failures remembers why etcd could not be reached: its client says only that a request timed out.
type failures struct {
	mu   sync.Mutex
	last string
}

// It precedes the cause in grpc's message about a failed connection.
const ofConnection = "latest balancer error: "

func (f *failures) note(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if _, why, ok := strings.Cut(status.Convert(err).Message(), ofConnection); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.last = why
	}
	return err
}

// explain returns the cause of a timeout, if known, and otherwise err.
func (r *registry) explain(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if why := refusal(r.client.Endpoints(), r.tls); why != nil {
		return why
	}
	r.failures.mu.Lock()
	defer r.failures.mu.Unlock()
	if r.failures.last == "" {
		return err
	}
	return errors.New(r.failures.last)
}

const (
	// One server may take so long to reject a certificate.
	refusalTimeout = time.Second
	ofTLS          = "tls: "
)

// refusal returns why we reject the first server's certificate, or why that server rejects ours;
// nil when both are accepted. A server rejects ours only after the client's part of the handshake,
// and a client that keeps writing, like etcd's, may never read that.
func refusal(servers []string, config *tls.Config) error {
	for _, server := range servers {
		address, encrypted := strings.CutPrefix(server, "https://")
		if !encrypted {
			continue
		}
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: refusalTimeout}, "tcp", address, config)
		if err == nil {
			err = conn.SetReadDeadline(time.Now().Add(refusalTimeout))
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			_ = conn.Close()
		}
		if err != nil && strings.Contains(err.Error(), ofTLS) {
			return err
		}
	}
	return nil
}

// registryOf needs no socket.
func registryOf(server *embed.Etcd, prefix string) *registry {
	return &registry{client: v3client.New(server.Server), prefix: prefix + "/"}
}

func newRegistry(e Etcd) (*registry, error) {
	config, err := e.tls()
	if err != nil {
		return nil, err
	}
	r := &registry{prefix: e.prefix() + "/", tls: config}
	r.client, err = clientv3.New(clientv3.Config{
		Endpoints:          e.Servers,
		DialOptions:        []grpc.DialOption{grpc.WithChainUnaryInterceptor(r.failures.note)},
		DialTimeout:        etcdDialTimeout,
		TLS:                config,
		MaxCallRecvMsgSize: etcdMessageBytes,
		Logger:             zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("create an etcd client: %w", err)
	}
	return r, nil
}

func (r *registry) close() error {
	// An etcd in this process always returns Canceled.
	if err := r.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close the etcd client: %w", err)
	}
	return nil
}

func (r *registry) copyOf(key string) string {
	return r.prefix + startStateDir + strings.TrimPrefix(key, r.prefix)
}

// It says how much of the start state is known.
func (r *registry) stateKey() string { return r.prefix + strings.TrimSuffix(startStateDir, "/") }

// entry is a key, with its value unless only keys were requested, and the revisions of its creation
// and last change.
type entry struct {
	key, value        string
	created, modified int64
}

// list returns the entries but our own, sorted by key, and the revision of the list.
func (r *registry) list(ctx context.Context, options ...clientv3.OpOption) ([]entry, int64, error) {
	answer, err := r.client.Get(ctx, r.prefix, append(options, clientv3.WithPrefix())...)
	if err != nil {
		return nil, 0, fmt.Errorf("list the keys of the API server: %w", err)
	}
	entries := make([]entry, 0, len(answer.Kvs))
	for _, kv := range answer.Kvs {
		if key := string(kv.Key); !strings.HasPrefix(key, r.prefix+ownDir) {
			entries = append(entries, entry{key: key, value: string(kv.Value), created: kv.CreateRevision, modified: kv.ModRevision})
		}
	}
	return entries, answer.Header.Revision, nil
}

// kind returns the part of a key that all objects of a kind share.
func (r *registry) kind(key string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(key, r.prefix), "/")
	return kind
}
