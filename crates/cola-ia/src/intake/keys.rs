//! Keys that stand twice in one object, at any depth.
//!
//! Keys are compared decoded: `"a"` and `"\u0061"` are one. A line can hold a million keys, so the memory is 16 bytes a key,
//! reused, and the work is that of a sort. The hash is keyed at random, so that nobody can prepare a line whose keys collide.

use std::hash::{BuildHasher as _, RandomState};

use memchr::memchr;

use super::parse::decoded;

/// Objects with more keys are sorted by hash; with fewer, all pairs are compared.
const PAIRWISE_MAX: usize = 16;
/// Room for keys that is kept from one line to the next.
const KEPT_CAPACITY: usize = 1 << 16;

/// Where a key stands in the line: the bytes between its quotes. A line has less than 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Set only while an object with many keys, or with escapes in them, is compared.
    hash: u64,
    pub(super) start: u32,
    end: u32,
}

impl Key {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { hash: 0, start: start as u32, end: end as u32 }
    }

    pub(super) fn raw(self, line: &[u8]) -> &[u8] {
        &line[self.start as usize..self.end as usize]
    }

    /// With its quotes, as the decoder wants it.
    fn quoted(self, line: &[u8]) -> &[u8] {
        &line[self.start as usize - 1..=self.end as usize]
    }

    pub(super) fn decoded(self, line: &[u8]) -> String {
        decoded(self.quoted(line), &mut Vec::new())
    }
}

/// The keys of the objects that are open, innermost last.
#[derive(Debug, Default)]
pub(super) struct Keys {
    open: Vec<Key>,
    scratch: Vec<u8>,
    hasher: RandomState,
}

/// Where an object's keys start.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObjectStart(usize);

impl Keys {
    /// Forgets all keys, and most of the room where a line needed very much.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.open.shrink_to(KEPT_CAPACITY);
        self.scratch.clear();
        self.scratch.shrink_to(KEPT_CAPACITY);
    }

    pub(super) fn open_object(&self) -> ObjectStart {
        ObjectStart(self.open.len())
    }

    pub(super) fn push(&mut self, key: Key) {
        self.open.push(key);
    }

    /// Ends the innermost object. Gives the first key that stood before in it; `escaped` says whether any of its keys has a
    /// backslash.
    pub(super) fn close_object(&mut self, start: ObjectStart, escaped: bool, line: &[u8]) -> Option<Key> {
        let keys = &mut self.open[start.0..];
        let found = if keys.len() < 2 {
            None
        } else if keys.len() <= PAIRWISE_MAX && !escaped {
            first_repeated(keys, |one, other| one.raw(line) == other.raw(line))
        } else {
            repeated_by_hash(keys, line, &self.hasher, &mut self.scratch)
        };
        self.open.truncate(start.0);
        found
    }
}

/// The first key that is the same as an earlier one; keys are in the order of the line.
fn first_repeated(keys: &[Key], same: impl Fn(Key, Key) -> bool) -> Option<Key> {
    keys.iter()
        .enumerate()
        .find(|(index, key)| keys[..*index].iter().any(|earlier| same(*earlier, **key)))
        .map(|(_, key)| *key)
}

fn repeated_by_hash(keys: &mut [Key], line: &[u8], hasher: &RandomState, scratch: &mut Vec<u8>) -> Option<Key> {
    for key in &mut *keys {
        key.hash = match memchr(b'\\', key.raw(line)) {
            None => hasher.hash_one(key.raw(line)),
            Some(_) => hasher.hash_one(decoded(key.quoted(line), scratch).as_bytes()),
        };
    }
    keys.sort_unstable_by_key(|key| (key.hash, key.start));
    keys.chunk_by(|one, other| one.hash == other.hash)
        .filter(|group| group.len() > 1)
        // Equal hashes are nearly always equal keys; where they are not, all pairs of the few are compared.
        .filter_map(|group| first_repeated(group, |one, other| one.decoded(line) == other.decoded(line)))
        .min_by_key(|key| key.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of one object given as JSON strings; gives the index of the first repeated one.
    fn repeated(keys: &[String]) -> Option<usize> {
        let mut line = Vec::new();
        let mut all = Keys::default();
        let start = all.open_object();
        let mut starts = Vec::new();
        for key in keys {
            line.push(b'"');
            starts.push(line.len());
            line.extend(key.as_bytes());
            all.push(Key::new(starts[starts.len() - 1], line.len()));
            line.push(b'"');
        }
        let escaped = line.contains(&b'\\');
        let found = all.close_object(start, escaped, &line)?;
        starts.iter().position(|at| *at == found.start as usize)
    }

    fn strings(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn the_first_repeated_key_is_found() {
        let cases: [(&[&str], Option<usize>); 9] = [
            (&[], None),
            (&["a"], None),
            (&["a", "b"], None),
            (&["a", "a"], Some(1)),
            (&["", "x", ""], Some(2)),
            (&["b", "a", "c", "a", "b"], Some(3)),
            (&["a", "b", "\\u0061"], Some(2)),
            (&["\\ud83d\\ude00", "x", "😀"], Some(2)),
            (&["caf\u{e9}", "cafe\u{301}", "A", "a", "a "], None),
        ];
        for (keys, expected) in cases {
            assert_eq!(repeated(&strings(keys)), expected, "{keys:?}");
        }
    }

    #[test]
    fn large_objects_are_compared_too() {
        let mut keys: Vec<String> = (0..10_000).map(|number| format!("k{number}")).collect();
        assert_eq!(repeated(&keys), None);
        keys.push("\\u006b77".to_owned());
        keys.push("k5".to_owned());
        assert_eq!(repeated(&keys), Some(10_000));
        assert_eq!(repeated(&vec![String::new(); 1_000]), Some(1));
    }

    #[test]
    fn keys_of_an_outer_object_do_not_count_in_an_inner_one() {
        let line = br#""a""a""a""#;
        let mut keys = Keys::default();
        let outer = keys.open_object();
        keys.push(Key::new(1, 2));
        let inner = keys.open_object();
        keys.push(Key::new(4, 5));
        assert_eq!(keys.close_object(inner, false, line), None);
        keys.push(Key::new(7, 8));
        assert_eq!(keys.close_object(outer, false, line), Some(Key::new(7, 8)));
    }
}
