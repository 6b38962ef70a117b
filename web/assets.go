// Package web holds the web application as it was built into dist by `npm run
// build`, ready to be served. It is not a server: routes, headers and caching are
// its user's business. It imports the standard library only, and it compiles
// without npm: as long as nothing is built, a stub page says what to do.
package web

import (
	"embed"
	"io/fs"
)

// dist always holds .gitkeep, which is committed, so that the pattern matches.
//
//go:embed all:dist
var dist embed.FS

// stub is the page of a binary that was compiled without the application.
//
//go:embed stub/index.html
var stub embed.FS

// Built reports whether the application was built before this package was
// compiled. Without it FS holds the stub page only.
func Built() bool {
	_, err := fs.Stat(dist, "dist/index.html")
	return err == nil
}

// FS returns the root of the application: index.html and what it refers to. The
// names under assets/ contain a hash of their content and may be cached for ever;
// everything else may change with the next build. It never returns nil and is safe
// for concurrent use.
func FS() fs.FS {
	if Built() {
		return withoutKeep{sub(dist, "dist")}
	}
	return sub(stub, "stub")
}

func sub(files embed.FS, dir string) fs.FS {
	root, err := fs.Sub(files, dir)
	if err != nil {
		// Only an invalid path makes Sub fail, and both are constants.
		panic(err)
	}
	return root
}

// withoutKeep hides .gitkeep, which is there for the compiler only.
type withoutKeep struct{ fs.FS }

func (w withoutKeep) Open(name string) (fs.File, error) {
	if name == ".gitkeep" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}

var _ fs.FS = withoutKeep{}
