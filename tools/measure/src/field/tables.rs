//! Tables as aligned text or as Markdown.

/// The form of printed tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableForm {
    Text,
    Markdown,
}

/// A table. The first column is text, the others are numbers.
#[derive(Debug, Clone)]
pub(super) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with the names of its columns.
    pub(super) fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            rows: vec![columns.iter().map(|&column| column.to_owned()).collect()],
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the table as text; empty if it has no rows.
    pub(super) fn render(&self, form: TableForm) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        match form {
            TableForm::Text => self.text(),
            TableForm::Markdown => self.markdown(),
        }
    }

    fn text(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut out = format!("{}\n", self.title);
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            });
            let line: String = cells.collect();
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n", self.title);
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if number == 0 {
                let rest = "---:|".repeat(row.len().saturating_sub(1));
                out.push_str(&format!("|---|{rest}\n"));
            }
        }
        out.push('\n');
        out
    }
}

/// Returns a count with its share of a whole.
pub(super) fn share(part: usize, whole: usize) -> String {
    let tenths = part.saturating_mul(2000).saturating_add(whole).checked_div(whole.saturating_mul(2));
    match tenths {
        Some(tenths) => format!("{part} ({}.{} %)", tenths / 10, tenths % 10),
        None => part.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_text_or_markdown() {
        let mut table = Table::new("Rules", &["rule", "danger"]);
        assert_eq!(table.render(TableForm::Text), "");
        table.row(vec!["a/long|name".to_owned(), "12".to_owned()]);
        table.row(vec!["b".to_owned(), "3".to_owned()]);
        assert_eq!(
            table.render(TableForm::Text),
            "Rules\n  rule         danger\n  a/long|name      12\n  b                 3\n\n"
        );
        assert_eq!(
            table.render(TableForm::Markdown),
            "### Rules\n\n| rule | danger |\n|---|---:|\n| a/long\\|name | 12 |\n| b | 3 |\n\n"
        );
    }

    #[test]
    fn shares_are_rounded_to_tenths() {
        assert_eq!(share(1, 3), "1 (33.3 %)");
        assert_eq!(share(2, 3), "2 (66.7 %)");
        assert_eq!(share(5, 1000), "5 (0.5 %)");
        assert_eq!(share(0, 0), "0");
    }
}
