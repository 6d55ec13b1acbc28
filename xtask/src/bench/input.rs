//! The events of a benchmark: made from a seed, so that every run and every process has the same ones.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::failure::{Attempt, Failure};

/// Splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// An event as the program sees it after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// Bytes of a text, about: with the id and the punctuation, a line is then about 250 bytes long.
const TEXT_LEN: usize = 188;

const WORDS: [&str; 32] = [
    "comparar",
    "modelos",
    "borrador",
    "producto",
    "campaña",
    "análisis",
    "cliente",
    "formulario",
    "idea",
    "resumen",
    "publicar",
    "revisión",
    "humana",
    "costes",
    "informe",
    "mañana",
    "pedido",
    "factura",
    "prueba",
    "servidor",
    "evento",
    "reintento",
    "clave",
    "precio",
    "título",
    "correo",
    "semana",
    "equipo",
    "pregunta",
    "respuesta",
    "datos",
    "blog",
];

/// `count` different events with random ids in the form of a version 4 UUID.
pub(crate) fn events(seed: u64, count: u64) -> impl Iterator<Item = Event> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| event(&mut random))
}

fn event(random: &mut Random) -> Event {
    let (high, low) = (random.next(), random.next());
    let id = format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff
    );
    let mut text = format!("{:016x}", random.next());
    let mut bits = 0;
    while text.len() < TEXT_LEN {
        if bits == 0 {
            bits = random.next();
        }
        text.push(' ');
        text.push_str(WORDS[(bits & 31) as usize]);
        bits >>= 5;
    }
    Event { id, text }
}

/// Writes one line an event; nothing in these events needs escaping.
pub(crate) fn write_lines(path: &Path, events: impl Iterator<Item = Event>) -> Result<(), Failure> {
    write_with(path, |out| {
        events.into_iter().try_for_each(|Event { id, text }| writeln!(out, "{{\"id\":\"{id}\",\"texto\":\"{text}\"}}"))
    })
}

/// Writes one line an event, each of one of `sources` sources and with a time: a moment of this day (UTC), so that all come
/// late.
pub(crate) fn write_told_lines(
    path: &Path,
    events: impl Iterator<Item = Event>,
    sources: u64,
    day: &str,
    seconds_of_day: u64,
) -> Result<(), Failure> {
    let mut random = Random::new(seconds_of_day);
    write_with(path, |out| {
        events.zip(0..).try_for_each(|(Event { id, text }, number)| {
            let second = random.next() % seconds_of_day.max(1);
            let (hour, minute, second, milli) = (second / 3_600, second / 60 % 60, second % 60, random.next() % 1_000);
            let source = number % sources;
            writeln!(
                out,
                "{{\"id\":\"{id}\",\"texto\":\"{text}\",\"origen\":\"s{source}\",\
                 \"fecha\":\"{day}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z\"}}"
            )
        })
    })
}

/// Writes `count` valid lines of about `len` bytes each, with a short event after each of them.
pub(crate) fn write_long_lines(path: &Path, count: u64, len: usize) -> Result<(), Failure> {
    let filler = vec![b'x'; len];
    write_with(path, |out| {
        (0..count).try_for_each(|number| {
            write!(out, "{{\"id\":\"long-{number}\",\"texto\":\"")?;
            out.write_all(&filler)?;
            writeln!(out, "\"}}\n{{\"id\":\"short-{number}\",\"texto\":\"short\"}}")
        })
    })
}

fn write_with(path: &Path, lines: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let file = File::create(path).attempt(|| format!("create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    lines(&mut out).and_then(|()| out.flush()).attempt(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn same_seed_makes_the_same_events_and_another_seed_others() {
        let first: Vec<_> = events(7, 50).collect();
        assert_eq!(first, events(7, 50).collect::<Vec<_>>());
        assert_ne!(first, events(8, 50).collect::<Vec<_>>());
    }

    #[test]
    fn ids_are_different_and_look_like_uuids() {
        let ids: HashSet<_> = events(1, 2_000).map(|event| event.id).collect();
        assert_eq!(ids.len(), 2_000);
        for id in &ids {
            assert!(id.len() == 36 && id.as_bytes()[14] == b'4' && "89ab".contains(&id[19..20]), "{id}");
        }
    }

    #[test]
    fn lines_are_about_250_bytes_and_need_no_escapes() {
        let lens: Vec<usize> = events(1, 1_000).map(|event| event.id.len() + event.text.len() + 21).collect();
        let mean = lens.iter().sum::<usize>() / lens.len();
        assert!((240..=260).contains(&mean), "{mean}");
        assert!(events(1, 1_000).all(|event| !event.text.contains(['"', '\\', '\n'])));
    }
}
