//! How a bot talks to the referee: lines of JSON in, lines of JSON out.
//!
//! A bot needs no change here. Rust's standard library reads no JSON, so a reader is at the end.

// --- protocol ---
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Read, Write as _};
use std::ops::Index;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const HELLO: &str = "{\"type\":\"hello\",\"protocol\":1,\"games_at_once\":64}\n";

/// An answer that waits for others is on the clock, so none waits for longer than this.
const PATIENCE: Duration = Duration::from_millis(10);

/// The states of the random generators of the games that go on, by the names of the games.
type Lucks = HashMap<String, u64>;

type Choose<'a> = dyn FnMut(&Json, &[Json]) -> Option<Json> + 'a;

/// What goes out with the next answer; empty for nothing.
static NOTE: Mutex<String> = Mutex::new(String::new());

/// Send a word with the move, for the record. Of several in one turn the last counts, and of a long
/// one the first 1000 letters.
#[allow(dead_code)] // not every bot has something to say
pub fn note(text: impl Into<String>) {
    *NOTE.lock().unwrap() = text.into().chars().take(1000).collect();
}

/// The state of the random generator of the game at hand.
static LUCK: AtomicU64 = AtomicU64::new(0);

/// A random number from 0 to `limit` - 1. It depends on the game's bot_seed and on nothing else.
#[allow(dead_code)] // not every bot plays at random
pub fn random_below(limit: usize) -> usize {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut bits = LUCK.fetch_add(STEP, Relaxed).wrapping_add(STEP);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ bits >> 31) % limit as u64) as usize
}

/// Talk to the referee, one JSON object a line, until it says bye or hangs up.
///
/// `choose` gets the view and the legal moves, and gives the move to play, or None to resign. Where
/// a variant has too many moves to list, it gets none.
pub fn talk(mut choose: impl FnMut(&Json, &[Json]) -> Option<Json>) {
    if let Err(trouble) = converse(&mut choose) {
        eprintln!("{trouble}");
        std::process::exit(1);
    }
}

/// What came in one read is answered in one write: with many games at once that saves time. A read
/// may end in the middle of a line, which then waits for its rest.
fn converse(choose: &mut Choose) -> io::Result<()> {
    let mut input = io::stdin();
    let mut chunk = [0; 65536];
    let mut waiting = Vec::new();
    let mut lucks = Lucks::new();
    loop {
        let count = input.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        waiting.extend_from_slice(&chunk[..count]);
        let end = match chunk[..count].iter().rposition(|&byte| byte == b'\n') {
            Some(at) => waiting.len() - count + at + 1,
            None => continue,
        };
        let (mut answers, mut since) = (String::new(), Instant::now());
        for line in waiting[..end].split(|&byte| byte == b'\n') {
            if since.elapsed() > PATIENCE {
                send(&mut answers)?;
                since = Instant::now();
            }
            if !answer(line, choose, &mut lucks, &mut answers)? {
                return send(&mut answers);
            }
        }
        send(&mut answers)?;
        waiting.drain(..end);
    }
}

fn send(answers: &mut String) -> io::Result<()> {
    let mut output = io::stdout();
    output.write_all(answers.as_bytes())?;
    answers.clear();
    output.flush()
}

/// Answer one line of the referee, where it wants an answer; false after its bye.
fn answer(
    line: &[u8],
    choose: &mut Choose,
    lucks: &mut Lucks,
    answers: &mut String,
) -> io::Result<bool> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(true);
    }
    let message = read_json(&String::from_utf8_lossy(line))
        .map_err(|wrong| io::Error::new(io::ErrorKind::InvalidData, wrong))?;
    match message["type"].text() {
        Some("turn") => {
            let id = &message["id"];
            let luck = lucks.entry(name(&message)).or_default();
            LUCK.store(*luck, Relaxed);
            let played = choose(&message["view"], message["legal"].list());
            *luck = LUCK.load(Relaxed);
            *answers += &match played {
                Some(played) => format!("{{\"id\":{id},\"move\":{played}"),
                None => format!("{{\"id\":{id},\"type\":\"resign\""),
            };
            let note = std::mem::take(&mut *NOTE.lock().unwrap());
            if !note.is_empty() {
                *answers += &format!(",\"note\":{}", quoted(&note));
            }
            answers.push_str("}\n");
        }
        Some("start") => {
            let seed = message["bot_seed"].integer().unwrap_or(0);
            lucks.insert(name(&message), seed as u64);
        }
        Some("over") => {
            lucks.remove(&name(&message));
        }
        Some("hello") => answers.push_str(HELLO),
        Some("ping") => answers.push_str("{\"type\":\"pong\"}\n"),
        Some("bye") => return Ok(false),
        // Error wants no answer, nor does what a later referee may say.
        _ => {}
    }
    Ok(true)
}

