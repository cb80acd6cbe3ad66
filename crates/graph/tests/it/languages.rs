//! Resolution per language (all but ECMAScript): modules, members, types, overloads and macros.

use expect_test::expect;
use waylore_graph::RefKind;

use crate::fixture::{build_graph, check_edges};

#[test]
fn python_packages_and_inheritance() {
    check_edges(
        "
== src/pkg/__init__.py
from .core import helper as exported
== src/pkg/core.py
import json
from os import path
def helper(): return json.loads('x')
class Base:
    def save(self): self.clean()
    def clean(self): ...
class Model(Base):
    items: list[Base]
    def clean(self):
        super().clean()
        for it in self.items:
            it.save()
    @classmethod
    def make(cls) -> 'Model': return cls()
    @property
    def base(self) -> Base: return Base()
== src/pkg/json.py
def loads(): ...
== src/app.py
import pkg.core
from pkg import exported, core as c
def main():
    exported()
    pkg.core.helper()
    m = c.Model.make()
    m.save()
    m.base.clean()
    def inner(): helper()
    return [x.save() for x in m.items]
",
        expect![[r"
            src/app.py:main calls src/pkg/core.py:Base.clean (type)
            src/app.py:main calls src/pkg/core.py:Base.save (type)
            src/app.py:main calls src/pkg/core.py:Model.make (member)
            src/app.py:main calls src/pkg/core.py:helper (import)
            src/pkg/core.py:Base.save calls src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model extends src/pkg/core.py:Base (scope)
            src/pkg/core.py:Model.base instantiates src/pkg/core.py:Base (scope)
            src/pkg/core.py:Model.clean calls src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model.clean calls src/pkg/core.py:Base.save (type)
            src/pkg/core.py:Model.clean overrides src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model.make instantiates src/pkg/core.py:Model (scope)
        "]],
    );
}

#[test]
fn rust_modules_impls_and_crates() {
    check_edges(
        r#"
== crates/core/Cargo.toml
[package]
name = "my-core"
== crates/core/src/lib.rs
mod inner;
pub mod api;
pub use inner::Engine;
== crates/core/src/inner.rs
use super::api::Part;
pub struct Engine { part: Part }
impl Engine {
    pub fn new() -> Self { Self { part: Part::default() } }
    pub fn run(&self) -> Option<Part> { self.part.turn(); None }
}
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn it_runs() { assert!(Engine::new().run().is_none()); let e = Engine::new(); assert_eq!(e.run(), None); }
}
== crates/core/src/api.rs
#[derive(Default)]
pub struct Part;
impl Part { pub fn turn(&self) { helper() } }
fn helper() {}
== crates/app/Cargo.toml
[package]
name = "app"
[dependencies]
core2 = { package = "my-core", path = "../core" }
== crates/app/src/main.rs
use core2::{Engine, api};
fn main() {
    let engine = Engine::new();
    if let Some(part) = engine.run() { part.turn(); }
    let _ = api::Part;
    std::fs::read("x").map(|it| it.len());
}
"#,
        expect![[r"
            crates/app/src/main.rs:main calls crates/core/src/api.rs:Part.turn (type)
            crates/app/src/main.rs:main calls crates/core/src/inner.rs:Engine.new (member)
            crates/app/src/main.rs:main calls crates/core/src/inner.rs:Engine.run (type)
            crates/core/src/api.rs:Part.turn calls crates/core/src/api.rs:helper (scope)
            crates/core/src/inner.rs:Engine.new instantiates crates/core/src/inner.rs:Engine (scope)
            crates/core/src/inner.rs:Engine.run calls crates/core/src/api.rs:Part.turn (type)
            crates/core/src/inner.rs:tests.it_runs calls crates/core/src/inner.rs:Engine.new (member)
            crates/core/src/inner.rs:tests.it_runs calls crates/core/src/inner.rs:Engine.run (type)
        "]],
    );
}

#[test]
fn a_rust_macro_is_visible_in_its_crate_and_exported_at_the_crate_root() {
    check_edges(
        r#"
== kit/Cargo.toml
[package]
name = "my-kit"
== kit/src/lib.rs
mod macros;
== kit/src/macros.rs
#[macro_export]
macro_rules! ready { ($e:expr) => { $e } }
#[macro_export]
macro_rules! odd { () => {} }
== app/Cargo.toml
[package]
name = "app"
[dependencies]
my-kit = { path = "../kit" }
== app/src/lib.rs
#[macro_use]
mod cfg;
mod deep;
mod one;
mod two;
== app/src/cfg.rs
macro_rules! cfg_x { ($e:expr) => { $e } }
== app/src/one.rs
macro_rules! both { () => {} }
fn inside() { macro_rules! hidden { () => {} } hidden!(); }
== app/src/two.rs
macro_rules! both { () => {} }
== app/src/deep.rs
use my_kit::{odd, ready};
fn f() { ready!(1); cfg_x!(2); println!("x"); both!(); hidden!(); }
fn g() { my_kit::odd!(); }
"#,
        expect![[r"
            app/src/deep.rs:f calls app/src/cfg.rs:cfg_x (import)
            app/src/deep.rs:f calls kit/src/macros.rs:ready (import)
            app/src/one.rs:inside calls app/src/one.rs:inside.hidden (scope)
        "]],
    );
}

#[test]
fn a_rust_method_may_share_the_name_of_a_field_and_nested_modules_lie_in_folders() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
pub struct Builder { threads: Option<usize> }
pub struct Runtime;
impl Builder {
    pub fn new() -> Self { Builder { threads: None } }
    pub fn threads(&mut self, n: usize) -> &mut Self { self.threads = Some(n); self }
    pub fn build(&mut self) -> Runtime { Runtime }
}
impl Runtime { pub fn enter(&self) {} }
== tests/all.rs
mod support {
    pub mod panic;
}
use support::panic::caught;
use demo::Builder;
fn go() { Builder::new().threads(1).build().enter(); caught(); }
== tests/support/panic.rs
pub fn caught() {}
"#,
        expect![[r"
            src/lib.rs:Builder.new instantiates src/lib.rs:Builder (scope)
            tests/all.rs:go calls src/lib.rs:Builder.build (type)
            tests/all.rs:go calls src/lib.rs:Builder.new (member)
            tests/all.rs:go calls src/lib.rs:Builder.threads (type)
            tests/all.rs:go calls src/lib.rs:Runtime.enter (type)
            tests/all.rs:go calls tests/support/panic.rs:caught (import)
        "]],
    );
}

#[test]
fn a_rust_extension_method_needs_its_trait_in_scope_and_a_known_type() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
pub trait Read { fn poll(&self); }
pub trait ReadExt: Read { fn read(&self, n: usize) {} }
impl<T: Read> ReadExt for T {}
#[derive(Debug)]
pub struct File;
impl Read for File { fn poll(&self) {} }
== tests/a.rs
use demo::{File, ReadExt};
fn go(file: File) { file.read(1); std::io::stdin().read(1); }
== tests/b.rs
use demo::File;
fn go(file: File) { file.read(1); }
"#,
        expect![[r"
            src/lib.rs:File implements src/lib.rs:Read (scope)
            src/lib.rs:File.poll overrides src/lib.rs:Read.poll (member)
            src/lib.rs:ReadExt extends src/lib.rs:Read (scope)
            tests/a.rs:go calls src/lib.rs:ReadExt.read (type)
        "]],
    );
}

#[test]
fn rust_results_of_foreign_types_and_renamed_modules_are_followed() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
[dependencies]
anyhow = "1"
== src/deep.rs
pub fn down() {}
pub mod lower { pub fn ground() {} }
== src/main.rs
mod deep;
use deep::{self as far, lower::{self as near}};
fn fourth() { far::down(); near::ground() }
struct Part;
impl Part { fn turn(&self) {} }
fn any() -> anyhow::Result<Part> { todo() }
fn io() -> std::io::Result<Part> { todo() }
fn all() -> std::collections::VecDeque<Part> { todo() }
fn first() { any()?.turn() }
fn second() { let part = io().unwrap(); part.turn() }
fn third() { for it in all() { it.turn() } }
"#,
        expect![[r"
            src/main.rs:first calls src/main.rs:Part.turn (type)
            src/main.rs:first calls src/main.rs:any (scope)
            src/main.rs:fourth calls src/deep.rs:down (import)
            src/main.rs:fourth calls src/deep.rs:lower.ground (import)
            src/main.rs:second calls src/main.rs:Part.turn (type)
            src/main.rs:second calls src/main.rs:io (scope)
            src/main.rs:third calls src/main.rs:Part.turn (type)
            src/main.rs:third calls src/main.rs:all (scope)
        "]],
    );
}

#[test]
fn rust_macro_arguments_are_read_as_items_or_statements() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
macro_rules! cfg_rt { ($($it:item)*) => { $(#[cfg(feature = "rt")] $it)* } }
cfg_rt! {
    mod inner;
    pub use inner::Engine;
    pin_project! { pub struct Held { pub engine: Engine } }
}
cfg_if::cfg_if! {
    if #[cfg(unix)] { fn place() { inner::deep() } } else { fn elsewhere() {} }
}
fn main() {
    let engine = Engine::new();
    assert_eq!(engine.part().turn(1), vec![place(); 2], "{}", Engine::new().part().size());
    select! { _ = wait() => { engine.part().size(); } }
    matches!(engine.part(), Some(_) if odd(1));
}
fn odd(_: u8) -> bool { wrapped!({ wait(); place() }) }
fn wait() {}
mod task;
pub use task::spawn;
fn begin() { spawn(); task::spawn::later() }
fn engine() -> Engine { Engine::new() }
fn shadowed() { let engine = engine(); let engine = std::sync::Arc::new(engine.part()); engine.turn(1); }
== src/task.rs
mod spawn;
pub use spawn::spawn;
fn twice() { spawn() }
== src/task/spawn.rs
pub fn spawn() {}
pub fn later() {}
== src/inner.rs
use crate::odd;
pub struct Engine;
pub struct Part;
impl Engine {
    pub fn new() -> Self { Self }
    cfg_rt! { pub fn part(&self) -> Part { odd(1); Part } }
}
impl Part { pub fn turn(&self, _: u8) {} pub fn size(&self) {} }
pub fn deep() {}
"#,
        expect![[r"
            src/inner.rs calls src/lib.rs:cfg_rt (import)
            src/inner.rs:Engine.part calls src/lib.rs:odd (import)
            src/lib.rs calls src/lib.rs:cfg_rt (scope)
            src/lib.rs:begin calls src/task/spawn.rs:later (import)
            src/lib.rs:begin calls src/task/spawn.rs:spawn (import)
            src/lib.rs:engine calls src/inner.rs:Engine.new (member)
            src/lib.rs:main calls src/inner.rs:Engine.new (member)
            src/lib.rs:main calls src/inner.rs:Engine.part (type)
            src/lib.rs:main calls src/inner.rs:Part.size (type)
            src/lib.rs:main calls src/inner.rs:Part.turn (type)
            src/lib.rs:main calls src/lib.rs:odd (scope)
            src/lib.rs:main calls src/lib.rs:place (scope)
            src/lib.rs:main calls src/lib.rs:wait (scope)
            src/lib.rs:odd calls src/lib.rs:place (scope)
            src/lib.rs:odd calls src/lib.rs:wait (scope)
            src/lib.rs:place calls src/inner.rs:deep (import)
            src/lib.rs:shadowed calls src/inner.rs:Engine.part (type)
            src/lib.rs:shadowed calls src/inner.rs:Part.turn (type)
            src/lib.rs:shadowed calls src/lib.rs:engine (scope)
            src/task.rs:twice calls src/task/spawn.rs:spawn (import)
        "]],
    );
}

#[test]
fn rust_macro_arguments_are_read_as_expressions() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
pub struct Part { size: u8 }
impl Part {
    pub fn turn(&self) -> Part { Part { size: 1 } }
    pub fn all(&self) -> Vec<Part> { vec![] }
    fn default() -> Part { Part { size: 0 } }
    pub fn of<T>(_: T) -> Part { Part { size: 2 } }
}
pub mod deep { pub fn down() {} pub struct Well; impl Well { pub fn dig(&self) {} } }
fn size() -> u8 { 1 }
fn part() -> Part { Part::default() }
fn turn() {}
async fn later() -> Part { Part::default() }
fn chains(of: &Part) { print!("{}", &of.turn().turn().size); assert!(!of.all()[0].turn().size == 1); }
fn paths() { check!(deep::down(), Self::other(), crate::deep::down()); }
fn generic() { check!(Part::of::<Vec<Part>>(1).turn()); }
fn defaults() -> Vec<Part> { vec![Part::default(), Part::default()] }
fn literals() { check!(Part { size: size() }, deep::Well { }.dig()); }
fn keys() { json!({ "turn": size(), turn: 1 }); format!("{turn}", turn = 2); }
fn closures(of: &Part) { check!(of.all().iter().any(|it| it.turn().size > 1), |part: u8| part.turn(), move || turn()); }
fn after(part: Part) { check!(|part| part.turn(), part.turn()); }
async fn waits() { check!(later().await.turn(), other()?.turn()); }
fn boxed() { check!(std::sync::Arc::new(part()).turn()); }
fn inner() { check!(vec![size(); 3], matches!(part(), Part { .. })); }
fn statements() { check!({ let a = part(); a.turn() }, if let Some(turn) = part() { turn() }); }
fn template() { quote! { fn #name() { turn() } } }
fn lives() { check!(Of<'size, u8>); }
"#,
        expect![[r"
            src/lib.rs:Part.default instantiates src/lib.rs:Part (scope)
            src/lib.rs:Part.of instantiates src/lib.rs:Part (scope)
            src/lib.rs:Part.turn instantiates src/lib.rs:Part (scope)
            src/lib.rs:after calls src/lib.rs:Part.turn (type)
            src/lib.rs:boxed calls src/lib.rs:Part.turn (type)
            src/lib.rs:boxed calls src/lib.rs:part (scope)
            src/lib.rs:chains calls src/lib.rs:Part.all (type)
            src/lib.rs:chains calls src/lib.rs:Part.turn (type)
            src/lib.rs:closures calls src/lib.rs:Part.all (type)
            src/lib.rs:closures calls src/lib.rs:Part.turn (type)
            src/lib.rs:closures calls src/lib.rs:turn (scope)
            src/lib.rs:defaults calls src/lib.rs:Part.default (member)
            src/lib.rs:generic calls src/lib.rs:Part.of (member)
            src/lib.rs:generic calls src/lib.rs:Part.turn (type)
            src/lib.rs:inner calls src/lib.rs:part (scope)
            src/lib.rs:inner calls src/lib.rs:size (scope)
            src/lib.rs:inner instantiates src/lib.rs:Part (scope)
            src/lib.rs:keys calls src/lib.rs:size (scope)
            src/lib.rs:later calls src/lib.rs:Part.default (member)
            src/lib.rs:literals calls src/lib.rs:deep.Well.dig (type)
            src/lib.rs:literals calls src/lib.rs:size (scope)
            src/lib.rs:literals instantiates src/lib.rs:Part (scope)
            src/lib.rs:literals instantiates src/lib.rs:deep.Well (import)
            src/lib.rs:part calls src/lib.rs:Part.default (member)
            src/lib.rs:paths calls src/lib.rs:deep.down (import)
            src/lib.rs:statements calls src/lib.rs:Part.turn (type)
            src/lib.rs:statements calls src/lib.rs:part (scope)
            src/lib.rs:template calls src/lib.rs:turn (scope)
            src/lib.rs:waits calls src/lib.rs:Part.turn (type)
            src/lib.rs:waits calls src/lib.rs:later (scope)
        "]],
    );
}

#[test]
fn go_packages_and_embedding() {
    check_edges(
        r#"
== go.mod
module example.com/app
== store/store.go
package store
type Base struct{}
func (b *Base) Close() error { return nil }
type Store struct { *Base; next *Store; all []*Store }
func Open(name string) (*Store, error) { return &Store{}, nil }
func (s *Store) Get() *Store { return s.next }
== store/more.go
package store
func reset(s *Store) { s.Close(); for _, it := range s.all { it.Get().Close() } }
== main.go
package main
import (
	"fmt"
	st "example.com/app/store"
)
func main() {
	s, err := st.Open("a")
	if err != nil { fmt.Println(err) }
	s.Get().Close()
	func() { helper() }()
}
func helper() {}
"#,
        expect![[r"
            main.go:main calls main.go:helper (scope)
            main.go:main calls store/store.go:Base.Close (type)
            main.go:main calls store/store.go:Open (import)
            main.go:main calls store/store.go:Store.Get (type)
            store/more.go:reset calls store/store.go:Base.Close (type)
            store/more.go:reset calls store/store.go:Store.Get (type)
            store/store.go:Open instantiates store/store.go:Store (scope)
            store/store.go:Store extends store/store.go:Base (scope)
        "]],
    );
}

#[test]
fn java_packages_overloads_and_inheritance() {
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

/// The target of every call of `f` in a script, as lines of the file that defines it.
fn call_targets(script: &str) -> Vec<String> {
    let graph = build_graph(script);
    let mut targets = Vec::new();
    for (file, path) in graph.files() {
        for call in graph.resolve_references(file).iter().filter(|it| it.kind == RefKind::Call) {
            let Some((target, how)) = call.target else { continue };
            let facts = graph.facts(target.file).unwrap();
            let line = facts.def(target.def).position.line;
            targets.push(format!("{path}:{} → {line} ({})", call.position.line, how.slug()));
        }
    }
    targets
}

#[test]
fn java_overloads_are_selected_by_argument_types() {
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
    expect![[r"
        b/Use.java:6 → 2 (type)
        b/Use.java:7 → 3 (type)
        b/Use.java:8 → 4 (type)
        b/Use.java:9 → 5 (type)
        b/Use.java:10 → 6 (type)
        b/Use.java:11 → 7 (type)
        b/Use.java:12 → 8 (type)
        b/Use.java:13 → 9 (type)
        b/Use.java:14 → 10 (type)
        b/Use.java:15 → 11 (type)
        b/Use.java:16 → 12 (type)
        b/Use.java:17 → 13 (type)
        b/Use.java:18 → 16 (type)
        b/Use.java:19 → 4 (type)
        b/Use.java:20 → 2 (overload)
        b/Use.java:21 → 2 (type)"]]
    .assert_eq(&targets.join("\n"));
}

#[test]
fn c_calls_lead_from_the_prototype_in_a_header_to_the_definition() {
    check_edges(
        r#"
== include/list.h
struct list { int n; };
int list_add(struct list *l, int v);
== src/list.c
#include "list.h"
static int grow(struct list *l) { return 1; }
int list_add(struct list *l, int v) { return grow(l); }
== src/other.c
static int grow(int x) { return x; }
int twice(void) { return grow(2); }
== src/main.c
#include <stdio.h>
#include "list.h"
int main(void) { struct list l; list_add(&l, 1); printf("x"); return 0; }
"#,
        expect![[r"
            src/list.c:list_add calls src/list.c:grow (scope)
            src/list.c:list_add implements include/list.h:list_add (member)
            src/main.c:main calls src/list.c:list_add (import)
            src/other.c:twice calls src/other.c:grow (scope)
        "]],
    );
}

#[test]
fn cpp_members_defined_outside_their_class_belong_to_it() {
    check_edges(
        r#"
== engine.h
class Part { public: void turn(); };
class Engine : public Machine { public: void run(); Part part; static Engine* make(); };
class Machine { public: void stop() {} };
== engine.cpp
#include "engine.h"
void Part::turn() {}
void Engine::run() { part.turn(); this->stop(); helper(); }
Engine* Engine::make() { return new Engine(); }
static void helper() {}
== main.cpp
#include "engine.h"
int main() { Engine* e = Engine::make(); e->run(); Engine f; f.part.turn(); }
"#,
        expect![[r"
            engine.cpp:Engine.make implements engine.h:Engine.make (member)
            engine.cpp:Engine.make instantiates engine.h:Engine (import)
            engine.cpp:Engine.run calls engine.cpp:Part.turn (type)
            engine.cpp:Engine.run calls engine.cpp:helper (scope)
            engine.cpp:Engine.run calls engine.h:Machine.stop (type)
            engine.cpp:Engine.run implements engine.h:Engine.run (member)
            engine.cpp:Part.turn implements engine.h:Part.turn (member)
            engine.h:Engine extends engine.h:Machine (scope)
            main.cpp:main calls engine.cpp:Engine.make (member)
            main.cpp:main calls engine.cpp:Engine.run (type)
            main.cpp:main calls engine.cpp:Part.turn (type)
            main.cpp:main instantiates engine.h:Engine (import)
        "]],
    );
}

#[test]
fn csharp_ruby_and_php_calls_and_inheritance() {
    check_edges(
        r"
== App/Repo.cs
namespace App.Data { public class Repo { public void Save() { Log(); } void Log() {} } }
== App/Service.cs
using App.Data;
namespace App { class Service : Base { private Repo repo = new Repo(); void Run(Repo other) { repo.Save(); other.Save(); Help(); } } class Base { protected void Help() {} } }
== lib/user.rb
require_relative 'base'
class User < Base
  def initialize(store)
    @mailer = Mailer.new
  end
  def save
    validate
    @mailer.deliver_now_or_never
  end
end
class Mailer
  def deliver_now_or_never; end
end
== lib/base.rb
class Base
  def validate; end
end
== src/Model/User.php
<?php namespace App\Model; use App\Tool\Log;
class User { private Log $log; function save(Log $other): void { $this->log->write2(); $other->write2(); $x = new Log(); self::make(); } static function make() {} }
== src/Tool/Log.php
<?php namespace App\Tool; class Log { function write2() { helper(); } } function helper() {}
",
        expect![[r"
            App/Repo.cs:Repo.Save calls App/Repo.cs:Repo.Log (member)
            App/Service.cs:Service extends App/Service.cs:Base (scope)
            App/Service.cs:Service instantiates App/Repo.cs:Repo (import)
            App/Service.cs:Service.Run calls App/Repo.cs:Repo.Save (type)
            App/Service.cs:Service.Run calls App/Service.cs:Base.Help (member)
            lib/user.rb:User extends lib/base.rb:Base (import)
            lib/user.rb:User.initialize instantiates lib/user.rb:Mailer (scope)
            lib/user.rb:User.save calls lib/base.rb:Base.validate (member)
            lib/user.rb:User.save calls lib/user.rb:Mailer.deliver_now_or_never (type)
            src/Model/User.php:User.save calls src/Model/User.php:User.make (member)
            src/Model/User.php:User.save calls src/Tool/Log.php:Log.write2 (type)
            src/Model/User.php:User.save instantiates src/Tool/Log.php:Log (import)
            src/Tool/Log.php:Log.write2 calls src/Tool/Log.php:helper (scope)
        "]],
    );
}

#[test]
fn a_rust_call_means_the_method_and_not_the_field() {
    check_edges(
        "
== Cargo.toml
[package]
name = \"app\"
== src/lib.rs
pub struct Buf { filled: usize }
impl Buf {
    pub fn filled(&self) -> usize { self.filled }
    fn with_current(&self) {}
}
pub fn read(buf: &Buf) -> usize { buf.filled() }
pub fn go() { context::with_current(); }
",
        expect![[r"
            src/lib.rs:read calls src/lib.rs:Buf.filled (type)
        "]],
    );
}

#[test]
fn cpp_namespaces_separate_equal_names() {
    check_edges(
        r#"
== include/a/core.h
namespace a::b {
class API_EXPORT Store {
 public:
  Store(int size);
  virtual void put(const char* key, int n = 1);
  void put(const Store& other);
  static Store* open(const std::string& name);
};
void help(int x, int y = 0);
inline namespace v1 { void current(); }
}
namespace c { void help(int x); }
== src/core.cc
#include "a/core.h"
namespace a {
namespace b {
namespace { void secret() {} }
Store::Store(int size) { secret(); }
void Store::put(const char* key, int n) { help(n); grow(); this->put(*this); }
void Store::put(const Store& other) { current(); }
Store* Store::open(const std::string& name) { return new Store(1); }
void help(int x, int y) {}
void current() {}
}
}
void c::help(int x) {}
== src/other.cc
namespace { void secret() {} }
void grow() {}
void run() { secret(); help(1); }
== src/main.cc
#include "a/core.h"
namespace ab = a::b;
using namespace c;
using a::b::Store;
int main() {
  std::unique_ptr<Store> store(a::b::Store::open("x"));
  store->put("key");
  store->put(*store);
  help(1);
  ab::help(1, 2);
  ::a::b::help(1);
  std::vector<ab::Store> all;
  for (auto& help : all) { help.put("x", 2); }
  ab::Store one(1);
}
"#,
        expect![[r"
            src/core.cc:a.b.Store.Store calls src/core.cc:a.b.secret (scope)
            src/core.cc:a.b.Store.Store implements include/a/core.h:a.b.Store.Store (member)
            src/core.cc:a.b.Store.open implements include/a/core.h:a.b.Store.open (member)
            src/core.cc:a.b.Store.open instantiates include/a/core.h:a.b.Store (import)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.Store.put (type)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.current (scope)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.help (import)
            src/core.cc:a.b.Store.put calls src/other.cc:grow (import)
            src/core.cc:a.b.Store.put implements include/a/core.h:a.b.Store.put (member)
            src/core.cc:a.b.Store.put implements include/a/core.h:a.b.Store.put (member)
            src/core.cc:a.b.current implements include/a/core.h:a.b.current (member)
            src/core.cc:a.b.help implements include/a/core.h:a.b.help (member)
            src/core.cc:c.help implements include/a/core.h:c.help (member)
            src/main.cc:main calls src/core.cc:a.b.Store.open (member)
            src/main.cc:main calls src/core.cc:a.b.Store.put (type)
            src/main.cc:main calls src/core.cc:a.b.Store.put (type)
            src/main.cc:main calls src/core.cc:a.b.help (import)
            src/main.cc:main calls src/core.cc:c.help (import)
            src/main.cc:main instantiates include/a/core.h:a.b.Store (import)
            src/other.cc:run calls src/other.cc:secret (scope)
        "]],
    );
}

#[test]
fn cpp_test_cases_see_the_members_of_their_fixture() {
    check_edges(
        r#"
== store.h
class Store { public: int size() const; int n GUARDED_BY(mutex_); };
LIB_INLINE int Store::size() const { return n; }
== store_test.cc
#include "store.h"
class Fixture { protected: void fill(int n) {} Store store; Fixture& self() { return *this; } };
class StoreTest : public Fixture { void fill() {} };
TEST_F(StoreTest, KeepsOrder) { self().fill(1); store.size(); helper(); StoreTest::fill(); }
TEST(Plain, Works) { auto make = [](Store* it) { return it->size(); }; }
static void helper() {}
"#,
        expect![[r"
            store.h:Store.size implements store.h:Store.size (member)
            store_test.cc:Plain.Works calls store.h:Store.size (type)
            store_test.cc:StoreTest extends store_test.cc:Fixture (scope)
            store_test.cc:StoreTest.KeepsOrder calls store.h:Store.size (type)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:Fixture.fill (type)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:Fixture.self (member)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:StoreTest.fill (member)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:helper (scope)
            store_test.cc:StoreTest.fill overrides store_test.cc:Fixture.fill (member)
        "]],
    );
}

#[test]
fn helpers_in_blocks_and_methods_without_a_class_are_private_to_their_file() {
    check_edges(
        r#"
== spec/one_spec.rb
describe 'one' do
  def mock_app; end
  it('works') { mock_app }
end
def shared; end
== spec/two_spec.rb
mock_app
shared
names.length_of_all
== spec/three_spec.rb
require_relative 'one_spec'
shared
mock_app
class Names; def length_of_all; end; end
== A.cs
namespace A { class Writer { public void Put(string s) {} public void Put(int n) {} public void Put(object o, bool b) {} public void Put(string s, params int[] all) {} } }
== B.cs
namespace A { class Use { void Run(Writer w, int n) { w.Put("x"); w.Put(n); w.Put(w, true); w.Put("x", 1, 2); char.IsLong('x'); } } class Text { bool IsLong(char c) { return true; } } }
== src/f.php
<?php namespace App; function json_encode() {} function run() { \json_encode(1); json_encode(1); }
"#,
        expect![[r"
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            spec/one_spec.rb calls spec/one_spec.rb:mock_app (scope)
            spec/three_spec.rb calls spec/one_spec.rb:shared (import)
            src/f.php:run calls src/f.php:json_encode (scope)
        "]],
    );
}
