// Writes a SCIP index of a Go repository: the definition of every name, by the type checker of the language.
//
//	go run go_index.go REPOSITORY OUT.scip
//
// Missing libraries are replaced by empty packages; the checker continues after their errors.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf16"
)

type mark struct {
	line, column, length int
	symbol               string
	defines              bool
}

type indexer struct {
	root, module string
	files        *token.FileSet
	standard     types.Importer
	packages     map[string]*types.Package
	texts        map[string][]string
	marks        map[string]map[mark]bool
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	check(err)
	files := token.NewFileSet()
	it := &indexer{
		root: root, module: moduleOf(root), files: files,
		standard: importer.ForCompiler(files, "source", nil),
		packages: map[string]*types.Package{}, texts: map[string][]string{},
		marks: map[string]map[mark]bool{},
	}
	check(filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); folder != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		it.folder(folder)
		return nil
	}))
	it.write(os.Args[2])
	fmt.Fprintln(os.Stderr, len(it.marks), "files")
}

func moduleOf(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if name, found := strings.CutPrefix(line, "module "); found {
			return strings.TrimSpace(name)
		}
	}
	panic("go.mod names no module")
}

// parse reads the files of a folder that are built on this system: code, tests inside the package, tests outside it.
func (it *indexer) parse(folder string) (plain, inner, outer []*ast.File) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if fits, err := build.Default.MatchFile(folder, name); err != nil || !fits {
			continue
		}
		full := filepath.Join(folder, name)
		file, err := parser.ParseFile(it.files, full, nil, parser.SkipObjectResolution)
		if file == nil || err != nil {
			continue
		}
		if text, err := os.ReadFile(full); err == nil {
			it.texts[full] = strings.Split(string(text), "\n")
		}
		switch {
		case !strings.HasSuffix(name, "_test.go"):
			plain = append(plain, file)
		case strings.HasSuffix(file.Name.Name, "_test"):
			outer = append(outer, file)
		default:
			inner = append(inner, file)
		}
	}
	return
}

func (it *indexer) folder(folder string) {
	plain, inner, outer := it.parse(folder)
	below, _ := filepath.Rel(it.root, folder)
	name := path.Join(it.module, filepath.ToSlash(below))
	if len(plain)+len(inner) > 0 {
		it.check(name, append(plain, inner...))
	}
	if len(outer) > 0 {
		it.check(name+"_test", outer)
	}
}

func (it *indexer) check(name string, files []*ast.File) *types.Package {
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
	}
	config := types.Config{Importer: it, Error: func(error) {}, FakeImportC: true}
	res, _ := config.Check(name, it.files, files, info)
	for ident, object := range info.Defs {
		if object != nil && lasting(object) {
			it.mark(ident, object, true)
		}
	}
	for ident, object := range info.Uses {
		it.mark(ident, object, false)
	}
	return res
}

// Import returns the package of the repository, else of the standard library, else an empty one.
func (it *indexer) Import(name string) (*types.Package, error) {
	if known := it.packages[name]; known != nil {
		return known, nil
	}
	res := types.NewPackage(name, path.Base(name))
	res.MarkComplete()
	it.packages[name] = res
	if below, found := strings.CutPrefix(name, it.module); found {
		if plain, _, _ := it.parse(filepath.Join(it.root, filepath.FromSlash(below))); len(plain) > 0 {
			res = it.check(name, plain)
		}
	} else if !strings.Contains(strings.Split(name, "/")[0], ".") {
		if standard, err := it.standard.Import(name); err == nil {
			res = standard
		}
	}
	it.packages[name] = res
	return res, nil
}

// lasting reports whether other files can name the object: a package-level object, a field or a method.
func lasting(object types.Object) bool {
	switch it := object.(type) {
	case *types.Var:
		return it.IsField() || it.Parent() == it.Pkg().Scope()
	case *types.Func:
		return true
	default:
		return object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
	}
}

func (it *indexer) mark(ident *ast.Ident, object types.Object, defines bool) {
	switch generic := object.(type) {
	case *types.Func:
		object = generic.Origin()
	case *types.Var:
		object = generic.Origin()
	}
	at := it.files.Position(ident.Pos())
	below, err := filepath.Rel(it.root, at.Filename)
	if err != nil || strings.HasPrefix(below, "..") {
		return
	}
	symbol := "go . . . foreign/" + object.Name() + "()."
	if place := it.files.Position(object.Pos()); strings.HasPrefix(place.Filename, it.root+"/") {
		symbol = fmt.Sprintf("go . . . `%s`/`%d:%d`.", place.Filename[len(it.root)+1:], place.Line, place.Column)
		if !lasting(object) {
			symbol = fmt.Sprintf("local %d", object.Pos())
		}
	}
	column := at.Column - 1
	if lines := it.texts[at.Filename]; at.Line <= len(lines) && column <= len(lines[at.Line-1]) {
		column = len(utf16.Encode([]rune(lines[at.Line-1][:column])))
	}
	below = filepath.ToSlash(below)
	if it.marks[below] == nil {
		it.marks[below] = map[mark]bool{}
	}
	it.marks[below][mark{at.Line - 1, column, len(ident.Name), symbol, defines}] = true
}

// SCIP is protobuf: Index { documents = 2 }, Document { path = 1, occurrences = 2, encoding = 6 }.
func (it *indexer) write(out string) {
	var index []byte
	var paths []string
	for name := range it.marks {
		paths = append(paths, name)
	}
	sort.Strings(paths)
	for _, name := range paths {
		document := field(nil, 1, []byte(name))
		var marks []mark
		for it := range it.marks[name] {
			marks = append(marks, it)
		}
		sort.Slice(marks, func(a, b int) bool {
			if marks[a].line != marks[b].line {
				return marks[a].line < marks[b].line
			}
			if marks[a].column != marks[b].column {
				return marks[a].column < marks[b].column
			}
			return marks[a].symbol < marks[b].symbol
		})
		for _, it := range marks {
			at := number(number(number(nil, it.line), it.column), it.column+it.length)
			occurrence := field(field(nil, 1, at), 2, []byte(it.symbol))
			if it.defines {
				occurrence = number(number(occurrence, 3<<3), 1)
			}
			document = field(document, 2, occurrence)
		}
		index = field(index, 2, number(number(document, 6<<3), 2))
	}
	check(os.WriteFile(out, index, 0o644))
}

func field(to []byte, id int, bytes []byte) []byte {
	return append(number(number(to, id<<3|2), len(bytes)), bytes...)
}

func number(to []byte, value int) []byte {
	for value >= 128 {
		to = append(to, byte(value&127|128))
		value >>= 7
	}
	return append(to, byte(value))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
