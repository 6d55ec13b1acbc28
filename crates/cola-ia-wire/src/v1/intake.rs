//! What comes to the gate, and what it says.

use std::sync::Arc;

use cola_ia_core::event::{Content, Delivery, EventId, EventType, Fingerprint, Origin, Source};
use cola_ia_core::intake::{self, DeliveryNumber, EventNumber, Refusal, RefusalCode};
use cola_ia_core::store::{Accepted, Preview, Receipt};
use cola_ia_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;

use super::Carry;
use super::values::{Hex, Instant, RefusalWord, SourceName, TypeName, VerdictWord, texts};

texts! {
    /// The sender's name for an event: not blank, at most 1,024 bytes, no control characters.
    IdText of EventId = "the id of an event", |text| EventId::new(text).ok(), |id| id.as_str().into(),
        ObjectBuilder::new().min_length(Some(1)).max_length(Some(1_024));
}

/// What is to be recorded as one: all of it, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Batch {
    /// In the order in which they are judged; at most 100,000.
    pub intake: Vec<IntakeItem>,
}

/// One thing that an input handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntakeItem {
    /// An event.
    Delivery(DeliveryIn),
    /// Something that could not become one.
    Refusal(RefusalIn),
}

/// An event as it is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryIn {
    /// Who sends.
    pub source: SourceName,
    /// The sender's name for the event.
    pub id: IdText,
    /// What it says: not blank, without U+0000, at most as long as the server allows.
    pub text: String,
    /// What kind of event the sender says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<TypeName>,
    /// When it happened at the provider, as the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Instant>,
    /// Where it was read.
    pub origin: OriginIn,
    /// SHA-256 of the signed bytes that it came in, where its id stands outside of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Hex<32>>,
}

/// Where something was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OriginIn {
    /// The input's name.
    pub input: String,
    /// The line, from 1.
    pub line: u64,
}

/// Why something could not become an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusalIn {
    /// The reason.
    pub code: RefusalWord,
    /// Where: the line, or the first one of several.
    pub origin: OriginIn,
    /// The byte of the line at which the reason shows, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What it is about; cut to 200 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How many this stands for.
    #[serde(default = "one")]
    pub count: u64,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceName>,
}

const fn one() -> u64 {
    1
}

impl From<&Origin> for OriginIn {
    fn from(origin: &Origin) -> Self {
        Self { input: origin.input.to_string(), line: origin.line }
    }
}

impl From<OriginIn> for Origin {
    fn from(origin: OriginIn) -> Self {
        Self { input: origin.input.into(), line: origin.line }
    }
}

impl From<&intake::Intake> for IntakeItem {
    fn from(item: &intake::Intake) -> Self {
        match item {
            intake::Intake::Delivery(delivery) => Self::Delivery(delivery.into()),
            intake::Intake::Refusal(refusal) => Self::Refusal(refusal.into()),
        }
    }
}

impl From<&Delivery> for DeliveryIn {
    fn from(delivery: &Delivery) -> Self {
        Self {
            source: SourceName(delivery.source.clone()),
            id: IdText(delivery.id.clone()),
            text: delivery.content.text().to_owned(),
            r#type: delivery.event_type.clone().map(TypeName),
            time: delivery.time.map(Instant),
            origin: (&delivery.origin).into(),
            body: delivery.body.map(|Fingerprint(bytes)| Hex(bytes)),
        }
    }
}

impl From<&Refusal> for RefusalIn {
    fn from(refusal: &Refusal) -> Self {
        Self {
            code: RefusalWord(refusal.code),
            origin: (&refusal.origin).into(),
            column: refusal.column,
            detail: refusal.detail.clone(),
            count: refusal.count,
            source: refusal.source.clone().map(SourceName),
        }
    }
}

impl IntakeItem {
    /// Whose it is.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Delivery(delivery) => Some(&delivery.source.0),
            Self::Refusal(refusal) => refusal.source.as_ref().map(|source| &source.0),
        }
    }

    /// The thing itself; a text may have so many bytes.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(self, max_text_bytes: usize) -> Result<intake::Intake, RefusalCode> {
        match self {
            Self::Delivery(delivery) => delivery.read(max_text_bytes).map(intake::Intake::Delivery),
            Self::Refusal(refusal) => Ok(intake::Intake::Refusal(refusal.into())),
        }
    }
}

