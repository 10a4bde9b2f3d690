use plugward_hooks::{Consent, PermittedArgs, ProposedArgs};

fn tool(proposed: ProposedArgs) -> Result<PermittedArgs, ProposedArgs> {
    Ok(PermittedArgs(proposed.redacted().as_ref().clone()))
}

fn main() {
    let _ = (tool, Consent::Given);
}
