//! @NAME@: a bot for the referee. Change `choose`; protocol.rs does the talking.
//!
//! Standard output belongs to the protocol. To look into your bot, write to standard error:
//! `eprintln!("{view}")`.

mod protocol;

#[allow(unused_imports)] // not every bot has something to say
use protocol::{note, random_below, Json};

fn main() {
    protocol::talk(choose);
}

/// The move to play: one of the legal ones, or None to resign.
///
/// The view is all that you may know; protocol.md lists its fields for every variant. For example:
///
///     let numbers = view["mine"]["numbers"].integers();  // Vec<i64>, empty where there are none
///     let points = view["mine"]["points"].integer();     // Option<i64>
///
/// A move is `Json::Integer(5)` in most variants, and in others `Json::Text("+5".into())`.
/// `legal` is empty where a variant has too many moves to list.
///
/// `random_below(6)` is a number from 0 to 5, drawn from the game's bot_seed.
/// `note("…")` sends a word to the record; `referee watch` shows it.
fn choose(_view: &Json, legal: &[Json]) -> Option<Json> {
    if legal.is_empty() {
        return None;
    }
    Some(legal[random_below(legal.len())].clone())
}
