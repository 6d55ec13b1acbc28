//! Short ways to write deliveries and refusals.
//!
//! They panic on what could not be a delivery: the caller is a test and wrote it.

use cola_ia_core::event::{Content, Delivery, EventId, EventType, Origin, Source};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::limits::TEXT_MAX_BYTES_DEFAULT;

/// The input's name in [`line()`].
pub const INPUT: &str = "eventos.jsonl";

/// A line of [`INPUT`].
pub fn line(number: u64) -> Origin {
    Origin { input: INPUT.into(), line: number }
}

/// A source of this name.
pub fn source(name: &str) -> Source {
    Source::new(name).expect("the test names a source of the right form")
}

/// A type of this name.
pub fn event_type(name: &str) -> EventType {
    EventType::new(name).expect("the test names a type of the right form")
}

/// A text within the default bound.
pub fn content(text: impl Into<String>) -> Content {
    Content::new(text.into(), TEXT_MAX_BYTES_DEFAULT).expect("the test writes a text of the right form")
}

/// A delivery from line 1, without type and time.
pub fn delivery(source_name: &str, id: &str, text: &str) -> Delivery {
    Delivery {
        source: source(source_name),
        id: EventId::new(id).expect("the test writes an id of the right form"),
        content: content(text),
        event_type: None,
        time: None,
        origin: line(1),
        body: None,
    }
}

/// A delivery of the default source, as a member of a batch.
pub fn event(id: &str, text: &str) -> Intake {
    event_from(Source::DEFAULT, id, text)
}

/// A delivery of this source, as a member of a batch.
pub fn event_from(source_name: &str, id: &str, text: &str) -> Intake {
    Intake::Delivery(delivery(source_name, id, text))
}

/// A refusal of this line, as a member of a batch.
pub fn refusal(code: RefusalCode, number: u64) -> Intake {
    Intake::Refusal(Refusal::new(code, line(number)))
}
