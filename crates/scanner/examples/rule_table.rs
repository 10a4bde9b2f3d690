//! Prints the table of the built-in rules, made from the rule files: `cargo xtask docs` keeps it.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = plugward_scanner::rule_table()?;
    std::io::stdout().lock().write_all(table.as_bytes())?;
    Ok(())
}
