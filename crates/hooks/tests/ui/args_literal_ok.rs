use plugward_hooks::{Consent, PermittedArgs, ProposedArgs};

fn tool(proposed: ProposedArgs) -> Result<PermittedArgs, ProposedArgs> {
    proposed.permit(Consent::NotGiven)
}

fn main() {
    let _ = (tool, Consent::Given);
}
