//! Tables without borders.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

/// The least width of the last column. With less, its words would be broken into letters.
const LAST: usize = 24;
/// The longest word that widens the last column, such as a code. A longer one is a path.
const LONGEST: usize = 40;

/// Renders rows as columns that fit the width of the terminal. An empty head is left out.
///
/// Only the last column is broken into lines: the others have names that users copy and search for.
pub(crate) fn grid(head: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if !head.is_empty() {
        table.set_header(head);
    }
    for row in rows {
        table.add_row(row);
    }
    let columns = table.column_count();
    let whole: Vec<u16> = table.column_max_content_widths();
    // Each column has a space on both sides.
    let names: u16 = whole.iter().take(columns.saturating_sub(1)).map(|width| width.saturating_add(2)).sum();
    // The width of the table includes the space before each row, which is removed below.
    let width = u16::try_from(width + 1).unwrap_or(80);
    let last = rows.iter().filter_map(|row| row.last()).flat_map(|cell| cell.split(' '));
    let longest = last.map(|word| word.chars().count()).filter(|length| *length <= LONGEST).max();
    let least = u16::try_from(longest.unwrap_or_default().max(LAST).saturating_add(1)).unwrap_or(80);
    table.set_width(width.max(names.saturating_add(least)));
    for column in table.column_iter_mut().take(columns.saturating_sub(1)) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let lines: Vec<String> =
        table.lines().map(|row| row.strip_prefix(' ').unwrap_or(&row).trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}
