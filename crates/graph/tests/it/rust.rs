//! Resolution of Rust: modules, crates, impls, extension traits, macros.
//!
//! A line `== path` in a script begins a file. An expected line is `from kind to (evidence)`:
//! `a.ts:run calls b.ts:Store.save (type)`. The evidence is the way by which the target was found:
//! `scope` (same file), `import`, `member` (of the own type or a base), `type` (of the value),
//! `overload` (one of several), `unique` (the only method with the name). The list is complete: a
//! call in a script without a line must stay unresolved.

use expect_test::expect;

use crate::fixture::check_edges;

/// `core2` is the name that the manifest of `app` gives the package `my-core`.
#[test]
fn rust_paths_lead_through_modules_re_exports_and_renamed_crates() {
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
fn a_renamed_module_is_followed() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/deep.rs
pub fn down() {}
pub mod lower { pub fn ground() {} }
== src/main.rs
mod deep;
use deep::{self as far, lower::{self as near}};
fn main() { far::down(); near::ground() }
"#,
        expect![[r"
            src/main.rs:main calls src/deep.rs:down (import)
            src/main.rs:main calls src/deep.rs:lower.ground (import)
        "]],
    );
}

/// `anyhow::Result<Part>` contains a type of the project.
#[test]
fn types_of_the_project_inside_foreign_generic_types_are_followed() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
[dependencies]
anyhow = "1"
== src/main.rs
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
            src/main.rs:second calls src/main.rs:Part.turn (type)
            src/main.rs:second calls src/main.rs:io (scope)
            src/main.rs:third calls src/main.rs:Part.turn (type)
            src/main.rs:third calls src/main.rs:all (scope)
        "]],
    );
}

/// The type of `buf` is known, `context` is not. That only one method is called `with_current` is no
/// evidence in Rust.
#[test]
fn a_method_of_an_unknown_receiver_is_not_guessed() {
    check_edges(
        "
== Cargo.toml
[package]
name = \"app\"
== src/lib.rs
pub struct Buf;
impl Buf { fn with_current(&self) {} }
pub fn known(buf: &Buf) { buf.with_current(); }
pub fn unknown() { context::with_current(); }
",
        expect![[r"
            src/lib.rs:known calls src/lib.rs:Buf.with_current (type)
        "]],
    );
}

#[test]
fn a_call_means_the_method_and_not_the_field_of_the_same_name() {
    check_edges(
        "
== Cargo.toml
[package]
name = \"app\"
== src/lib.rs
pub struct Buf { filled: usize }
impl Buf {
    pub fn filled(&self) -> usize { self.filled }
}
pub fn read(buf: &Buf) -> usize { buf.filled() }
",
        expect![[r"
            src/lib.rs:read calls src/lib.rs:Buf.filled (type)
        "]],
    );
}

/// `support` is an inline module of a test file, so its child module is in the folder `support`.
#[test]
fn the_child_of_an_inline_module_is_in_the_folder_of_that_module() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== tests/all.rs
mod support {
    pub mod panic;
}
use support::panic::caught;
fn go() { caught(); }
== tests/support/panic.rs
pub fn caught() {}
"#,
        expect![[r"
            tests/all.rs:go calls tests/support/panic.rs:caught (import)
        "]],
    );
}

#[test]
fn a_builder_method_may_share_the_name_of_its_field() {
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
use demo::Builder;
fn go() { Builder::new().threads(1).build().enter(); }
"#,
        expect![[r"
            src/lib.rs:Builder.new instantiates src/lib.rs:Builder (scope)
            tests/all.rs:go calls src/lib.rs:Builder.build (type)
            tests/all.rs:go calls src/lib.rs:Builder.new (member)
            tests/all.rs:go calls src/lib.rs:Builder.threads (type)
            tests/all.rs:go calls src/lib.rs:Runtime.enter (type)
        "]],
    );
}

/// `b.rs` does not import the trait, and `stdin()` has no type of the project.
#[test]
fn an_extension_method_needs_its_trait_in_scope_and_a_known_type() {
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

/// Two files define `both`, and `hidden` is inside a function: neither is resolved from elsewhere.
#[test]
fn a_macro_is_visible_in_its_crate_and_exported_at_the_crate_root() {
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

/// `task::spawn` is a module and a function; `spawn()` calls the function.
#[test]
fn a_function_may_have_the_name_of_its_module() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
mod task;
pub use task::spawn;
fn begin() { spawn(); task::spawn::later() }
== src/task.rs
mod spawn;
pub use spawn::spawn;
fn twice() { spawn() }
== src/task/spawn.rs
pub fn spawn() {}
pub fn later() {}
"#,
        expect![[r"
            src/lib.rs:begin calls src/task/spawn.rs:later (import)
            src/lib.rs:begin calls src/task/spawn.rs:spawn (import)
            src/task.rs:twice calls src/task/spawn.rs:spawn (import)
        "]],
    );
}

/// Each `let engine` is another variable, and the first has the name of the function it calls.
#[test]
fn a_variable_may_shadow_a_function_and_another_variable() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
pub struct Engine;
pub struct Part;
impl Engine { pub fn part(&self) -> Part { Part } }
impl Part { pub fn turn(&self) {} }
fn engine() -> Engine { Engine }
fn shadowed() { let engine = engine(); let engine = std::sync::Arc::new(engine.part()); engine.turn(); }
"#,
        expect![[r"
            src/lib.rs:shadowed calls src/lib.rs:Engine.part (type)
            src/lib.rs:shadowed calls src/lib.rs:Part.turn (type)
            src/lib.rs:shadowed calls src/lib.rs:engine (scope)
        "]],
    );
}

#[test]
fn an_underscore_takes_a_position_in_a_pattern_and_a_comment_takes_none() {
    check_edges(
        r#"
== Cargo.toml
[package]
name = "demo"
== src/lib.rs
pub struct Engine;
pub struct Part;
impl Engine { pub fn turn(&self) {} }
impl Part { pub fn turn(&self) {} }
fn load() -> (Engine, Part) { todo() }
fn underscore() { let (_, part) = load(); part.turn() }
fn comment() { let (/* the */ engine, _) = load(); engine.turn() }
fn closure(all: Vec<(Engine, Part)>) { all.iter().any(|(_, part)| part.turn()); }
"#,
        expect![[r"
            src/lib.rs:closure calls src/lib.rs:Part.turn (type)
            src/lib.rs:comment calls src/lib.rs:Engine.turn (type)
            src/lib.rs:comment calls src/lib.rs:load (scope)
            src/lib.rs:underscore calls src/lib.rs:Part.turn (type)
            src/lib.rs:underscore calls src/lib.rs:load (scope)
        "]],
    );
}

/// The definition of a macro is not known in general, so its arguments are parsed as what they look
/// like: `cfg_rt!` contains items, `select!` and `wrapped!` statements.
#[test]
fn macro_arguments_are_read_as_items_or_statements() {
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
        "]],
    );
}

/// One function per kind of expression. Names that a macro or a closure binds, keys of `json!` and
/// unknown receivers have no target.
#[test]
fn macro_arguments_are_read_as_expressions() {
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
