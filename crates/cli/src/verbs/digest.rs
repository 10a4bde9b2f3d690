//! `plugward digest DIR`: the tree digest, or the text that is hashed.

use std::num::NonZeroUsize;

use anyhow::anyhow;
use plugward_loader::tree_lock::{CodewizardDigest, Limits, Snapshot, TreeCheck, h1};

use crate::args::{DigestArgs, SchemeArg};
use crate::escape::line;
use crate::failure::Failure;
use crate::host;
use crate::out::Out;
use crate::verbs::shared;

pub(crate) fn run(args: &DigestArgs, out: &mut Out) -> Result<u8, Failure> {
    let excludes = shared::excludes(&args.exclude)?;
    let jail = host::open(&args.dir)?;
    let read = Snapshot::read(&jail, &Limits::standard(), &excludes, NonZeroUsize::MIN).map_err(|error| {
        anyhow!("read {}: {error} ({})\n  next: {}", args.dir, error.code(), error.help())
    })?;
    let snapshot = match read {
        TreeCheck::Read(snapshot) => snapshot,
        TreeCheck::Refused(refusal) => {
            let lines: Vec<String> = refusal
                .problems()
                .iter()
                .map(|problem| {
                    format!(
                        "  {}: {}\n    next: {}",
                        problem.code(),
                        line(&problem.to_string()),
                        problem.help()
                    )
                })
                .collect();
            return Err(Failure::Refused(anyhow!(
                "digest {}: it cannot be digested as it is\n{}",
                args.dir,
                lines.join("\n")
            )));
        }
    };
    match (args.scheme, args.list) {
        (SchemeArg::Plugtree, true) => out.result(snapshot.preimage())?,
        (SchemeArg::Plugtree, false) => out.result(&format!("{}\n", snapshot.digest()))?,
        (SchemeArg::H1, _) => {
            let digest = h1(&snapshot).ok_or_else(|| {
                let text =
                    format!("digest {}: h1 reads links through, and one of them leads to a folder", args.dir);
                Failure::Refused(anyhow!(text))
            })?;
            out.result(&format!("{digest}\n"))?;
        }
        (SchemeArg::Codewizard, _) => out.result(&format!("{}\n", CodewizardDigest::of(&snapshot)))?,
    }
    Ok(0)
}
