package contract

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const (
	pluginAPI        = "k8s.io/kube-scheduler/framework"
	schedulerPackage = "k8s.io/kubernetes/pkg/scheduler"
	frameworkPackage = schedulerPackage + "/framework"
	runtimePackage   = frameworkPackage + "/runtime"
)

// unrecorded are the plugin interfaces that the recorder deliberately leaves out of
// upstream.pluginInterfaces, with the reason.
var unrecorded = map[string]string{
	pluginAPI + ".Plugin": "every recorder has it",
}

// InterfaceAlarms returns the plugin interfaces of Kubernetes that are neither
// recorded nor deliberately left out, and those that Kubernetes no longer has.
func InterfaceAlarms(s *Source, recorded []string) ([]string, error) {
	found, err := pluginInterfaces(s)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range sortedKeys(found) {
		if !slices.Contains(recorded, name) && unrecorded[name] == "" {
			out = append(out, fmt.Sprintf("%s: %s is a plugin interface that gets lost when the recorder wraps a plugin: "+
				"add it to pluginInterfaces in scheduler/internal/upstream/interfaces.go, with a guard in scheduler/guard/points.go and a recorder in scheduler/recorder/points.go and wrap.go, "+
				"or list it as unrecorded in scheduler/internal/upstream/contract/interfaces.go", found[name], name))
		}
	}
	for _, name := range append(slices.Clone(recorded), sortedKeys(unrecorded)...) {
		if found[name] == "" {
			out = append(out, fmt.Sprintf("Kubernetes no longer has the plugin interface %s: remove it from scheduler/internal/upstream/interfaces.go, "+
				"or from the unrecorded ones in scheduler/internal/upstream/contract/interfaces.go", name))
		}
	}
	return out, nil
}

// pluginInterfaces returns, with their files, the interfaces by which the framework
// recognises a plugin's extension points: those that embed Plugin, and those that
// the framework's runtime asserts.
func pluginInterfaces(s *Source) (map[string]string, error) {
	out := map[string]string{}
	for _, path := range []string{pluginAPI, frameworkPackage} {
		p, err := s.parse(path)
		if err != nil {
			return nil, err
		}
		for _, f := range p.files {
			for name, iface := range interfacesOf(f) {
				embedsPlugin, err := s.embedsPlugin(p, f, iface)
				if err != nil {
					return nil, err
				}
				if embedsPlugin {
					out[path+"."+name] = f.name
				}
			}
		}
	}
	p, err := s.parse(runtimePackage)
	if err != nil {
		return nil, err
	}
	for _, f := range p.files {
		for _, name := range assertedInterfaces(f) {
			if out[name] == "" {
				out[name] = f.name
			}
		}
	}
	return out, nil
}

func interfacesOf(f *file) map[string]*ast.InterfaceType {
	out := map[string]*ast.InterfaceType{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if iface, ok := spec.Type.(*ast.InterfaceType); ok {
				out[spec.Name.Name] = iface
			}
		}
		return true
	})
	return out
}

// embedsPlugin reports whether an interface embeds Plugin, itself or through others.
func (s *Source) embedsPlugin(p *pkg, f *file, iface *ast.InterfaceType) (bool, error) {
	for _, field := range iface.Methods.List {
		at, name := resolve(p, f, field.Type)
		if at == pluginAPI && name == "Plugin" {
			return true, nil
		}
		if name == "" || (at != pluginAPI && at != frameworkPackage) {
			continue
		}
		from, err := s.parse(at)
		if err != nil {
			return false, err
		}
		for _, g := range from.files {
			if embedded := interfacesOf(g)[name]; embedded != nil {
				if embeds, err := s.embedsPlugin(from, g, embedded); embeds || err != nil {
					return embeds, err
				}
			}
		}
	}
	return false, nil
}

// assertedInterfaces returns the exported types of other packages to which a file
// asserts values, as far as a plugin can have them.
func assertedInterfaces(f *file) []string {
	var out []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		assertion, ok := n.(*ast.TypeAssertExpr)
		if !ok {
			return true
		}
		if selector, ok := assertion.Type.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok {
				out = append(out, f.imports[x.Name]+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return out
}

// Recorded returns the plugin interfaces that the named file of package upstream
// lists, by package and name.
func Recorded(name string) ([]string, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imports := importsOf(syntax)
	var out []string
	ast.Inspect(syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		index, ok := call.Fun.(*ast.IndexExpr)
		if !ok || !slices.Contains([]string{"asserted", "point", "requeuing"}, text(index.X)) {
			return true
		}
		if selector, ok := index.Index.(*ast.SelectorExpr); ok {
			out = append(out, imports[text(selector.X)]+"."+selector.Sel.Name)
		}
		return true
	})
	return out, nil
}

// Embedded returns a watch for each interface of Kubernetes that a struct of ours
// embeds below root, which is the directory of a module's package dir, sorted.
func Embedded(s *Source, root, dir string) ([]Watch, error) {
	ours := map[[2]string][]string{}
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, embedded := range embeddedIn(&file{syntax: syntax, imports: importsOf(syntax)}) {
			ours[embedded] = append(ours[embedded], filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Watch
	for embedded, files := range ours {
		p, err := s.parse(embedded[0])
		if err != nil {
			return nil, err
		}
		d := p.find(embedded[1])
		if d == nil {
			return nil, fmt.Errorf("%s has no %s", p.path, embedded[1])
		}
		if spec, ok := d.node.(*ast.TypeSpec); !ok || !isInterface(spec) {
			continue
		}
		slices.Sort(files)
		out = append(out, Watch{
			Kind: Methods, Package: embedded[0], Name: embedded[1], Ours: slices.Compact(files), Why: "a decorator must override each method that it is about",
		})
	}
	slices.SortFunc(out, func(a, b Watch) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}

func isInterface(spec *ast.TypeSpec) bool {
	_, ok := spec.Type.(*ast.InterfaceType)
	return ok
}

// embeddedIn returns the types of Kubernetes' scheduler that structs of a file
// embed, by package and name, also through an alias of the file.
func embeddedIn(f *file) [][2]string {
	aliases := map[string]ast.Expr{}
	var structs []*ast.StructType
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if n.Assign.IsValid() {
				aliases[n.Name.Name] = n.Type
			}
		case *ast.StructType:
			structs = append(structs, n)
		}
		return true
	})
	var out [][2]string
	for _, s := range structs {
		for _, field := range s.Fields.List {
			if len(field.Names) > 0 {
				continue
			}
			named := field.Type
			if ident, ok := named.(*ast.Ident); ok && aliases[ident.Name] != nil {
				named = aliases[ident.Name]
			}
			at, name := resolve(&pkg{}, f, named)
			if strings.HasPrefix(at, "k8s.io/kube-scheduler/") || strings.HasPrefix(at, schedulerPackage) {
				out = append(out, [2]string{at, name})
			}
		}
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
