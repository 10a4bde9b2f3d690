use plugward_hooks::{Consent, GateReport, PermittedArgs};

fn run(_: PermittedArgs) {}

fn tool(report: GateReport) {
    let args = report.proposed.permit(Consent::NotGiven);
    if let Ok(args) = args {
        run(args);
    }
}

fn main() {
    let _ = (tool, Consent::Given);
}
