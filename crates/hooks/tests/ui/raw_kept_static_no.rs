use std::sync::Mutex;

use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{LocalProof, Output, Raw};

struct Keeper(Mutex<usize>);

impl LocalHook for Keeper {
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply {
        let lent: &'static Output = output.expose(proof);
        *self.0.lock().unwrap() = size_of_val(lent);
        LocalReply::Keep
    }
}

fn main() {
    let _ = Keeper;
}
