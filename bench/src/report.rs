//! The report: one HTML page over every result that is there, with nothing to load from outside.
//!
//! 1. Promises come first, kept or not, in words as well as in colour.
//! 2. Results of different runs may stand side by side; each says its machine, commit and date.
//! 3. A page is a function of the result files: the same files give the same page.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::benches::ALL;
use crate::document::{Check, Document, Figure, Peer};
use crate::error::{BenchError, Result};
use crate::svg::{draw, escape, number};

/// Writes `report.html` into the folder of the results.
pub(crate) fn write(results: &Path) -> Result<PathBuf> {
    let mut documents = Vec::new();
    for benchmark in ALL {
        let path = Document::path(results, benchmark.name);
        if path.exists() {
            documents.push(Document::read(&path)?);
        }
    }
    fs::create_dir_all(results).map_err(BenchError::system("create", results))?;
    let path = results.join("report.html");
    fs::write(&path, page(&documents)).map_err(BenchError::system("write", &path))?;
    Ok(path)
}

fn page(documents: &[Document]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Holdfast benchmarks</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Holdfast benchmarks</h1>\n<p class=\"lead\">{LEAD}</p>\n"
    );
    if documents.is_empty() {
        page.push_str("<p>There is no result yet: run <code>make bench</code>.</p>\n");
    } else {
        contents(&mut page, documents);
        promises(&mut page, documents);
        for document in documents {
            section(&mut page, document);
        }
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

const LEAD: &str = "Every figure is the median of interleaved slices, with its quartiles. Rates \
                    depend on who else uses the machine; CPU time for an operation hardly does. \
                    CPU time is that of whole processes, client and server.";

fn contents(page: &mut String, documents: &[Document]) {
    page.push_str("<nav>");
    for document in documents {
        let (name, title) = (escape(&document.bench), escape(&document.title));
        let _ = write!(page, "<a href=\"#{name}\">{title}</a> ");
    }
    page.push_str("</nav>\n");
}

fn promises(page: &mut String, documents: &[Document]) {
    let checks = || documents.iter().flat_map(|document| &document.checks);
    let held = checks().filter(|check| check.holds).count();
    let missing = checks().filter(|check| check.value.is_none()).count();
    let short = checks().count() - held - missing;
    let _ = writeln!(
        page,
        "<h2>Promises</h2>\n<p>{held} hold, {short} fall short, {missing} not measured.</p>\n\
         <div class=\"wide\"><table>\n<thead><tr><th>Benchmark</th><th>Promise</th>\
         <th class=\"n\">Measured</th><th class=\"n\">Limit</th><th>Verdict</th></tr></thead>\n\
         <tbody>"
    );
    for document in documents {
        for check in &document.checks {
            promise(page, &document.bench, check);
        }
    }
    page.push_str("</tbody></table></div>\n");
}

fn promise(page: &mut String, bench: &str, check: &Check) {
    let (class, verdict) = match (check.holds, check.value) {
        (true, _) => ("good", "\u{2713} holds"),
        (false, Some(_)) => ("bad", "\u{2717} falls short"),
        (false, None) => ("none", "\u{2013} not measured"),
    };
    let unit = escape(&check.unit);
    let value = check.value.map_or_else(String::new, |value| format!("{} {unit}", number(value)));
    let note = check.note.as_deref().filter(|_| check.value.is_some());
    let note = note.map_or_else(String::new, |note| format!("<br><small>{}</small>", escape(note)));
    let _ = writeln!(
        page,
        "<tr><td><a href=\"#{bench}\">{bench}</a></td><td>{}{note}</td>\
         <td class=\"n\">{value}</td><td class=\"n\">{} {} {unit}</td>\
         <td class=\"{class}\">{verdict}</td></tr>",
        escape(&check.name),
        check.sense.words(),
        check.limit
    );
}

const QUICK: &str = "<p class=\"warn\">A quick run: too short to be quoted, good to see that \
                     everything works.</p>\n";

fn section(page: &mut String, document: &Document) {
    let _ = writeln!(
        page,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>",
        escape(&document.bench),
        escape(&document.title),
        escape(&document.about)
    );
    if document.run.quick {
        page.push_str(QUICK);
    }
    for plot in &document.plots {
        page.push_str(&draw(plot));
    }
    for note in &document.notes {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(note));
    }
    peers(page, document);
    conditions(page, document);
    page.push_str("</section>\n");
}

fn peers(page: &mut String, document: &Document) {
    page.push_str("<details><summary>All figures and settings</summary>\n");
    if !document.figures.is_empty() {
        page.push_str("<h3>Holdfast</h3>\n");
        figures(page, &document.figures);
    }
    for (name, peer) in &document.peers {
        let Peer { version, settings, missing, .. } = peer;
        let _ = writeln!(page, "<h3>{} {}</h3>", escape(name), escape(version));
        if !settings.is_empty() {
            let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(settings));
        }
        if let Some(missing) = missing {
            let _ = writeln!(page, "<p class=\"warn\">Missing: {}</p>", escape(missing));
        }
        figures(page, &peer.figures);
    }
    page.push_str("</details>\n");
}

