// Writes a SCIP index of a Java repository: the target of every call, by the compiler itself.
//
//   java JavaIndex.java REPOSITORY OUT.scip [CLASSPATH]
//
// Libraries missing from the class path are errors for the compiler; it continues after them.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

public class JavaIndex {
  record Mark(int line, int column, int length, String symbol, boolean defines) {}

  static final Map<String, List<Mark>> MARKS = new TreeMap<>();
  static final Map<Element, String> SYMBOLS = new HashMap<>();
  static Path root;

  public static void main(String[] args) throws Exception {
    root = Path.of(args[0]).toAbsolutePath().normalize();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    List<Path> sources = new ArrayList<>();
    try (var walk = Files.walk(root)) {
      walk.filter(it -> it.toString().endsWith(".java"))
          .filter(it -> !it.endsWith("module-info.java") && !it.endsWith("package-info.java"))
          .forEach(sources::add);
    }
    List<String> options = new ArrayList<>(List.of(
        "-proc:none", "-Xmaxerrs", "1000000", "-XDshould-stop.ifError=FLOW", "-implicit:none", "-nowarn"));
    if (args.length > 2) {
      options.addAll(List.of("-classpath", args[2]));
    }
    JavacTask task = (JavacTask) compiler.getTask(
        new PrintWriter(Writer.nullWriter()), files, it -> {}, options, null,
        files.getJavaFileObjectsFromPaths(sources));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    Trees trees = Trees.instance(task);
    units.forEach(it -> new Definitions(trees, it).scan(it, null));
    units.forEach(it -> new Calls(trees, it).scan(it, null));
    write(Path.of(args[1]));
    long calls = MARKS.values().stream().flatMap(List::stream).filter(it -> !it.defines).count();
    System.err.println(units.size() + " files, " + SYMBOLS.size() + " definitions, " + calls + " references");
  }

  /** The text of one file and positions in it. */
  abstract static class Scanner extends TreePathScanner<Void, Void> {
    final Trees trees;
    final CompilationUnitTree unit;
    final String path;
    final String text;

