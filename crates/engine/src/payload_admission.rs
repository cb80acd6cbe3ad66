//! Admission of stated payloads: the data of a memory, as a user or an agent gives it. `remember` and
//! `agent` call this, and the daemon for the protocol's `record`.

use model::{MemoryType, Payload, RecordedNote, StatedPayload, Timestamp};

use crate::Error;
use crate::text_admission::refuse_secret;

/// Completes and validates the payload of a statement. A secret in it is refused.
pub(crate) fn admit_payload(
    kind: &MemoryType,
    stated: Option<&StatedPayload>,
    now: Timestamp,
) -> Result<Option<Payload>, Error> {
    let Some(StatedPayload(stated)) = stated else { return Ok(None) };
    let Some(core) = kind.core_kind() else {
        let hint = "only built-in types have fields; say it in the text";
        return Err(Error::refuse(
            format!("`{kind}` is a custom type and carries no payload"),
            hint,
        ));
    };
    refuse_secret("payload", &stated.to_string())?;
    observe::complete_payload(core, stated, now).map(Some).map_err(|it| {
        let hint = match observe::payload_fields(core) {
            Some(fields) => format!("fields of a `{core}`, required; optional: {fields}"),
            None => "say it in the text".to_owned(),
        };
        Error::refuse(it.to_string(), hint)
    })
}

/// Checks a note of the protocol before it is journalled, and completes its payload.
pub fn admit_note(note: RecordedNote, now: Timestamp) -> Result<RecordedNote, Error> {
    let stated = note.payload.clone().map(StatedPayload);
    let payload = admit_payload(&note.kind, stated.as_ref(), now)?;
    Ok(RecordedNote { payload: payload.map(|it| it.to_json()), ..note })
}
