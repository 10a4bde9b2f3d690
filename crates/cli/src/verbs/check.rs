//! `plugward check DIR…`: the main job.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use plugward_loader::{
    Answer, DeclaredModules, Host as Sides, NoPerson, Person, PluginReport, Trust, FailureScope, CheckMode, check,
};

use crate::args::{CheckArgs, CheckFormat};
use crate::escape::line;
use crate::failure::Failure;
use crate::host::Host;
use crate::html;
use crate::json;
use crate::next_steps;
use crate::out::{ASK, Out, REFUSE, Show, paint};
use crate::progress::Progress;
use crate::sarif;
use crate::settings::Settings;
use crate::stores;
use crate::table::{self, View};
use crate::verbs::shared;

pub(crate) fn run(args: &CheckArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    let trust = shared::trust(args.trust, &settings);
    let mut options = shared::options(trust, CheckMode::Commit, &args.finding, &settings, host)?;
    options.whole = if args.all_or_nothing { FailureScope::AllOrNothing } else { FailureScope::EachAlone };
    options.enabled = (!args.enabled.is_empty()).then(|| args.enabled.clone());
    let roots = shared::roots(&args.dirs)?;
    if !args.no_cache && trust != Trust::Locked {
        let paths = args.dirs.iter().map(camino::Utf8PathBuf::as_path);
        match stores::records(host, "check", paths) {
            Ok(pack) => options.records = Some(Arc::new(pack)),
            Err(error) => stores::unrecorded(out, &error),
        }
    }
    let mut stores = stores::to_write(host, &settings, args.workflow.as_deref(), out)?;
    let progress = Progress::new(out.live);
    let mut nobody = NoPerson;
    let typed = shared::as_typed(&args.finding);
    let mut person = AtTheKeyboard { progress: &progress, width: out.width, typed: &typed };
    let asks = trust == Trust::Prompt && host.interactive;
    let mut sides = Sides {
        watch: &progress,
        person: if asks { &mut person } else { &mut nobody },
        grants: &DeclaredModules,
    };
    let mut report = check(&roots, &mut stores, &options, &mut sides);
    next_steps::add(&mut report);
    progress.done();
    if let Some(Err(error)) = options.records.as_ref().map(|pack| pack.keep()) {
        stores::unrecorded(out, &error.into());
    }
    let mut unknown = false;
    for id in &args.enabled {
        let called = |plugin: &PluginReport| {
            plugin.id == *id || plugin.name == *id || plugin.key.name() == id || plugin.key.to_string() == *id
        };
        if !report.plugins.iter().any(called) {
            unknown = true;
            out.complain(&format!(
                "{} --enabled {}: no such plugin was found",
                paint(ASK, "warning:"),
                line(id)
            ));
        }
    }
    // A pinned plugin that is gone was there to check.
    let gone = report.notices.iter().any(|notice| notice.code == "pin/gone");
    let nothing = report.plugins.is_empty() && args.enabled.is_empty() && !args.allow_empty && !gone;
    if nothing && report.exit == 0 {
        // A mistyped directory must not pass for a good one.
        report.exit = 2;
        let dirs: Vec<&str> = args.dirs.iter().map(|dir| dir.as_str()).collect();
        out.complain(&format!(
            "{} nothing to check: no plugin in {}\n  next: name a directory that contains plugins, or add --allow-empty",
            paint(REFUSE, "error:"),
            line(&dirs.join(", "))
        ));
    }
    match args.format {
        CheckFormat::Json => out.result(&json::render(&report)?)?,
        CheckFormat::Sarif => out.result(&json::visible(&sarif::render(&report)))?,
        CheckFormat::Html => {
            shared::name_folders(&mut report.plugins, &args.dirs);
            out.result(&html::render(&report))?;
        }
        CheckFormat::Table => {
            shared::localize(&mut report.plugins, &typed);
            shared::name_folders(&mut report.plugins, &args.dirs);
            let view = View { width: out.width, wordy: out.loudness > 0 };
            out.result(&table::report(&report, &view))?;
        }
    }
    if unknown && report.exit == 0 {
        // What was asked for was not decided, which is no yes.
        return Ok(2);
    }
    Ok(if args.exit_zero && !matches!(report.exit, 1 | 2 | 7) { 0 } else { report.exit })
}

/// Asks on the terminal, once a plugin.
struct AtTheKeyboard<'a> {
    progress: &'a Progress,
    width: usize,
    typed: &'a str,
}

impl Person for AtTheKeyboard<'_> {
    fn ask(&mut self, plugin: &PluginReport) -> Answer {
        self.progress.done();
        let view = View { width: self.width, wordy: true };
        let mut shown = plugin.clone();
        next_steps::add_to_plugin(&mut shown);
        shared::localize(std::slice::from_mut(&mut shown), self.typed);
        let plugin = &shown;
        let mut stderr = anstream::stderr();
        let mut question = table::details(plugin, &view, Show::Worst);
        for item in &plugin.surface {
            let name = item.name.as_deref().or(item.event.as_deref()).unwrap_or_default();
            let run = item.url.clone().unwrap_or_else(|| item.run.join(" "));
            let text = format!("{} {} {} ({})", item.kind, line(name), table::words(&run), item.coverage);
            question.push_str(&table::wrapped("  ", "    ", &text, self.width));
        }
        for (dialect, digest) in &plugin.manifest {
            question.push_str(&format!("  manifest {digest} {dialect}\n"));
        }
        question.push_str("  tree ");
        question.push_str(plugin.tree.as_deref().unwrap_or("none"));
        for _ in 0..3 {
            let prompt = format!("{question}\nEnroll {}? [y]es, [n]o, ne[v]er: ", line(&plugin.id));
            if stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush()).is_err() {
                return Answer::Nobody;
            }
            let mut answer = String::new();
            match std::io::stdin().lock().read_line(&mut answer) {
                Ok(0) | Err(_) => return Answer::Nobody,
                Ok(_) => {}
            }
            match answer.trim() {
                "y" | "yes" => return Answer::Yes,
                "n" | "no" => return Answer::No,
                "v" | "never" => return Answer::Never,
                _ => question.clear(),
            }
        }
        Answer::Nobody
    }
}
