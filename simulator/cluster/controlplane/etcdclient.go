package controlplane

import (
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // whose variable this is
	"k8s.io/klog/v2"
)

// etcdClientLogger is kube-apiserver's logger for its etcd clients. It writes to stderr and is
// not configurable: its level should come from the environment but is always info. It warns of
// each write whose client has gone away, which happens when a scheduler is replaced.
//
//go:linkname etcdClientLogger k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLogger *zap.Logger

func init() {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "message", NameKey: "logger"})
	etcdClientLogger = zap.New(zapcore.NewCore(encoder, toKlog{}, zapcore.WarnLevel)).Named("etcd-client")
}

type toKlog struct{}

var _ zapcore.WriteSyncer = toKlog{}

func (toKlog) Write(line []byte) (int, error) {
	klog.Warning(string(line))
	return len(line), nil
}

func (toKlog) Sync() error { return nil }
