package controlplane

import (
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // whose variable this is
	"k8s.io/klog/v2"
)

// etcdClientLogger is kube-apiserver's for its etcd clients. It writes to stderr and
// cannot be set: its level, which is to come from the environment, is always info.
// It warns of each write whose client has gone away, of which replacing a scheduler
// makes some.
//
//go:linkname etcdClientLogger k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLogger *zap.Logger

// What etcd clients say goes where everything else of Kubernetes' goes.
func init() {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "message", NameKey: "logger"})
	etcdClientLogger = zap.New(zapcore.NewCore(encoder, toKlog{}, zapcore.WarnLevel)).Named("etcd-client")
}

// toKlog writes lines as warnings.
type toKlog struct{}

var _ zapcore.WriteSyncer = toKlog{}

// Write implements zapcore.WriteSyncer.
func (toKlog) Write(line []byte) (int, error) {
	klog.Warning(string(line))
	return len(line), nil
}

// Sync implements zapcore.WriteSyncer.
func (toKlog) Sync() error { return nil }
