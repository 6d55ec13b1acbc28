//! What is another in each run, taken out of what a snapshot keeps.

/// Instants of this run become `TIME`, lengths of time that depend on it `LENGTH`, and how long ago the provider's instant
/// was `LATE`. Where either was, columns are no longer as wide as they were: spaces in a row become two.
pub(crate) fn redacted(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for start in (0..line.len()).rev() {
            if !line.is_char_boundary(start) {
                continue;
            }
            let length = instant_length(&line[start..]);
            // What the provider said is the same in each run.
            if length > 0 && !line[start..].starts_with("2026-01-31T21:00:00") {
                line.replace_range(start..start + length, "TIME");
            }
        }
        if let Some(late) = line.find("TIME  (") {
            line.replace_range(late + "TIME  ".len().., "(LATE)");
        }
        let without = without_lengths(&line);
        let is_head = ["RETRASO", "LATE  ", "TIME  "].iter().any(|head| line.contains(head));
        lines.push(if without == line && !is_head { line } else { collapsed(&without) });
    }
    lines.join("\n")
}

/// The length of the instant that the text starts with: `2026-01-31T21:00:00`, a fraction or none, `Z`.
fn instant_length(text: &str) -> usize {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let matches = bytes.len() > shape.len()
        && shape
            .iter()
            .zip(bytes)
            .all(|(shape, byte)| if *shape == b'd' { byte.is_ascii_digit() } else { shape == byte });
    let fraction = |rest: &[u8]| rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.');
    match matches.then(|| fraction(&bytes[shape.len()..])).flatten() {
        Some(at) if bytes[shape.len() + at] == b'Z' => shape.len() + at + 1,
        _ => 0,
    }
}

/// `0.110 s`, `1.500s`, `12 d 3 h`, `302d19h` and the number of `late_ms` become `LENGTH`.
fn without_lengths(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let after_word = out.chars().last().is_some_and(char::is_alphanumeric);
        let length = if after_word { 0 } else { length_of_length(rest, out.ends_with("\"late_ms\":")) };
        if length > 0 {
            out.push_str("LENGTH");
            rest = &rest[length..];
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

fn length_of_length(text: &str, is_late_ms: bool) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    if first == 0 || is_late_ms {
        return first;
    }
    let rest = &text[first..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let unit = ["s", " s"].into_iter().find(|unit| digits(fraction) == 3 && fraction[3..].starts_with(unit));
        return unit.map_or(0, |unit| first + 4 + unit.len());
    }
    for (days, hours) in [("d", "h"), (" d ", " h")] {
        if let Some(number) = rest.strip_prefix(days)
            && digits(number) > 0
            && number[digits(number)..].starts_with(hours)
        {
            return first + days.len() + digits(number) + hours.len();
        }
    }
    0
}

fn collapsed(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut out = line[..indent.min(2)].to_owned();
    let mut spaces = 0;
    for character in line[indent..].chars() {
        spaces = if character == ' ' { spaces + 1 } else { 0 };
        if spaces <= 2 {
            out.push(character);
        }
    }
    out
}
