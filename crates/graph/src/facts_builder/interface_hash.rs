//! Hash of a file's interface: the facts that other files can see. While it is unchanged, an edit
//! of the file concerns its own references only and no other file is resolved again. For example,
//! a new call in the body of a function leaves the hash unchanged; a new parameter changes it.

use model::codec::ByteWriter;

use crate::facts::{FileFacts, hash_bytes, write_export, write_id, write_optional_id, write_term};

/// Hashes everything other files can see: all but positions, bodies and references. Called before
/// references are copied, so `facts` contains nothing but the interface.
pub(super) fn hash_interface(facts: &FileFacts, buffer: &mut Vec<u8>) -> u64 {
    // The fields are encoded into one buffer, because hashing it at once is fast.
    let mut to = ByteWriter::new(std::mem::take(buffer));
    to.bytes.clear();
    facts.strings.iter().for_each(|it| to.write_str(it));
    write_optional_id(&mut to, facts.namespace);
    to.write_u32(u32::from(facts.is_test));
    for def in &facts.defs {
        to.write_u32(def.kind as u32);
        write_id(&mut to, def.name);
        to.write_u32(u32::from(def.flags.0));
        to.write_u32(u32::from(def.arity.min));
        to.write_u32(u32::from(def.arity.max));
        write_optional_id(&mut to, def.parent);
        write_optional_id(&mut to, def.owner_type);
        write_optional_id(&mut to, def.owner_name);
        write_optional_id(&mut to, def.param_types);
        write_optional_id(&mut to, def.signature);
        write_optional_id(&mut to, def.declared_type);
        write_optional_id(&mut to, def.inferred_from);
        write_id(&mut to, def.type_params.0);
        write_id(&mut to, def.type_params.1);
    }
    for base in &facts.bases {
        write_id(&mut to, base.def);
        write_id(&mut to, base.term);
        to.write_u32(u32::from(base.implements));
    }
    for import in &facts.imports {
        to.write_u32(import.kind as u32);
        write_id(&mut to, import.module);
        write_id(&mut to, import.imported_name);
        write_id(&mut to, import.local_name);
        write_optional_id(&mut to, import.parent_module);
        to.write_u32(u32::from(import.is_public));
    }
    facts.exports.iter().for_each(|it| write_export(&mut to, it));
    for local in &facts.locals {
        write_optional_id(&mut to, local.declared_type);
        write_optional_id(&mut to, local.inferred_from);
    }
    facts.terms.iter().for_each(|it| write_term(&mut to, *it));
    facts.lists.iter().for_each(|it| to.write_u32(*it));
    let hash = hash_bytes(&to.bytes);
    *buffer = to.bytes;
    hash
}