/// The name of the game that a message is about.
fn name(message: &Json) -> String {
    message["game"].text().unwrap_or("").to_string()
}

/// A JSON value. `view["mine"]["numbers"]` is a value inside; what is not there is Null.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

// No bot needs all of them, and none should get a warning for that.
#[allow(dead_code)]
impl Json {
    pub fn integer(&self) -> Option<i64> {
        match self {
            Json::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values in a list; none where it is something else.
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(values) => values,
            _ => &[],
        }
    }

    /// The integers in a list.
    pub fn integers(&self) -> Vec<i64> {
        self.list().iter().filter_map(Json::integer).collect()
    }
}

impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        static NULL: Json = Json::Null;
        match self {
            Json::Object(fields) => {
                let found = fields.iter().rev().find(|(own, _)| own == name);
                found.map_or(&NULL, |(_, value)| value)
            }
            _ => &NULL,
        }
    }
}

/// Writes the value as JSON.
impl Display for Json {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(truth) => write!(out, "{truth}"),
            Json::Integer(number) => write!(out, "{number}"),
            Json::Float(number) => write!(out, "{number:?}"),
            Json::Text(text) => out.write_str(&quoted(text)),
            Json::List(values) => {
                let inside: Vec<_> = values.iter().map(Json::to_string).collect();
                write!(out, "[{}]", inside.join(","))
            }
            Json::Object(fields) => {
                let field = |(name, value): &(String, Json)| format!("{}:{value}", quoted(name));
                let inside: Vec<_> = fields.iter().map(field).collect();
                write!(out, "{{{}}}", inside.join(","))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\0'..='\x1f' => out += &format!("\\u{:04x}", letter as u32),
            _ => out.push(letter),
        }
    }
    out + "\""
}

/// The value that a text holds, or a sentence on what is wrong with it.
fn read_json(text: &str) -> Result<Json, String> {
    let (at, depth) = (0, 0);
    let mut reader = Reader { text, at, depth };
    let value = reader.value()?;
    match reader.next() {
        None => Ok(value),
        Some(_) => Err(reader.wrong()),
    }
}

/// The reader goes over the text once, from left to right. It stops at a depth that no message of
/// the referee has, before the stack overflows.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    const DEEPEST: usize = 1000;

    fn wrong(&self) -> String {
        format!("no JSON at byte {} of the line {}", self.at, self.text)
    }

    /// The first byte from here on that is not a space.
    fn next(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Step over this byte, if it is the next.
    fn take(&mut self, byte: u8) -> bool {
        let there = self.next() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        let there = self.take(byte).then_some(());
        there.ok_or_else(|| self.wrong())
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.next() {
            Some(b'{') => Ok(Json::Object(self.items(*b"{}", Self::field)?)),
            Some(b'[') => Ok(Json::List(self.items(*b"[]", Self::value)?)),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => self.number(),
        }
    }

    fn field(&mut self) -> Result<(String, Json), String> {
        let name = self.string()?;
        self.expect(b':')?;
        Ok((name, self.value()?))
    }

    /// What stands between two brackets with commas between.
    fn items<T>(
        &mut self,
        brackets: [u8; 2],
        item: fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        self.expect(brackets[0])?;
        self.depth += 1;
        if self.depth > Self::DEEPEST {
            return Err(self.wrong());
        }
        if !self.take(brackets[1]) {
            items.push(item(self)?);
            while self.take(b',') {
                items.push(item(self)?);
            }
            self.expect(brackets[1])?;
        }
        self.depth -= 1;
        Ok(items)
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wrong());
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter| !matches!(letter, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let digits = &rest[..end.unwrap_or(rest.len())];
        let number = match digits.parse() {
            Ok(number) => Json::Integer(number),
            Err(_) => Json::Float(digits.parse().map_err(|_| self.wrong())?),
        };
        self.at += digits.len();
        Ok(number)
    }

    /// A text: runs of plain letters, copied at once, and escapes between them.
    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let run = rest.bytes().position(|byte| byte == b'"' || byte == b'\\');
            let run = run.ok_or_else(|| self.wrong())?;
            string.push_str(&rest[..run]);
            self.at += run + 1;
            if rest.as_bytes()[run] == b'"' {
                return Ok(string);
            }
            string.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let letter = match self.text.as_bytes().get(self.at) {
            Some(b'u') => return self.unicode(),
            Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        Ok(letter)
    }

    /// `u2603`, or for a letter beyond 65535 two such with a backslash between.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let after_first = self.at;
            self.at += 1;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).expect("pairs make letters"));
            }
            self.at = after_first;
        }
        // Half a pair alone is no letter.
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 5;
        code.ok_or_else(|| self.wrong())
    }
}
// --- end of protocol ---
