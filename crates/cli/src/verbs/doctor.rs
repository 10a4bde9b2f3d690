//! `plugward doctor`: tries what this machine can enforce for the programs of plugins.

use std::io::Read as _;
use std::time::Duration;

use plugward_loader::launch::{
    Access, EnforceRule, LaunchCheck, LaunchSpec, ProbeResult, ProbeRow, Program, SystemProbe, launch, probe,
};
use serde_json::{Value, json};

use crate::args::{DoctorArgs, ListFormat};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::out::Out;
use crate::table::grid;
use crate::{host, json};
use plugward_loader::escape::line;

/// The time that an interpreter has to print its version.
const LIMIT: Duration = Duration::from_secs(5);
/// The interpreters of plugins, their arguments, and what needs them.
const PROGRAMS: [(&str, &[&str], &str); 3] = [
    ("node", &["--version"], "install Node.js, or add its directory to PATH, for plugins in JavaScript"),
    ("python3", &["--version"], "install Python 3, or add its directory to PATH, for plugins in Python"),
    ("sh", &["-c", "echo works"], "add the directory of `sh` to PATH, for hooks and scripts"),
];

/// A row of the table.
struct Row {
    name: &'static str,
    result: &'static str,
    detail: String,
    holds: Vec<&'static str>,
    help: &'static str,
}

pub(crate) fn run(args: &DoctorArgs, out: &mut Out) -> Result<u8, Failure> {
    let SystemProbe { rows, held, missing, .. } = probe();
    let rows: Vec<Row> = rows.into_iter().map(Row::of).chain(PROGRAMS.map(program)).collect();
    let text = match args.format {
        ListFormat::Table => {
            let shown = |row: &Row| {
                let detail = if row.help.is_empty() { &*row.detail } else { "" };
                [row.name, row.result, &*line(detail)].map(str::to_owned).to_vec()
            };
            let rows: Vec<_> = rows.iter().map(shown).collect();
            grid(&["NAME", "RESULT", "DETAIL"], &rows, out.width)
                + &format!("enforced: {}\n", held.join(", "))
        }
        ListFormat::Json => {
            let rows = rows.iter().map(Row::to_json).collect::<Vec<_>>();
            let missing =
                missing.iter().map(|one| json!({ "word": one.word, "why": one.why, "help": one.help }));
            let missing = missing.collect::<Vec<_>>();
            json::render(&json!({ "version": 1, "rows": rows, "held": held, "missing": missing }))?
        }
    };
    out.result(&text)?;
    for row in rows.iter().filter(|row| !row.help.is_empty()) {
        out.report(&Diagnostic::warning(format!("{}: {}", row.name, row.detail)).help(row.help));
    }
    // A program whose processes can outlive it is limited all the same.
    let words: Vec<&str> = missing.iter().map(|one| one.word).filter(|word| *word != "end").collect();
    if !args.require || words.is_empty() {
        return Ok(0);
    }
    out.complain(&format!("error: this system does not enforce: {}", words.join(", ")));
    Ok(1)
}

impl Row {
    fn of(row: ProbeRow) -> Self {
        let result = match row.result {
            ProbeResult::Ok => "ok",
            ProbeResult::Partial => "partial",
            ProbeResult::Missing => "missing",
        };
        Self { name: row.name, result, detail: row.detail, holds: row.holds, help: row.help }
    }

    fn to_json(&self) -> Value {
        let Self { name, result, detail, holds, help } = self;
        json!({ "name": name, "result": result, "detail": detail, "holds": holds, "help": help })
    }
}

fn program((name, words, help): (&'static str, &'static [&'static str], &'static str)) -> Row {
    match version(name, words) {
        Ok(detail) => Row { name, result: "ok", detail, holds: Vec::new(), help: "" },
        Err(failure) => Row { name, result: "missing", detail: failure.to_string(), holds: Vec::new(), help },
    }
}

/// Starts a program, and returns the first line that it prints.
fn version(name: &str, words: &[&str]) -> Result<String, Failure> {
    let path = host::program(name)?;
    let spec = LaunchSpec {
        program: Program::System { path: path.as_str() },
        argv: std::iter::once(&name).chain(words).map(|word| (*word).to_owned()).collect(),
        directory: "/".to_owned(),
        env: vec![("PATH".to_owned(), host::search_path().join(":"))],
    };
    let failed = |why: &str| Failure::internal(format!("{path} {why}"));
    let started = launch(&spec, Access::User, EnforceRule::Require, &mut |_| Ok(()));
    let Ok(LaunchCheck::Running(mut running)) = started else { return Err(failed("does not start")) };
    let output = running.take_stdout();
    let in_time = running.wait(LIMIT).unwrap_or_default();
    let end = running.end(Duration::ZERO);
    if !in_time {
        return Err(failed("does not end"));
    }
    let mut text = String::new();
    output.ok_or_else(|| failed("has no output"))?.take(4_096).read_to_string(&mut text)?;
    if !end.is_ok_and(|status| status.success()) {
        return Err(failed("fails"));
    }
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
