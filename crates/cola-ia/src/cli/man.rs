//! `man`: manual pages from the same description as the help, in the language of prose.

use std::path::Path;

use clap::Command as Clap;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::args::{ManOptions, after_help_sections, command, paragraphs};
use super::usage::unknown_command;
use super::{Exit, Problem, Session, print};
use crate::lang::{Lang, Message};

/// Writes one page to stdout, or all into a folder.
///
/// # Errors
/// There is no such command, or the pages cannot be written.
pub fn run(session: &Session, options: &ManOptions) -> Result<Exit, Problem> {
    let pages = pages(&session.lang);
    match options {
        ManOptions::Page(words) => {
            let name = std::iter::once("cola-ia").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
            let Some((_, page)) = pages.iter().find(|(known, _)| *known == name) else {
                let known: Vec<String> =
                    pages.iter().map(|(name, _)| name.trim_start_matches("cola-ia-").replace('-', " ")).collect();
                return Err(unknown_command(&words.join(" "), known.iter().map(String::as_str)));
            };
            print(page)
        }
        ManOptions::Folder(folder) => {
            write_all(folder, &pages)?;
            let written =
                Message::new("man-written").number("count", pages.len() as u64).with("path", folder.display());
            session.note(&written);
            Ok(Exit::Done)
        }
    }
}

fn write_all(folder: &Path, pages: &[(String, String)]) -> Result<(), Problem> {
    let failed = |path: &Path, error: &std::io::Error| {
        Problem::failed(Message::new("man-failed").with("path", path.display()).caused_by(error))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, page) in pages {
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Name and text of every page.
fn pages(lang: &Lang) -> Vec<(String, String)> {
    let mut root = command(lang);
    root.build();
    let mut pages = Vec::new();
    push_pages(&mut pages, lang, &root, "");
    pages
}

fn push_pages(pages: &mut Vec<(String, String)>, lang: &Lang, command: &Clap, key: &str) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    pages.push((name, page(lang, command.clone(), if key.is_empty() { "cola-ia" } else { key })));
    for sub in command.get_subcommands() {
        let key = if key.is_empty() { sub.get_name().to_owned() } else { format!("{key}-{}", sub.get_name()) };
        push_pages(pages, lang, sub, &key);
    }
}

/// One page. The library's headings are English; ours are put in their places.
fn page(lang: &Lang, command: Clap, key: &str) -> String {
    let has_commands = command.has_subcommands();
    // Without a date: the same version gives the same page. The library leaves its place out, and all after it moves up.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let title = format!(".TH {name} 1 \"\" \"cola-ia {}\" \"\"\n", env!("CARGO_PKG_VERSION"));
    // What it does in one line is said beside its name.
    let man = Man::new(command.long_about(paragraphs(&lang.t(&format!("about-{key}-long"), &[]))));
    let mut out = title.into_bytes();
    // Writing to memory cannot fail, here and below.
    let _ = man.render_name_section(&mut out);
    let _ = man.render_synopsis_section(&mut out);
    let _ = man.render_description_section(&mut out);
    let _ = man.render_options_section(&mut out);
    if has_commands {
        let _ = man.render_subcommands_section(&mut out);
    }
    for (title, body) in after_help_sections(lang, key) {
        let mut roff = Roff::new();
        roff.control("SH", [title.to_uppercase().as_str()]);
        roff.control("nf", []);
        body.lines().for_each(|line| {
            roff.text([roman(line)]);
        });
        roff.control("fi", []);
        let _ = roff.to_writer(&mut out);
    }
    translate_headings(lang, &String::from_utf8_lossy(&out))
}

fn translate_headings(lang: &Lang, page: &str) -> String {
    // Each section comes with the two lines that define the apostrophe; the first are enough.
    const PREAMBLE: [&str; 2] = [r".ie \n(.g .ds Aq \(aq", r".el .ds Aq '"];
    let mut out = format!("{}\n{}\n", PREAMBLE[0], PREAMBLE[1]);
    let commands = format!(".SH {}", lang.t("heading-commands", &[]));
    for line in page.lines() {
        let key = match line {
            _ if PREAMBLE.contains(&line) => continue,
            _ if line == commands => {
                out.push_str(&commands.to_uppercase());
                out.push('\n');
                continue;
            }
            ".SH NAME" => "man-name",
            ".SH SYNOPSIS" => "man-synopsis",
            ".SH DESCRIPTION" => "man-description",
            _ => {
                out.push_str(line);
                out.push('\n');
                continue;
            }
        };
        out.push_str(".SH ");
        out.push_str(&lang.t(key, &[]));
        out.push('\n');
    }
    out
}
