//! The shapes of text that was copied: quotations, messages and mails of others, tickets, tables, logs, terminals, documents.
//!
//! What has such a shape is not the person's word, even where it is: a sentence that is left out costs a lesson, one that is
//! taken in from elsewhere plants one. Each shape was tried on the statements of real turns (docs/spec/capture.md, 5.2).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::quotations::quotations;

/// How many of the last lines may be the foot of a post or a page.
const FOOT_LINES: usize = 4;

/// A line after which, where more follows, comes another author's text.
const HEADS: &str = r"(?ix)
    # A name and a time: messages of a chat, comments of a forge.
      ^\W*\S.{0,60}\b\d{1,2}:\d{2}(:\d{2})?(\s*[ap]\.?m\.?)?\W*$
    | ^\W*[\w.@-]+(\s[\w.@-]+){0,2}\s*[—–,•·|-]?\s*\b
        (heute|gestern|vorgestern|aujourd['’]hui|hier|avant-hier|hoy|ayer|anteayer|hoje|ontem|oggi|ieri|vandaag|gisteren|dzisiaj|wczoraj|сегодня|вчера
        |(mon|diens|donners|frei|sams|sonn)tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)
        \b\W*((um|à|a\ las?|às|alle|om|o|в)\s+)?\d{1,2}(\s?[:.h]\s?\d{2})?(\s*(uhr|h|uur|[ap]\.\s?m\.))?\W*$
    | ^[^.!?]{0,80}\b(\d+|an?|one|two)\s+(second|minute|hour|day|week|month|year)s?\s+ago\b.{0,30}$
    | ^[^.!?]{0,60}\b(\d{1,2}\.?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s+\d{1,2})(,?\s+\d{4})?\W*$
    | \b(a\s+écrit|escribió|scrisse|ha\s+scritto|schreef|skrev|napisał)\b .{0,20} :\s*$
    # A card of a social program: a short time, alone or behind a name.
    | ^(.{0,60}[·•|—–-]\s*)?\W{0,3}\d{1,3}\s?(s|m|h|d|w|y|mo|min|mins|hrs?|secs?|yrs?|days?|hours?|minutes?|weeks?)\.?(\s+ago)?(\s*[·•|].{0,40})?\W*$
    | ^.{1,40}[·•|]\s*(yesterday|today|just\ now|edited|now)\b.{0,30}$
    | ^\W*(yesterday|just\ now)\W*$
    # A property of a page, and the title of a ticket.
    | ^[\p{L}\ ]{1,30}\t\S.{0,80}$
    | ^\W*(?-i:\p{Lu}[\p{Lu}\d]{1,9}-\d+)\b[^.!?]{0,80}[^.!?:]$
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
    # A day, a time and a name.
    | (?i:^\W{0,2}((mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|today|yesterday)\W{1,2}(at\ )?\d{1,2}:\d{2}(:\d{2})?(\ ?[ap]\.?m\.?)?\W{1,3}[\w.@-]+(\ [\w.@-]+){0,2}\s?:\s)
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
    | ^={1,6}\s+\S | ^h[1-6]\.\s+\S | ^§+\s*\d | ^(?i:chapter|section|appendix|article|part|kapitel|chapitre)\s+[\dIVX]+\b[^!?]{0,80}$
    | ^\s*\[(NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]\s*$ | ^=begin\b
    | ^([*~+]{2,}|\#{1,6}|={2,})\s+\S.{0,80}\s[*~+\#=]{1,}\s*$
    | ^\s*(\.\.\ \w+::|!!!\ \w+|:::\s*\w+)
    | ^\s*("""|'''|~~~)"#;

/// A line that is another author's by itself.
const LINES: &str = r#"(?x)
      ^\s*[>＞]
    | ^\s*\|\s
    | ^\s*[│┃║▌▏▎▍▊█❘❙❚｜⏺●⎿❯›✔✗✘ℹ▶■◆╭╰├└]
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

/// What is below a post or a page: all above it is one.
const FEET: &str = r"(?ix)
      ^\W*(like|reply|upvote|downvote|permalink|retweet|repost|see\ translation|show\ more\ replies|view\ replies|add\ a\ reaction|gefällt\ mir|antworten|j’aime|répondre|me\ gusta|responder)
        (\s*[·•|]\s*\w+){0,4}(\s*\d+)?\W*$
    | ^\W*\p{Extended_Pictographic}\x{fe0f}?\s*\d+(\s+\p{Extended_Pictographic}\x{fe0f}?\s*\d+)*\s*$
    | ^\W*(copyright|©|all\ rights\ reserved|last\ (updated|modified|edited)|retrieved\ from|edit\ this\ page|was\ this\ page\ helpful|page\ \d+\ of\ \d+|licensed\ under)\b
    | ^\W*(source|quelle|fuente|fonte|via)\s*:\s*\S
    | ^\W*(share|follow|flag|report|copy\ link|add\ a\ comment|improve\ this\ (answer|question)|was\ this\ (article|answer)\ helpful\W*)\W*$
    | ^\W*(answered|asked|edited|modified|viewed)\s+.{0,40}\b(\d{1,2}:\d{2}|ago|times|\d{4})\b
    | ^[—–]\s*\S.{0,60}$ | ^\W*©";

/// A title: a few words without an end, none of which speaks.
const TITLES: &str = r"(?x)
    ^(?:
        # Every word of some length is capitalised, or all are.
        (?:\p{Lu}[\w’'-]*|(?i:and|or|of|the|a|an|to|in|on|for|with|by|at|&|-|–|—))(?:\s+(?:\p{Lu}[\w’'-]*|(?i:and|or|of|the|a|an|to|in|on|for|with|by|at)|&|-|–|—|\d+)){1,7}
        # Or it is called as documents are.
      | \p{Lu}[^.!?:;,]{0,50}\b(?i:guide|guidelines|polic(?:y|ies)|rules|conventions|handbook|manual|overview|introduction|checklist|runbook|faq|documentation|docs|notes|procedures?|process
            |readme|reference|tutorial|instructions|standards|practices|setup|basics|principles|requirements|workflow|how-?to|playbook|changelog)
      | (?i:deployment|installation|configuration|usage|contributing|development|operations|maintenance|security|troubleshooting|testing|releases?|building|publishing|administration|background|summary|abstract|introduction)
      | \p{Lu}{4,}
    )$";

/// `Name: text` or `name = text`; the name is of letters.
const FIELD: &str = r"^\W{0,4}(?P<name>[\p{L}_][\p{L}_'’. -]{0,28}?)\**\s?:\**\s+\S";

/// Who did something with a text: `octocat reviewed`, `A bot left a comment`.
const DEED: &str = r"(?i)^\W*@?(?P<who>[\w.\[\]-]+(\s[\w.\[\]-]+){0,2})\s+(commented|opened|replied|wrote|left a (comment|review)|requested changes|approved|reviewed|asked|answered|posted)\b[^.!?]*$";

/// What somebody has, before a colon: `Bob's comment: …`.
const POSSESSION: &str = r"(?i)\b(?P<who>[\w.-]+)['’]s\s+(\w+\s+){0,2}\w+\s*:(\s|$)";

/// Words with a short "is" or "us".
const NOT_OWNERS: [&str; 13] =
    ["here", "there", "let", "it", "that", "this", "what", "who", "where", "how", "he", "she", "one"];

/// The shapes, compiled once. A list that does not compile would let everything through, so there is none without all.
struct Shapes {
    heads: Regex,
    starts: Regex,
    lines: Regex,
    logs: Regex,
    signatures: Regex,
    closings: Regex,
    feet: Regex,
    titles: Regex,
    field: Regex,
    deed: Regex,
    possession: Regex,
    tag: Regex,
    closing: Regex,
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
            feet: Regex::new(FEET).ok()?,
            titles: Regex::new(TITLES).ok()?,
            field: Regex::new(FIELD).ok()?,
            deed: Regex::new(DEED).ok()?,
            possession: Regex::new(POSSESSION).ok()?,
            tag: Regex::new(r"[<\[]([A-Za-z][\w:.-]*)((\s|/)[^<>\[\]]*)?[>\]]|\{\{#(\w+)\}\}").ok()?,
            closing: Regex::new(r"</([A-Za-z][\w:.-]*)>|\[/([A-Za-z][\w:.-]*)\]|\{\{/(\w+)\}\}").ok()?,
        })
    });
    SHAPES.as_ref()
}

/// Where a quotation goes on without its sign: a line below one that does not end a sentence (lazy continuation).
fn continued(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut is_open = false;
    for line in lines {
        let text = line.text.trim_start();
        let is_quoted = text.starts_with(['>', '＞']);
        let is_ended = text.is_empty() || text.ends_with(['.', '!', '?', ':', '…', '。', '！', '？']);
        if is_open && !is_quoted && !text.is_empty() {
            found.push(line.at.clone());
        }
        is_open = (is_quoted || is_open) && !is_ended;
    }
    found
}

/// A line and its place in the text.
struct Line<'t> {
    at: Range<usize>,
    text: &'t str,
}

/// Where a text has the shape of something copied. `is_own` is true for words with which a person speaks of themselves.
pub(super) fn foreign(text: &str, is_own: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let Some(shapes) = shapes() else { return std::iter::once(0..text.len()).collect() };
    let lines = lines_of(text);
    let mut found = quotations(text);
    found.extend(wrapped(text, &shapes.tag, &shapes.closing));
    let by_itself = lines.iter().filter(|line| shapes.lines.is_match(line.text) || shapes.is_of_somebody(line));
    found.extend(by_itself.map(|line| line.at.clone()));
    found.extend(fields(&lines, &shapes.field));
    found.extend(continued(&lines));
    found.extend(logs(&lines, &shapes.logs));
    let said: Vec<&Line<'_>> = lines.iter().filter(|line| !line.text.is_empty()).collect();
    // What ends as a post or a page does is one.
    let n_lines_before = said.len().saturating_sub(FOOT_LINES).max(1);
    let foot = said.iter().skip(n_lines_before).find(|line| shapes.feet.is_match(line.text));
    found.extend(foot.map(|line| 0..line.at.end));
    let start = if shapes.is_mail(&said) { Some(0) } else { shapes.start_of_copy(text, &lines, is_own) };
    found.extend(start.map(|start| start..text.len()));
    found
}

fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = lines.last().map_or(0, |last| last.at.end);
        lines.push(Line { at: start..start + line.len(), text: line.trim_end() });
    }
    lines
}

/// Paragraphs with a line of a log.
fn logs<'l>(lines: &'l [Line<'_>], log: &'l Regex) -> impl Iterator<Item = Range<usize>> + 'l {
    let paragraphs = lines.split(|line| line.text.is_empty() || line.text.trim_start().starts_with("```"));
    paragraphs.filter(|paragraph| paragraph.iter().any(|line| log.is_match(line.text))).filter_map(|paragraph| {
        let (first, last) = (paragraph.first()?, paragraph.last()?);
        Some(first.at.start..last.at.end)
    })
}

impl Shapes {
    fn is_of_somebody(&self, line: &Line<'_>) -> bool {
        let found = self.possession.captures(line.text);
        found.is_some_and(|found| !NOT_OWNERS.contains(&found["who"].to_lowercase().as_str()))
    }

    /// Where something copied begins that goes on to the end of the text: a message, a post, a document.
    fn start_of_copy(&self, text: &str, lines: &[Line<'_>], is_own: impl Fn(&str) -> bool) -> Option<usize> {
        let n_said = text.trim_end().len();
        let is_start = |line: &Line<'_>| {
            let has_rest = line.at.end < n_said;
            let is_deed = || {
                let who = self.deed.captures(line.text);
                who.is_some_and(|found| !found["who"].split_whitespace().any(&is_own))
            };
            let is_head = || self.heads.is_match(line.text) || (line.text.ends_with(':') && self.is_of_somebody(line));
            self.starts.is_match(line.text) || (has_rest && (is_head() || is_deed()))
        };
        let headings: Vec<&Line<'_>> = lines.iter().filter(|line| line.text.starts_with("# ")).collect();
        // A single line `# …` is a note that the person makes; with text below it, a document begins.
        let is_title = text.trim_start().starts_with("# ")
            && lines.iter().skip_while(|line| line.text.is_empty()).nth(1).is_some_and(|line| line.text.is_empty());
        let document = headings.first().filter(|_| headings.len() > 1 || is_title).map(|line| line.at.start);
        let first = lines.iter().find(|line| is_start(line)).map(|line| line.at.start);
        first.into_iter().chain(document).chain(titled(lines, &self.titles)).min()
    }

    /// True for lines that end with a closing formula and a name, or have a signature.
    fn is_mail(&self, said: &[&Line<'_>]) -> bool {
        let is_name =
            |line: &Line<'_>| line.text.split_whitespace().count() <= 4 && line.text.starts_with(char::is_uppercase);
        let is_closed = matches!(said, [.., closing, name] if self.closings.is_match(closing.text) && is_name(name));
        said.len() > 1 && (is_closed || said.iter().any(|line| self.signatures.is_match(line.text)))
    }
}

/// Where a document begins: at a line that is underlined, or at a title with an empty line below it.
fn titled(lines: &[Line<'_>], titles: &Regex) -> Option<usize> {
    let is_underline = |title: &str, line: &str| {
        let mut signs = line.trim().chars();
        let sign = signs.next().unwrap_or_default();
        let n_signs = 1 + signs.clone().count();
        // A line of hyphens also separates.
        let fits = sign == '=' || title.trim().chars().count().abs_diff(n_signs) <= 2;
        "=-~^*+#\"".contains(sign)
            && n_signs >= 3
            && signs.all(|other| other == sign)
            && fits
            && !title.trim().is_empty()
    };
    let pairs = || lines.windows(2).filter_map(|pair| Some((pair.first()?, pair.last()?)));
    let underlined = pairs().find(|(title, line)| is_underline(title.text, line.text)).map(|(title, _)| title.at.start);
    let is_mark = |c: char| c.is_whitespace() || "*_~=".contains(c);
    // The first line of a turn; further down a person writes headings of their own.
    let first = lines.iter().position(|line| !line.text.is_empty());
    let title = first.and_then(|at| Some((lines.get(at)?, lines.get(at + 1)?)));
    let heading = title
        .filter(|(title, below)| {
            below.text.is_empty() && has_text_below(lines, below) && titles.is_match(title.text.trim_matches(is_mark))
        })
        .map(|(title, _)| title.at.start);
    underlined.into_iter().chain(heading).min()
}

/// True when text follows a line.
fn has_text_below(lines: &[Line<'_>], line: &Line<'_>) -> bool {
    lines.iter().rev().find(|other| !other.text.is_empty()).is_some_and(|last| last.at.start > line.at.start)
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

/// What is between a tag and the last place where it is closed, whatever its name; a tag on a line of its own that nothing closes
/// holds the rest. The time is linear in the text.
fn wrapped(text: &str, tag: &Regex, closing: &Regex) -> Vec<Range<usize>> {
    let name = |found: &Captures<'_>| {
        found.iter().skip(1).flatten().next().map_or_else(String::new, |name| name.as_str().to_lowercase())
    };
    let ends: HashMap<String, usize> =
        closing.captures_iter(text).filter_map(|found| Some((name(&found), found.get(0)?.end()))).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    for opening in tag.captures_iter(text) {
        let Some(whole) = opening.get(0) else { continue };
        if found.last().is_some_and(|span| span.contains(&whole.start())) {
            continue;
        }
        let is_blank = |c: char| c.is_whitespace() && c != '\n';
        let before = text.get(..whole.start()).unwrap_or_default().trim_end_matches(is_blank);
        let after = text.get(whole.end()..).unwrap_or_default().trim_start_matches(is_blank);
        let is_line = (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'));
        match ends.get(&name(&opening)) {
            Some(end) if *end > whole.end() => found.push(whole.start()..*end),
            _ if is_line && whole.as_str().starts_with('<') && !whole.as_str().ends_with("/>") => {
                found.push(whole.start()..text.len());
            }
            _ => {}
        }
    }
    found
}
