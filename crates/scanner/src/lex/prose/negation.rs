//! Negated instructions: "never ignore the previous instructions" is the opposite of what the rules look for.
//!
//! Only certain cases count as negated. Every word between the negation and the verb must be on a list, and a
//! second negation, a condition, a question or a break in between means that the instruction stays a finding.
//! Word lists are allowlists for this reason.

use plugward_types::Part;

/// The bytes of context before and after a match. It bounds the time per match.
const NEAR: usize = 400;

/// Negations, without apostrophes.
const NOT: &str = "arent cannot cant couldnt decline declined declines didnt doesnt dont forbidden isnt maynt mustnt never nobody \
    nor not nt prohibited refuse refused refuses shant shouldnt unable wont wouldnt";

/// Words that reverse a negation, such as `fail` in "never fail to".
const TURNS: &str = "afraid avoid avoids cease contrary delay else except fail failing fails false falsehood forget forgets \
    hesitate lie mind miss mistake need neglect neither no none nothing omit only opposite otherwise reluctant \
    resist stop stops than time too untrue wait without worry wrong";

/// Words that make a sentence a condition, a reason or a question.
const CONDITIONS: &str =
    "although because how if lest once since though unless until what when whenever where while whoever why";

/// Words allowed between a negation and its verb: who acts, who asks, and with what.
const BETWEEN: &str = "a accept act again agent agents all allow allowed also an and any anybody anyone anything ask asked asking \
    asks assistant assistants at attempt attempting attempts authorized be been being believe by cause claude code \
    coerced command commands comments comply content contents convinced data demand demands directing direction \
    directions document documents email emails encourage encouraged even ever execute expected external file files \
    follow fooled found from get gets heed help honor honour host in input inputs inside instruct instructed \
    instructing instruction instructions instructs into issue it let llm made make makes me message messages model \
    models obey of on one order ordered orders other output outputs page pages people permit permitted persuaded \
    plugin plugins prompt prompts request requests response responses result results script scripts seek site \
    sites skill skills somebody someone something supposed tell telling tells text texts that the them these they \
    this those to tool tools trick tricked tricks tries trust try trying untrusted us user users want wants web \
    website websites which who with you";

/// Verbs allowed next to the matched one, in a list with "or".
const BESIDE: &str = "bypass circumvent decode disable disclose disobey disregard dump edit execute expose forget ignore leak modify \
    neglect override overrule print read remove repeat replace reveal run send share show skip violate weaken";

/// Words in front of the verb that a pattern includes in its match.
const LEADS: &str = "also always can finally first immediately just must next now please quietly secretly shall should silently \
    that then to will you covertly discreetly";

/// The adverbs among them.
const MANNER: &str = "quietly secretly silently covertly discreetly";

/// Words after the instruction that take the negation back.
const BACK: &str =
    "anymore but enough except if instead just merely only partially partly rather unless until when yet";

fn is_in(list: &str, word: &str) -> bool {
    crate::lex::has_word(list, word.as_bytes())
}

/// A word without apostrophes, or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Comma,
    /// Punctuation that ends a sentence, or separates it so that a negation does not apply after it.
    Break,
    /// A quote, a bracket, or punctuation inside an address or path.
    Mark,
    Question,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let mark = match char {
            '\'' | '\u{2019}'
                if !word.is_empty() && chars.peek().is_some_and(|next| next.is_alphabetic()) =>
            {
                continue;
            }
            _ if char.is_alphanumeric() => {
                word.push(char);
                continue;
            }
            ' ' => None,
            ',' => Some(Token::Comma),
            '?' => Some(Token::Question),
            '.' | ':' if chars.peek().is_some_and(|next| *next == '/' || next.is_alphanumeric()) => {
                Some(Token::Mark)
            }
            '.' | ':' | ';' | '!' | '\u{3002}' | '\u{2013}' | '\u{2014}' | '-'
                if word.is_empty() || char != '-' =>
            {
                Some(Token::Break)
            }
            _ => Some(Token::Mark),
        };
        if !word.is_empty() {
            out.push(Token::Word(core::mem::take(&mut word)));
        }
        out.extend(mark);
    }
    if !word.is_empty() {
        out.push(Token::Word(word));
    }
    out
}

