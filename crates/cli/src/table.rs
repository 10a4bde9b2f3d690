//! Tables without borders.

use comfy_table::{ContentArrangement, Table, presets};

/// Renders rows as columns that fit the width of the terminal. An empty head is left out.
pub(crate) fn grid(head: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // The width of the table includes the space before each row, which is removed below.
    table.set_width(u16::try_from(width + 1).unwrap_or(80));
    if !head.is_empty() {
        table.set_header(head);
    }
    for row in rows {
        table.add_row(row);
    }
    let lines: Vec<String> =
        table.lines().map(|row| row.strip_prefix(' ').unwrap_or(&row).trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}
