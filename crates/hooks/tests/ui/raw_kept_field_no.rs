use std::sync::Mutex;

use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{Ended, LocalOnly, Output, Raw};

struct Keeper<'k>(Mutex<Option<&'k Output>>, Mutex<Option<Ended>>);

impl LocalHook for Keeper<'_> {
    fn look(&self, output: &Raw<Output>, proof: &LocalOnly<'_>) -> LocalReply {
        *self.0.lock().unwrap() = Some(output.expose(proof));
        LocalReply::Keep
    }
}

fn main() {
    let _ = Keeper;
}
