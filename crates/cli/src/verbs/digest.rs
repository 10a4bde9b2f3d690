//! `plugward digest DIR`: the tree digest, or the text that is hashed.

use std::num::NonZeroUsize;

use anyhow::anyhow;
use plugward_loader::tree_lock::{
    CodewizardDigest, DigestCheck, DigestedTree, TreeWarning, Snapshot, TreeCheck, TreeError, TreeProblem,
    TreeRefusal, h1,
};

use crate::args::{DigestArgs, SchemeArg};
use crate::escape::line;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::verbs::shared;

pub(crate) fn run(args: &DigestArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let excludes = shared::excludes(&args.exclude)?;
    let jail = host::open(&args.dir)?;
    // The limits of a check, so that what is checked can be digested.
    let (limits, jobs) = (Settings::read(host)?.tree, NonZeroUsize::MIN);
    let text = match args.scheme {
        // Nothing but the list is asked for, so no content is kept.
        SchemeArg::Plugtree => match DigestedTree::read(&jail, &limits, &excludes, jobs) {
            Ok(DigestCheck::Digested(tree)) => {
                notes(tree.warnings(), tree.warnings_left_out(), out);
                if args.list { tree.list().as_str().to_owned() } else { format!("{}\n", tree.digest()) }
            }
            Ok(DigestCheck::Refused(refusal)) => return Err(refused(args, &refusal)),
            Err(error) => return Err(unread(args, &error).into()),
        },
        SchemeArg::H1 | SchemeArg::Codewizard => match Snapshot::read(&jail, &limits, &excludes, jobs) {
            Ok(TreeCheck::Read(snapshot)) => {
                notes(snapshot.warnings(), snapshot.warnings_left_out(), out);
                format!("{}\n", foreign(args, &snapshot)?)
            }
            Ok(TreeCheck::Refused(refusal)) => return Err(refused(args, &refusal)),
            Err(error) => return Err(unread(args, &error).into()),
        },
    };
    out.result(&text)?;
    Ok(0)
}

/// Says what is worth knowing of the folder, beside the result.
fn notes(notices: &[TreeWarning], left_out: usize, out: &Out) {
    for notice in notices {
        out.say(&format!("note: {} ({})", line(&notice.to_string()), notice.code()));
    }
    if left_out > 0 {
        out.say(&format!("note: {left_out} more of these"));
    }
}

/// The digest of another scheme, for comparison; these look at contents again.
fn foreign(args: &DigestArgs, snapshot: &Snapshot) -> Result<String, Failure> {
    if args.scheme == SchemeArg::Codewizard {
        return Ok(CodewizardDigest::of(snapshot).to_string());
    }
    h1(snapshot).ok_or_else(|| {
        let text = format!(
            "digest {}: h1 reads links through, and one of them leads to a folder",
            line(args.dir.as_str())
        );
        Failure::Refused(anyhow!(text))
    })
}

fn unread(args: &DigestArgs, error: &TreeError) -> anyhow::Error {
    let causes = core::iter::successors(core::error::Error::source(error), |cause| cause.source());
    let causes = causes.map(|cause| format!(": {cause}")).collect::<Vec<_>>().concat();
    anyhow!("read {}: {error}{causes} ({})\n  next: {}", line(args.dir.as_str()), error.code(), error.help())
}

fn refused(args: &DigestArgs, refusal: &TreeRefusal) -> Failure {
    let row = |problem: &TreeProblem| {
        format!("  {}: {}\n    next: {}", problem.code(), line(&problem.to_string()), problem.help())
    };
    let lines: Vec<String> = refusal.problems().iter().map(row).collect();
    let dir = line(args.dir.as_str());
    Failure::Refused(anyhow!("digest {dir}: it cannot be digested as it is\n{}", lines.join("\n")))
}
