//! The named cues of a text. A cue is a fact about its words; the weight table holds its weight.

use std::sync::LazyLock;

use regex::Regex;

use crate::heuristics::wording::folded;

/// Each cue and its pattern, for words in lower case: English, and the same words in German, Spanish and Chinese.
///
/// The words of a *standing order* say that it holds from now on: "always" and "never" at the beginning of a clause or after "must"
/// ("please never push"), but not in a description ("it is never called", "you always break it"); "from now on"; and what "we" do, or
/// are to use, in the whole project.
const WORDS: [(&str, &str); 40] = [
    (
        "standing_order",
        concat!(
            r"(?:^\W*|[,;:.!–—-]\s*|\b(?:please|bitte|por favor|and|so|then|but|must|should|shall|have to|need to|are to)\s+)",
            r"(?:always|never(?: ever)?|immer|nie|niemals|siempre|nunca)\s+\w+",
            r"|\b(?:don't|do not|dont) ever\b",
            r"|\b(?:from now on|from here on|going forward|ab jetzt|ab sofort|künftig|in zukunft|a partir de ahora|de ahora en adelante)\b",
            r"|(?:\bwe (?:don't|do not|never|always|only|use|work with)|(?:^|[,;:.!]\s*)(?:please\s+)?(?:use|don't use|do not use))\b.*\b(?:in|for|across)",
            r" (?:this|our|the whole|the entire) (?:repo|repository|project|codebase|workspace|crate|package)\b",
            r"|\bin (?:this|our) (?:repo|repository|project|codebase|workspace|crate|package),? (?:we )?(?:don't|do not|never|always|only|use)\b",
            r"|(?:^|[，。；,;])\s*(?:请)?(?:永远|总是|每次|绝不|从不|以后)|从现在(?:开始|起)|今後は|これからは|앞으로",
        ),
    ),
    (
        "always_never",
        r"\b(always|never|ever again|every time|each time|whenever|immer|niemals|nie|jedes mal|siempre|nunca|jamás)\b|永远|总是|从不|绝不|每次",
    ),
    ("only", r"\bonly\b|\bnur\b|\bsolo\b|\bsólo\b|只能|只用"),
    (
        "must",
        r"\b(must|mustn't|have to|has to|needs? to|required?|muss|müssen|darf|hay que|debe[ns]?)\b|必须|务必|需要",
    ),
    ("should", r"\b(should|shouldn't|ought to|supposed to|sollte[nst]*|soll|debería[ns]?)\b|应该|不该"),
    ("make_sure", r"\b(make sure|makes sure|be sure|ensure|asegúrate|stell sicher|achte darauf)\b|确保|注意"),
    (
        "from_now_on",
        r"\b(from now on|going forward|in (the )?future|in general|as a rule|by default|remember|keep in mind|note that|for next time|don't forget|ab jetzt|ab sofort|künftig|merk dir|denk daran|a partir de ahora|recuerda|de ahora en adelante)\b|记住|从现在|以后|默认",
    ),
    (
        "dont",
        r"\b(don't|do not|dont|stop|avoid|no longer|nicht|kein[enm]?|no (?:uses?|hagas|toques|cambies)|deja de)\b|不要|别|不能|禁止",
    ),
    (
        "dont_opening",
        r"^(?:\W*(?:please|no|and|also|but|ok|okay),?\s+)*(don't|do not|dont|never|stop|avoid)\b|^(不要|别|请勿)",
    ),
    (
        "instead",
        r"\b(instead|rather than|rather|stattdessen|lieber|sondern|anstatt|en vez de|en lugar de)\b|而不是|改用|换成|而是",
    ),
    ("prefer", r"\b(prefer|i like|i love|we like|i'd rather|my preference|ich mag|bevorzuge|prefiero)\b|我喜欢|更喜欢"),
    (
        "dislike",
        r"\b(don't like|don't love|hate|not a fan|dislike|don't want|do not want|no quiero|will (das )?nicht)\b|不想|不喜欢",
    ),
    ("want", r"\b(i want|we want|i'd like|i would like|we need|i need|ich will|ich möchte|quiero)\b|我想|我要"),
    ("no_opening", r"^\W*(no|nope|nah|nein|hm+|uh+|wait|stop|hold on|halt|what\?)\b|^(不|不是|不对|错)"),
    (
        "yes_opening",
        r"^\W*(yes|yep|yup|yeah|y|ok|okay|sure|great|perfect|nice|cool|good|looks good|lgtm|thanks|thank you|go ahead|do it|continue|proceed|ja|gut|danke|sí|vale|gracias)\b|^(好|可以|行|谢谢|是的)",
    ),
    ("actually", r"\b(actually|eigentlich|en realidad|de hecho)\b|其实"),
    (
        "wrong",
        r"\b(wrong|incorrect|not right|isn't right|not correct|mistake|falsch|mal|incorrecto|equivocado)\b|错了|不对|不正确",
    ),
    (
        "not_that",
        r"\b(not what|that's not|that isn't|this isn't|this is not|that is not|it's not|it isn't|no es|das ist nicht|das ist kein)\b|不是这",
    ),
    (
        "blame",
        r"\b(you (didn't|did not|forgot|missed|ignored|broke|misunderstood|should have|shouldn't|changed|removed|added|keep|are missing|still)|du hast|olvidaste|te olvidaste)\b|你忘|你没",
    ),
    (
        "said_before",
        r"\b(i said|i told you|i asked|i meant|as i said|i already|again,|already told|we agreed|we said|we discussed|ich habe gesagt|te dije|ya te)\b|我说过|我已经",
    ),
    (
        "why_did_you",
        r"\b(why (did|are|would|do|is|were|have) (you|we|this|it|there)|what are you doing|warum hast|por qué has)\b|为什么你",
    ),
    (
        "still",
        r"\b(still|same (error|issue|problem|thing)|doesn't work|didn't work|not working|does not work|crash(es|ed)?|fails?|failing|failed|broken|immer noch|todavía|sigue)\b|还是|仍然",
    ),
    ("undo", r"\b(revert|undo|roll ?back|put (it|that|this) back|restore|rückgängig|revierte|deshaz)\b|撤销|还原|回退"),
    ("remove", r"\b(remove|drop|delete|get rid|take (it|that|this) out|entferne|quita|elimina)\b|删除|去掉"),
    (
        "we_fact",
        r"\b(we (use|have|don't|do not|already|only|support|call|are|run|keep|never|always|ship|target|want)|our|wir (nutzen|verwenden|haben)|unser[e]?|usamos|nuestr[oa]s?)\b|我们(用|使用|的)",
    ),
    (
        "is_fact",
        r"\b(is|are) (generated|deprecated|required|supported|used|called|named|handled|located|in the|part of|for|only|not|always|already|meant|intended|expected)\b|\bwird (generiert|erzeugt)\b|生成的",
    ),
    (
        "convention",
        r"\b(convention|style|pattern|standard|policy|guideline|principle|practice|consistent|consistency|rule|idiomatic|naming|format(ted)?|regel|konvention|convención|regla)s?\b|规范|约定|规则",
    ),
    (
        "use_opening",
        r"^\W*(?:(?:please|just|no|and|also|but|then),?\s+)*(use|put|keep|name|call|follow|read|look at|benutze|nutze|verwende|usa)\b|^用|^使用",
    ),
    (
        "task_opening",
        r"^\W*(?:(?:please|now|ok|okay|next|then|so|great|and|also),?\s+)*(let's|lets|add|fix|implement|create|write|update|build|make|refactor|run|commit|review|investigate|research|design|explain|show|check|find|help|plan|propose|change|rename|move|replace)\b",
    ),
    (
        "ask_opening",
        r"^\W*(?:(?:please|now|ok|okay|so|and|but|hm+),?\s+)*(can|could|would|will|what|how|where|which|who|why|is|are|do|does|did|should|was|kannst|wie|was|wo|qué|cómo|dónde)\b|^(怎么|什么|哪)",
    ),
    ("because", r"\b(because|since|so that|otherwise|that way|the reason|weil|sonst|damit|porque|si no)\b|因为|否则"),
    ("conditional", r"\b(when|whenever|if|unless|before|after|until|wenn|bevor|cuando|antes de)\b|如果|之前|当"),
    (
        "in_project",
        r"\b(in|for|of|across) (this|our|the|my) (whole |entire )?(repo|repository|project|codebase|workspace|crate|package|app|docs|tests)\b|\b(everywhere|throughout|im ganzen projekt|in diesem (repo|projekt)|en este (repo|proyecto))\b|这个(项目|仓库)",
    ),
    ("generic", r"\b(any|every|all|each|everything|anywhere|anything|jede[rsn]?|alle|todos|cada)\b|所有|任何"),
    (
        "not_need",
        r"\b(don't need|do not need|no need|doesn't need|not needed|unnecessary|overkill|too (complex|much|complicated|long)|simpler|simplif\w+|nicht nötig|no hace falta)\b|不需要|没必要",
    ),
    ("just", r"\b(just|simply|einfach|simplemente)\b"),
    (
        "remember_opening",
        r"^\W*(?:please\s+)?(remember|note|important|fyi|reminder|keep in mind|merk|recuerda)\b|^(记住|注意)|^#\s*\w",
    ),
    (
        "you_should",
        r"\b(you (should|need to|must|have to|can|can't|are to)|shouldn't (be|have|we)|should (be|not|have))\b|你应该|你要",
    ),
    (
        "different",
        r"\b(different|not the same|the other|another way|better|more like|similar to|same as|match(es)?|anders|diferente)\b|不同",
    ),
    ("i_think", r"\b(i think|i don't think|seems|i guess|feels|ich glaube|creo que)\b|我觉得"),
];

