//! Clients that do what is known to hurt HTTP/2 servers, one connection after the other.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::access::Access;
use crate::attacker::Attacker;
use crate::attacks::{ATTACKS, Attack};
use crate::source::Source;

/// Attackers at a time.
const ATTACKERS: u64 = 8;

/// What one attacker did, in connections.
#[derive(Clone, Copy, Debug)]
pub struct Attacked {
    pub attack: &'static str,
    pub connections: u64,
    /// Those that the server ended before the attack was over.
    pub cut_off: u64,
}

pub fn start(access: &Access, seed: u64, over: &Arc<AtomicBool>) -> Vec<JoinHandle<Vec<Attacked>>> {
    let start_one = |number: u64| {
        let (access, over) = (access.clone(), Arc::clone(over));
        let source = Source::new(seed, 1000 + number);
        thread::spawn(move || attack_in_turn(&access, source, &over))
    };
    (0..ATTACKERS).map(start_one).collect()
}

fn attack_in_turn(access: &Access, mut source: Source, over: &AtomicBool) -> Vec<Attacked> {
    let nothing =
        |&(attack, _): &(&'static str, Attack)| Attacked { attack, connections: 0, cut_off: 0 };
    let mut done: Vec<_> = ATTACKS.iter().map(nothing).collect();
    let wanted = env::var("SOAK_ATTACK").ok().map(|name| numbered(&name));
    while !over.load(Ordering::Relaxed) {
        let number = match wanted {
            Some(number) => number,
            None => source.below(ATTACKS.len() as u64) as usize,
        };
        let Some(mut attacker) = Attacker::connect(access, source.number()) else {
            continue;
        };
        ATTACKS[number].1(&mut attacker);
        done[number].connections += 1;
        done[number].cut_off += u64::from(attacker.is_cut_off);
    }
    done
}

fn numbered(name: &str) -> usize {
    let number = ATTACKS.iter().position(|(attack, _)| *attack == name);
    number.unwrap_or_else(|| panic!("SOAK_ATTACK={name}: there is no such attack"))
}
