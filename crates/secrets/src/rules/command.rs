//! Passwords passed to programs and calls by position, without a name beside the value.

use super::{TokenRule, token};

/// The columns are the arguments of `token` in `rules.rs`. An entropy of 1 only excludes
/// placeholders.
#[rustfmt::skip]
pub(super) const COMMAND_RULES: &[TokenRule] = &[
    //    kind                 keywords                     entropy pattern
    token("netrc-password",    &["machine"],                  1,    r"machine\s{1,8}\S{1,100}\s{1,16}login\s{1,8}\S{1,100}\s{1,16}password\s{1,8}([^\s]{4,100})", "netrc password"),
    token("curl-password",     &["curl "],                    1,    r#"curl [^\n]{0,300}?(?:-u|--user)[ =]{1,2}["']?[^\s:"'$<{]{1,60}:([^\s"'$<{:]{4,100})"#, "curl user and password"),
    token("sshpass-password",  &["sshpass"],                  1,    r#"sshpass[ ]{1,3}-p[ ]{0,3}["']?([^\s"'$<]{4,60})"#, "sshpass password"),
    token("psexec-password",   &["psexec"],                   1,    r#"(?i)psexec(?:\.exe)?[^\n]{1,120}?[ ]-u[ ]{1,3}\S{1,60}[ ]{1,3}-p[ ]{1,3}["']?([^\s"'$%<]{4,60})"#, "PsExec password"),
    token("login-password",    &["docker login", "podman login", "helm registry login"], 1, r#"(?:docker|podman|helm registry) login[^\n]{0,120}?(?:-p|--password)[ =]{1,3}["']?([^\s"'$<-][^\s"'$<]{5,100})"#, "registry login password"),
    token("mysql-password",    &["mysql -", "mysqldump -"],   1,    r#"mysql(?:dump)? -[^\n]{0,80}?[ ]-p["']?([A-Za-z0-9!@#%^&*_+=]{5,60})"#, "MySQL command line password"),
    token("network-password",  &["NetworkCredential("],       1,    r#"NetworkCredential\(\s{0,4}"[^"\n]{1,80}"\s{0,4},\s{0,12}"([^"\n]{4,80})""#, ".NET network credential"),
    token("directory-password", &["DirectoryEntry("],         1,    r#"DirectoryEntry\(\s{0,4}"[^"\n]{1,120}"\s{0,4},\s{0,20}"[^"\n]{1,80}"\s{0,4},\s{0,20}"([^"\n]{4,80})""#, ".NET directory password"),
    token("pgpass-password",   &[":5432:"],                   1,    r"(?::5432:)[^\s:]{1,60}:[^\s:]{1,60}:([^\s:]{4,80})", "pgpass password"),
];