impl DeliveryIn {
    fn read(self, max_text_bytes: usize) -> Result<Delivery, RefusalCode> {
        let event_type: Option<EventType> = self.r#type.carry();
        Ok(Delivery {
            source: self.source.0,
            id: self.id.0,
            content: Content::new(self.text, max_text_bytes)?,
            event_type,
            time: self.time.carry(),
            origin: self.origin.into(),
            body: self.body.map(|Hex(bytes)| Fingerprint(bytes)),
        })
    }
}

impl From<RefusalIn> for Refusal {
    fn from(refusal: RefusalIn) -> Self {
        let mut told = Self::new(refusal.code.0, refusal.origin.into()).about(&refusal.detail);
        told.column = refusal.column;
        told.count = refusal.count;
        told.source = refusal.source.carry();
        told
    }
}

impl Batch {
    /// The batch as it is sent.
    pub fn of(batch: &Arc<Vec<intake::Intake>>) -> Self {
        Self { intake: batch.iter().map(IntakeItem::from).collect() }
    }
}

/// The gate's answers to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipts {
    /// When the store received the batch.
    pub received_at: Instant,
    /// One for each member of the batch, in its order.
    pub receipts: Vec<ReceiptOf>,
}

/// The gate's answer to one member of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReceiptOf {
    /// The delivery's number.
    pub delivery: i64,
    /// What the gate says.
    pub verdict: VerdictWord,
    /// The event with this identity; `null` for what was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
    /// The conflict's number within its event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<u32>,
    /// A conflict that a person had decided to leave one: no alarm.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decided: bool,
    /// A duplicate by its signed bytes, which came before under another id.
    #[serde(default, skip_serializing_if = "is_false")]
    pub replayed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl From<Receipt> for ReceiptOf {
    fn from(receipt: Receipt) -> Self {
        Self {
            delivery: receipt.number.0,
            verdict: VerdictWord(receipt.verdict),
            event: receipt.event.map(|event| event.0),
            conflict: receipt.conflict,
            decided: receipt.decided,
            replayed: receipt.replayed,
        }
    }
}

impl From<ReceiptOf> for Receipt {
    fn from(receipt: ReceiptOf) -> Self {
        Self {
            number: DeliveryNumber(receipt.delivery),
            verdict: receipt.verdict.0,
            event: receipt.event.map(EventNumber),
            conflict: receipt.conflict,
            decided: receipt.decided,
            replayed: receipt.replayed,
        }
    }
}

impl From<Accepted> for Receipts {
    fn from(accepted: Accepted) -> Self {
        let receipts = accepted.receipts.into_iter().map(ReceiptOf::from).collect();
        Self { received_at: Instant(accepted.received_at), receipts }
    }
}

impl From<Receipts> for Accepted {
    fn from(receipts: Receipts) -> Self {
        let all = receipts.receipts.into_iter().map(Receipt::from).collect();
        Self { received_at: receipts.received_at.0, receipts: all }
    }
}

/// What the gate would say to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Previews {
    /// One for each member of the batch, in its order.
    pub previews: Vec<PreviewOf>,
}

/// What the gate would say to one member of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewOf {
    /// The verdict; `null`: the store does not know the identity.
    pub verdict: Option<VerdictWord>,
    /// A conflict that a person decided to leave one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decided: bool,
}

impl From<Preview> for PreviewOf {
    fn from(preview: Preview) -> Self {
        Self { verdict: preview.verdict().map(VerdictWord), decided: preview == Preview::Decided }
    }
}

impl From<PreviewOf> for Preview {
    fn from(preview: PreviewOf) -> Self {
        match preview {
            PreviewOf { verdict: None, .. } => Self::Unknown,
            PreviewOf { verdict: Some(VerdictWord(Verdict::Conflict)), decided: true } => Self::Decided,
            PreviewOf { verdict: Some(VerdictWord(verdict)), .. } => Self::Known(verdict),
        }
    }
}

