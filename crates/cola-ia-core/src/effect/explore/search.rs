//! Breadth first, so that a counterexample is a shortest one.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::lab::Lab;
use super::labels::Label;
use super::properties::{Property, broken, ended, succeeded, undecided};
use super::steps::{initial, steps};
use super::world::{Scenario, World};
use crate::effect::Rule;

pub(super) struct Explored {
    pub(super) states: usize,
    /// Real effects that one key caused, at most.
    pub(super) most: usize,
    pub(super) found: Option<Counterexample>,
}

pub(super) struct Counterexample {
    pub(super) property: Property,
    pub(super) text: String,
    pub(super) trace: Vec<Label>,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} is broken: {}", self.property, self.text)?;
        self.trace.iter().enumerate().try_for_each(|(place, label)| writeln!(f, "{:4}. {label:?}", place + 1))
    }
}

/// Quick without optimisation; nobody chooses these worlds to collide.
#[derive(Default)]
pub(super) struct Quick(u64);

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

impl Quick {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut padded = [0; 8];
            padded[..word.len()].copy_from_slice(word);
            self.mix(u64::from_le_bytes(padded));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
}

/// The worlds that were reached, and how.
#[derive(Default)]
struct Reached {
    worlds: Vec<Rc<World>>,
    numbers: QuickMap<Rc<World>, u32>,
    parent: Vec<u32>,
    how: Vec<Option<Label>>,
    /// Steps that a path of L1 and L2 may use.
    edges: Vec<(u32, u32)>,
}

impl Reached {
    fn trace(&self, mut at: u32, last: Option<Label>) -> Vec<Label> {
        let mut trace: Vec<Label> = last.into_iter().collect();
        while let Some(label) = self.how[at as usize] {
            trace.push(label);
            at = self.parent[at as usize];
        }
        trace.reverse();
        trace
    }

    fn add(&mut self, world: World, parent: u32, how: Option<Label>) -> u32 {
        let number = self.worlds.len() as u32;
        let world = Rc::new(world);
        self.worlds.push(Rc::clone(&world));
        self.numbers.insert(world, number);
        self.parent.push(parent);
        self.how.push(how);
        number
    }
}

/// Explores all of a scenario without the removed rules, until one of the wanted properties is broken.
pub(super) fn search(scenario: &Scenario, removed: &[Rule], wanted: &[Property]) -> Explored {
    let mut lab = Lab::new(scenario, removed);
    let mut reached = Reached::default();
    let mut goals = [(Property::L1, vec![false], vec![true]), (Property::L2, vec![false], vec![true])];
    let start = initial(&mut lab);
    reached.add(start, 0, None);
    let mut most = 0;
    let mut at = 0;
    while at < reached.worlds.len() as u32 {
        let world = Rc::clone(&reached.worlds[at as usize]);
        for step in steps(&mut lab, &world) {
            let stop = |bad: (Property, String), reached: &Reached| Explored {
                states: reached.worlds.len(),
                most,
                found: Some(Counterexample {
                    property: bad.0,
                    text: bad.1,
                    trace: reached.trace(at, Some(step.label)),
                }),
            };
            if let Some(bad) = step.bad.filter(|bad| wanted.contains(&bad.0)) {
                return stop(bad, &reached);
            }
            let known = reached.numbers.get(&step.world).copied();
            let to = if let Some(to) = known {
                to
            } else {
                if let Some(bad) = broken(&mut lab, &step.world).filter(|bad| wanted.contains(&bad.0)) {
                    return stop(bad, &reached);
                }
                let [(_, ends, any), (_, succeeds, asked)] = &mut goals;
                ends.push(ended(&mut lab, &step.world));
                any.push(true);
                succeeds.push(succeeded(&mut lab, &step.world));
                asked.push(undecided(&mut lab, &step.world));
                most = step.world.dest.iter().map(|one| one.real.len()).max().unwrap_or(0).max(most);
                reached.add(step.world, at, Some(step.label))
            };
            if to != at && !step.label.cancels() {
                reached.edges.push((at, to));
            }
        }
        at += 1;
    }
    let stuck = goals.iter().filter(|(property, ..)| wanted.contains(property)).find_map(|(property, goal, asked)| {
        let dead_end = unreachable_from(goal, asked, &reached.edges)?;
        let text = "from here no path leads there".to_owned();
        Some(Counterexample { property: *property, text, trace: reached.trace(dead_end, None) })
    });
    Explored { states: reached.worlds.len(), most, found: stuck }
}

/// The first asked state, in order of distance from the start, from which no path leads to a goal.
fn unreachable_from(goal: &[bool], asked: &[bool], edges: &[(u32, u32)]) -> Option<u32> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); goal.len()];
    for (from, to) in edges {
        before[*to as usize].push(*from);
    }
    let mut good = goal.to_vec();
    let mut waiting: Vec<u32> = (0..goal.len() as u32).filter(|state| good[*state as usize]).collect();
    while let Some(state) = waiting.pop() {
        for from in &before[state as usize] {
            if !std::mem::replace(&mut good[*from as usize], true) {
                waiting.push(*from);
            }
        }
    }
    (0..goal.len()).find(|state| asked[*state] && !good[*state]).map(|state| state as u32)
}
