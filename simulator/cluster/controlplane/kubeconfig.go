package controlplane

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// writeKubeconfig embeds the certificates, so that a copy works anywhere on this machine.
func writeKubeconfig(path, server string, certs certificates) error {
	const name = "simulator"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   server,
		CertificateAuthorityData: certs.caPEM,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: certs.adminCertPEM,
		ClientKeyData:         certs.adminKeyPEM,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name

	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	if err := datadir.WriteFile(path, content); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
