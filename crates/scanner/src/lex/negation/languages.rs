//! The same in other languages: the negation stands right in front of the verb, or right behind it.

/// Words right in front of a verb: Spanish, Portuguese, Italian, French, German, Russian. The view leaves accents out.
const BEFORE: &[&str] = &[
    "jamais",
    "jamas",
    "keinesfalls",
    "mai",
    "nao",
    "ne",
    "nie",
    "niemals",
    "no",
    "non",
    "nunca",
    "не",
    "никогда",
];

/// Chinese: right in front of the verb.
const CHINESE: &[&str] = &[
    "不要",
    "不得",
    "不能",
    "不可",
    "不可以",
    "不应",
    "不應",
    "不该",
    "不該",
    "不会",
    "不會",
    "别",
    "別",
    "勿",
    "切勿",
    "请勿",
    "請勿",
    "禁止",
    "严禁",
    "嚴禁",
    "绝不",
    "絕不",
    "拒绝",
    "拒絕",
    "不允许",
    "不允許",
];

/// Japanese and Korean: right behind it.
const BEHIND: &[&str] = &[
    "しないで",
    "しないように",
    "しないこと",
    "してはいけ",
    "してはなら",
    "してはだめ",
    "しては駄目",
    "せず",
    "するな",
    "することは禁",
    "することなく",
    "ないで",
    "ないように",
    "ないこと",
    "てはいけ",
    "てはなら",
    "るな",
    "하지마",
    "하지말",
    "하지않고",
    "하지않습니다",
    "하지않는다",
    "해서는안",
    "하면안",
    "할수없",
    "지마",
    "지말",
    "어서는안",
    "으면안",
];

/// What makes of the same an order after all: "must not be left undone".
const AFTER_ALL: &[&str] =
    &["しないといけ", "しなければ", "しないわけ", "ないことは", "ないわけ", "않으면", "않을수"];

/// Ends of matches whose verb says not to follow: behind these a second negation is none of this kind.
const OWN: &[&str] = &["従わ", "従うな", "守らな", "따르지", "지키지"];

fn last_word(before: &str) -> (&str, &str) {
    let before = before.trim_end_matches(' ');
    let at = before.char_indices().rev().find(|(_, char)| !char.is_alphabetic());
    let at = at.map_or(0, |(at, char)| at.saturating_add(char.len_utf8()));
    (before.get(..at).unwrap_or_default(), before.get(at..).unwrap_or_default())
}

pub(super) fn is_negated(before: &str, matched: &str, after: &str) -> bool {
    let asks = after.split(['.', '!', '。']).next().is_some_and(|rest| rest.contains(['?', '？']));
    !asks && (in_front(before, matched) || chinese(before, matched) || behind(matched, after))
}

fn in_front(before: &str, matched: &str) -> bool {
    // French joins it: "n'ignorez".
    let own = before.strip_suffix("n'").or_else(|| before.strip_suffix("n\u{2019}"));
    if let Some(head) = own {
        return !last_word(head).1.contains("si");
    }
    let (head, word) = last_word(before);
    let first = matched.split(' ').next().unwrap_or_default();
    // Its letters are look-alikes.
    let russian = matches!(word, "he" | "нe" | "hе" | "\u{29C}e") && !first.is_ascii();
    let word = if russian { "не" } else { word };
    if matches!(first, "no" | "nao" | "ne" | "non" | "не") || !BEFORE.contains(&word) {
        return false;
    }
    let (_, front) = last_word(head);
    let conditional =
        matches!(front, "si" | "se" | "wenn" | "если" | "por" | "perche" | "pourquoi" | "warum");
    // "Nunca no" and its like.
    (!BEFORE.contains(&front) || (word == "не" && front == "никогда") || (word == "jamais" && front == "ne"))
        && !conditional
}

fn chinese(before: &str, matched: &str) -> bool {
    let verb = matched.chars().next().is_some_and(|first| matches!(first, '\u{4E00}'..='\u{9FFF}'));
    let before = before.trim_end_matches(' ');
    let ending = CHINESE.iter().filter(|word| before.ends_with(**word)).max_by_key(|word| word.len());
    let Some(head) = ending.and_then(|word| before.strip_suffix(word)) else { return false };
    // A second one in front turns it round.
    let turned = ["不", "没", "沒", "别", "別", "如果你", "为什么", "為什麼"];
    verb && !turned.iter().any(|word| head.ends_with(word))
}

fn behind(matched: &str, after: &str) -> bool {
    let starts = |list: &[&str]| list.iter().any(|word| after.starts_with(word));
    if OWN.iter().any(|own| matched.ends_with(own)) || starts(AFTER_ALL) {
        return false;
    }
    if starts(BEHIND) {
        return true;
    }
    // German: at the end of the clause.
    let german = ["ignorier", "vergiss", "vergesst", "missacht", "umgeh", "uberschreib", "verw"];
    let first = matched.trim_start();
    let rest = after.trim_start();
    german.iter().any(|verb| first.starts_with(verb))
        && ["nicht", "niemals", "keinesfalls"].iter().any(|word| {
            rest.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '!', ',']))
        })
}
