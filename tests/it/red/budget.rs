//! A token budget holds for texts of every kind, measured by a tokenizer.

use adage::{Playbook, Request, build_lesson};
use tokenizers::Tokenizer;

use super::report;

const TOKENIZER: &[u8] = include_bytes!("../../../models/tokenizer.json");

/// The bundled model's, for texts of any length.
fn tokenizer() -> Tokenizer {
    let mut tokenizer = Tokenizer::from_bytes(TOKENIZER).unwrap();
    tokenizer.with_padding(None).with_truncation(None).unwrap();
    tokenizer
}

/// Tokens that a language model needs at least. `WordPiece` stands for its tokenizer, with three corrections where it takes a text
/// that it does not know for a single unknown word: a character of Chinese, Japanese or Korean and a code point of an emoji is a
/// token each, two characters of a script without spaces are one, and a long run is read in pieces.
fn tokens(tokenizer: &Tokenizer, text: &str) -> usize {
    let n_wide = text.chars().filter(|c| is_wide(*c)).count();
    let n_joined = text.chars().filter(|c| is_unspaced(*c)).count();
    let plain: String = text.chars().map(|c| if is_wide(c) || is_unspaced(c) { ' ' } else { c }).collect();
    let pieces: Vec<String> = plain
        .split_whitespace()
        .flat_map(|word| {
            word.chars().collect::<Vec<_>>().chunks(40).map(|part| part.iter().collect()).collect::<Vec<String>>()
        })
        .collect();
    let n_plain: usize =
        pieces.iter().map(|piece| tokenizer.encode(piece.as_str(), false).unwrap().get_ids().len()).sum();
    n_plain + n_wide + n_joined.div_ceil(2)
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0x1_f000..=0x1_faff | 0x2600..=0x27bf
        | 0x200d | 0xfe0f | 0x2_0000..=0x2_fa1f)
}

/// Thai, Lao, Burmese and Khmer.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff)
}

/// Random-looking text from letters, the same each time.
fn random(letters: &str, n: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..n).map(|_| next()).collect()
}

const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Texts of about the same length in characters, by kind.
fn kinds() -> Vec<(&'static str, String)> {
    let flags: String = ['\u{1f1e9}', '\u{1f1ea}'].iter().cycle().take(120).collect();
    vec![
        ("English", "Read the file in pieces and write each of them before the next one is read. ".repeat(2)),
        ("Chinese", "请先读取配置文件再启动服务，否则连接会失败。".repeat(6)),
        ("rare Chinese", random("龘靐齉爩鱻麤龗灪吁", 130)),
        ("Japanese", "設定ファイルを読み込んでからサービスを起動してください。".repeat(5)),
        ("katakana", "データベースコネクションタイムアウト".repeat(7)),
        ("Korean", "서비스를시작하기전에설정파일을먼저읽으십시오".repeat(6)),
        ("Korean with spaces", "서비스를 시작하기 전에 설정 파일을 먼저 읽으십시오 ".repeat(5)),
        ("Thai", "อ่านไฟล์การตั้งค่าก่อนเริ่มบริการเสมอ".repeat(4)),
        ("Khmer", "សូមអានឯកសារកំណត់រចនាសម្ព័ន្ធ".repeat(5)),
        ("Burmese", "ဝန်ဆောင်မှုမစတင်မီဖိုင်ကိုဖတ်ပါ".repeat(4)),
        ("Russian", "Сначала прочитайте файл настроек, затем запускайте службу. ".repeat(2)),
        ("Arabic", "اقرأ ملف الإعدادات قبل تشغيل الخدمة دائما ".repeat(3)),
        ("Hebrew", "קראו את קובץ ההגדרות לפני הפעלת השירות ".repeat(3)),
        ("Hindi", "सेवा शुरू करने से पहले विन्यास फ़ाइल पढ़ें ".repeat(3)),
        ("emoji", "🚀🔥💥🎉".repeat(30)),
        ("emoji of families", "👨\u{200d}👩\u{200d}👧\u{200d}👦".repeat(18)),
        ("emoji with skin tones", "👩🏽\u{200d}🔧👨🏿\u{200d}💻".repeat(15)),
        ("flags", flags),
        ("emoji with selectors", "❤\u{fe0f}✔\u{fe0f}".repeat(30)),
        ("hex", random(HEX, 130)),
        (
            "hex with blanks",
            random(HEX, 130)
                .chars()
                .collect::<Vec<_>>()
                .chunks(2)
                .map(|two| two.iter().collect::<String>() + " ")
                .collect(),
        ),
        ("UUIDs", "3f2b8c1e-9d47-4a6b-8e15-7c0d9a2f4b63 ".repeat(4)),
        ("base64", random(BASE64, 130)),
        ("digits", random("0123456789", 130)),
        ("digits and dots", "10.0.3.17:8080 ".repeat(9)),
        ("blanks", format!("wait{}go", " ".repeat(120))),
        ("line ends", format!("wait{}go", "\n".repeat(120))),
        ("tabs", format!("wait{}go", "\t".repeat(120))),
        ("punctuation", "!?;:,.-_(){}[]<>/\\|@#$%^&*+=~".repeat(4)),
        ("brackets", "}})])({[[{(".repeat(12)),
        ("one letter", "a ".repeat(65)),
        ("combining marks", "e\u{301}\u{323}\u{308} ".repeat(32)),
        ("mathematical letters", "𝐝𝐞𝐩𝐥𝐨𝐲".repeat(20)),
        ("box drawing", "┌─┬─┐│└┴┘".repeat(14)),
        ("Rust", "fn f<'a>(x:&'a [u8])->Vec<&'a u8>{x.iter().filter(|b|**b!=0).collect()}".repeat(2)),
        ("minified JavaScript", "!function(e,t){var n=e[0];t=n||{};for(var r in t)e[r]=t[r]}(a,b);".repeat(2)),
        ("camel case", "getHTTPRequestHandlerFactoryBeanPostProcessorImpl".repeat(3)),
        ("mixed", "先读 config.yaml 🚀 再 `cargo run --release` ".repeat(4)),
    ]
}

