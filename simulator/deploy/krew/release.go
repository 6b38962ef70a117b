package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// platforms are those that the plugin is built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// program is the name of the program.
func (p platform) program() string {
	if p.os == "windows" {
		return "kubectl-why.exe"
	}
	return "kubectl-why"
}

func (p platform) archive() string {
	if p.os == "windows" {
		return "kubectl-why-" + p.String() + ".zip"
	}
	return "kubectl-why-" + p.String() + ".tar.gz"
}

type release struct{ dir, license, version, from string }

// plugin is Krew's manifest, which is part of its public interface.
type plugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       pluginSpec        `json:"spec"`
}

type pluginSpec struct {
	Version          string           `json:"version"`
	ShortDescription string           `json:"shortDescription"`
	Description      string           `json:"description"`
	Caveats          string           `json:"caveats"`
	Platforms        []pluginPlatform `json:"platforms"`
}

type pluginPlatform struct {
	Selector metav1.LabelSelector `json:"selector"`
	URI      string               `json:"uri"`
	SHA256   string               `json:"sha256"`
	Bin      string               `json:"bin"`
}

// semanticVersion is what Krew takes for a version.
var semanticVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// write writes the archives and the manifest.
func (r release) write() error {
	if !semanticVersion.MatchString(r.version) {
		return fmt.Errorf("want a version such as v1.2.3, not %q", r.version)
	}
	if from, err := url.Parse(r.from); err != nil || from.Host == "" {
		return fmt.Errorf("want the address below which the archives can be downloaded, not %q", r.from)
	}
	license, err := os.ReadFile(r.license)
	if err != nil {
		return err
	}
	manifest := plugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "why"},
		Spec: pluginSpec{
			Version: r.version, ShortDescription: "Say why a pod runs where it does, or nowhere",
			Description: `Asks the real kube-scheduler, with a copy of the cluster, why a pod or a workload is pending, why it runs on
its node, or whether it would fit before it is created. For each node it says which plugin is in the way and by
how much, and it tries the least changes that help. It only reads the cluster.
`,
			Caveats: "The plugin needs to list nodes, pods and what else a scheduler reads. It names what it may not list.\n",
		},
	}
	for _, p := range platforms {
		program, err := os.ReadFile(filepath.Join(r.dir, p.String(), p.program()))
		if err != nil {
			return err
		}
		archive, err := pack(p, []file{{p.program(), 0o755, program}, {"LICENSE", 0o644, license}})
		if err != nil {
			return fmt.Errorf("packing %s: %w", p.archive(), err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, p.archive()), archive, 0o644); err != nil {
			return err
		}
		sum := sha256.Sum256(archive)
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, pluginPlatform{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"os": p.os, "arch": p.arch}},
			URI:      strings.TrimSuffix(r.from, "/") + "/" + p.archive(), SHA256: hex.EncodeToString(sum[:]), Bin: p.program(),
		})
	}
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "why.yaml"), text, 0o644)
}

type file struct {
	name    string
	mode    os.FileMode
	content []byte
}

// packed is the date of every file in an archive, so that archives of the same programs are the same. A zip has none before.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func pack(p platform, files []file) ([]byte, error) {
	var b bytes.Buffer
	var err error
	if p.os == "windows" {
		err = packZip(&b, files)
	} else {
		err = packTar(&b, files)
	}
	return b.Bytes(), err
}

func packZip(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: packed}
		header.SetMode(f.mode)
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.content); err != nil {
			return err
		}
	}
	return z.Close()
}

func packTar(w io.Writer, files []file) error {
	g := gzip.NewWriter(w)
	t := tar.NewWriter(g)
	for _, f := range files {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: packed}); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), g.Close())
}