    Scanner(Trees trees, CompilationUnitTree unit) {
      this.trees = trees;
      this.unit = unit;
      path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
      try {
        text = unit.getSourceFile().getCharContent(true).toString();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void mark(int at, String name, String symbol, boolean defines) {
      LineMap lines = unit.getLineMap();
      int line = (int) lines.getLineNumber(at) - 1;
      int column = at - (int) lines.getStartPosition(line + 1);
      MARKS.computeIfAbsent(path, it -> new ArrayList<>())
          .add(new Mark(line, column, name.length(), symbol, defines));
    }

    /** Position of a name as a whole word, at or after an offset. */
    int find(String name, long from) {
      for (int at = text.indexOf(name, (int) from); at >= 0; at = text.indexOf(name, at + 1)) {
        int end = at + name.length();
        boolean starts = at == 0 || !Character.isJavaIdentifierPart(text.charAt(at - 1));
        boolean ends = end >= text.length() || !Character.isJavaIdentifierPart(text.charAt(end));
        if (starts && ends) {
          return at;
        }
      }
      return -1;
    }

    long start(Tree tree) {
      return trees.getSourcePositions().getStartPosition(unit, tree);
    }

    long end(Tree tree) {
      return trees.getSourcePositions().getEndPosition(unit, tree);
    }
  }

  static final class Definitions extends Scanner {
    Definitions(Trees trees, CompilationUnitTree unit) {
      super(trees, unit);
    }

    void define(String name, long from) {
      Element element = trees.getElement(getCurrentPath());
      int at = from < 0 || name.isEmpty() ? -1 : find(name, from);
      if (element != null && at >= 0) {
        String symbol = "java . . . `" + path + "`/`" + at + "`.";
        SYMBOLS.put(element, symbol);
        mark(at, name, symbol, true);
      }
    }

    /** Skips modifiers and annotations, which may contain the same name. */
    long after(ModifiersTree modifiers, Tree whole) {
      return Math.max(end(modifiers), start(whole));
    }

    @Override
    public Void visitClass(ClassTree tree, Void it) {
      define(tree.getSimpleName().toString(), after(tree.getModifiers(), tree));
      return super.visitClass(tree, it);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void it) {
      boolean makes = tree.getReturnType() == null;
      String name = makes
          ? ((ClassTree) getCurrentPath().getParentPath().getLeaf()).getSimpleName().toString()
          : tree.getName().toString();
      long from = makes ? after(tree.getModifiers(), tree) : end(tree.getReturnType());
      define(name, from);
      return super.visitMethod(tree, it);
    }
  }

  static final class Calls extends Scanner {
    Calls(Trees trees, CompilationUnitTree unit) {
      super(trees, unit);
    }

    void refer(Element element, String name, long at) {
      if (element == null || at < 0 || element.asType().getKind() == TypeKind.ERROR) {
        return;
      }
      mark((int) at, name, SYMBOLS.getOrDefault(element, "java . . . foreign/" + element.getSimpleName() + "()."), false);
    }

    /** If a type is missing, the compiler picks any method of the name; such a target is not written. */
    boolean isUnknown(Tree tree) {
      var type = trees.getTypeMirror(new TreePath(getCurrentPath(), tree));
      return type == null || type.getKind() == TypeKind.ERROR;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Void it) {
      ExpressionTree select = tree.getMethodSelect();
      Element element = tree.getArguments().stream().anyMatch(this::isUnknown)
          ? null : trees.getElement(new TreePath(getCurrentPath(), select));
      if (select instanceof MemberSelectTree member) {
        String name = member.getIdentifier().toString();
        refer(element, name, end(member) - name.length());
      } else if (select instanceof IdentifierTree bare) {
        String name = bare.getName().toString();
        if (!name.equals("this") && !name.equals("super")) {
          refer(element, name, start(bare));
        }
      }
      return super.visitMethodInvocation(tree, it);
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void it) {
      ExpressionTree type = tree.getIdentifier();
      if (type instanceof ParameterizedTypeTree generic && generic.getType() instanceof ExpressionTree inner) {
        type = inner;
      }
      TreePath path = TreePath.getPath(unit, type);
      Element element = path == null ? null : trees.getElement(path);
      String whole = type.toString();
      String name = whole.substring(whole.lastIndexOf('.') + 1);
      refer(element, name, end(type) - name.length());
      return super.visitNewClass(tree, it);
    }
  }

  // SCIP is protobuf: Index { documents = 2 }, Document { path = 1, occurrences = 2, encoding = 6 }.

  static void write(Path out) throws IOException {
    var index = new ByteArrayOutputStream();
    for (var entry : MARKS.entrySet()) {
      var document = new ByteArrayOutputStream();
      field(document, 1, entry.getKey().getBytes(StandardCharsets.UTF_8));
      for (Mark it : entry.getValue()) {
        var range = new ByteArrayOutputStream();
        number(range, it.line);
        number(range, it.column);
        number(range, it.column + it.length);
        var occurrence = new ByteArrayOutputStream();
        field(occurrence, 1, range.toByteArray());
        field(occurrence, 2, it.symbol.getBytes(StandardCharsets.UTF_8));
        if (it.defines) {
          number(occurrence, 3 << 3);
          number(occurrence, 1);
        }
        field(document, 2, occurrence.toByteArray());
      }
      number(document, 6 << 3);
      number(document, 2);
      field(index, 2, document.toByteArray());
    }
    Files.write(out, index.toByteArray());
  }

  static void field(ByteArrayOutputStream to, int number, byte[] bytes) {
    number(to, number << 3 | 2);
    number(to, bytes.length);
    to.writeBytes(bytes);
  }

  static void number(ByteArrayOutputStream to, int value) {
    while (value >= 128) {
      to.write(value & 127 | 128);
      value >>>= 7;
    }
    to.write(value);
  }
}