/// Returns the text of a range. Characters that it splits become replacement characters.
fn near(text: &[u8], start: usize, end: usize) -> String {
    String::from_utf8_lossy(text.part(start..end)).into_owned()
}

/// Returns `true` if a matched instruction is negated.
///
/// It reads only the sentence of the match, and at most [`NEAR`] bytes on each side.
pub(crate) fn is_negated(text: &[u8], start: usize, end: usize) -> bool {
    let before = near(text, start.saturating_sub(NEAR), start);
    let before = before.rsplit('\n').next().unwrap_or(&before);
    let matched = near(text, start, end);
    let after = near(text, end, (end + NEAR).min(text.len()));
    let after = after.split('\n').next().unwrap_or(&after);
    is_english(before, &matched, after)
}

fn is_english(before: &str, matched: &str, after: &str) -> bool {
    let mut sentence = tokens(before);
    let matched = tokens(matched);
    let leads = |token: &&Token| matches!(token, Token::Word(word) if is_in(LEADS, word));
    let leading = matched.iter().take_while(leads).count();
    let (lead, order) = matched.split_at(leading.min(matched.len()));
    // "never silently upload" negates like "never upload".
    let manner = |token: &&Token| !matches!(token, Token::Word(word) if is_in(MANNER, word));
    sentence.extend(lead.iter().filter(manner).cloned());
    let from = sentence.iter().rposition(|token| matches!(token, Token::Break | Token::Question));
    let sentence = without_asides(sentence.part(from.map_or(0, |at| at + 1)..));
    if is_taken_back(&tokens(after)) {
        return false;
    }
    match order.first() {
        Some(Token::Word(first)) if matches!(first.as_str(), "without" | "instead") => {
            is_bound(&sentence) && !is_turned(order.part(1..))
        }
        Some(Token::Word(first)) if !is_in(NOT, first) => {
            is_one(order) && !is_taken_back(order.tail(1)) && denies(&sentence)
        }
        _ => false,
    }
}

/// Returns `true` if the match is a single instruction without another verb or negation.
fn is_one(order: &[Token]) -> bool {
    order.iter().skip(1).all(|token| match token {
        Token::Word(word) => {
            !is_in(NOT, word) && !matches!(word.as_str(), "but" | "instead" | "rather" | "however" | "yet")
        }
        Token::Mark => true,
        Token::Comma | Token::Break | Token::Question => false,
    })
}

/// Returns `true` if the following text is a question or takes the negation back.
fn is_taken_back(after: &[Token]) -> bool {
    for token in after.iter().take(16) {
        match token {
            Token::Question => return true,
            Token::Break => return false,
            Token::Word(word) if is_in(BACK, word) => return true,
            Token::Word(_) | Token::Comma | Token::Mark => {}
        }
    }
    false
}

fn is_turned(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Word(word) if is_in(TURNS, word) || is_in(NOT, word)))
}

/// Returns `true` if a negation applies to the rest of its clause, as in "never do that without asking".
fn is_bound(sentence: &[Token]) -> bool {
    let clause = sentence.iter().rposition(|token| *token == Token::Comma).map_or(0, |at| at + 1);
    let clause = sentence.part(clause..);
    let Some(at) = clause.iter().position(|token| matches!(token, Token::Word(word) if is_in(NOT, word)))
    else {
        return false;
    };
    let (head, rest) = clause.split_at(at);
    let joins = |token: &Token| matches!(token, Token::Word(word) if matches!(word.as_str(), "and" | "but" | "then" | "just" | "merely"));
    let rest = rest.part(1..);
    !is_turned(head) && !is_turned(rest) && !rest.iter().any(joins) && stands(head)
}

