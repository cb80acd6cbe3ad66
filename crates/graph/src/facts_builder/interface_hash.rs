//! Hash of a file's interface: the facts that other files can see. While it is unchanged, an edit
//! of the file concerns its own references only and no other file is resolved again. For example,
//! a new call in the body of a function leaves the hash unchanged; a new parameter changes it.

use model::codec::ByteWriter;

use crate::facts::{
    BaseClause, Definition, FileFacts, ImportEntry, LocalVariable, hash_bytes, write_export,
    write_id, write_optional_id, write_term,
};

/// Hashes everything other files can see: all but positions, references, and what of a body does not
/// decide the type of a result or a member. Called before references are copied, so the terms and
/// locals in `facts` are those of the interface: type parameters, and what a visible type is
/// inferred from.
///
/// The structs are taken apart field by field: a new field must be hashed or left out here.
pub(super) fn hash_interface(facts: &FileFacts, buffer: &mut Vec<u8>) -> u64 {
    let FileFacts {
        namespace,
        strings,
        defs,
        bases,
        imports,
        exports,
        locals,
        terms,
        lists,
        is_test,
        // The language follows from the path, by which other files know the file.
        lang: _,
        // Not copied yet.
        n_visible_strings: _,
        reference_bytes: _,
        interface_hash: _,
        // Numbers for reports.
        n_lines: _,
        n_too_deep: _,
        n_syntax_errors: _,
    } = facts;
    // The fields are encoded into one buffer, because hashing it at once is fast.
    let mut to = ByteWriter::new(std::mem::take(buffer));
    to.bytes.clear();
    strings.iter().for_each(|it| to.write_str(it));
    write_optional_id(&mut to, *namespace);
    to.write_u32(u32::from(*is_test));
    defs.iter().for_each(|it| write_definition(&mut to, it));
    for BaseClause { def, term, implements } in bases {
        write_id(&mut to, *def);
        write_id(&mut to, *term);
        to.write_u32(u32::from(*implements));
    }
    imports.iter().for_each(|it| write_import(&mut to, it));
    exports.iter().for_each(|it| write_export(&mut to, it));
    for LocalVariable { declared_type, inferred_from } in locals {
        write_optional_id(&mut to, *declared_type);
        write_optional_id(&mut to, *inferred_from);
    }
    terms.iter().for_each(|it| write_term(&mut to, *it));
    lists.iter().for_each(|it| to.write_u32(*it));
    let hash = hash_bytes(&to.bytes);
    *buffer = to.bytes;
    hash
}

fn write_definition(to: &mut ByteWriter, def: &Definition) {
    let Definition {
        kind,
        name,
        flags,
        arity,
        parent,
        owner_type,
        owner_name,
        param_types,
        signature,
        declared_type,
        inferred_from,
        type_params,
        // Positions and the body.
        position: _,
        lines: _,
        span: _,
        structural_hash: _,
    } = def;
    to.write_u32(*kind as u32);
    write_id(to, *name);
    to.write_u32(u32::from(flags.0));
    to.write_u32(u32::from(arity.min));
    to.write_u32(u32::from(arity.max));
    write_optional_id(to, *parent);
    write_optional_id(to, *owner_type);
    write_optional_id(to, *owner_name);
    write_optional_id(to, *param_types);
    write_optional_id(to, *signature);
    write_optional_id(to, *declared_type);
    write_optional_id(to, *inferred_from);
    write_id(to, type_params.0);
    write_id(to, type_params.1);
}

fn write_import(to: &mut ByteWriter, import: &ImportEntry) {
    let ImportEntry { kind, module, imported_name, local_name, parent_module, is_public, line: _ } =
        import;
    to.write_u32(*kind as u32);
    write_id(to, *module);
    write_id(to, *imported_name);
    write_id(to, *local_name);
    write_optional_id(to, *parent_module);
    to.write_u32(u32::from(*is_public));
}
