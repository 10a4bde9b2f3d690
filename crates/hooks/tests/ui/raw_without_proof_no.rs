use plugward_hooks::{LocalHook, LocalReply};
use plugward_redact::{LocalProof, Output, Raw};

struct Hook;

impl LocalHook for Hook {
    fn look(&self, output: &Raw<Output>, proof: &LocalProof<'_>) -> LocalReply {
        let _ = proof;
        let _ = output.expose().ended;
        LocalReply::Keep
    }
}

fn main() {
    let _ = Hook;
}