/// Returns `true` if the words before a verb negate it.
fn denies(sentence: &[Token]) -> bool {
    let mut list = false;
    let mut at = sentence.len();
    let mut behind: Vec<&str> = Vec::new();
    while let Some((token, left)) =
        at.checked_sub(1).and_then(|last| sentence.get(last).map(|one| (one, last)))
    {
        at = left;
        match token {
            Token::Word(word) if is_in(NOT, word) => {
                let head = sentence.part(..at);
                // In a list, the negation applies to the first verb.
                let first = behind.iter().rposition(|word| list && is_in(BESIDE, word));
                let lead = behind.part(first.map_or(0, |at| at + 1)..);
                return (first.is_some() || !list) && closes(lead) && !is_turned(head) && stands(head);
            }
            Token::Word(word) if matches!(word.as_str(), "or" | "nor") => list = true,
            Token::Word(word) if is_in(BETWEEN, word) => behind.push(word),
            Token::Word(word) if list && (is_in(BESIDE, word) || is_object(word)) => behind.push(word),
            Token::Comma if list => {}
            _ => return false,
        }
    }
    false
}

/// Returns `true` for a word that a verb of a list may have as its object.
fn is_object(word: &str) -> bool {
    matches!(word, "your" | "my" | "our" | "system" | "rules" | "earlier" | "previous" | "above" | "secrets")
}

/// Removes asides such as ", under any circumstances,".
fn without_asides(sentence: &[Token]) -> Vec<Token> {
    let mut out = Vec::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((first, tail)) = rest.split_first() {
        if let [
            Token::Comma,
            Token::Word(first),
            Token::Word(second),
            Token::Word(third),
            Token::Comma,
            more @ ..,
        ] = rest
            && matches!((first.as_str(), second.as_str()), ("under" | "in", "any" | "no"))
            && matches!(
                third.as_str(),
                "circumstance" | "circumstances" | "condition" | "conditions" | "case" | "way"
            )
        {
            rest = more;
            continue;
        }
        out.push(first.clone());
        rest = tail;
    }
    out
}

/// Returns `true` if the words between a negation and its verb connect them. The word next to the verb is
/// first.
fn closes(behind: &[&str]) -> bool {
    let has = |words: &[&str]| behind.iter().any(|word| words.contains(word));
    let asks = [
        "follow", "obey", "heed", "comply", "accept", "trust", "believe", "honor", "honour", "act", "execute",
    ];
    match behind {
        [] | ["ever" | "even" | "also" | "again", ..] | ["to"] => true,
        ["to", before, ..] => *before != "and",
        ["that" | "which" | "who", noun, ..] => has(&asks) && !matches!(*noun, "the" | "on" | "with" | "to"),
        ["and" | "with" | "on", ..] => false,
        _ => has(&["let", "make", "help"]),
    }
}

/// Returns `true` if the text before a negation is not a condition, a reason or a question.
fn stands(head: &[Token]) -> bool {
    let clause = head.iter().rposition(|token| *token == Token::Comma);
    let own = head.part(clause.map_or(0, |at| at + 1)..);
    // An auxiliary verb before "not" belongs to the negation.
    let own = match own.split_last() {
        Some((Token::Word(last), rest)) if is_helper(last) => rest,
        _ => own,
    };
    let asks = |token: &Token| matches!(token, Token::Word(word) if is_in(CONDITIONS, word));
    let imperative = own.iter().all(|token| {
        matches!(token, Token::Word(word) if matches!(word.as_str(), "please" | "always" | "and" | "so" | "important" | "note"))
    });
    // "Should you not …" and "is it not …" are questions.
    let inverted = matches!(own.first(), Some(Token::Word(first)) if is_helper(first));
    !inverted && !own.iter().any(asks) && (imperative || !head.iter().any(asks))
}

fn is_helper(word: &str) -> bool {
    plugward_types::words![
        "do does did must should shall may can could would will is are be instructed told asked ought sure",
        "careful",
    ]
    .contains(&word)
}
