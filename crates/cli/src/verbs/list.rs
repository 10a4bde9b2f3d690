//! `plugward list [DIR]`: lists the plugins in a directory, or what is installed.

use plugward_loader::{ByteRetention, Report, Trust};
use serde::Serialize;

use crate::args::{ListArgs, ListFormat};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed::{self, Installed};
use crate::json;
use crate::out::{Out, STRONG, paint};
use crate::report::approval;
use crate::table::grid;
use crate::text::count;
use crate::verbs::shared;
use plugward_loader::escape::line;

#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    plugins: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    version: Option<&'a str>,
    dialects: &'a [&'static str],
    path: &'a str,
    pin: &'a str,
    approval: String,
    tree: Option<&'a str>,
}

pub(crate) fn run(args: &ListArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let (trust, keep) = (Some(Trust::Tofu), ByteRetention::Nothing);
    let mut report = if let Some(dir) = &args.dir {
        shared::look(&[host::root(dir)?], trust, keep, &args.finding, host, out)?.report
    } else {
        let Installed { roots, records, .. } = installed::everything(&shared::scope(&args.hosts)?)?;
        shared::look_at(&roots, records, trust, keep, &args.finding, host, out)?.report
    };
    if args.format == ListFormat::Table {
        shared::localize(&mut report.plugins);
    }
    let rows: Vec<Row<'_>> = rows(&report);
    match args.format {
        ListFormat::Json => out.result(&json::render(&Listing { version: 1, plugins: rows })?)?,
        ListFormat::Table => {
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|row| {
                    let version = row.version.unwrap_or("-");
                    [row.id, version, row.pin, &row.approval]
                        .iter()
                        .map(|cell| line(cell).into_owned())
                        .collect()
                })
                .collect();
            if !cells.is_empty() {
                let text = grid(&["PLUGIN", "VERSION", "PIN", "APPROVAL"], &cells, out.width);
                let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
                out.result(&format!("{}\n{rest}", paint(STRONG, head)))?;
            }
            let rows = count(rows.len(), "plugin");
            out.result(&match &args.dir {
                Some(dir) => format!("{rows} in {}\n", line(dir.as_str())),
                None => format!("{} installed\n", rows.replace("plugin", "item")),
            })?;
        }
    }
    Ok(shared::pins_unread(&report.plugins, out))
}

fn rows(report: &Report) -> Vec<Row<'_>> {
    report
        .plugins
        .iter()
        .map(|plugin| Row {
            id: &plugin.id,
            name: &plugin.name,
            version: plugin.version.as_deref(),
            dialects: &plugin.dialects,
            path: &plugin.path,
            pin: plugin.pin.state.as_str(),
            approval: approval(plugin),
            tree: plugin.tree.as_deref(),
        })
        .collect()
}
