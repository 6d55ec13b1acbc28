//! Schedules, `[schedule.NAME]`.

use cola_ia_core::event::{Content, EventType, Source};
use cola_ia_core::intake::RefusalCode;

use super::tables::{InFile, Item, Table, TableLine, bare, name};
use super::{Kind, Origin};
use crate::cli::Problem;
use crate::lang::Message;
use crate::schedule::Plan;

/// The table's name.
pub(super) const TABLE: &str = "schedule";
const KEYS: [&str; 6] = ["catch_up", "cron", "source", "text", "time_zone", "type"];
/// The source of events of schedules that name none.
const SOURCE: &str = "schedule";
/// The most firings that are made up for.
pub(super) const CATCH_UP_MAX: u32 = 1_000;

/// A schedule as the file has it.
#[derive(Debug, Clone)]
pub struct ScheduleConfig {
    /// Its name: the first part of its events' ids.
    pub name: Source,
    /// When it fires.
    pub plan: Plan,
    /// The text of its events.
    pub text: String,
    /// Their source.
    pub source: Source,
    /// Their type.
    pub event_type: Option<EventType>,
    /// How many firings are made up for after a time in which no server ran, the newest.
    pub catch_up: u32,
    /// What the file says, for `config show`.
    pub lines: Vec<TableLine>,
}

/// The lines are all that the file says; the rest is made of them.
impl PartialEq for ScheduleConfig {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.lines) == (&other.name, &other.lines)
    }
}

impl Eq for ScheduleConfig {}

impl ScheduleConfig {
    /// Whether its text may be as long as it is, which hangs on another setting.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn check_length(&self, max_text_bytes: usize) -> Result<(), Problem> {
        if self.text.len() <= max_text_bytes {
            return Ok(());
        }
        let line = self.lines.iter().find(|line| line.key.rsplit_once('.').is_some_and(|(_, key)| key == "text"));
        let place = match line {
            Some(TableLine { key, origin: Origin::File(path, line), .. }) => {
                format!("{}:{line}: {key}", path.display())
            }
            _ => format!("{TABLE}.{}.text", bare(self.name.as_str())),
        };
        let fault = Message::new(format!("refusal-{}", RefusalCode::TextTooLong.as_str()));
        Err(Problem::usage(Message::new("setting-value").with("place", place).message("fault", fault)))
    }
}

/// Reads all of them, by name.
///
/// # Errors
/// The first thing that cannot be so.
pub(super) fn read(file: &InFile<'_>, value: &Item<'_>) -> Result<Vec<ScheduleConfig>, Problem> {
    let all = Table::open(file, TABLE.to_owned(), value)?;
    let mut schedules = Vec::new();
    for (key, value) in all.items() {
        let name = name(file, TABLE, key)?;
        let table = Table::open(file, format!("{TABLE}.{}", bare(name.as_str())), value)?;
        schedules.push(one(name, &table)?);
    }
    schedules.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(schedules)
}

fn one(name: Source, table: &Table<'_, '_>) -> Result<ScheduleConfig, Problem> {
    table.only(&KEYS, &Message::new("schedule-keys-hint").with("keys", KEYS.join(", ")))?;
    let required = |name: &'static str| {
        let missing = || table.fault("", Message::new("schedule-missing").with("key", name));
        table.text(name)?.ok_or_else(missing)
    };
    let cron = required("cron")?;
    let zone = table.text("time_zone")?.unwrap_or_else(|| "UTC".to_owned());
    let plan = Plan::parse(&cron, &zone).map_err(|fault| table.fault(fault.key(), fault.message()))?;
    let text = required("text")?;
    // How long it may be is a setting that is not known here: the gate refuses what is longer.
    Content::new(text.clone(), usize::MAX)
        .map_err(|code| table.fault("text", Message::new(format!("refusal-{}", code.as_str()))))?;
    let source = table.value("source", Kind::Source)?.and_then(|value| value.as_source());
    let event_type = table.text("type")?.map(|name| {
        EventType::new(name).map_err(|code| table.fault("type", Message::new(format!("refusal-{}", code.as_str()))))
    });
    let catch_up = table.value("catch_up", Kind::Count { min: 0, max: CATCH_UP_MAX })?;
    Ok(ScheduleConfig {
        plan,
        text,
        // The constant is a source's name; the default one is never taken.
        source: source.or_else(|| Source::new(SOURCE).ok()).unwrap_or_default(),
        event_type: event_type.transpose()?,
        catch_up: catch_up.and_then(|value| value.as_count()).unwrap_or(1),
        lines: table.lines(),
        name,
    })
}