/// The answer to one line of events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineAnswer {
    /// The line, from 1, blank ones counted; the first one where it stands for several.
    pub line: u64,
    /// `new`, `duplicate`, `conflict`; `invalid`: refused, and recorded as that; `forbidden`: the token is not for this source, and
    /// nothing was recorded; `unfinished`: the last line is cut, send it again whole; `error`: nothing from here on was
    /// taken that has no answer, send it again.
    pub verdict: String,
    /// The event's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The event's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The number of this delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<i64>,
    /// The number of the event with this identity: the delivery's own where it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
    /// The conflict's number within the event, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<u32>,
    /// Whether a person has decided that this content stays a conflict, so that it is no alarm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<bool>,
    /// Why it was not taken, a stable code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What that is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The byte of the line at which it shows, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// How many lines it stands for, where these are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl LineAnswer {
    /// What the gate said to this member of a batch.
    pub fn new(item: &intake::Intake, receipt: &Receipt) -> Self {
        match item {
            intake::Intake::Delivery(delivery) => Self {
                line: delivery.origin.line,
                verdict: receipt.verdict.as_str().to_owned(),
                source: Some(delivery.source.as_str().to_owned()),
                id: Some(delivery.id.as_str().to_owned()),
                delivery: Some(receipt.number.0),
                event: receipt.event.map(|event| event.0),
                conflict: receipt.conflict,
                decided: (receipt.verdict == Verdict::Conflict).then_some(receipt.decided),
                ..Self::default()
            },
            intake::Intake::Refusal(refusal) => Self {
                line: refusal.origin.line,
                verdict: Verdict::Invalid.as_str().to_owned(),
                delivery: Some(receipt.number.0),
                code: Some(refusal.code.as_str().to_owned()),
                detail: Some(refusal.detail.clone()).filter(|detail| !detail.is_empty()),
                column: refusal.column,
                count: Some(refusal.count).filter(|count| *count != 1),
                ..Self::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::Timestamp;

    use super::*;

    fn origin() -> Origin {
        Origin { input: "v1/events".into(), line: 7 }
    }

    #[test]
    fn a_batch_is_read_as_it_was_written() {
        let delivery = |full: bool| Delivery {
            source: Source::new("web").unwrap(),
            id: EventId::new(" a\"ñ").unwrap(),
            content: Content::new("x\n\u{1}\u{2028}".to_owned(), 100).unwrap(),
            event_type: full.then(|| EventType::new("push").unwrap()),
            time: full.then_some(Timestamp::from_micros(-5)),
            origin: origin(),
            body: full.then_some(Fingerprint([7; 32])),
        };
        let mut refusal = Refusal::new(RefusalCode::IdBlank, origin()).about("a").at_column(3);
        refusal.count = 9;
        let batch = vec![
            intake::Intake::Delivery(delivery(true)),
            intake::Intake::Delivery(delivery(false)),
            intake::Intake::Refusal(refusal.of(Source::default())),
            intake::Intake::Refusal(Refusal::new(RefusalCode::Utf16, origin())),
        ];
        let json = serde_json::to_string(&Batch::of(&Arc::new(batch.clone()))).unwrap();
        let read: Batch = serde_json::from_str(&json).unwrap();
        let back: Result<Vec<_>, _> = read.intake.into_iter().map(|item| item.read(100)).collect();
        assert_eq!(back, Ok(batch));
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        let receipt = |verdict, decided, replayed| Receipt {
            number: DeliveryNumber(3),
            verdict,
            event: (verdict != Verdict::Invalid).then_some(EventNumber(2)),
            conflict: (verdict == Verdict::Conflict).then_some(1),
            decided,
            replayed,
        };
        let receipts = vec![
            receipt(Verdict::New, false, false),
            receipt(Verdict::Duplicate, false, true),
            receipt(Verdict::Conflict, true, false),
            receipt(Verdict::Invalid, false, false),
        ];
        let accepted = Accepted { received_at: Timestamp::from_micros(1), receipts };
        let json = serde_json::to_string(&Receipts::from(accepted.clone())).unwrap();
        assert_eq!(Accepted::from(serde_json::from_str::<Receipts>(&json).unwrap()), accepted);
        let all = Verdict::ALL.map(Preview::Known).into_iter().chain([Preview::Unknown, Preview::Decided]);
        for preview in all {
            let json = serde_json::to_string(&PreviewOf::from(preview)).unwrap();
            assert_eq!(Preview::from(serde_json::from_str::<PreviewOf>(&json).unwrap()), preview);
        }
    }

    #[test]
    fn a_text_that_cannot_be_one_is_refused() {
        let json = r#"{"delivery":{"source":"a","id":"b","text":" ","origin":{"input":"-","line":1}}}"#;
        let read: IntakeItem = serde_json::from_str(json).unwrap();
        assert_eq!(read.read(10), Err(RefusalCode::TextBlank));
        assert!(serde_json::from_str::<IntakeItem>(&json.replace("\"b\"", "\"\"")).is_err());
    }
}