fn figures<'a>(page: &mut String, figures: impl IntoIterator<Item = (&'a String, &'a Figure)>) {
    let mut rows = String::new();
    for (name, figure) in figures {
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{} \u{2013} {}</td>\
             <td class=\"n\">{}</td></tr>",
            escape(name),
            number(figure.value),
            escape(&figure.unit),
            number(figure.quartiles[0]),
            number(figure.quartiles[1]),
            figure.samples
        );
    }
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<div class=\"wide\"><table><thead><tr><th>Figure</th><th class=\"n\">Median</th>\
         <th>Unit</th><th class=\"n\">Quartiles</th><th class=\"n\">Slices</th></tr></thead>\n\
         <tbody>{rows}</tbody></table></div>"
    );
}

fn conditions(page: &mut String, document: &Document) {
    let (machine, run) = (&document.machine, &document.run);
    let [one, five, fifteen] = machine.load_average_at_start;
    let lines = [
        ("CPU", format!("{}, {} cores ({})", machine.cpu_model, machine.cores, machine.cpu_flags)),
        ("Memory", format!("{} MiB", machine.memory_mib)),
        ("Kernel", machine.kernel.clone()),
        ("File system", machine.file_system.clone()),
        ("Scheduling", machine.scheduling.clone()),
        ("Load average at start", format!("{one:.2}, {five:.2}, {fifteen:.2}")),
        (
            "Run",
            format!(
                "{}, {} rounds of {} s, {:.0} s in all",
                date(run.started_unix_seconds),
                run.rounds,
                run.slice_seconds,
                run.took_seconds
            ),
        ),
        ("Commit", document.commit.clone()),
    ];
    page.push_str("<details><summary>Where and how it was measured</summary>\n<dl>\n");
    for (name, value) in lines {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    page.push_str("</dl>\n</details>\n");
}

/// A date and time in UTC, from seconds since 1970.
fn date(unix_seconds: u64) -> String {
    let (days, seconds) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Howard Hinnant's civil_from_days, for days after 1970.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (seconds / 3_600, seconds % 3_600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5d6672; --paper: #ffffff;
  --line: #dde1e6; --good: #18794e; --bad: #b3261e; --ours: #0b6bcb; --ours2: #78b4f0;
  --s0: #8a6d3b; --s1: #7a5ea8; --s2: #2e8b80; --s3: #b4623a; --s4: #5c7f2c; --s5: #a84d78;
  --s6: #5b6b84; --s7: #8c8c3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --soft: #9aa4b1; --paper: #14171b;
  --line: #2c323a; --good: #4cc38a; --bad: #ff8b80; --ours: #52a8ff; --ours2: #2a6099;
  --s0: #c9a86a; --s1: #b49be0; --s2: #5bc4b7; --s3: #e39a70; --s4: #9cc264; --s5: #e08ab3;
  --s6: #9db0cf; --s7: #c8c870; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 820px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 28px; margin: 8px 0; } h2 { font-size: 21px; margin: 40px 0 8px; }
h3 { font-size: 16px; margin: 20px 0 4px; }
.lead, .note, small, figcaption, dt { color: var(--soft); } .note { font-size: 14px; }
nav a { margin-right: 14px; } a { color: var(--ours); text-decoration: none; }
.warn { border-left: 3px solid var(--bad); padding-left: 10px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.good, td.bad, td.none { white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .none { color: var(--soft); }
figure { margin: 20px 0; } figcaption { font-size: 14px; margin-bottom: 4px; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .name { text-anchor: end; fill: var(--soft); }
svg .tick { text-anchor: middle; fill: var(--soft); } svg .panel { font-weight: 600; }
svg .grid { stroke: var(--line); } svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .line { fill: none; stroke-width: 2; }
.fill.ours { fill: var(--ours); } .line.ours { stroke: var(--ours); }
.fill.ours2 { fill: var(--ours2); } .line.ours2 { stroke: var(--ours2); }
.fill.s0 { fill: var(--s0); } .fill.s1 { fill: var(--s1); } .fill.s2 { fill: var(--s2); }
.fill.s3 { fill: var(--s3); } .fill.s4 { fill: var(--s4); } .fill.s5 { fill: var(--s5); }
.fill.s6 { fill: var(--s6); } .fill.s7 { fill: var(--s7); }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); }
.line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); } .line.s5 { stroke: var(--s5); }
.line.s6 { stroke: var(--s6); } .line.s7 { stroke: var(--s7); }
details { margin: 10px 0; } summary { cursor: pointer; color: var(--ours); font-size: 14px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; font-size: 14px; }
dd { margin: 0; overflow-wrap: anywhere; }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_735_689_599), "2024-12-31 23:59 UTC");
    }

    #[test]
    fn a_promise_says_in_words_what_became_of_it() {
        let mut page = String::new();
        promise(&mut page, "seal", &Check::at_most("a", Some(1.0), 1.25, "x"));
        promise(&mut page, "seal", &Check::at_most("b", Some(2.0), 1.25, "x"));
        promise(&mut page, "seal", &Check::at_most("c", None, 1.25, "x"));
        let at = |words: &str| page.find(words).unwrap();
        assert!(at("holds") < at("falls short") && at("falls short") < at("not measured"));
    }

    #[test]
    fn a_page_without_results_says_how_to_get_some() {
        assert!(page(&[]).contains("make bench"));
    }
}
