//! Pages of an export and batches of an import: bodies of lines, in the form of an export's file.
//!
//! A page is a header, its records, and a line that says where the export goes on; a batch is a header and its records.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::export::{Contradiction, EXPORT_VERSION, ExportHead, ExportStage, Outcome, Record};
use cola_ia_core::store::{ExportCursor, ExportPage, ImportBatch, Imported as ImportOutcomes};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::shape::words;
use super::values::texts;
use crate::export::read_line;
use crate::{ExportHeader, ExportLine, LineFault, push_export_line};

texts! {
    /// Where an export goes on, as the page before said it.
    ExportPlace of ExportCursor = "a place of the page before", read_place, |place| shown(*place).into(),
        utoipa::openapi::schema::ObjectBuilder::new();
}

fn shown(cursor: ExportCursor) -> String {
    let upto = cursor.upto;
    match cursor.next {
        ExportStage::Sources(above) => format!("{upto}.sources.{above}"),
        ExportStage::Events(above) => format!("{upto}.events.{above}"),
        ExportStage::Conflicts(event, above) => format!("{upto}.conflicts.{event}.{above}"),
        ExportStage::Deliveries(event, above) => format!("{upto}.deliveries.{event}.{above}"),
        ExportStage::Refused(above) => format!("{upto}.refused.{above}"),
        ExportStage::Counters => format!("{upto}.counters"),
        ExportStage::Money(after) => format!("{upto}.money.{after}"),
    }
}

fn read_place(text: &str) -> Option<ExportCursor> {
    let mut parts = text.split('.');
    let upto = parts.next()?.parse().ok()?;
    let stage = parts.next()?;
    let numbers: Vec<i64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let next = match (stage, &*numbers) {
        ("sources", [above]) => ExportStage::Sources(*above),
        ("events", [above]) => ExportStage::Events(*above),
        ("conflicts", [event, above]) => ExportStage::Conflicts(*event, *above),
        ("deliveries", [event, above]) => ExportStage::Deliveries(*event, *above),
        ("refused", [above]) => ExportStage::Refused(*above),
        ("counters", []) => ExportStage::Counters,
        ("money", [after]) => ExportStage::Money(*after),
        _ => return None,
    };
    Some(ExportCursor { upto, next })
}

/// The last line of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PageEnd {
    Page { next: Option<ExportPlace> },
}

/// Why a body is no page and no batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFault {
    /// The line, from 1; one more than there are where the body ends too early.
    pub line: usize,
    /// What is wrong with it.
    pub fault: LineFault,
}

fn push_head(out: &mut String, head: &ExportHead, at: Timestamp) {
    let header = ExportHeader {
        version: EXPORT_VERSION,
        namespace: head.namespace,
        program: concat!("cola-ia ", env!("CARGO_PKG_VERSION")).to_owned(),
        schema: head.schema,
        at,
        currency: head.currency.clone(),
    };
    push_export_line(out, &ExportLine::Header(header));
}

/// Writes a page.
pub fn write_page(page: ExportPage, at: Timestamp) -> String {
    let mut out = String::new();
    push_head(&mut out, &page.head, at);
    for record in page.records {
        push_export_line(&mut out, &ExportLine::Record(record));
    }
    let end = PageEnd::Page { next: page.next.map(ExportPlace) };
    out.push_str(&serde_json::to_string(&end).expect("strings and nulls are always JSON"));
    out.push('\n');
    out
}

/// Reads a page. One without its last line was cut.
///
/// # Errors
/// The first line that is not what should stand there.
pub fn read_page(body: &[u8]) -> Result<ExportPage, BodyFault> {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let start = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let PageEnd::Page { next } = serde_json::from_slice(&body[start..]).map_err(|cause| BodyFault {
        line: body.split(|byte| *byte == b'\n').count(),
        fault: LineFault { code: "export_json", detail: cause.column().to_string() },
    })?;
    let (header, records) = read_lines(&body[..start])?;
    let head = ExportHead { namespace: header.namespace, schema: header.schema, currency: header.currency };
    Ok(ExportPage { head, records, next: next.map(|place| place.0) })
}

/// Writes a batch.
pub fn write_batch(batch: &ImportBatch, at: Timestamp) -> String {
    let mut out = String::new();
    let head = ExportHead { namespace: batch.namespace, schema: 0, currency: batch.currency.clone() };
    push_head(&mut out, &head, at);
    for record in &batch.records {
        push_export_line(&mut out, &ExportLine::Record(record.clone()));
    }
    out
}

/// Reads a batch.
///
/// # Errors
/// The first line that is not what should stand there.
pub fn read_batch(body: &[u8]) -> Result<ImportBatch, BodyFault> {
    let (header, records) = read_lines(body)?;
    Ok(ImportBatch { namespace: header.namespace, currency: header.currency, records })
}

