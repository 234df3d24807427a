//! The shapes of text that was copied: quotations, messages and mails of others, tickets, tables, logs, terminals, documents.
//!
//! What has such a shape is not the person's word, even where it is: a sentence that is left out costs a lesson, one that is
//! taken in from elsewhere plants one. Each shape was tried on the statements of real turns (docs/spec/capture.md, 5.2).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The number of words from which a quotation is a sentence of somebody.
const QUOTED_WORDS: usize = 4;

/// A line after which, where more follows, comes another author's text.
const HEADS: &str = r"(?ix)
    # A name and a time: messages of a chat, comments of a forge.
      ^\W*\S.{0,60}\b\d{1,2}:\d{2}(:\d{2})?(\s*[ap]\.?m\.?)?\W*$
    | ^[^.!?]{0,80}\b(\d+|an?|one|two)\s+(second|minute|hour|day|week|month|year)s?\s+ago\b.{0,30}$
    | ^[^.!?]{0,60}\b(\d{1,2}\.?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s+\d{1,2})(,?\s+\d{4})?\W*$
    | \b(a\s+écrit|escribió|scrisse|ha\s+scritto|schreef|skrev|napisał)\b .{0,20} :\s*$
    # Headings of tickets.
    | ^\W*(steps\s+to\s+reproduce|(expected|actual|current)\s+(behaviou?r|results?)|acceptance\s+criteria|description
        |reproduction|environment|additional\s+context|user\s+story|definition\s+of\s+done|describe\s+the\s+(bug|issue|problem))\W*$
    | ^\#\d+\s
    # Where something begins that is not the person's.
    | ^\W+(begin|start)\b[^.!?]{0,40}\W+$
    | ^\\[a-z]+\{
    # What carries text of others, before a colon.
    | \b(hook|event|changes?|summary|conversation|skills?|results?|contents?|report|memory|memories|instructions?|guidelines?|reply
        |specs?|specification|readme|wiki|chat|slack|channel|preferences|rules|conventions|handbook|section|quote|story)
        \b[^.!?]{0,40}:\s*$
    | ^\W*(answer|reply|solution|post|message|text|copied|taken|found)\s+(\w+\s+)?(from|by|on|in)\b.{1,60}:\s*$";

/// A line from which on, itself included, the turn is another author's.
const STARTS: &str = r#"(?x)
    # Messages and logs begin with a time.
      ^\W{0,2}(\d{4}-\d\d-\d\d[T\ ,]|\d{1,2}:\d{2}|[A-Z][a-z]{2}\s+\d{1,2},?\ (\d{4}|\d\d:\d\d))
    | ^\W*[\w\ .-]{1,30}[\[(]\d{1,2}:\d{2}(:\d{2})?[\])]
    # Mails.
    | (?i:^\W*(von|gesendet|an|betreff|de|à|para|asunto|objet|fecha|envoyé|cc|datum|onderwerp)\s*:\s+\S.*@)
    | (?i:^\W*(gesendet|betreff|asunto|objet|onderwerp|oggetto|assunto)\s*:)
    # Fields of a ticket.
    | (?i:^\W*(status|priority|assignees?|reporter|labels?|components?|severity|sprint|milestone|epic|story\ points|fix\ versions?|created|updated)\**\s*:\s*\S)
    # Changes.
    | ^(diff\ --git|@@\ |index\ [0-9a-f]{6,}|\+\+\+\ |---\ [ab]/|commit\ [0-9a-f]{7,})
    # Terminals.
    | ^\s*([\w.-]+@[\w.-]+[:\ ]\S*\s?[$\#%>]|\$|❯|PS\ [A-Z]:\\[^>]*>|[~/]\S*(\ [\w./-]+)?\ ?[%$❯\#]|>>>)\s+\S
    | ^Traceback\ \(most
    # Documents.
    | ^\#{2,6}\ \S
    | ^\d+(\.\d+)+\.?\s+[A-Za-z]
    | ^\s*(\.\.\ \w+::|!!!\ \w+|:::\s*\w+)
    | ^\s*("""|'''|~~~)"#;

/// A line that is another author's by itself.
const LINES: &str = r#"(?x)
      ^\s*>
    | ^\s*[│┃║▌▏⏺●⎿❯›✔✗✘ℹ▶■◆╭╰├└]
    | ^\s*(//|/\*|\*/|--\s|;;)
    # Tables and data.
    | \S.*\t.*\S.*\t.*\S | ^\s*\t
    | ^\s*["'][\w.-]+["']\s*: | ^\s*[{}\[\]]+,?\s*$
    | ^[^,"]{0,40},[^,"\s][^,"]{0,40}," | ^("[^"]*",)+
    | ^\s*[\w.-]+\s*=\s*\S
    | ^\s*\d+\s*[→│|] | ^[\w./-]+\.\w+:\d+
    # Questions and answers, remarks of a review, mentions.
    | (?i:^\W*(q|a|question|answer|frage|antwort)\s*[:.]\s)
    | (?i:^\W*(nit|nitpick|suggestion|issue|question|thought|praise|chore|blocking|finding|recommendation)\s*(\([^)]*\))?\W*:\W*\s)
    | ^\W*(\[~\w+\]|@[\w.-]+\s*:)
    | ^\s*\+\S"#;

/// A line by which its whole paragraph is a log.
const LOGS: &str = r#"(?x)
      ^\W{0,3}(?i:info|warn(ing)?|error|debug|trace|fatal|notice|verbose|critical|err!)\b[\]:|]
    | \#\#\[ | ::\w+::
    | ^(npm|yarn|pnpm|pip|cargo)\s+(?i:warn|err|notice|info)
    | ^\s*File\ "
    | ^\s+at\ \S+\ ?\(
    | ^(ERROR|FAIL(ED)?|WARNING)\ in\b | ^[IWEF]\d{4}\  | ^\w[\w.-]*:\ \*\*\* | \bpackages?\ in\ \d
    | ^\s*(Compiling|Finished|Running|Download(ing|ed)|Building|Checking|Installing|Resolving|Fetching|Linking)\s+\S+\ v?\d
    | (?i:exit(ed)?\ (with\ )?(code|status)\ \d)"#;

/// The end of a mail.
const SIGNATURES: &str = r"(?i)^\W*((best|kind|warm|many)\s+)?(regards|wishes|sincerely|cheers|mit freundlichen gr|viele gr|cordialement|saludos|un saludo)\b.{0,20}$|^--$|^(sent from|gesendet von|envoyé de|enviado desde) |^dear\b.{0,30},?$";

/// How a mail may end before the name: `Thanks,` or `Yours`.
const CLOSINGS: &str = r"(?i)^\W*(many |with )?(thanks|thank you|yours( \w+)?|greetings|danke|gracias|merci),?$";

/// `Name: text` or `name = text`; the name is of letters.
const FIELD: &str = r"^\W{0,4}(?P<name>[\p{L}_][\p{L}_'’. -]{0,28}?)\**\s?:\**\s+\S";

/// Who did something with a text: `octocat reviewed`, `A bot left a comment`.
const DEED: &str = r"(?i)^\W*@?(?P<who>[\w.\[\]-]+(\s[\w.\[\]-]+){0,2})\s+(commented|opened|replied|wrote|left a (comment|review)|requested changes|approved|reviewed|asked|answered|posted)\b[^.!?]*$";

/// What somebody has, before a colon: `Bob's comment: …`.
const POSSESSION: &str = r"(?i)\b(?P<who>[\w.-]+)['’]s\s+(\w+\s+){0,2}\w+\s*:(\s|$)";

/// Words with a short "is" or "us".
const NOT_OWNERS: [&str; 13] =
    ["here", "there", "let", "it", "that", "this", "what", "who", "where", "how", "he", "she", "one"];

/// Pairs of quotation marks that nothing else is written with.
const QUOTES: [(char, char); 8] =
    [('“', '”'), ('„', '“'), ('„', '”'), ('«', '»'), ('»', '«'), ('‹', '›'), ('「', '」'), ('『', '』')];

/// The shapes, compiled once. A list that does not compile would let everything through, so there is none without all.
struct Shapes {
    heads: Regex,
    starts: Regex,
    lines: Regex,
    logs: Regex,
    signatures: Regex,
    closings: Regex,
    field: Regex,
    deed: Regex,
    possession: Regex,
    tag: Regex,
}

fn shapes() -> Option<&'static Shapes> {
    static SHAPES: LazyLock<Option<Shapes>> = LazyLock::new(|| {
        Some(Shapes {
            heads: Regex::new(HEADS).ok()?,
            starts: Regex::new(STARTS).ok()?,
            lines: Regex::new(LINES).ok()?,
            logs: Regex::new(LOGS).ok()?,
            signatures: Regex::new(SIGNATURES).ok()?,
            closings: Regex::new(CLOSINGS).ok()?,
            field: Regex::new(FIELD).ok()?,
            deed: Regex::new(DEED).ok()?,
            possession: Regex::new(POSSESSION).ok()?,
            tag: Regex::new(r"[<\[]([A-Za-z][\w:.-]*)((\s|/)[^<>\[\]]*)?[>\]]|\{\{#(\w+)\}\}").ok()?,
        })
    });
    SHAPES.as_ref()
}

/// A line and its place in the text.
struct Line<'t> {
    at: Range<usize>,
    text: &'t str,
}

/// Where a text has the shape of something copied. `is_own` tells the words with which a person speaks of themselves.
pub(super) fn foreign(text: &str, is_own: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let Some(shapes) = shapes() else { return std::iter::once(0..text.len()).collect() };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = lines.last().map_or(0, |last: &Line<'_>| last.at.end);
        lines.push(Line { at: start..start + line.len(), text: line.trim_end() });
    }
    let mut found = quotations(text);
    found.extend(wrapped(text, &shapes.tag));
    let is_of_somebody = |line: &Line<'_>| {
        let found = shapes.possession.captures(line.text);
        found.is_some_and(|found| !NOT_OWNERS.contains(&found["who"].to_lowercase().as_str()))
    };
    let by_itself = lines.iter().filter(|line| shapes.lines.is_match(line.text) || is_of_somebody(line));
    found.extend(by_itself.map(|line| line.at.clone()));
    found.extend(fields(&lines, &shapes.field));
    for paragraph in lines.split(|line| line.text.is_empty() || line.text.trim_start().starts_with("```")) {
        if let (Some(first), Some(last)) = (paragraph.first(), paragraph.last())
            && paragraph.iter().any(|line| shapes.logs.is_match(line.text))
        {
            found.push(first.at.start..last.at.end);
        }
    }
    let is_start = |line: &Line<'_>| {
        let has_rest = text.get(line.at.end..).is_some_and(|rest| !rest.trim().is_empty());
        let is_deed = || {
            let who = shapes.deed.captures(line.text);
            who.is_some_and(|found| !found["who"].split_whitespace().any(&is_own))
        };
        let is_head = || shapes.heads.is_match(line.text) || (line.text.ends_with(':') && is_of_somebody(line));
        shapes.starts.is_match(line.text) || (has_rest && (is_head() || is_deed()))
    };
    let headings: Vec<&Line<'_>> = lines.iter().filter(|line| line.text.starts_with("# ")).collect();
    // A single line `# …` is a note that the person makes; with text below it, a document begins.
    let is_title = text.trim_start().starts_with("# ")
        && lines.iter().skip_while(|line| line.text.is_empty()).nth(1).is_some_and(|line| line.text.is_empty());
    let document = headings.first().filter(|_| headings.len() > 1 || is_title).map(|line| line.at.start);
    let start = lines.iter().find(|line| is_start(line)).map(|line| line.at.start).into_iter().chain(document).min();
    let said: Vec<&Line<'_>> = lines.iter().filter(|line| !line.text.is_empty()).collect();
    let is_name =
        |line: &Line<'_>| line.text.split_whitespace().count() <= 4 && line.text.starts_with(char::is_uppercase);
    let is_closed =
        matches!(said.as_slice(), [.., closing, name] if shapes.closings.is_match(closing.text) && is_name(name));
    let is_mail = said.len() > 1 && (is_closed || said.iter().any(|line| shapes.signatures.is_match(line.text)));
    found.extend(start.filter(|_| !is_mail).or(is_mail.then_some(0)).map(|start| start..text.len()));
    found
}

/// Lines of at least two different fields, one below the other: a record, or what several people said.
fn fields(lines: &[Line<'_>], field: &Regex) -> Vec<Range<usize>> {
    let runs = lines.chunk_by(|a, b| name(a, field).is_some() == name(b, field).is_some());
    let differ = |run: &&[Line<'_>]| {
        let names: Vec<&str> = run.iter().filter_map(|line| name(line, field)).collect();
        names.iter().any(|other| Some(other) != names.first())
    };
    runs.filter(differ).filter_map(|run| Some(run.first()?.at.start..run.last()?.at.end)).collect()
}

/// The name of a field, of at most three words.
fn name<'t>(line: &Line<'t>, field: &Regex) -> Option<&'t str> {
    let name = field.captures(line.text)?.name("name")?.as_str();
    (name.split_whitespace().count() <= 3 && !line.text.contains("://")).then_some(name)
}

/// Where a sentence or more is in quotation marks.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for mark in ['"', '\'', '`'] {
        let (mut open, mut previous) = (None, ' ');
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map_or(' ', |(_, next)| *next);
            match open {
                None if c == mark && !previous.is_alphanumeric() && !next.is_whitespace() => open = Some(at),
                Some(start) if c == mark && !next.is_alphanumeric() => {
                    // In backticks is a command, unless they hold the whole line.
                    let line = text.get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
                    let is_quote = mark != '`' || !line.contains(char::is_alphanumeric);
                    found.extend((is_quote && is_long(text, start..at)).then_some(start..at + 1));
                    open = None;
                }
                // A quote does not reach over an empty line.
                Some(_) if c == '\n' && next == '\n' => open = None,
                _ => {}
            }
            previous = c;
        }
    }
    for (left, right) in QUOTES {
        let mut from = 0;
        while let Some(start) = text.get(from..).and_then(|rest| rest.find(left)).map(|at| at + from) {
            let inner = start + left.len_utf8();
            let Some(end) = text.get(inner..).and_then(|rest| rest.find(right)).map(|at| at + inner) else { break };
            found.extend(is_long(text, start..end).then_some(start..end + right.len_utf8()));
            from = inner;
        }
    }
    found
}

/// True for a quotation of a sentence; a script without blanks has no words to count.
fn is_long(text: &str, range: Range<usize>) -> bool {
    let inner = text.get(range).unwrap_or_default();
    let n_alone = inner.chars().filter(|c| matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')).count();
    inner.split_whitespace().count() + n_alone >= QUOTED_WORDS
}

/// What is between a tag and the last place where it is closed, whatever its name; a tag on a line of its own that nothing closes
/// holds the rest.
fn wrapped(text: &str, tag: &Regex) -> Vec<Range<usize>> {
    let lower = text.to_lowercase();
    // Lower case can change the length of a text; then places are not comparable.
    let searched = if lower.len() == text.len() { lower.as_str() } else { text };
    let mut found: Vec<Range<usize>> = Vec::new();
    for opening in tag.captures_iter(text) {
        let Some(whole) = opening.get(0) else { continue };
        if found.last().is_some_and(|span| span.contains(&whole.start())) {
            continue;
        }
        let name = opening.get(1).or(opening.get(4)).map_or("", |name| name.as_str()).to_lowercase();
        let closings = [format!("</{name}>"), format!("[/{name}]"), format!("{{{{/{name}}}}}")];
        let end = closings.iter().filter_map(|close| Some(searched.rfind(close.as_str())? + close.len())).max();
        let before = text.get(..whole.start()).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        let after = text.get(whole.end()..).and_then(|after| after.split('\n').next()).unwrap_or_default();
        let is_line = before.trim().is_empty() && after.trim().is_empty() && whole.as_str().starts_with('<');
        match end {
            Some(end) if end > whole.end() => found.push(whole.start()..end),
            _ if is_line && !whole.as_str().ends_with("/>") => found.push(whole.start()..text.len()),
            _ => {}
        }
    }
    found
}