/// A playbook with a dozen lessons of one kind, of different lengths.
fn playbook(kind: &str, text: &str) -> (tempfile::TempDir, Playbook) {
    let folder = tempfile::tempdir().unwrap();
    let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
    let drafts = (1..=12).map(|n| {
        let part: String = text.chars().take(text.chars().count() * n / 12).collect();
        build_lesson(format!("{kind} {n} {part}"), format!("{part} {n}")).mistake(format!("{n} {part}"))
    });
    playbook.learn_lessons(drafts.collect::<Vec<_>>()).unwrap();
    (folder, playbook)
}

#[test]
fn a_context_has_at_most_the_tokens_that_were_asked_for() {
    let tokenizer = tokenizer();
    let (mut succeeded, mut n_attacks) = (Vec::new(), 0);
    for (kind, text) in kinds() {
        let (_folder, playbook) = playbook(kind, &text);
        for max in [60, 150, 400, 1_200] {
            n_attacks += 1;
            let request = Request::cold_start().limit(12).max_tokens(max).peek();
            let context = playbook.get_playbook_context(request).unwrap().text;
            let n_tokens = tokens(&tokenizer, &context);
            if n_tokens > max {
                succeeded.push(format!("{kind}: {n_tokens} tokens where {max} were asked for"));
            }
        }
    }
    report(&succeeded, n_attacks);
}

#[test]
fn the_default_budget_and_the_budget_of_skills_hold_too() {
    use adage::skills::{Skill, render_skills};
    let tokenizer = tokenizer();
    let mut succeeded = Vec::new();
    for (kind, text) in kinds() {
        let (_folder, playbook) = playbook(kind, &text.repeat(4));
        let context = playbook.get_playbook_context(Request::cold_start().limit(12).peek()).unwrap().text;
        let n_tokens = tokens(&tokenizer, &context);
        if n_tokens > 1_200 {
            succeeded.push(format!("{kind}: {n_tokens} tokens where the default is 1,200"));
        }
        let skills: Vec<Skill> = (1..=8)
            .map(|n| Skill { body: text.repeat(n), ..Skill::new(format!("s{n}").parse().unwrap(), "d") })
            .collect();
        let n_tokens = tokens(&tokenizer, &render_skills(&skills, 500).text);
        if n_tokens > 500 {
            succeeded.push(format!("{kind}: skills of {n_tokens} tokens where 500 were asked for"));
        }
    }
    report(&succeeded, 2 * kinds().len());
}

#[test]
fn an_honest_budget_is_used() {
    let tokenizer = tokenizer();
    for (kind, text) in kinds() {
        let (_folder, playbook) = playbook(kind, &text);
        // With a sufficient budget, everything is shown.
        let context = playbook.get_playbook_context(Request::cold_start().limit(12).max_tokens(50_000).peek()).unwrap();
        assert_eq!(context.lessons.len(), 12, "{kind}");
        // Also with a budget of four times what they need.
        let enough = tokens(&tokenizer, &context.text) * 4 + context.text.chars().count();
        let context = playbook.get_playbook_context(Request::cold_start().limit(12).max_tokens(enough).peek()).unwrap();
        assert_eq!(context.lessons.len(), 12, "{kind}");
    }
    let (_folder, playbook) = playbook("English", &kinds()[0].1);
    let context = playbook.get_playbook_context(Request::cold_start().limit(12).max_tokens(1_200).peek()).unwrap();
    assert!(context.lessons.len() >= 8, "{} lessons of English in 1,200 tokens", context.lessons.len());
}
