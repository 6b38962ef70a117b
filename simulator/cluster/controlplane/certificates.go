package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour
	// A start replaces a certificate that expires within renewBefore.
	renewBefore = 30 * 24 * time.Hour
	// backdate allows for clients whose clock is behind.
	backdate = time.Hour
)

type certificates struct {
	caFile, servingCertFile, servingKeyFile, serviceAccountKeyFile string
	caPEM, adminCertPEM, adminKeyPEM                               []byte
}

// ensureCertificates creates the files that dir lacks, replaces expiring ones and keeps the rest,
// so that the authority and service account tokens survive a restart. It also replaces a damaged
// certificate that the authority can issue again, but returns a *datadir.Damage for the authority
// and the key of the tokens.
func ensureCertificates(dir string, now time.Time) (certificates, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return certificates{}, &datadir.Damage{Path: dir, Err: err}
	}
	ca, err := ensurePair(dir, "ca", now, nil, &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kube-scheduler-simulator"},
		NotAfter:              now.Add(caLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	})
	if err != nil {
		return certificates{}, err
	}
	serving, err := ensurePair(dir, "apiserver", now, ca, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		NotAfter:    now.Add(leafLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
	if err != nil {
		return certificates{}, err
	}
	admin, err := ensurePair(dir, "admin", now, ca, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		NotAfter:    now.Add(leafLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return certificates{}, err
	}
	serviceAccountKey := filepath.Join(dir, "service-account.key")
	if err := ensureKey(serviceAccountKey); err != nil {
		return certificates{}, err
	}
	return certificates{
		caFile:                ca.certFile,
		servingCertFile:       serving.certFile,
		servingKeyFile:        serving.keyFile,
		serviceAccountKeyFile: serviceAccountKey,
		caPEM:                 ca.certPEM,
		adminCertPEM:          admin.certPEM,
		adminKeyPEM:           admin.keyPEM,
	}, nil
}

// pair is a certificate and its key, in two files.
type pair struct {
	certFile, keyFile string
	certPEM, keyPEM   []byte
	cert              *x509.Certificate
	key               *ecdsa.PrivateKey
}

// ensurePair keeps a usable pair. Otherwise it creates one, signed by issuer or, if that is nil,
// self-signed.
func ensurePair(dir, name string, now time.Time, issuer *pair, template *x509.Certificate) (*pair, error) {
	p := &pair{
		certFile: filepath.Join(dir, name+".crt"),
		keyFile:  filepath.Join(dir, name+".key"),
	}
	err := p.load()
	if err == nil && p.usable(now, issuer) {
		return p, nil
	}
	if issuer == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := p.create(now, issuer, template); err != nil {
		return nil, fmt.Errorf("make certificate %s: %w", name, err)
	}
	return p, nil
}

// load reads both files. The error is a *datadir.Damage.
func (p *pair) load() (err error) {
	if p.certPEM, err = os.ReadFile(p.certFile); err != nil {
		return damagedCertificate(p.certFile, err)
	}
	if p.keyPEM, err = os.ReadFile(p.keyFile); err != nil {
		return damagedCertificate(p.keyFile, err)
	}
	certs, err := cert.ParseCertsPEM(p.certPEM)
	if err != nil {
		return damagedCertificate(p.certFile, err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(p.keyPEM)
	if err != nil {
		return damagedCertificate(p.keyFile, err)
	}
	p.cert = certs[0]
	p.key, _ = key.(*ecdsa.PrivateKey)
	return nil
}

func damagedCertificate(path string, err error) error {
	return &datadir.Damage{
		Path: path, Err: fmt.Errorf("cannot be read: %w", datadir.WithoutPath(err)),
		Do: fmt.Sprintf("restore it from a backup, or delete %s: then new certificates are made, and earlier kubeconfigs and service account tokens are not accepted any more", filepath.Dir(path)),
	}
}

func (p *pair) usable(now time.Time, issuer *pair) bool {
	if issuer == nil {
		issuer = p
	}
	return p.key != nil &&
		p.key.PublicKey.Equal(p.cert.PublicKey) &&
		now.After(p.cert.NotBefore) &&
		now.Add(renewBefore).Before(p.cert.NotAfter) &&
		p.cert.CheckSignatureFrom(issuer.cert) == nil
}

func (p *pair) create(now time.Time, issuer *pair, template *x509.Certificate) (err error) {
	if p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return err
	}
	template.NotBefore = now.Add(-backdate)
	parent, signer := template, p.key
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, p.key.Public(), signer)
	if err != nil {
		return err
	}
	if p.cert, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	if p.certPEM, err = cert.EncodeCertificates(p.cert); err != nil {
		return err
	}
	if p.keyPEM, err = keyutil.MarshalPrivateKeyToPEM(p.key); err != nil {
		return err
	}
	if err := datadir.WriteFile(p.keyFile, p.keyPEM); err != nil {
		return err
	}
	return datadir.WriteFile(p.certFile, p.certPEM)
}

func ensureKey(path string) error {
	data, err := os.ReadFile(path)
	if err == nil {
		_, err = keyutil.ParsePrivateKeyPEM(data)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return damagedCertificate(path, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return datadir.WriteFile(path, pem)
}
