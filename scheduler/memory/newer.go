//go:build !kubernetes134

package memory

import "k8s.io/apimachinery/pkg/util/resourceversion"

// newer reports whether a resource version is newer than another one.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
