//! Resolution of Java: packages, inheritance, overloads.
//!
//! A line `== path` in a script begins a file. An expected line is `from kind to (evidence)`:
//! `a.ts:run calls b.ts:Store.save (type)`. The evidence is the way by which the target was found:
//! `scope` (same file), `import`, `member` (of the own type or a base), `type` (of the value),
//! `overload` (one of several), `unique` (the only method with the name). The list is complete: a
//! call in a script without a line must stay unresolved.

use expect_test::expect;
use waylore_graph::RefKind;

use crate::fixture::{build_graph, check_edges, parse_files};

/// The two edges to `Base.log` lead to two overloads. `List.size` is external.
#[test]
fn calls_lead_through_packages_bases_and_element_types() {
    check_edges(
        "
== a/Base.java
package a;
public class Base { protected void log(String s) {} void log(String s, int n) {} }
== a/b/Service.java
package a.b;
import a.Base;
import java.util.List;
import static a.b.Util.check;
public class Service extends Base {
  private final List<Repo> repos;
  Service self() { return this; }
  void run() {
    log(\"x\"); log(\"x\", 1); check();
    self().run();
    for (Repo repo : repos) repo.save();
    repos.forEach(it -> it.save());
    new Repo().save();
    repos.size();
  }
}
class Repo { void save() {} void size() {} }
== a/b/Util.java
package a.b;
class Util { static void check() {} }
",
        expect![[r"
            a/b/Service.java:Service extends a/Base.java:Base (import)
            a/b/Service.java:Service.run calls a/Base.java:Base.log (member)
            a/b/Service.java:Service.run calls a/Base.java:Base.log (member)
            a/b/Service.java:Service.run calls a/b/Service.java:Repo.save (type)
            a/b/Service.java:Service.run calls a/b/Service.java:Service.run (type)
            a/b/Service.java:Service.run calls a/b/Service.java:Service.self (member)
            a/b/Service.java:Service.run calls a/b/Util.java:Util.check (import)
            a/b/Service.java:Service.run instantiates a/b/Service.java:Repo (scope)
        "]],
    );
}

/// The target of every call in a script: the line of the call, that of the definition, and the
/// evidence.
fn call_targets(script: &str) -> Vec<String> {
    let (files, graph) = (parse_files(script), build_graph(script));
    let line_text = |path: &str, line: u32| {
        let (_, text) = files.iter().find(|it| it.0 == path).unwrap();
        text.lines().nth(line as usize).unwrap().trim()
    };
    let mut targets = Vec::new();
    for (file, path) in graph.files() {
        for call in graph.resolve_references(file).iter().filter(|it| it.kind == RefKind::Call) {
            let Some((target, resolution)) = call.target else { continue };
            let definition = graph.facts(target.file).unwrap().def(target.def).position;
            let call_line = line_text(path, call.position.line);
            let target_line = line_text(graph.path(target.file).unwrap(), definition.line);
            targets.push(format!("{call_line} → {target_line} ({resolution})"));
        }
    }
    targets
}

#[test]
fn overloads_are_selected_by_argument_types() {
    let targets = call_targets(
        r#"
== a/Box.java
package a;
public class Box extends Base {
  void f(String s) {}
  void f(Number n) {}
  void f(long n) {}
  void f(boolean b) {}
  void f(char c) {}
  void f(Class<?> c) {}
  void f(Box b) {}
  void f(Base[] all) {}
  void f(Runnable r) {}
  void f(Object... all) {}
  void f(String s, java.io.Reader r) {}
  void f(String s, Base b) {}
  Box() {}
}
class Base { Base() {} void f(java.io.Writer w) {} }
== b/Use.java
package b;
import a.Box;
import java.io.*;
class Use {
  Integer count;
  void run(Box box, Box[] many, StringReader reader, PrintWriter writer, Object any) {
    box.f("a" + 1);
    box.f(count);
    box.f(1);
    box.f(!true);
    box.f('c');
    box.f(Box.class);
    box.f(new Box());
    box.f(many);
    box.f(() -> {});
    box.f(1, 2, 3);
    box.f("a", reader);
    box.f("a", box);
    box.f(writer);
    box.f((long) any);
    box.f(unknown);
    var text = "x"; box.f(text);
  }
}
"#,
    );
    expect![[r#"
        box.f("a" + 1); → void f(String s) {} (type)
        box.f(count); → void f(Number n) {} (type)
        box.f(1); → void f(long n) {} (type)
        box.f(!true); → void f(boolean b) {} (type)
        box.f('c'); → void f(char c) {} (type)
        box.f(Box.class); → void f(Class<?> c) {} (type)
        box.f(new Box()); → void f(Box b) {} (type)
        box.f(many); → void f(Base[] all) {} (type)
        box.f(() -> {}); → void f(Runnable r) {} (type)
        box.f(1, 2, 3); → void f(Object... all) {} (type)
        box.f("a", reader); → void f(String s, java.io.Reader r) {} (type)
        box.f("a", box); → void f(String s, Base b) {} (type)
        box.f(writer); → class Base { Base() {} void f(java.io.Writer w) {} } (type)
        box.f((long) any); → void f(long n) {} (type)
        box.f(unknown); → void f(String s) {} (overload)
        var text = "x"; box.f(text); → void f(String s) {} (type)"#]]
    .assert_eq(&targets.join("\n"));
}
