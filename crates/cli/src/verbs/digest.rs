//! `plugward digest DIR`: the tree digest, or the text that is hashed.

use std::num::NonZeroUsize;

use plugward_loader::tree_lock::{
    CodewizardDigest, DigestCheck, DigestedTree, TreeWarning, Snapshot, TreeCheck, TreeError, TreeRefusal, h1,
};

use crate::args::{DigestArgs, SchemeArg};
use crate::diagnostic::Diagnostic;
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
            Err(error) => return Err(unread(args, &error)),
        },
        SchemeArg::H1 | SchemeArg::Codewizard => match Snapshot::read(&jail, &limits, &excludes, jobs) {
            Ok(TreeCheck::Read(snapshot)) => {
                notes(snapshot.warnings(), snapshot.warnings_left_out(), out);
                format!("{}\n", foreign(args, &snapshot)?)
            }
            Ok(TreeCheck::Refused(refusal)) => return Err(refused(args, &refusal)),
            Err(error) => return Err(unread(args, &error)),
        },
    };
    out.result(&text)?;
    Ok(0)
}

/// Says what is worth knowing of the folder, beside the result.
fn notes(notices: &[TreeWarning], left_out: usize, out: &Out) {
    for notice in notices {
        out.report(&Diagnostic::note_of(notice.to_string()).code(notice.code()));
    }
    if left_out > 0 {
        out.report(&Diagnostic::note_of(format!("{left_out} more notes like these")));
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
        Failure::refused(text)
    })
}

fn unread(args: &DigestArgs, error: &TreeError) -> Failure {
    let causes = core::iter::successors(core::error::Error::source(error), |cause| cause.source());
    let causes = causes.map(|cause| format!(": {cause}")).collect::<Vec<_>>().concat();
    Failure::internal(format!("read {}: {error}{causes}", line(args.dir.as_str())))
        .code(error.code())
        .help(error.help())
}

fn refused(args: &DigestArgs, refusal: &TreeRefusal) -> Failure {
    let failure = Failure::refused(format!("{} cannot be digested", args.dir));
    let mut problems = refusal.problems().iter();
    let first = problems.next();
    let failure = match first {
        Some(problem) => {
            failure.code(problem.code()).note("problem", problem.to_string()).help(problem.help())
        }
        None => failure,
    };
    problems
        .fold(failure, |failure, problem| failure.note("problem", format!("{problem} ({})", problem.code())))
}
