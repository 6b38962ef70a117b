// Command krew packs kubectl-why for each platform, and writes the manifest with which Krew installs it: why.yaml, with
// the checksums of the archives. The same programs give the same bytes.
//
// It reads DIR/OS-ARCH/kubectl-why[.exe] and writes DIR/kubectl-why-OS-ARCH.tar.gz, or .zip for Windows, beside the manifest.
// It may import none of our packages.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var r release
	flag.StringVar(&r.dir, "dir", "bin/kubectl-why-release", "`directory` of the programs, and of what is written")
	flag.StringVar(&r.license, "license", "LICENSE", "`file` with the licence, which each archive holds")
	flag.StringVar(&r.version, "version", "", "`version` of the plugin, such as v1.2.3")
	flag.StringVar(&r.from, "from", "", "`address` below which the archives can be downloaded")
	flag.Parse()
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
