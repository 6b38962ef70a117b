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

// Etcd is where an API server keeps its state, and how it is reached.
type Etcd struct {
	// Servers are endpoints: http://, https:// or unix://.
	Servers []string
	// Prefix of all keys. Default: /registry.
	Prefix string
	// CAFile, CertFile and KeyFile are for https. Default: the system's
	// authorities, and no certificate.
	CAFile, CertFile, KeyFile string
}

// DefaultEtcdPrefix is kube-apiserver's.
const DefaultEtcdPrefix = "/registry"

func (e Etcd) prefix() string {
	if e.Prefix == "" {
		return DefaultEtcdPrefix
	}
	return "/" + strings.Trim(e.Prefix, "/")
}

// tls is nil where nothing is encrypted.
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
	// etcdDialTimeout bounds the first connection, and so how soon it is known
	// that there is no etcd.
	etcdDialTimeout = 3 * time.Second
	// etcdMessageBytes bounds an answer. The keys of a large cluster are some
	// megabytes.
	etcdMessageBytes = 1 << 30
	// startStateDir is where, below the prefix, the copies of the start state
	// are. The API server does not look there.
	startStateDir = "kube-scheduler-simulator/start-state/"
)

// registry is what the API server keeps in etcd: the keys below a prefix.
type registry struct {
	client *clientv3.Client
	// prefix ends with a slash.
	prefix string
	// failures are those of an etcd elsewhere.
	failures failures
	tls      *tls.Config
}

// failures remembers why there was no connection to etcd, of which its client only
// says, when the time of a request is over, that it took too long.
type failures struct {
	mu   sync.Mutex
	last string
}

// ofConnection is what grpc has before why there was no connection.
const ofConnection = "latest balancer error: "

// note is a grpc.UnaryClientInterceptor.
func (f *failures) note(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if _, why, ok := strings.Cut(status.Convert(err).Message(), ofConnection); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.last = why
	}
	return err
}

// explain returns err, or what is behind it if it is that a request took too long.
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
	// refusalTimeout bounds how long one server has for saying what it has against
	// a certificate.
	refusalTimeout = time.Second
	// ofTLS is what crypto/tls has before what is wrong with a certificate.
	ofTLS = "tls: "
)

// refusal is what is wrong with the first server's certificate or, in its eyes, with
// ours; nil if nothing is. A server answers to ours when the client's part is over,
// and a client that goes on writing, as etcd's does, may never read that.
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

// registryOf is that of an etcd in this process, without the way over a socket.
func registryOf(server *embed.Etcd, prefix string) *registry {
	return &registry{client: v3client.New(server.Server), prefix: prefix + "/"}
}

// newRegistry dials.
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
		return nil, fmt.Errorf("make a client of etcd: %w", err)
	}
	return r, nil
}

func (r *registry) close() error {
	// The client of an etcd in this process says that it was cancelled.
	if err := r.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close the client of etcd: %w", err)
	}
	return nil
}

// copyOf is where the start state has a key's value.
func (r *registry) copyOf(key string) string {
	return r.prefix + startStateDir + strings.TrimPrefix(key, r.prefix)
}

// state is the key that says how far the start state is known.
func (r *registry) stateKey() string { return r.prefix + strings.TrimSuffix(startStateDir, "/") }

// entry is a key, its value unless only keys were asked for, and the revisions at
// which it was created and last changed.
type entry struct {
	key, value        string
	created, modified int64
}

// list returns what is below the prefix, sorted by key, but for the start state,
// and the revision that it is of.
func (r *registry) list(ctx context.Context, options ...clientv3.OpOption) ([]entry, int64, error) {
	answer, err := r.client.Get(ctx, r.prefix, append(options, clientv3.WithPrefix())...)
	if err != nil {
		return nil, 0, fmt.Errorf("list the keys of the API server: %w", err)
	}
	entries := make([]entry, 0, len(answer.Kvs))
	for _, kv := range answer.Kvs {
		if key := string(kv.Key); !strings.HasPrefix(key, r.stateKey()) {
			entries = append(entries, entry{key: key, value: string(kv.Value), created: kv.CreateRevision, modified: kv.ModRevision})
		}
	}
	return entries, answer.Header.Revision, nil
}

// kind is the first part of a key below the prefix. Keys of one kind of object
// have it in common.
func (r *registry) kind(key string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(key, r.prefix), "/")
	return kind
}
