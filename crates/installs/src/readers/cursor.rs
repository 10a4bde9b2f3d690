//! Cursor: the skills in all directories of a project.

use crate::InstallLayer;
use crate::collector::{Collector, join};
use crate::loose::add_skills;

pub(crate) fn read(found: &mut Collector<'_>) {
    // Without the host, nobody else looks there.
    if !found.is_directory(&found.home) {
        return;
    }
    for at in [found.nested(".cursor"), found.nested(".agents")].concat() {
        add_skills(found, &join(&at, "skills"), InstallLayer::Project, &[], None);
    }
}