/// A header, and records behind it. A last line that counts records, as a file has it, is passed over.
fn read_lines(body: &[u8]) -> Result<(ExportHeader, Vec<Record>), BodyFault> {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let mut lines = (1..).zip(body.split(|byte| *byte == b'\n'));
    let fault =
        |line: usize, code, detail: &str| BodyFault { line, fault: LineFault { code, detail: detail.to_owned() } };
    let header = match lines.next() {
        Some((line, text)) => match read_line(text).map_err(|fault| BodyFault { line, fault })? {
            ExportLine::Header(header) if header.version > EXPORT_VERSION => {
                return Err(fault(line, "export_value", "version"));
            }
            ExportLine::Header(header) => header,
            ExportLine::Record(_) | ExportLine::End(_) => return Err(fault(line, "export_kind", "header")),
        },
        None => return Err(fault(1, "export_kind", "header")),
    };
    let mut records = Vec::new();
    for (line, text) in lines {
        match read_line(text).map_err(|fault| BodyFault { line, fault })? {
            ExportLine::Record(record) => records.push(record),
            ExportLine::End(_) => {}
            ExportLine::Header(_) => return Err(fault(line, "export_kind", "header")),
        }
    }
    Ok((header, records))
}

/// What became of each record of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// In the batch's order.
    pub outcomes: Vec<ImportOutcome>,
}

impl From<ImportOutcomes> for Imported {
    fn from(imported: ImportOutcomes) -> Self {
        Self { outcomes: imported.outcomes.carry() }
    }
}

impl From<Imported> for ImportOutcomes {
    fn from(imported: Imported) -> Self {
        Self { outcomes: imported.outcomes.carry() }
    }
}

/// The words for what becomes of a record.
trait OutcomeWord: Sized {
    /// The word.
    fn as_str(&self) -> &'static str;
    /// What the word says.
    fn from_word(word: &str) -> Option<Self>;
}

impl OutcomeWord for Outcome {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Entered => "entered",
            Self::Same => "same",
            Self::Kept => "kept",
            Self::Contradicts(contradiction) => contradiction.as_str(),
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let plain = [Self::Entered, Self::Same, Self::Kept].into_iter();
        plain.chain(Contradiction::ALL.map(Self::Contradicts)).find(|outcome| outcome.as_str() == word)
    }
}

words! {
    /// What became of a record: it entered, was there just so, was there and has gone on since, or contradicts what is there.
    ImportOutcome of Outcome = [
        "entered", "same", "kept", "import_differs", "import_older_here", "import_number_taken", "import_identity_taken",
        "import_belongs"
    ];
}

#[cfg(test)]
mod tests {
    use cola_ia_core::store::export::{Kind, Value};

    use super::*;

    fn page(next: Option<ExportCursor>) -> ExportPage {
        let head = ExportHead { namespace: [7; 16], schema: 5, currency: Some("EUR".into()) };
        let source = |name: &str| Record::new(Kind::Source, vec![Value::Text(name.into())]).unwrap();
        ExportPage { head, records: vec![source("a"), source("b")], next }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let stages = [
            ExportStage::Sources(1),
            ExportStage::Events(-2),
            ExportStage::Conflicts(3, 4),
            ExportStage::Deliveries(i64::MAX, i64::MIN),
            ExportStage::Refused(0),
            ExportStage::Counters,
            ExportStage::Money(9),
        ];
        let nexts = stages.map(|next| Some(ExportCursor { upto: 12, next })).into_iter().chain([None]);
        for page in nexts.map(page).chain([ExportPage { records: vec![], ..page(None) }]) {
            let body = write_page(page.clone(), Timestamp::from_micros(0));
            assert_eq!(read_page(body.as_bytes()), Ok(page), "{body}");
        }
    }

    #[test]
    fn a_page_that_was_cut_is_none() {
        let body = write_page(page(None), Timestamp::from_micros(0));
        for cut in 0..body.len() - 1 {
            assert!(read_page(&body.as_bytes()[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_batch_is_read_as_it_was_written_and_a_file_is_one() {
        let ExportPage { head, records, .. } = page(None);
        let batch = ImportBatch { namespace: head.namespace, currency: head.currency, records };
        let mut body = write_batch(&batch, Timestamp::from_micros(0));
        assert_eq!(read_batch(body.as_bytes()), Ok(batch.clone()));
        push_export_line(&mut body, &ExportLine::End(crate::ExportCounts::default()));
        assert_eq!(read_batch(body.as_bytes()), Ok(batch));
        for (wrong, line, code) in [
            ("", 1, "export_json"),
            ("{\"kind\":\"source\",\"name\":\"a\"}\n", 1, "export_kind"),
            (&format!("{body}{{}}\n"), 5, "export_field_missing"),
        ] {
            let fault = read_batch(wrong.as_bytes()).unwrap_err();
            assert_eq!((fault.line, fault.fault.code), (line, code), "{wrong}");
        }
    }
}