/// What an agent says after a correction.
const AGREES: &str = r"(?i)\b(you're (absolutely |totally |completely )?(right|correct)|you are (absolutely |totally )?(right|correct)|good (catch|point|call|eye)|great (catch|point)|my (mistake|bad|apologies)|i apologi[sz]e|sorry|fair (point|enough)|i was wrong|i (misunderstood|missed|should have|made a mistake|overlooked|forgot)|that's (a )?(fair|right|correct|better)|makes sense|du hast recht|sie haben recht|entschuldig\w*|tienes razón|perdón|lo siento)\b|你说得对|您说得对|抱歉|对不起|你是对的";
const RIGHT: &str = r"(?i)\b(you're (absolutely |totally |completely )?(right|correct)|you are (absolutely |totally )?(right|correct)|du hast recht|tienes razón)\b|你说得对|您说得对";
const ACCEPTS: &str = r"(?i)^\W*(understood|got it|ah|oh|i see|noted|of course|absolutely|right|correct|exactly|good|great|verstanden|entendido|claro)\b|^(明白|好的|了解)";

static CUES: LazyLock<Vec<(&'static str, Regex)>> =
    LazyLock::new(|| WORDS.iter().filter_map(|(name, words)| Some((*name, Regex::new(words).ok()?))).collect());
static REPLIES: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let replies = [("agent_agrees", AGREES), ("agent_says_right", RIGHT), ("agent_accepts", ACCEPTS)];
    replies.into_iter().filter_map(|(name, words)| Some((name, Regex::new(words).ok()?))).collect()
});

