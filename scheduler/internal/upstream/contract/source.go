package contract

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Source finds and parses Go packages. It is used by one goroutine.
type Source struct {
	modules map[string]string
	// replaced holds the directories of packages that With has moved elsewhere, by
	// path.
	replaced map[string]string
	parsed   map[string]*pkg
}

// With returns the same source, with the package of the given path in dir.
func (s *Source) With(importPath, dir string) *Source {
	out := &Source{modules: s.modules, replaced: maps.Clone(s.replaced), parsed: maps.Clone(s.parsed)}
	if out.replaced == nil {
		out.replaced = map[string]string{}
	}
	out.replaced[importPath] = dir
	delete(out.parsed, importPath)
	return out
}

// ModuleCache returns the source of the standard library and of the modules that
// the module in dir is built with. It needs the go command, and no network once they are downloaded.
func ModuleCache(dir string) (*Source, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing modules: %w", err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, at, _ := strings.Cut(strings.TrimSpace(line), "\t"); at != "" {
			modules[name] = at
		}
	}
	return &Source{modules: modules, parsed: map[string]*pkg{}}, nil
}

// pkg is a parsed package without its tests.
type pkg struct {
	path  string
	fset  *token.FileSet
	files []*file
}

type file struct {
	// name is the import path of the package and the file's name.
	name    string
	syntax  *ast.File
	imports map[string]string // import paths by the names that the file uses
}

func (s *Source) dir(importPath string) (string, error) {
	if dir := s.replaced[importPath]; dir != "" {
		return dir, nil
	}
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") {
		return filepath.Join(build.Default.GOROOT, "src", importPath), nil
	}
	for module := importPath; module != "."; module = path.Dir(module) {
		if dir := s.modules[module]; dir != "" {
			return filepath.Join(dir, strings.TrimPrefix(importPath, module)), nil
		}
	}
	return "", fmt.Errorf("no module has the package %s", importPath)
}

func (s *Source) parse(importPath string) (*pkg, error) {
	if p := s.parsed[importPath]; p != nil {
		return p, nil
	}
	dir, err := s.dir(importPath)
	if err != nil {
		return nil, err
	}
	p, err := parseDir(dir, importPath)
	if err != nil {
		return nil, err
	}
	s.parsed[importPath] = p
	return p, nil
}

func parseDir(dir, importPath string) (*pkg, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{path: importPath, fset: token.NewFileSet()}
	for _, entry := range entries {
		name := entry.Name()
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, &file{name: path.Join(importPath, name), syntax: syntax, imports: importsOf(syntax)})
	}
	return p, nil
}

func importsOf(syntax *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = imported
	}
	return out
}

type decl struct {
	file *file
	node ast.Node
}

// find returns the function, method, type, variable or constant of a name. Methods
// are named Type.Method. It returns nil when there is none.
func (p *pkg) find(name string) *decl {
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if funcName(d) == name {
					return &decl{f, d}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if declares(spec, name) {
						return &decl{f, spec}
					}
				}
			}
		}
	}
	return nil
}

func declares(spec ast.Spec, name string) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.Name == name
	case *ast.ValueSpec:
		return slices.ContainsFunc(spec.Names, func(n *ast.Ident) bool { return n.Name == name })
	}
	return false
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	return text(receiver) + "." + d.Name.Name
}

// text prints syntax in the normal form of gofmt. The parser has dropped the
// comments, and without positions line breaks do not matter either.
func text(node ast.Node) string {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), node); err != nil {
		return fmt.Sprintf("cannot be printed: %v", err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// digest identifies the code of a declaration.
func (d *decl) digest() string {
	return fmt.Sprintf("sha256:%.8x", sha256.Sum256([]byte(text(d.node))))
}

// typeNamed returns the declaration of a type of some syntax.
func typeNamed[T ast.Expr](p *pkg, name string) (d *decl, declared T, err error) {
	if d = p.find(name); d == nil {
		return nil, declared, fmt.Errorf("%s has no %s", p.path, name)
	}
	spec, _ := d.node.(*ast.TypeSpec)
	if spec == nil {
		return nil, declared, fmt.Errorf("%s.%s is not a type", p.path, name)
	}
	declared, ok := spec.Type.(T)
	if !ok {
		return nil, declared, fmt.Errorf("%s.%s is not a %T", p.path, name, declared)
	}
	return d, declared, nil
}

// methods returns the methods of an interface and of those that it embeds, as
// "Name(parameters) results" without the names of parameters, sorted.
func (s *Source) methods(p *pkg, name string) ([]string, error) {
	d, iface, err := typeNamed[*ast.InterfaceType](p, name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, field := range iface.Methods.List {
		if signature, ok := field.Type.(*ast.FuncType); ok {
			for _, n := range field.Names {
				out = append(out, n.Name+strings.TrimPrefix(text(unnamed(signature)), "func"))
			}
			continue
		}
		at, embedded := resolve(p, d.file, field.Type)
		from, err := s.parse(at)
		if err != nil {
			return nil, err
		}
		more, err := s.methods(from, embedded)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func resolve(p *pkg, f *file, named ast.Expr) (importPath, name string) {
	switch named := named.(type) {
	case *ast.Ident:
		return p.path, named.Name
	case *ast.SelectorExpr:
		if x, ok := named.X.(*ast.Ident); ok {
			return f.imports[x.Name], named.Sel.Name
		}
	}
	return "", ""
}

// unnamed returns a signature without the names of its parameters and results.
func unnamed(f *ast.FuncType) *ast.FuncType {
	strip := func(list *ast.FieldList) *ast.FieldList {
		if list == nil {
			return nil
		}
		out := &ast.FieldList{}
		for _, field := range list.List {
			for range max(1, len(field.Names)) {
				out.List = append(out.List, &ast.Field{Type: field.Type})
			}
		}
		return out
	}
	return &ast.FuncType{Params: strip(f.Params), Results: strip(f.Results)}
}

// fields returns the fields of a struct as "name type", in their order.
func (p *pkg) fields(name string) ([]string, error) {
	_, structure, err := typeNamed[*ast.StructType](p, name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, field := range structure.Fields.List {
		for _, n := range field.Names {
			out = append(out, n.Name+" "+text(field.Type))
		}
		if len(field.Names) == 0 {
			out = append(out, text(field.Type))
		}
	}
	return out, nil
}

// options returns the functions that return the named type, with their parameters,
// sorted.
func (p *pkg) options(option string) []string {
	var out []string
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Type.Results != nil && len(fn.Type.Results.List) == 1 && text(fn.Type.Results.List[0].Type) == option {
				out = append(out, fn.Name.Name+strings.TrimPrefix(text(unnamed(fn.Type)), "func"))
			}
		}
	}
	slices.Sort(out)
	return out
}

// calls returns the functions of an imported package that a function calls, by their
// names in that package, sorted.
func (d *decl) calls(importPath string) []string {
	var out []string
	ast.Inspect(d.node, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if called, ok := call.Fun.(*ast.SelectorExpr); ok {
			if x, ok := called.X.(*ast.Ident); ok && d.file.imports[x.Name] == importPath {
				out = append(out, called.Sel.Name)
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *decl) literals() []string {
	var out []string
	ast.Inspect(d.node, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if s, err := strconv.Unquote(literal.Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}
