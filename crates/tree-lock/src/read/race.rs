//! Reporting changes during a read to the observer of the jail.

use plugward_sandbox_path::{
    FileKind, FilesystemRaceDetected, Jail, OpenError, OpenErrorKind, PathEscapeKind, RaceCause, RelPath,
};

/// Returns the cause if an error means that a listed path is no longer what it was listed as.
pub(crate) fn change(error: &OpenError) -> Option<RaceCause> {
    match error.kind() {
        OpenErrorKind::Race(race) => Some(race.cause()),
        OpenErrorKind::Path(kind) => match kind {
            PathEscapeKind::NotFound => Some(RaceCause::Vanished),
            PathEscapeKind::Symlink => Some(RaceCause::SymlinkAppeared),
            PathEscapeKind::NotADirectory => Some(RaceCause::KindChanged { is: FileKind::Other }),
            PathEscapeKind::NotRegular { is } => Some(RaceCause::KindChanged { is: *is }),
            PathEscapeKind::Outside => Some(RaceCause::LeftJail),
            _ => None,
        },
        _ => None,
    }
}

/// Reports an error to the observer if it is a race. Returns `true` if it is one.
pub(crate) fn report_error(jail: &Jail, path: &str, error: &OpenError) -> bool {
    let Some(cause) = change(error) else {
        return false;
    };
    // The jail has reported its own races already.
    if error.race().is_none() {
        report(jail, path, cause, error.raw_os_error());
    }
    true
}

/// Reports a change that was recognized without a failed call.
pub(crate) fn report_change(jail: &Jail, path: &str, cause: RaceCause) {
    report(jail, path, cause, None);
}

#[cold]
fn report(jail: &Jail, path: &str, cause: RaceCause, errno: Option<i32>) {
    // A path that was listed passes the gate of the same jail. If it did not, the report would name the jail's
    // directory, since a report with a coarse path is better than none.
    let relative = match path {
        "" => RelPath::jail(),
        path => RelPath::parse_directory(path.as_bytes(), jail.policy())
            .map_or_else(|_| RelPath::jail(), RelPath::into_owned),
    };
    jail.report_race(&FilesystemRaceDetected::new(relative, cause, errno));
}
