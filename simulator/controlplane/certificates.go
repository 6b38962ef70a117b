package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour
	// renewBefore is how long before its expiry a start replaces a certificate.
	renewBefore = 30 * 24 * time.Hour
	// backdate allows for clients whose clock is behind.
	backdate = time.Hour
)

// certificates are the files that the API server reads, and the contents of a kubeconfig.
type certificates struct {
	caFile, servingCertFile, servingKeyFile, serviceAccountKeyFile string
	caPEM, adminCertPEM, adminKeyPEM                               []byte
}

// ensureCertificates creates the files that dir lacks, replaces expiring ones and keeps the
// rest, so that the authority and service account tokens survive a restart.
func ensureCertificates(dir string, now time.Time) (certificates, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return certificates{}, err
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

// pair is a certificate and its key, as kept in two files.
type pair struct {
	certFile, keyFile string
	certPEM, keyPEM   []byte
	cert              *x509.Certificate
	key               *ecdsa.PrivateKey
}

// ensurePair returns the pair of that name in dir if it is usable. Otherwise it creates one from
// the template. The certificate is signed by issuer or, if that is nil, self-signed.
func ensurePair(dir, name string, now time.Time, issuer *pair, template *x509.Certificate) (*pair, error) {
	p := &pair{
		certFile: filepath.Join(dir, name+".crt"),
		keyFile:  filepath.Join(dir, name+".key"),
	}
	if p.load() == nil && p.usable(now, issuer) {
		return p, nil
	}
	if err := p.create(now, issuer, template); err != nil {
		return nil, fmt.Errorf("make certificate %s: %w", name, err)
	}
	return p, nil
}

func (p *pair) load() (err error) {
	if p.certPEM, err = os.ReadFile(p.certFile); err != nil {
		return err
	}
	if p.keyPEM, err = os.ReadFile(p.keyFile); err != nil {
		return err
	}
	certs, err := cert.ParseCertsPEM(p.certPEM)
	if err != nil {
		return err
	}
	key, err := keyutil.ParsePrivateKeyPEM(p.keyPEM)
	if err != nil {
		return err
	}
	p.cert = certs[0]
	p.key, _ = key.(*ecdsa.PrivateKey)
	return nil
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
	if err := writeFile(p.keyFile, p.keyPEM); err != nil {
		return err
	}
	return writeFile(p.certFile, p.certPEM)
}

// ensureKey creates a private key at path unless one exists.
func ensureKey(path string) error {
	_, err := keyutil.PrivateKeyFromFile(path)
	if err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return writeFile(path, pem)
}

// writeFile replaces the file at path; only the owner may read it. A reader sees the old or the
// new content, even after a crash.
func writeFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
