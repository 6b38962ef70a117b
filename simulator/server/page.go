package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// page serves the web application from memory. Its files do not change while the server runs.
type page struct {
	files fs.FS

	mu     sync.Mutex
	loaded map[string]*asset
}

type asset struct {
	contentType string
	etag        string
	body        []byte
	// gzipped is nil if compression does not make the file smaller.
	gzipped []byte
}

func newPage(files fs.FS) *page {
	return &page{files: files, loaded: map[string]*asset{}}
}

const indexFile = "index.html"

// getPage answers every address outside the APIs: with a file, or with the page for the addresses
// that the application routes itself.
func (s *Server) getPage(c echo.Context) error {
	r := c.Request()
	if !isPage(r.URL.Path) || s.page.files == nil {
		return echo.ErrNotFound
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	hashed := strings.HasPrefix(name, "assets/")
	file := s.page.load(name)
	if file == nil && !hashed {
		file = s.page.load(indexFile)
	}
	if file == nil {
		return echo.ErrNotFound
	}
	// Names under assets/ contain a hash of the content.
	caching := "no-cache"
	if hashed {
		caching = "public, max-age=31536000, immutable"
	}
	c.Response().Header().Set("Cache-Control", caching)
	file.serve(c.Response(), r)
	return nil
}

// load returns nil if there is no such file.
func (p *page) load(name string) *asset {
	if p.files == nil || !fs.ValidPath(name) || name == "." {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.loaded[name]; ok {
		return file
	}
	// Do not cache missing names: clients could invent any number of them.
	body, err := fs.ReadFile(p.files, name)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(body)
	file := &asset{contentType: contentType(name), etag: hex.EncodeToString(sum[:8]), body: body, gzipped: compressed(body)}
	p.loaded[name] = file
	return file
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Vary", "Accept-Encoding")
	body, etag := a.body, `"`+a.etag+`"`
	if a.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body, etag = a.gzipped, `"`+a.etag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// contentType has its own table for the files of a web application, because operating systems'
// tables differ from machine to machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

func compressed(body []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil
	}
	// Writing to a bytes.Buffer cannot fail.
	w.Write(body)
	w.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}
