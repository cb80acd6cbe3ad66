//! The list of MCP servers of a host with ours in it, and without; and a plugin that holds everything.
//!
//! Everything that is not ours stays, byte for byte. Ours is recognised by its name and what it runs.

use serde_json::{Value, json};

use crate::connect::{Unfit, hooks};
use crate::spans::{self, Inside, spans};

/// What our server is called.
const NAME: &str = "waylore";
const LIST: &str = "mcpServers";

/// The settings with our server; the same text when it is there already. `program` is an absolute path.
pub fn registered(settings: &str, program: &str) -> Result<String, Unfit> {
    let before = parse(settings)?;
    let known = &before[LIST][NAME];
    if *known == server(program) {
        return Ok(settings.to_owned());
    }
    if !known.is_null() && !is_ours(known) {
        return Err(Unfit::NameTaken);
    }
    let mut text = unregistered(settings)?;
    if text.trim().is_empty() {
        "{}\n".clone_into(&mut text);
    }
    added(&text, program).ok_or(Unfit::OddServers)
}

/// The settings without our server, and without the list if that is left empty by it.
pub fn unregistered(settings: &str) -> Result<String, Unfit> {
    let before = parse(settings)?;
    if !is_ours(&before[LIST][NAME]) {
        return Ok(settings.to_owned());
    }
    let span = spans(settings).and_then(|it| {
        let list = it.member(LIST)?;
        let is_alone = matches!(&list.value.inside, Inside::Object(all) if all.len() == 1);
        let ours = list.value.member(NAME)?;
        Some(if is_alone { list.span.clone() } else { ours.span.clone() })
    });
    Ok(span.map_or_else(|| settings.to_owned(), |it| spans::without(settings, &it)))
}

/// A plugin of Claude Code with our hooks and our server, in a marketplace of its own: paths and texts.
pub fn plugin(program: &str, version: &str) -> Vec<(&'static str, String)> {
    let about = "The memory of AI coding agents: what earlier sessions learned about a project";
    let owner = json!({ "name": NAME });
    let market = json!({
        "name": NAME,
        "description": about,
        "owner": owner,
        "plugins": [{ "name": NAME, "source": "./plugins/waylore", "description": about }],
    });
    let manifest =
        json!({ "name": NAME, "version": version, "description": about, "author": owner });
    let mut servers = json!({});
    servers[LIST] = json!({ NAME: server(program) });
    [
        (".claude-plugin/marketplace.json", market),
        ("plugins/waylore/.claude-plugin/plugin.json", manifest),
        ("plugins/waylore/hooks/hooks.json", json!({ "hooks": hooks(program) })),
        ("plugins/waylore/.mcp.json", servers),
    ]
    .into_iter()
    .map(|(path, value)| (path, format!("{value:#}\n")))
    .collect()
}

/// `alwaysLoad`: otherwise the host shows a model only the names of the tools.
fn server(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"], "alwaysLoad": true })
}

fn parse(settings: &str) -> Result<Value, Unfit> {
    if settings.trim().is_empty() {
        return Ok(json!({}));
    }
    let value: Value =
        serde_json::from_str(settings).map_err(|it| Unfit::NotJson(it.to_string()))?;
    if !value.is_object() {
        return Err(Unfit::NotJson("it is not an object".to_owned()));
    }
    if value.get(LIST).is_some_and(|it| !it.is_object()) {
        Err(Unfit::OddServers)
    } else {
        Ok(value)
    }
}

fn added(text: &str, program: &str) -> Option<String> {
    let root = spans(text)?;
    let is_empty = |it: &Inside| matches!(it, Inside::Object(members) if members.is_empty());
    let Some(list) = root.member(LIST) else {
        let item = format!("\"{LIST}\": {{}}");
        let with = spans::with_item(text, &root.span, is_empty(&root.inside), &item);
        return added(&with, program);
    };
    let item = serde_json::to_string_pretty(&server(program)).ok()?;
    let item = format!("\"{NAME}\": {item}");
    Some(spans::with_item(text, &list.value.span, is_empty(&list.value.inside), &item))
}

fn is_ours(server: &Value) -> bool {
    let runs = server["command"].as_str().unwrap_or_default();
    let name = runs.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name) == NAME && server["args"][0] == "mcp"
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str =
        "{\n  \"numStartups\": 7,\n  \"mcpServers\": { \"db\": { \"command\": \"db\" } }\n}\n";

    #[test]
    fn a_server_comes_and_goes_and_theirs_stay() {
        for before in [THEIRS, "{}", "", "{ \"mcpServers\": {} }", "{\"a\":1}"] {
            let with = registered(before, "/bin/waylore").unwrap();
            let value: Value = serde_json::from_str(&with).unwrap();
            assert_eq!(value[LIST][NAME]["alwaysLoad"], true, "{with}");
            assert_eq!(registered(&with, "/bin/waylore").unwrap(), with, "once");
            let moved = registered(&with, "/opt/waylore").unwrap();
            assert!(!moved.contains("/bin/waylore") && moved.contains("/opt/waylore"), "{moved}");
            let after: Value = serde_json::from_str(&unregistered(&with).unwrap()).unwrap();
            let mut was: Value = serde_json::from_str(before).unwrap_or_else(|_| json!({}));
            if was[LIST] == json!({}) {
                was.as_object_mut().unwrap().remove(LIST);
            }
            assert_eq!(after, was, "{before}");
        }
        assert_eq!(unregistered(THEIRS).unwrap(), THEIRS);
        let with = registered(THEIRS, "/bin/waylore").unwrap();
        assert!(with.contains("\"db\": { \"command\": \"db\" }"), "{with}");
    }

    #[test]
    fn what_is_somebody_elses_is_left_alone() {
        let taken = "{\"mcpServers\": {\"waylore\": {\"command\": \"/usr/bin/other\"}}}";
        assert_eq!(registered(taken, "/bin/waylore"), Err(Unfit::NameTaken));
        assert_eq!(unregistered(taken).unwrap(), taken);
        for odd in ["[]", "{", "{\"mcpServers\": []}"] {
            assert!(registered(odd, "/bin/waylore").is_err(), "{odd}");
        }
    }
}