/// The cues of a text.
pub(super) fn of_words(text: &str) -> impl Iterator<Item = &'static str> {
    let lower = folded(text);
    CUES.iter().filter(move |(_, words)| words.is_match(&lower)).map(|(name, _)| *name)
}

/// The cues of the agent's reply.
pub(super) fn of_reply(text: &str) -> impl Iterator<Item = &'static str> {
    let text = text.replace('\u{2019}', "'");
    REPLIES.iter().filter(move |(_, words)| words.is_match(&text)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!((CUES.len(), REPLIES.len()), (WORDS.len(), 3));
    }

    #[test]
    fn cues_are_read_in_four_languages() {
        for (text, cue) in [
            ("Never commit the lock file.", "always_never"),
            ("Nie die Sperrdatei einchecken.", "always_never"),
            ("Usa pnpm en vez de npm.", "instead"),
            ("不要修改生成的文件", "dont"),
            ("Don\u{2019}t touch it", "dont_opening"),
            ("our minimum version is 1.70", "we_fact"),
        ] {
            assert!(of_words(text).any(|found| found == cue), "{text}");
        }
        assert!(!of_words("We know another road.").any(|cue| cue == "no_opening" || cue == "dont"));
        assert!(of_reply("You\u{2019}re absolutely right, I will use bun.").any(|cue| cue == "agent_says_right"));
        assert!(of_reply("The tests pass.").next().is_none());
    }
}
