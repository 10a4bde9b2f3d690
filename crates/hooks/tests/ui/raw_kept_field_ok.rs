use std::sync::Mutex;

use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{ToolStatus, LocalProof, Output, Raw};

struct Keeper<'k>(Mutex<Option<&'k Output>>, Mutex<Option<ToolStatus>>);

impl LocalHook for Keeper<'_> {
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply {
        *self.1.lock().unwrap() = Some(output.expose(proof).ended);
        LocalReply::Keep
    }
}

fn main() {
    let _ = Keeper;
}
