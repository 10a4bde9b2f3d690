//! `plugward digest DIR`: prints the tree digest of a directory, or the hashed text.

use std::num::NonZeroUsize;

use plugward_loader::tree_lock::{
    CodewizardDigest, DigestCheck, DigestedTree, Snapshot, TreeCheck, TreeError, TreeRefusal, TreeWarning, h1,
};

use crate::args::{DigestArgs, SchemeArg};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::verbs::shared;
use plugward_loader::escape::line;

pub(crate) fn run(args: &DigestArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let excludes = shared::excludes(&args.exclude)?;
    let jail = host::open(&args.dir)?;
    // The same limits as `check`, so that every checked plugin can be digested.
    let (limits, jobs) = (Settings::read(host)?.tree, NonZeroUsize::MIN);
    let text = match args.scheme {
        // The digest needs the contents only while they are hashed, so none is kept in memory.
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

/// Prints the warnings of the tree to standard error.
fn notes(notices: &[TreeWarning], left_out: usize, out: &Out) {
    for notice in notices {
        out.report(&Diagnostic::note_of(notice.to_string()).code(notice.code()));
    }
    if left_out > 0 {
        out.report(&Diagnostic::note_of(format!("{left_out} more notes like these")));
    }
}

/// Returns the digest of another scheme. These schemes hash the contents in another order.
fn foreign(args: &DigestArgs, snapshot: &Snapshot) -> Result<String, Failure> {
    if args.scheme == SchemeArg::Codewizard {
        return Ok(CodewizardDigest::of(snapshot).to_string());
    }
    h1(snapshot).ok_or_else(|| {
        let text = format!(
            "cannot compute h1 of {}: it reads symlinks as files, and one points to a directory",
            line(args.dir.as_str())
        );
        Failure::refused(text)
    })
}

fn unread(args: &DigestArgs, error: &TreeError) -> Failure {
    let causes = core::iter::successors(core::error::Error::source(error), |cause| cause.source());
    let causes = causes.map(|cause| format!(": {cause}")).collect::<Vec<_>>().concat();
    Failure::internal(format!("cannot read {}: {error}{causes}", line(args.dir.as_str())))
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
