//! When a schedule fires: a cron expression in a time zone. Pure.
//!
//! Clocks are turned forward and back, and each local time that a schedule names is one firing all the same:
//!
//! - a local time that is left out fires at the moment at which the clock is turned forward; several of them are one firing;
//! - a local time that comes twice fires the first time;
//! - where the hour is `*`, or begins so (`*/2`), what is meant is time that passes, and not times of the day: such a schedule
//!   fires in both hours that have the same name, and nothing is made up for an hour that is left out.

use cola_ia_core::clock::Timestamp;
use cronexpr::{Crontab, MakeTimestamp, parse_crontab};
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::lang::Message;

/// The most firings that are looked back at.
pub const LOOK_BACK_MAX: usize = 1_000;
/// How far back they are looked for, in minutes: four years and some.
const LOOK_BACK_MINUTES: i64 = 60 * 24 * 366 * 5;
const MICROS_PER_MINUTE: i64 = 60_000_000;

/// Common names for expressions.
const NAMES: [(&str, &str); 5] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
];

/// When a schedule fires.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In local time, which it takes for UTC: what a zone does to local times is decided here.
    crontab: Crontab,
    zone: TimeZone,
    /// Whether it means time that passes, not times of the day.
    time_passes: bool,
}

/// Why there is no such plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFault {
    /// The expression has another number of fields than five.
    Fields(usize),
    /// The expression cannot be read, for this reason, in English.
    Cron(String),
    /// It never fires, as on a 30th of February.
    Never,
    /// There is no such time zone here.
    Zone(String),
}

impl PlanFault {
    /// The key of the configuration that it is about.
    pub const fn key(&self) -> &'static str {
        if matches!(self, Self::Zone(_)) { "time_zone" } else { "cron" }
    }

    /// In words.
    pub fn message(&self) -> Message {
        match self {
            Self::Fields(found) => Message::new("schedule-fields").number("found", *found as u64),
            Self::Cron(cause) => Message::new("schedule-cron").with("cause", cause),
            Self::Never => Message::new("schedule-never"),
            Self::Zone(zone) => Message::new("schedule-zone").with("zone", zone),
        }
    }
}

impl Plan {
    /// Reads five fields (minute, hour, day of the month, month, day of the week) or one of `@hourly`, `@daily`, `@weekly`,
    /// `@monthly`, `@yearly`; the zone is a name of the IANA data base, such as `Europe/Madrid`.
    ///
    /// # Errors
    /// [`PlanFault`].
    pub fn parse(cron: &str, zone: &str) -> Result<Self, PlanFault> {
        let cron = cron.trim();
        let cron = NAMES.iter().find(|(name, _)| *name == cron).map_or(cron, |(_, expression)| expression);
        let fields: Vec<&str> = cron.split_ascii_whitespace().collect();
        if fields.len() != 5 {
            return Err(PlanFault::Fields(fields.len()));
        }
        let time_zone = TimeZone::get(zone).map_err(|_| PlanFault::Zone(zone.to_owned()))?;
        let crontab = parse_crontab(&format!("{} UTC", fields.join(" "))).map_err(|error| {
            let said = error.to_string();
            PlanFault::Cron(said.lines().last().unwrap_or_default().trim_matches(['^', ' ']).to_owned())
        })?;
        let plan = Self { crontab, zone: time_zone, time_passes: fields[1].starts_with('*') };
        // Any leap day is within eight years of any other instant.
        let some = Timestamp::from_micros(0);
        if plan.next(some).is_none() { Err(PlanFault::Never) } else { Ok(plan) }
    }

    /// The first firing after this instant; `None`: none in the next four years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = jiff::Timestamp::from_microsecond(after.as_micros()).ok()?;
        let firing = if self.time_passes { self.next_in_time(after) } else { self.next_of_the_day(after) };
        firing.map(|firing| Timestamp::from_micros(firing.as_microsecond()))
    }

    /// Local times follow each other as instants do, but for the hour that comes twice: its times are those of its first.
    fn next_of_the_day(&self, after: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let mut local = self.as_utc(after)?;
        loop {
            local = self.next_local(local)?;
            let firing = self.first_instant(local)?;
            if firing > after {
                return Some(firing);
            }
        }
    }

    /// Between two changes of the clock local time is time that passes.
    fn next_in_time(&self, mut after: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let mut local = self.as_utc(after)?;
        loop {
            let next = self.next_local(local)?;
            let firing = after.checked_add(next.duration_since(local)).ok()?;
            let change = self.zone.following(after).next().map(|change| change.timestamp());
            match change.filter(|change| *change <= firing) {
                None => return Some(firing),
                // What fires at the change itself comes after the moment before it.
                Some(change) => {
                    let moment = jiff::SignedDuration::from_micros(1);
                    local = self.as_utc(change)?.checked_sub(moment).ok()?;
                    after = change.checked_sub(moment).ok()?;
                    let firing = after.checked_add(self.next_local(local)?.duration_since(local)).ok()?;
                    if self.zone.following(change).next().is_none_or(|other| firing < other.timestamp()) {
                        return Some(firing);
                    }
                    // Nothing between this change and the next one.
                    local = self.as_utc(change)?;
                    after = change;
                }
            }
        }
    }

    fn next_local(&self, local: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let firing = self.crontab.find_next(MakeTimestamp::from_microsecond(local.as_microsecond()).ok()?).ok()?;
        jiff::Timestamp::from_microsecond(firing.timestamp().as_microsecond()).ok()
    }

    /// The local time of an instant, as if it were UTC.
    fn as_utc(&self, instant: jiff::Timestamp) -> Option<jiff::Timestamp> {
        TimeZone::UTC.to_timestamp(self.zone.to_datetime(instant)).ok()
    }

    /// The instant at which the local time (given as if it were UTC) comes, the first one; that of the change where it is left out.
    fn first_instant(&self, local: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let local = TimeZone::UTC.to_datetime(local);
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        match ambiguous.offset() {
            AmbiguousOffset::Gap { after, .. } => {
                let before_change = after.to_timestamp(local).ok()?;
                self.zone.following(before_change).next().map(|change| change.timestamp())
            }
            _ => ambiguous.earlier().ok(),
        }
    }

    /// The firings after one instant and not after another, oldest first: of more than `limit`, the last.
    pub fn since(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<Timestamp> {
        // A schedule fires once a minute at most: of a short time there is no need to bound them.
        if until.as_micros().saturating_sub(after.as_micros()) > limit as i64 * MICROS_PER_MINUTE {
            return self.last(until, limit).into_iter().filter(|firing| *firing > after).collect();
        }
        self.between(after, until)
    }

    fn between(&self, after: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let later = std::iter::successors(self.next(after), |last| self.next(*last));
        later.take_while(|firing| *firing <= until).collect()
    }

    /// The last firings up to this instant, oldest first, at most `limit`, of the last years.
    pub fn last(&self, until: Timestamp, limit: usize) -> Vec<Timestamp> {
        let mut minutes = limit.max(1) as i64;
        loop {
            minutes = minutes.min(LOOK_BACK_MINUTES);
            let after = Timestamp::from_micros(until.as_micros().saturating_sub(minutes * MICROS_PER_MINUTE));
            let mut found = self.between(after, until);
            if found.len() >= limit || minutes == LOOK_BACK_MINUTES {
                return found.split_off(found.len().saturating_sub(limit));
            }
            minutes *= 2;
        }
    }
}
