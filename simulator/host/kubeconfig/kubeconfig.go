// Package kubeconfig reads the kubeconfigs of clusters that are not the simulator's own. It imports
// client-go only.
package kubeconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Load returns how to reach a cluster, and the name of the context: the file's current one, unless
// context names another. It does not contact the cluster. Errors do not name the file; those about
// a context list the ones that it has.
func Load(file, context string) (config *rest.Config, used string, err error) {
	loaded, used, err := load(file, context)
	if err != nil {
		return nil, "", err
	}
	if config, err = loaded.ClientConfig(); err != nil {
		return nil, "", err
	}
	return config, used, nil
}

// LoadWithNamespace is Load, but returns the context's namespace, which is default unless the file
// says otherwise.
func LoadWithNamespace(file, context string) (config *rest.Config, namespace string, err error) {
	loaded, _, err := load(file, context)
	if err != nil {
		return nil, "", err
	}
	if namespace, _, err = loaded.Namespace(); err != nil {
		return nil, "", err
	}
	if config, err = loaded.ClientConfig(); err != nil {
		return nil, "", err
	}
	return config, namespace, nil
}

func load(file, context string) (config clientcmd.ClientConfig, used string, err error) {
	loaded, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return nil, "", err
	}
	if context == "" {
		context = loaded.CurrentContext
	}
	switch _, has := loaded.Contexts[context]; {
	case context == "":
		return nil, "", fmt.Errorf("it has no current context; say which to use of %s", contexts(loaded))
	case !has:
		return nil, "", fmt.Errorf("it has no context %q; it has %s", context, contexts(loaded))
	}
	if err := clientcmd.ResolveLocalPaths(loaded); err != nil {
		return nil, "", err
	}
	return clientcmd.NewNonInteractiveClientConfig(*loaded, context, &clientcmd.ConfigOverrides{}, nil), context, nil
}

func contexts(c *clientcmdapi.Config) string {
	names := slices.Sorted(maps.Keys(c.Contexts))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
