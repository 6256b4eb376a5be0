//! The live table: redrawn in place on a terminal, plain snapshots elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// One backend as it stands now.
pub struct Row {
    pub name: &'static str,
    pub load: f64,
    pub weight: f64,
    /// Percent that the weights ask for, and percent measured.
    pub asked: f64,
    pub measured: f64,
    pub requests: u64,
}

pub struct Table {
    terminal: bool,
    lines: usize,
}

impl Table {
    pub fn new() -> Table {
        Table { terminal: io::stdout().is_terminal(), lines: 0 }
    }

    pub fn is_live(&self) -> bool {
        self.terminal
    }

    /// Draws over the table drawn before, if there is a terminal.
    pub fn draw(&mut self, title: &str, rows: &[Row]) {
        let text = render(title, rows, self.terminal);
        let mut out = io::stdout().lock();
        if self.terminal && self.lines > 0 {
            write!(out, "\x1b[{}A\x1b[J", self.lines).ok();
        }
        self.lines = text.lines().count();
        // A reader that went away does not stop the demo from cleaning up
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
    }

    /// What was drawn stays; the next one is drawn below an empty line.
    pub fn gap(&mut self) {
        self.lines = 0;
        writeln!(io::stdout()).ok();
    }
}

fn render(title: &str, rows: &[Row], bars: bool) -> String {
    let mut text = format!("{title}\n  backend   load  weight   asked  measured  requests\n");
    for row in rows {
        write!(
            text,
            "  {:<7} {:>6.2} {:>7.3} {:>6.1}% {:>8.1}% {:>9}",
            row.name, row.load, row.weight, row.asked, row.measured, row.requests
        )
        .ok();
        if bars {
            write!(text, "  {}", "#".repeat((row.measured / 2.5).round() as usize)).ok();
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row() {
        let row = Row { name: "a", load: 0.5, weight: 2.0, asked: 40.0, measured: 39.96, requests: 400 };
        let text = render("now", &[row], false);
        let line = text.lines().nth(2).unwrap();
        assert_eq!(line, "  a         0.50   2.000   40.0%     40.0%       400");
    }
}
