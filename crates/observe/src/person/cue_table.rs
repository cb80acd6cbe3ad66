//! The words by which a person's sentence is weighed: one row per language, one list per kind of cue.
//!
//! The lists hold closed-class words (adverbs of norm, negation, pronouns, conjunctions) and the few verbs
//! that carry a wish ("prefer", "use", "remember"); none of them decides alone, `weights.rs` adds them up.
//! A phrase is written as `cues.rs` splits sentences: lower case, plain apostrophes, words and punctuation
//! separated by blanks. `^` in front binds a phrase to the beginning of the sentence. The longest phrase at a
//! position wins, so that a longer phrase of kind [`CueKind::Plain`] takes a meaning away from a shorter one:
//! "we have" describes, "we" before another verb states a habit.

/// The role of a phrase in a sentence of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CueKind {
    /// Asks to keep what follows: "remember that".
    Remember,
    /// Asks to keep what follows, as a question: "can you remember that".
    RememberAsked,
    /// Holds beyond the moment: "always", "from now on".
    Lasting,
    /// Says what has to be: "must", "should", "make sure".
    Norm,
    /// "prefer", "I'd rather".
    Prefer,
    /// A verb of choice: "use", "stick to".
    Choose,
    /// Forbids at the beginning: "don't", "avoid".
    Prohibit,
    /// "we" before a verb.
    We,
    Negation,
    /// Sets one thing against another: "instead of", ", not".
    Contrast,
    /// Widens to the whole project: "in this repo", "everywhere".
    Reach,
    /// Names a recurring occasion: "before committing".
    Occasion,
    Please,
    /// Rejects what the agent did or said: "no,", "that's wrong".
    Objection,
    /// States how it is instead: "it's", "is actually".
    Assertion,
    Reason,
    /// A word that opens a question.
    Question,
    /// A plan or a task of this conversation: "let's", "I want you to".
    Task,
    /// Points into this conversation or moment: "this PR", "for now", "again".
    Deictic,
    Hedge,
    /// Past tense: a report.
    Past,
    Praise,
    /// A pronoun that may lack its subject: "it", "them".
    Pronoun,
    /// Word before a specific thing: "the", "a", "my".
    Determiner,
    /// Begins a subordinate clause, whose "we" is no rule: "because", "if".
    Subordinator,
    /// Cut off at the beginning of a sentence: "ok but", "hmm,".
    LeadIn,
    /// Without meaning here; tells languages apart and shields longer phrases.
    Plain,
}

/// The cues of one language.
pub(super) struct LanguageCues {
    /// ISO 639-1 code.
    pub(super) language: &'static str,
    /// The language writes without blanks, so that phrases are searched in the text itself.
    pub(super) is_unspaced: bool,
    /// Words before an adverb of norm in an instruction: 0 in "Always use", 1 in "Usa siempre".
    pub(super) words_before_adverb: usize,
    /// Endings of the last word by which a sentence without an opening verb is an instruction.
    pub(super) directive_endings: &'static [&'static str],
    pub(super) cues: &'static [(CueKind, &'static [&'static str])],
}

use CueKind::{
    Assertion, Choose, Contrast, Deictic, Determiner, Hedge, Lasting, LeadIn, Negation, Norm,
    Objection, Occasion, Past, Plain, Please, Praise, Prefer, Prohibit, Pronoun, Question, Reach,
    Reason, Remember, RememberAsked, Subordinator, Task, We,
};

#[rustfmt::skip]
const ENGLISH: LanguageCues = LanguageCues {
    language: "en", is_unspaced: false, words_before_adverb: 0, directive_endings: &[],
    cues: &[
        (Remember, &["^remember", "^please remember", "^remember that", "^remember :", "^remember ,", "^remember this :", "^remember this", "^always remember", "^note for the future", "^note for future sessions", "^note for next time", "^note to self",
            "^for the record", "^for future reference", "^for next time", "^make a note", "^make a note that", "^take note", "^take note that",
            "^memorize", "^memorise", "^memorize that", "^save to memory", "^add to memory", "^add to your memory", "^store in memory", "^commit to memory", "^don't forget that", "^never forget that", "^please note for the future", "^i want you to remember", "^i want you to remember that", "^you should remember that"]),
        (RememberAsked, &["^can you remember that", "^can you remember", "^could you remember that", "^could you remember", "^can you please remember", "^could you please remember", "^please can you remember"]),
        (Lasting, &["always", "never", "ever", "from now on", "from here on", "going forward", "in future", "in the future", "every time", "each time", "whenever", "as a rule", "at all times", "under no circumstances", "no matter what", "in general", "generally",
            "without exception", "don't ever", "do not ever", "any time", "at any time", "once and for all", "by convention", "our convention", "the convention", "the convention here", "our rule", "the rule is", "the rule here", "as a general rule", "for all future", "in all future", "in new code"]),
        (Norm, &["keep in mind", "keep in mind that", "bear in mind", "bear in mind that", "must", "must not", "mustn't", "should", "should not", "shouldn't", "have to", "has to", "make sure", "be sure", "ensure", "ought to", "is required", "are required", "is mandatory", "not allowed", "is forbidden", "supposed to", "only ever",
            "remember to", "don't forget to", "we should", "we must", "we shouldn't", "you must", "you should", "not supported", "on purpose", "is intentional", "are intentional"]),
        (Prefer, &["prefer", "i'd prefer", "i would prefer", "i prefer", "we prefer", "we'd prefer", "i'd rather", "i would rather", "i like", "i don't like", "i do not like", "i hate", "my preference is", "our preference is", "preferably", "i'd always", "favour", "favor"]),
        (Choose, &["use", "be using", "stick to", "stick with", "go with", "rely on", "follow", "keep", "write"]),
        (Prohibit, &["^don't", "^do not", "^dont", "^avoid", "^stop", "^no more", "^no need to", "^please don't", "^please do not", "^please avoid", "^please stop", "^refrain from", "^you don't", "^don't use", "^do not use", "^stop using", "^please don't use", "^avoid using"]),
        (We, &["we", "we don't", "we do not", "we never", "we always", "our team", "the team", "this project", "this repo", "this codebase", "this repository", "our project", "our codebase", "our repo"]),
        (Negation, &["not", "don't", "do not", "no", "isn't", "aren't", "doesn't", "does not", "cannot", "can't", "won't", "without", "we don't", "we do not", "is not", "are not", "nothing", "none"]),
        (Lasting, &["we never", "we always"]),
        (Contrast, &["instead of", "rather than", ", not", ", never", ", and not", "as opposed to", "in place of", "but not", "over", "not the", "only", "instead"]),
        (Reach, &["here", "in this repo", "in this repository", "in this project", "in this codebase", "in our repo", "in our project", "in our codebase", "in our code", "on this project", "for this project", "for this repo", "everywhere", "wherever", "anywhere", "across the codebase",
            "project-wide", "in all", "for all", "for every", "in every", "all our", "all of our", "all the", "any", "around here", "in production", "in tests", "on ci", "in ci"]),
        (Occasion, &["before committing", "before you commit", "before a commit", "before each commit", "before every commit", "before pushing", "before you push", "before each", "before every", "after each", "after every", "after editing", "when committing", "when writing", "when you write", "when adding",
            "when you add", "when editing", "when you edit", "when you change", "when changing", "before opening", "before you open", "before finishing", "before you finish", "before merging", "when testing", "when you test", "when naming", "in commit messages", "for commits", "for tests"]),
        (Please, &["please", "pls", "plz", "kindly"]),
        (Objection, &["^no ,", "^nope", "^nah", "^actually", "^actually ,", "^wrong", "^that's wrong", "^that is wrong", "^this is wrong", "^that's not", "^that is not", "^thats not", "^thats wrong", "^not quite", "^not true", "is not correct", "isn't correct", "is incorrect", "is not right", "isn't right",
            "isn't true", "is not true", "^i said", "^i meant", "^instead", "^hmm no", "^wait ,", "^wait no", "^you misunderstood", "^correction", "^correction :", "^that's incorrect", "^to be clear", "^to clarify", "^i told you", "^as i said", "^stop", "^undo", "^revert"]),
        (Assertion, &["it's", "it is", "is actually", "are actually", "it should", "should be", "there is", "there are", "the correct", "the right", "is at", "is in", "is at the", "lives in", "returns", "means", "are", "is", "needs", "need"]),
        (Reason, &["because", "since", "so that", "otherwise", "the reason is", "that's why", "due to"]),
        (Question, &["^can you", "^can we", "^could you", "^could we", "^can i", "^would it", "^would you", "^what", "^what's", "^why", "^how", "^where", "^when do", "^when does", "^when is", "^which", "^who", "^is it", "^is there", "^is this", "^is that", "^are there", "^are we", "^are you", "^do we", "^do you", "^does", "^did", "^should we", "^should i", "^shall we",
            "^have you", "^has", "^any idea", "^isn't", "^aren't", "^don't we", "^do i", "^will", "^was", "^were", "^remember when", "^remember how", "^remember what", "^wonder", "^wondering", "^i wonder", "^i'm wondering", "^curious", "^question :", "^is", "^are", "^do", "^can", "^could"]),
        (Task, &["let's", "lets", "let us", "i want you to", "i need you to", "i'd like you to", "i want to", "i'd like to", "i would like", "i'd like", "we need to", "we want to", "go ahead", "^now", "^next", "^then", "^first", "^finally", "^start", "^continue", "^fix", "^add", "^implement", "^create", "^update", "^remove", "^rename", "^move",
            "^refactor", "^change", "^show", "^explain", "^check", "^look", "^investigate", "^review", "^commit", "^push", "^merge", "^rebase", "^give", "^tell", "^list", "^find", "^try", "^make it", "^delete", "^replace", "^extract", "^generate", "^help", "^revert", "^undo", "^debug", "^test", "^build", "^open", "^read", "^proceed", "^i will", "^i'll",
            "^i've", "^i have", "^i am", "^i'm", "^i just", "^there's", "^summarize", "^simplify", "we could", "you could", "^set", "^implementing", "^working on"]),
        (Deictic, &["now", "for now", "right now", "this time", "this one", "this pr", "this branch", "this function", "this file", "this test", "this change", "this commit", "this line", "this case", "this method", "this class", "this component", "this page", "this task", "this issue", "this bug", "this session", "this feature", "this step", "the pr",
            "line", "lines", "above", "below", "the last", "the first", "the second", "the third", "the other", "the new", "the old", "the existing", "the current", "today", "tomorrow", "yesterday", "again", "just", "option", "approach", "next", "then", "yet", "already", "currently", "these changes", "those changes", "the changes", "the diff", "the plan", "the branch",
            "your change", "your changes", "your plan", "screenshot", "attached", "once we", "after that", "until", "for the moment", "at the moment", "too", "as well", "also", "another", "same", "the same", "temporarily", "in addition", "the above", "as follows", "still", "anymore", "in the pr", "the comment", "comments"]),
        (Hedge, &["maybe", "currently", "at the moment", "for now", "right now", "i think", "i guess", "perhaps", "probably", "might", "not sure", "seems", "seem", "i feel", "i believe", "i assume", "i suppose", "could be", "would be", "looks like", "it looks", "unless", "if possible", "ideally", "feel free", "i mean", "kind of", "somehow", "if you want", "if you think", "if needed", "if necessary"]),
        (Past, &["did", "didn't", "did not", "was", "wasn't", "were", "had", "used to", "got", "went", "failed", "fails", "worked", "works", "broke", "changed", "added", "removed", "happened", "happens", "i saw", "i see", "i ran", "i tried", "noticed", "realized", "showed", "shows", "missed", "forgot", "keeps", "returned", "we had", "we did", "we were"]),
        (Praise, &["thanks", "thank you", "great", "perfect", "nice", "awesome", "looks good", "lgtm", "good job", "well done", "cool", "excellent", "love it", "amazing", "good work", "very good", "sounds good"]),
        (Pronoun, &["it", "them", "they", "this", "that", "these", "those", "it's", "that's", "its", "one", "ones", "he", "she"]),
        (Determiner, &["this", "that", "these", "those", "the", "a", "an", "my", "your", "their", "its", "both", "each", "some", "one", "two", "three", "if", "when", "for", "only", "option"]),
        (Subordinator, &["ensure", "sure", "because", "if", "when", "where", "that", "since", "why", "so", "as", "how", "what", "which", "once", "until", "should", "can", "could", "do", "did", "would", "whether", "while", "after", "before", "until", "than", "then", "will", "the way", "places", "everything", "all", "did", "case"]),
        (LeadIn, &["^ok", "^okay", "^but", "^and", "^so", "^also", "^hmm", "^hm", "^btw", "^by the way", "^well", "^oh", "^yes", "^yeah", "^yep", "^sure", "^no", "^nope", "^nah", "^actually", "^sorry", "^wait", "^fyi", "^one more thing", "^small thing", "^quick note", "^ah", "^right", "^great", "^cool", "^thanks", "^thank you", "^nice", "^good", "^perfect",
            "^hey", "^hi", "^hello", "^oh and", "^and also", "^please note", "^note", "^note that", "^ah ok", "^um", "^uh", "^err", "^nit", "^general note", "^in short", "^listen", "^look", "^again", "^like", "^i said", "^as i said", "^hmm no", "^to be clear", "^reminder", "^a reminder", "^just a reminder", "^that's wrong", "^that is wrong", "^correction"]),
        (Plain, &["we have", "we need", "we are", "we're", "we can", "we can't", "we cannot", "we could", "we want", "we would", "we'd", "we'll", "we will", "we might", "we may", "we get", "we see", "we know", "we just", "we don't have", "we do have", "we don't need", "we don't know", "we don't want", "we don't see", "we do not have", "we do not need", "we still", "we already",
            "we also", "we currently", "we now", "we got", "we made", "we added", "we removed", "we changed", "we fixed", "we've", "we only", "we discussed", "we talked", "we agreed", "we look", "we end", "we think", "we go", "we say", "we try", "we pass", "we call", "we show", "we default", "we commit", "we store", "we load", "we read", "we then", "we start", "we create", "we ask", "we do", "we don't care", "we actually", "we even", "we basically", "we seem", "we track", "we merge", "we block",
            "we really", "we don't really", "we saw", "we found", "we moved", "we run into", "we ran", "the", "of", "to", "and", "in", "for", "with", "on", "or", "be", "by", "from", "at", "have", "you", "i", "not only", "if not", "or not", "why not", "whether or not", "over there", "over time", "left over", "run over", "go over", "all over", "over the", "take over", "over to", "on the right", "the right side",
            "as well as", "that's fine", "that's ok", "no worries", "no problem", "no changes", "no rush", "if ever", "ever since", "have you ever", "worst ever", "best ever", "keep going", "keep working", "use case", "use cases", "any idea", "any ideas", "only the", "the only", "only one", "not only", "use it", "use this", "use that", "use them", "never mind", "write down", "we have to"]),
    ],
};

#[rustfmt::skip]
const GERMAN: LanguageCues = LanguageCues {
    language: "de", is_unspaced: false, words_before_adverb: 2, directive_endings: &["en", "ern", "eln"],
    cues: &[
        (Remember, &["^merk dir", "^merke dir", "^merk dir bitte", "^bitte merk dir", "^bitte merke dir", "^merk dir ,", "^merk dir :", "^merk dir , dass", "^merke dir , dass", "^merk dir bitte , dass", "^bitte merken :", "^merken :", "^denk daran", "^denk daran , dass", "^denk dran", "^denk dran , dass", "^notiere dir", "^notier dir", "^notiz :", "^für die zukunft :", "^behalte im kopf", "^vergiss nicht , dass", "^nicht vergessen :", "^erinnere dich daran , dass"]),
        (Lasting, &["immer", "nie", "niemals", "ab jetzt", "ab sofort", "von jetzt an", "von nun an", "künftig", "in zukunft", "zukünftig", "jedes mal", "grundsätzlich", "generell", "stets", "auf keinen fall", "unter keinen umständen", "jemals", "in der regel"]),
        (Norm, &["muss", "müssen", "soll", "sollen", "sollte", "sollten", "darf", "dürfen", "stell sicher", "stelle sicher", "achte darauf", "achte auf", "verboten", "erforderlich"]),
        (Prefer, &["ich bevorzuge", "wir bevorzugen", "bevorzuge", "lieber", "ich mag", "ich möchte lieber", "bevorzugt"]),
        (Choose, &["benutze", "benutz", "verwende", "nutze", "nutz", "nimm", "halte dich an", "benutzen", "verwenden", "nutzen", "schreib", "schreibe"]),
        (Prohibit, &["^kein", "^keine", "^keinen", "^bitte kein", "^bitte keine", "^bitte nicht", "^nicht", "^vermeide", "^bitte vermeide", "^hör auf"]),
        (We, &["wir", "bei uns", "unser team", "man"]),
        (Negation, &["nicht", "kein", "keine", "keinen", "ohne"]),
        (Contrast, &[", nicht", "statt", "anstatt", "anstelle", "sondern", "und nicht", ", kein", ", keine", "nur"]),
        (Reach, &["hier", "in diesem projekt", "in diesem repo", "im projekt", "im repo", "überall", "bei uns", "in unserem"]),
        (Occasion, &["vor jedem commit", "vor dem commit", "vor dem committen", "vor dem pushen", "nach jeder", "nach jedem", "vor jedem", "vor jeder", "bevor du"]),
        (Please, &["bitte"]),
        (Objection, &["^nein ,", "^nein", "^falsch", "^das ist falsch", "^das stimmt nicht", "^stimmt nicht", "^eigentlich", "^nee", "^ne ,", "^doch", "^ich meinte", "^ich habe gesagt", "ist falsch", "ist nicht richtig"]),
        (Assertion, &["es ist", "ist", "sind", "liegt", "heißt", "braucht"]),
        (Reason, &["weil", "denn", "damit", "sonst", "da"]),
        (Question, &["^kannst du", "^könntest du", "^können wir", "^was", "^warum", "^wieso", "^wie", "^wo", "^wann", "^welche", "^welcher", "^wer", "^ist das", "^gibt es", "^hast du", "^sollen wir", "^sollte", "^soll ich", "^ist", "^sind", "^kann"]),
        (Task, &["lass uns", "ich will", "ich möchte", "mach", "^jetzt", "^füge", "^erstelle", "^implementiere", "^ändere", "^entferne", "^schau", "^zeig", "^erkläre", "^prüfe", "^teste", "^behebe", "^korrigiere", "^repariere", "^starte", "^führe"]),
        (Deictic, &["jetzt", "diesmal", "heute", "gerade", "dieser", "diese", "dieses", "diesen", "diesem", "oben", "unten", "zeile", "nochmal", "noch", "erstmal", "zuerst", "vorerst", "auch", "wieder", "morgen", "schon"]),
        (Hedge, &["vielleicht", "ich glaube", "ich denke", "wahrscheinlich", "eventuell", "könnte", "scheint", "vermutlich"]),
        (Past, &["war", "waren", "hat", "haben", "hatte", "wurde", "wurden", "ging", "schlägt fehl", "fehlgeschlagen"]),
        (Praise, &["danke", "super", "toll", "perfekt", "gut gemacht", "klasse", "prima"]),
        (Pronoun, &["es", "das", "dies", "sie", "ihn"]),
        (Determiner, &["der", "die", "das", "den", "dem", "ein", "eine", "einen", "einem", "mein", "dein", "deine"]),
        (Subordinator, &["dass", "wenn", "weil", "ob", "warum", "falls", "sobald", "nachdem", "können", "sollen", "könnten", "sollten", "müssen", "haben"]),
        (LeadIn, &["^ok", "^okay", "^aber", "^und", "^also", "^ach", "^nein", "^ja", "^übrigens", "^hm", "^hmm", "^nee", "^moment", "^stopp", "^sorry", "^danke", "^super", "^gut", "^noch was", "^achtung", "^eigentlich", "^naja", "^ach ja"]),
        (Plain, &["wir haben", "wir hatten", "wir sind", "wir brauchen", "wir müssen", "wir sollten", "wir können", "wir könnten", "wir wollen", "wir werden", "kann man", "sieht man", "und", "mit", "auf", "für", "von", "zu", "im", "in", "am", "an", "auf main", "direkt", "vor", "ich", "du", "nicht nur", "nicht mehr", "bitte prüfe", "bitte füge", "bitte ändere", "bitte schau", "noch nie", "immer noch", "die ganze", "immer wieder"]),
    ],
};

#[rustfmt::skip]
const FRENCH: LanguageCues = LanguageCues {
    language: "fr", is_unspaced: false, words_before_adverb: 2, directive_endings: &[],
    cues: &[
        (Remember, &["^souviens-toi", "^souviens-toi que", "^rappelle-toi", "^rappelle-toi que", "^retiens", "^retiens que", "^retiens bien", "^retiens :", "^retenez que", "^souvenez-vous que", "^n'oublie pas que", "^n'oubliez pas que", "^note pour plus tard", "^note bien", "^note que", "^notez que", "^mémorise", "^mémorise que", "^à retenir :", "^garde en tête que", "^à noter :"]),
        (Lasting, &["toujours", "jamais", "désormais", "dorénavant", "à partir de maintenant", "à l'avenir", "chaque fois", "systématiquement", "en général", "en aucun cas", "à chaque fois"]),
        (Norm, &["doit", "doivent", "dois", "devez", "devrait", "il faut", "il ne faut pas", "assure-toi", "veille à", "obligatoire", "interdit"]),
        (Prefer, &["je préfère", "préfère", "on préfère", "nous préférons", "je préférerais", "plutôt"]),
        (Choose, &["utilise", "utilisez", "utiliser", "emploie", "prends", "garde"]),
        (Prohibit, &["^ne", "^n'utilise", "^n'utilisez", "^évite", "^évitez", "^pas de", "^arrête", "^arrêtez"]),
        (We, &["nous", "on", "on n'utilise", "on ne", "notre équipe", "on utilise", "nous utilisons"]),
        (Negation, &["pas", "ne", "n'", "on n'utilise", "on ne", "sans", "aucun"]),
        (Choose, &["on utilise", "nous utilisons", "on n'utilise"]),
        (Contrast, &[", pas", "au lieu de", "plutôt que", "et pas", "et non", ", et pas", ", non", "seulement"]),
        (Reach, &["ici", "dans ce projet", "dans ce dépôt", "dans ce repo", "partout", "chez nous", "sur ce projet", "dans notre"]),
        (Occasion, &["avant de committer", "avant chaque commit", "avant de commiter", "avant de pousser", "avant chaque", "après chaque", "avant de commit", "avant de push"]),
        (Please, &["s'il te plaît", "s'il vous plaît", "stp", "svp", "merci de"]),
        (Objection, &["^non ,", "^non", "^faux", "^c'est faux", "^ce n'est pas", "^en fait", "^en fait ,", "^en réalité", "n'est pas correct", "est incorrect", "^je voulais dire", "^j'ai dit"]),
        (Assertion, &["c'est", "est", "sont", "il y a"]),
        (Reason, &["parce que", "car", "puisque", "sinon", "afin que"]),
        (Question, &["^peux-tu", "^pouvez-vous", "^peut-on", "^pourrais-tu", "^pourquoi", "^comment", "^où", "^quand", "^quel", "^quelle", "^est-ce que", "^est-ce", "^qu'est-ce", "^que fait", "^tu peux", "^c'est quoi", "^qui"]),
        (Task, &["je veux", "je voudrais", "^maintenant", "^ajoute", "^corrige", "^crée", "^implémente", "^modifie", "^supprime", "^regarde", "^montre", "^explique", "^vérifie", "^lance", "^fais", "^renomme", "^on va"]),
        (Deictic, &["maintenant", "cette fois", "aujourd'hui", "pour l'instant", "pour le moment", "cette", "ce fichier", "ligne", "ci-dessus", "encore", "d'abord", "aussi", "déjà", "ensuite", "demain"]),
        (Hedge, &["peut-être", "je pense", "je crois", "probablement", "il semble", "on dirait"]),
        (Past, &["était", "étaient", "avait", "avons", "a été", "échoue", "échouent", "marche", "fonctionne"]),
        (Praise, &["merci", "parfait", "super", "génial", "bravo", "excellent"]),
        (Pronoun, &["ça", "cela", "ceci", "il", "elle"]),
        (Determiner, &["le", "la", "les", "un", "une", "mon", "ma", "ton", "ta", "ce", "cet"]),
        (Subordinator, &["que", "si", "quand", "lorsque", "parce que", "pourquoi", "qu'", "où", "comment", "dont"]),
        (LeadIn, &["^ok", "^mais", "^et", "^donc", "^alors", "^non", "^oui", "^bon", "^ah", "^euh", "^au fait", "^en fait", "^attention", "^attends", "^d'accord", "^merci", "^parfait", "^désolé", "^sinon"]),
        (Plain, &["on a", "on doit", "on peut", "on va", "nous avons", "nous devons", "on devrait", "on veut", "de", "du", "des", "et", "dans", "pour", "avec", "sur", "à", "au", "en", "je", "tu", "ne marche", "ne fonctionne", "pas encore", "pas de problème", "n'est pas", "toujours pas"]),
    ],
};

#[rustfmt::skip]
const SPANISH: LanguageCues = LanguageCues {
    language: "es", is_unspaced: false, words_before_adverb: 1, directive_endings: &[],
    cues: &[
        (Remember, &["^recuerda", "^recuerda que", "^recuerda :", "^recuerde que", "^recordad que", "^acuérdate", "^acuérdate de que", "^acuérdate que", "^ten en cuenta que", "^tenga en cuenta que", "^no olvides que", "^no te olvides de que", "^nota para el futuro", "^anota", "^anota que", "^memoriza", "^memoriza que", "^apunta que", "^por favor recuerda que", "^para el futuro :"]),
        (Lasting, &["siempre", "nunca", "jamás", "de ahora en adelante", "a partir de ahora", "en el futuro", "en adelante", "cada vez", "en general", "por norma", "bajo ningún concepto"]),
        (Norm, &["debe", "deben", "debes", "deberías", "debería", "hay que", "tiene que", "tienes que", "asegúrate", "obligatorio", "prohibido", "no se debe", "no hay que"]),
        (Prefer, &["prefiero", "preferimos", "preferiría", "prefiere"]),
        (Choose, &["usa", "use", "usad", "utiliza", "utilice", "emplea", "usamos", "utilizamos", "no uses", "no usen", "no utilices"]),
        (Prohibit, &["^no uses", "^no usen", "^no utilices", "^no hagas", "^evita", "^evite", "^deja de", "^nada de", "^no", "^por favor no"]),
        (We, &["usamos", "utilizamos", "no usamos", "no utilizamos", "nosotros", "no hacemos", "nuestro equipo", "nunca usamos", "siempre usamos", "trabajamos con", "escribimos", "preferimos"]),
        (Negation, &["no", "sin", "no usamos", "no utilizamos", "no hacemos"]),
        (Lasting, &["nunca usamos", "siempre usamos"]),
        (Contrast, &[", no", "en vez de", "en lugar de", "y no", "sino", ", nunca", "solo", "sólo"]),
        (Reach, &["aquí", "en este proyecto", "en este repo", "en este repositorio", "en todas partes", "en todo el", "en nuestro"]),
        (Occasion, &["antes de hacer commit", "antes de commitear", "antes de cada commit", "antes de cada", "después de cada", "antes de hacer push", "antes del commit", "antes de subir"]),
        (Please, &["por favor", "porfa"]),
        (Objection, &["^no ,", "^incorrecto", "^eso está mal", "^está mal", "^en realidad", "^en realidad ,", "^eso no es", "^no es cierto", "^quise decir", "^dije", "^mal ,"]),
        (Assertion, &["es", "está", "son", "están", "hay"]),
        (Reason, &["porque", "ya que", "para que", "si no"]),
        (Question, &["^puedes", "^podrías", "^podemos", "^qué", "^por qué", "^cómo", "^dónde", "^cuándo", "^cuál", "^hay", "^es", "^deberíamos", "^quién"]),
        (Task, &["quiero", "quisiera", "necesito", "vamos a", "^ahora", "^añade", "^agrega", "^arregla", "^crea", "^implementa", "^cambia", "^elimina", "^borra", "^mira", "^muestra", "^explica", "^revisa", "^ejecuta", "^corrige", "^haz", "^renombra"]),
        (Deictic, &["ahora", "esta vez", "hoy", "por ahora", "de momento", "línea", "arriba", "abajo", "otra vez", "primero", "todavía", "también", "luego", "ya", "este archivo", "esta función", "mañana"]),
        (Hedge, &["quizás", "quizá", "tal vez", "creo", "pienso", "parece", "probablemente", "podría"]),
        (Past, &["era", "estaba", "fue", "había", "falló", "falla", "fallan", "funciona", "funcionó"]),
        (Praise, &["gracias", "perfecto", "genial", "excelente", "muy bien", "bien hecho"]),
        (Pronoun, &["esto", "eso", "aquello", "lo", "ellos"]),
        (Determiner, &["el", "la", "los", "las", "un", "una", "mi", "tu", "este", "esta", "ese", "esa"]),
        (Subordinator, &["que", "si", "cuando", "porque", "donde", "como", "aunque"]),
        (LeadIn, &["^ok", "^vale", "^pero", "^y", "^entonces", "^no ,", "^sí", "^bueno", "^ah", "^por cierto", "^en realidad", "^espera", "^perdón", "^gracias", "^perfecto", "^oye", "^además"]),
        (Plain, &["de", "del", "en", "con", "por", "para", "al", "se", "nunca más", "todavía no", "no sé", "no entiendo", "no funciona", "no solo", "no es", "no hay", "y", "o"]),
    ],
};

#[rustfmt::skip]
const PORTUGUESE: LanguageCues = LanguageCues {
    language: "pt", is_unspaced: false, words_before_adverb: 1, directive_endings: &[],
    cues: &[
        (Remember, &["^lembre-se", "^lembre-se de que", "^lembre-se que", "^lembre que", "^lembra que", "^lembra-te que", "^lembra-te de que", "^lembre :", "^não esqueça que", "^não se esqueça que", "^não te esqueças que", "^anote", "^anote que", "^anota que", "^memorize", "^memorize que", "^tenha em mente que", "^nota para o futuro", "^guarde que"]),
        (Lasting, &["sempre", "nunca", "jamais", "de agora em diante", "a partir de agora", "daqui em diante", "daqui para frente", "no futuro", "toda vez", "cada vez", "em geral", "por padrão", "em hipótese alguma"]),
        (Norm, &["deve", "devem", "deveria", "precisa", "tem que", "têm que", "é preciso", "certifique-se", "garanta", "obrigatório", "proibido"]),
        (Prefer, &["prefiro", "preferimos", "preferia", "prefira"]),
        (Choose, &["use", "usa", "usem", "utilize", "usamos", "utilizamos", "não use", "não usem", "não utilize"]),
        (Prohibit, &["^não use", "^não utilize", "^não faça", "^não faz", "^evite", "^evita", "^pare de", "^nada de", "^não", "^por favor não"]),
        (We, &["usamos", "utilizamos", "não usamos", "não utilizamos", "nós", "a gente", "nossa equipe", "não fazemos", "nunca usamos", "sempre usamos", "escrevemos", "preferimos"]),
        (Negation, &["não", "sem", "nem", "não usamos", "não utilizamos", "não fazemos"]),
        (Lasting, &["nunca usamos", "sempre usamos"]),
        (Contrast, &[", não", "em vez de", "ao invés de", "e não", "mas sim", ", nunca", "só", "somente", "apenas"]),
        (Reach, &["aqui", "neste projeto", "nesse projeto", "neste repositório", "neste repo", "em todo o", "em todos", "no nosso"]),
        (Occasion, &["antes de commitar", "antes de cada commit", "antes de cada", "antes de fazer commit", "depois de cada", "antes do commit", "antes de fazer push", "antes de enviar"]),
        (Please, &["por favor", "pfv"]),
        (Objection, &["^não ,", "^errado", "^isso está errado", "^está errado", "^na verdade", "^na verdade ,", "^isso não é", "^não é verdade", "^quis dizer", "^eu disse"]),
        (Assertion, &["é", "está", "são", "estão", "fica", "tem"]),
        (Reason, &["porque", "pois", "já que", "para que", "senão"]),
        (Question, &["^você pode", "^pode", "^podemos", "^poderia", "^o que", "^por que", "^porque", "^como", "^onde", "^quando", "^qual", "^existe", "^tem", "^quem", "^devemos"]),
        (Task, &["quero", "gostaria", "preciso", "vamos", "^agora", "^adicione", "^adiciona", "^corrija", "^corrige", "^crie", "^implemente", "^mude", "^altere", "^remova", "^veja", "^mostre", "^explique", "^verifique", "^execute", "^rode", "^faça", "^renomeie"]),
        (Deictic, &["agora", "desta vez", "hoje", "por enquanto", "linha", "acima", "abaixo", "de novo", "primeiro", "ainda", "também", "depois", "já", "este arquivo", "esta função", "amanhã"]),
        (Hedge, &["talvez", "acho", "creio", "parece", "provavelmente", "poderia"]),
        (Past, &["era", "estava", "foi", "havia", "tinha", "falhou", "falha", "falham", "funciona", "funcionou"]),
        (Praise, &["obrigado", "obrigada", "perfeito", "ótimo", "excelente", "muito bom", "valeu", "boa"]),
        (Pronoun, &["isso", "isto", "aquilo", "ele", "ela", "eles"]),
        (Determiner, &["o", "a", "os", "as", "um", "uma", "meu", "minha", "seu", "sua", "este", "esta", "esse", "essa"]),
        (Subordinator, &["que", "se", "quando", "porque", "onde", "como", "embora"]),
        (LeadIn, &["^ok", "^mas", "^e", "^então", "^não ,", "^sim", "^bem", "^ah", "^aliás", "^na verdade", "^espera", "^desculpa", "^obrigado", "^valeu", "^olha", "^além disso"]),
        (Plain, &["de", "do", "da", "em", "no", "na", "com", "por", "para", "ao", "nunca mais", "ainda não", "não sei", "não entendi", "não funciona", "não só", "não é", "ou", "e"]),
    ],
};

#[rustfmt::skip]
const ITALIAN: LanguageCues = LanguageCues {
    language: "it", is_unspaced: false, words_before_adverb: 1, directive_endings: &[],
    cues: &[
        (Remember, &["^ricorda", "^ricorda che", "^ricordati", "^ricordati che", "^ricorda :", "^tieni a mente che", "^tieni presente che", "^non dimenticare che", "^nota per il futuro", "^memorizza", "^memorizza che", "^annota che"]),
        (Lasting, &["sempre", "mai", "d'ora in poi", "da ora in poi", "da adesso in poi", "in futuro", "ogni volta", "in generale", "di norma", "in nessun caso"]),
        (Norm, &["deve", "devono", "devi", "dovrebbe", "dovresti", "bisogna", "assicurati", "obbligatorio", "vietato"]),
        (Prefer, &["preferisco", "preferiamo", "preferirei", "preferisci"]),
        (Choose, &["usa", "usate", "utilizza", "usiamo", "utilizziamo", "non usare", "non usiamo"]),
        (Prohibit, &["^non usare", "^non fare", "^evita", "^smetti di", "^niente", "^non", "^per favore non"]),
        (We, &["usiamo", "utilizziamo", "non usiamo", "noi", "non facciamo", "il nostro team", "scriviamo", "preferiamo"]),
        (Negation, &["non", "senza", "non usiamo", "non facciamo"]),
        (Contrast, &[", non", "invece di", "al posto di", "anziché", "e non", "piuttosto che", "solo"]),
        (Reach, &["qui", "in questo progetto", "in questo repo", "in questo repository", "ovunque", "nel nostro"]),
        (Occasion, &["prima di committare", "prima di ogni commit", "prima di ogni", "dopo ogni", "prima del commit", "prima di fare push", "prima di fare commit"]),
        (Please, &["per favore", "per piacere"]),
        (Objection, &["^no ,", "^no", "^sbagliato", "^è sbagliato", "^in realtà", "^in realtà ,", "^non è vero", "^intendevo", "^ho detto"]),
        (Assertion, &["è", "sono", "sta", "c'è"]),
        (Reason, &["perché", "poiché", "altrimenti"]),
        (Question, &["^puoi", "^potresti", "^possiamo", "^cosa", "^perché", "^come", "^dove", "^quando", "^quale", "^c'è", "^chi", "^dovremmo", "^che cosa"]),
        (Task, &["voglio", "vorrei", "andiamo", "^ora", "^adesso", "^aggiungi", "^correggi", "^crea", "^implementa", "^cambia", "^rimuovi", "^guarda", "^mostra", "^spiega", "^controlla", "^esegui", "^fai", "^rinomina", "^sistema"]),
        (Deictic, &["ora", "adesso", "questa volta", "oggi", "per ora", "riga", "sopra", "sotto", "di nuovo", "prima", "ancora", "anche", "poi", "già", "questo file", "questa funzione", "domani"]),
        (Hedge, &["forse", "credo", "penso", "sembra", "probabilmente", "potrebbe"]),
        (Past, &["era", "erano", "è stato", "aveva", "fallisce", "falliscono", "funziona", "ha"]),
        (Praise, &["grazie", "perfetto", "ottimo", "eccellente", "bravo", "benissimo"]),
        (Pronoun, &["questo", "quello", "ciò", "lo", "essi"]),
        (Determiner, &["il", "la", "lo", "i", "gli", "le", "un", "una", "uno", "mio", "tuo", "questa", "quella"]),
        (Subordinator, &["che", "se", "quando", "perché", "dove", "come"]),
        (LeadIn, &["^ok", "^ma", "^e", "^allora", "^no", "^sì", "^bene", "^ah", "^comunque", "^in realtà", "^aspetta", "^scusa", "^grazie", "^perfetto", "^inoltre"]),
        (Plain, &["di", "del", "della", "in", "con", "per", "su", "al", "a", "direttamente", "mai più", "non ancora", "non so", "non funziona", "non solo", "non è", "o"]),
    ],
};

#[rustfmt::skip]
const DUTCH: LanguageCues = LanguageCues {
    language: "nl", is_unspaced: false, words_before_adverb: 2, directive_endings: &["en"],
    cues: &[
        (Remember, &["^onthoud", "^onthoud dat", "^onthoud :", "^vergeet niet dat", "^denk eraan dat", "^denk eraan", "^noteer dat", "^notitie voor later", "^hou er rekening mee dat"]),
        (Lasting, &["altijd", "nooit", "vanaf nu", "voortaan", "in de toekomst", "elke keer", "telkens", "in het algemeen", "onder geen beding"]),
        (Norm, &["moet", "moeten", "mag", "mogen", "zorg dat", "zorg ervoor", "verplicht", "verboden", "zou moeten"]),
        (Prefer, &["ik heb liever", "liever", "ik prefereer", "bij voorkeur", "geef de voorkeur aan"]),
        (Choose, &["gebruik", "gebruiken"]),
        (Prohibit, &["^geen", "^niet", "^gebruik geen", "^vermijd", "^stop met"]),
        (We, &["we gebruiken", "wij gebruiken", "wij", "we", "ons team"]),
        (Choose, &["we gebruiken", "wij gebruiken"]),
        (Negation, &["niet", "geen", "zonder"]),
        (Contrast, &[", niet", "in plaats van", "en niet", ", geen", "alleen"]),
        (Reach, &["hier", "in dit project", "in deze repo", "overal", "in ons"]),
        (Occasion, &["voor elke commit", "voor het committen", "voordat je commit", "voor elke", "na elke", "voor het pushen"]),
        (Please, &["alsjeblieft", "alstublieft", "graag", "aub"]),
        (Objection, &["^nee ,", "^nee", "^fout", "^dat klopt niet", "^dat is fout", "^eigenlijk", "^ik bedoelde", "^ik zei"]),
        (Assertion, &["het is", "is", "zijn", "er is"]),
        (Reason, &["omdat", "want", "anders", "zodat"]),
        (Question, &["^kun je", "^kan je", "^kunnen we", "^wat", "^waarom", "^hoe", "^waar", "^wanneer", "^welke", "^is er", "^wie", "^zullen we", "^is"]),
        (Task, &["laten we", "ik wil", "^nu", "^voeg", "^maak", "^verander", "^verwijder", "^kijk", "^toon", "^leg", "^controleer", "^los", "^herstel", "^voer"]),
        (Deictic, &["nu", "deze keer", "vandaag", "voorlopig", "regel", "hierboven", "opnieuw", "eerst", "nog", "ook", "dan", "al", "dit bestand", "deze functie", "morgen"]),
        (Hedge, &["misschien", "ik denk", "ik geloof", "waarschijnlijk", "lijkt"]),
        (Past, &["was", "waren", "had", "werd", "faalt", "falen", "werkt"]),
        (Praise, &["bedankt", "dank je", "perfect", "geweldig", "goed gedaan", "top"]),
        (Pronoun, &["het", "dit", "dat", "ze", "hem"]),
        (Determiner, &["de", "het", "een", "mijn", "jouw", "deze", "die"]),
        (Subordinator, &["dat", "als", "wanneer", "omdat", "waar", "hoe", "of"]),
        (LeadIn, &["^ok", "^oké", "^maar", "^en", "^dus", "^nee", "^ja", "^trouwens", "^hm", "^wacht", "^sorry", "^bedankt", "^goed", "^eigenlijk"]),
        (Plain, &["we hebben", "we moeten", "we kunnen", "we willen", "we zijn", "van", "met", "voor", "op", "naar", "in", "aan", "ik", "je", "rechtstreeks", "nog nooit", "niet meer"]),
    ],
};

#[rustfmt::skip]
const RUSSIAN: LanguageCues = LanguageCues {
    language: "ru", is_unspaced: false, words_before_adverb: 2, directive_endings: &["ть", "ться", "йте", "й"],
    cues: &[
        (Remember, &["^запомни", "^запомни ,", "^запомни :", "^запомни , что", "^запомните , что", "^запомните", "^не забудь , что", "^не забывай , что", "^имей в виду , что", "^имейте в виду , что", "^учти , что", "^помни , что", "^заметка на будущее", "^на будущее :"]),
        (Lasting, &["всегда", "никогда", "отныне", "впредь", "в будущем", "каждый раз", "с этого момента", "теперь всегда", "ни в коем случае", "как правило", "больше никогда"]),
        (Norm, &["должен", "должна", "должны", "должно", "нужно", "надо", "нельзя", "следует", "обязательно", "запрещено", "убедись"]),
        (Prefer, &["предпочитаю", "предпочитаем", "лучше", "я бы предпочёл", "я бы предпочел"]),
        (Choose, &["используй", "используйте", "использовать", "пользуйся", "пиши", "используем"]),
        (Prohibit, &["^не используй", "^не используйте", "^не делай", "^не", "^избегай", "^прекрати", "^пожалуйста не"]),
        (We, &["мы", "у нас", "наша команда", "мы не"]),
        (Negation, &["не", "без", "нет", "мы не"]),
        (Contrast, &[", а не", "вместо", "а не", "только"]),
        (Reach, &["здесь", "тут", "в этом проекте", "в этом репозитории", "везде", "у нас", "в нашем"]),
        (Occasion, &["перед коммитом", "перед каждым коммитом", "перед каждым", "после каждого", "перед пушем", "перед тем как"]),
        (Please, &["пожалуйста"]),
        (Objection, &["^нет ,", "^нет", "^неправильно", "^неверно", "^это неправильно", "^это неверно", "^это не так", "^на самом деле", "^вообще-то", "^я имел в виду", "^я сказал"]),
        (Assertion, &["это", "находится", "есть"]),
        (Reason, &["потому что", "так как", "иначе", "чтобы"]),
        (Question, &["^можешь", "^можем", "^можно", "^что", "^почему", "^как", "^где", "^когда", "^какой", "^какая", "^есть ли", "^зачем", "^кто", "^а"]),
        (Task, &["давай", "хочу", "^сейчас", "^теперь", "^добавь", "^исправь", "^создай", "^реализуй", "^измени", "^удали", "^посмотри", "^покажи", "^объясни", "^проверь", "^запусти", "^сделай", "^переименуй"]),
        (Deictic, &["сейчас", "в этот раз", "сегодня", "пока", "строка", "строке", "выше", "ниже", "опять", "снова", "сначала", "ещё", "еще", "тоже", "потом", "уже", "этот файл", "этой функции", "завтра"]),
        (Hedge, &["может быть", "возможно", "думаю", "кажется", "наверное", "похоже"]),
        (Past, &["был", "была", "были", "было", "падает", "падают", "работает", "сломал", "сломалось"]),
        (Praise, &["спасибо", "отлично", "супер", "хорошо", "молодец", "круто", "прекрасно"]),
        (Pronoun, &["это", "его", "её", "их", "он", "она", "они", "оно"]),
        (Determiner, &["этот", "эта", "мой", "твой", "один"]),
        (Subordinator, &["что", "если", "когда", "потому что", "где", "как", "чтобы"]),
        (LeadIn, &["^ок", "^но", "^и", "^так", "^нет", "^да", "^ну", "^кстати", "^вообще-то", "^на самом деле", "^подожди", "^стоп", "^спасибо", "^хорошо", "^ещё"]),
        (Plain, &["в", "на", "с", "по", "для", "от", "к", "из", "я", "ты", "мы можем", "мы должны", "у нас есть", "не только", "не работает", "ещё не", "прямо", "напрямую"]),
    ],
};

#[rustfmt::skip]
const POLISH: LanguageCues = LanguageCues {
    language: "pl", is_unspaced: false, words_before_adverb: 2, directive_endings: &["ać", "ić", "ować"],
    cues: &[
        (Remember, &["^zapamiętaj", "^zapamiętaj ,", "^zapamiętaj :", "^zapamiętaj , że", "^pamiętaj , że", "^pamiętaj :", "^nie zapomnij , że", "^miej na uwadze , że", "^notatka na przyszłość"]),
        (Lasting, &["zawsze", "nigdy", "od teraz", "odtąd", "w przyszłości", "za każdym razem", "pod żadnym pozorem", "na przyszłość", "co do zasady"]),
        (Norm, &["musi", "muszą", "musisz", "powinien", "powinno", "powinny", "należy", "trzeba", "nie wolno", "upewnij się"]),
        (Prefer, &["wolę", "wolimy", "preferuję", "wolałbym"]),
        (Choose, &["używaj", "użyj", "używać", "używamy", "korzystamy", "stosuj"]),
        (Prohibit, &["^nie używaj", "^nie rób", "^nie", "^unikaj", "^przestań", "^proszę nie"]),
        (We, &["używamy", "nie używamy", "korzystamy", "my", "u nas", "stosujemy", "piszemy"]),
        (Negation, &["nie", "bez", "nie używamy"]),
        (Contrast, &[", nie", "zamiast", ", a nie", "a nie", "tylko"]),
        (Reach, &["tutaj", "tu", "w tym projekcie", "w tym repo", "wszędzie", "w naszym"]),
        (Occasion, &["przed commitem", "przed każdym commitem", "przed każdym", "po każdym", "przed pushem"]),
        (Please, &["proszę"]),
        (Objection, &["^nie ,", "^źle", "^to źle", "^błąd", "^to nieprawda", "^właściwie", "^w rzeczywistości", "^miałem na myśli"]),
        (Assertion, &["jest", "są", "to"]),
        (Reason, &["bo", "ponieważ", "inaczej", "żeby"]),
        (Question, &["^czy", "^co", "^dlaczego", "^jak", "^gdzie", "^kiedy", "^który", "^możesz", "^możemy", "^kto"]),
        (Task, &["chcę", "zróbmy", "^teraz", "^dodaj", "^napraw", "^stwórz", "^zaimplementuj", "^zmień", "^usuń", "^zobacz", "^pokaż", "^wyjaśnij", "^sprawdź", "^uruchom", "^zrób"]),
        (Deictic, &["teraz", "tym razem", "dzisiaj", "dziś", "na razie", "linia", "powyżej", "znowu", "najpierw", "jeszcze", "też", "potem", "już", "ten plik"]),
        (Hedge, &["może", "myślę", "chyba", "wydaje się", "prawdopodobnie"]),
        (Past, &["był", "była", "było", "były", "działa", "nie działa"]),
        (Praise, &["dzięki", "dziękuję", "świetnie", "super", "idealnie"]),
        (Pronoun, &["to", "tego", "je", "ich"]),
        (Determiner, &["ten", "ta", "mój", "twój"]),
        (Subordinator, &["że", "jeśli", "kiedy", "bo", "gdzie", "jak"]),
        (LeadIn, &["^ok", "^ale", "^i", "^więc", "^nie ,", "^tak", "^no", "^właściwie", "^czekaj", "^dzięki", "^aha", "^a"]),
        (Plain, &["w", "na", "z", "do", "dla", "od", "po", "się", "nie tylko", "jeszcze nie", "bezpośrednio"]),
    ],
};

#[rustfmt::skip]
const TURKISH: LanguageCues = LanguageCues {
    language: "tr", is_unspaced: false, words_before_adverb: 3, directive_endings: &["kullan", "yap", "çalıştır", "yapma", "kullanma", "etme", "yapmayın", "kullanın", "kullanmayın", "etmeyin", "pushlama", "lütfen"],
    cues: &[
        (Remember, &["^unutma", "^unutma :", "^unutma ki", "^hatırla", "^hatırla :", "^aklında tut", "^aklında tut :", "^not al", "^not al :", "^bunu hatırla :"]),
        (Lasting, &["her zaman", "daima", "asla", "hiçbir zaman", "bundan sonra", "artık hep", "bundan böyle", "hep", "her seferinde", "gelecekte"]),
        (Norm, &["gerekir", "gerekiyor", "zorunlu", "lazım", "olmalı", "yasak", "emin ol"]),
        (Prefer, &["tercih ederim", "tercih ediyoruz", "tercih et"]),
        (Choose, &["kullan", "kullanın", "kullanıyoruz", "kullanma", "kullanmayın"]),
        (We, &["kullanıyoruz", "kullanmıyoruz", "biz", "ekibimiz", "yapmıyoruz"]),
        (Negation, &["değil", "kullanmıyoruz", "yapmıyoruz", "yok"]),
        (Contrast, &[", değil", "değil", "yerine", "sadece"]),
        (Reach, &["burada", "bu projede", "bu repoda", "her yerde"]),
        (Occasion, &["commit etmeden önce", "her committen önce", "commit'ten önce", "push etmeden önce"]),
        (Please, &["lütfen"]),
        (Objection, &["^hayır ,", "^hayır", "^yanlış", "^bu yanlış", "^aslında", "^demek istedim"]),
        (Question, &["^ne", "^neden", "^nasıl", "^nerede", "mı", "mi", "mu", "mü", "misin", "mısın"]),
        (Task, &["istiyorum", "^şimdi", "^ekle", "^düzelt", "^oluştur", "^değiştir", "^sil", "^bak", "^göster", "^açıkla"]),
        (Deictic, &["şimdi", "bu sefer", "bugün", "şimdilik", "satır", "yukarıda", "tekrar", "önce", "henüz", "da", "de"]),
        (Hedge, &["belki", "sanırım", "galiba"]),
        (Praise, &["teşekkürler", "harika", "süper", "mükemmel"]),
        (Pronoun, &["bu", "bunu", "onu", "o"]),
        (LeadIn, &["^tamam", "^ama", "^ve", "^hayır", "^evet", "^aslında", "^bekle", "^teşekkürler"]),
        (Plain, &["ve", "ile", "için", "bir", "doğrudan"]),
    ],
};

#[rustfmt::skip]
const JAPANESE: LanguageCues = LanguageCues {
    language: "ja", is_unspaced: true, words_before_adverb: 0,
    directive_endings: &["ください", "下さい", "ないで", "こと", "ように", "して", "使って", "禁止", "しない", "するな", "してね", "ます", "ません"],
    cues: &[
        (Remember, &["^覚えておいて", "^覚えて", "^メモ：", "^メモ:", "^記憶して", "^今後のために", "を覚えておいて", "と覚えておいて", "を覚えて", "を記憶して", "ことを忘れないで"]),
        (Lasting, &["常に", "いつも", "必ず", "絶対に", "決して", "今後", "これから", "毎回", "今後は", "これからは", "基本的に", "原則"]),
        (Norm, &["べき", "なければならない", "ようにして", "必要があります", "禁止", "してはいけない", "しないでください", "しないで", "てはいけません", "こと。"]),
        (Prefer, &["の方がいい", "のほうがいい", "好みます", "を優先", "の方が好き", "のほうが好き"]),
        (Choose, &["を使って", "を使う", "を使用", "使います", "を使い"]),
        (We, &["我々は", "私たちは", "うちでは", "このプロジェクトでは", "このリポジトリでは", "弊社では", "チームでは"]),
        (Negation, &["ない", "ません", "せず", "使わない", "使わず"]),
        (Contrast, &["ではなく", "じゃなくて", "の代わりに", "よりも", "でなく", "だけ"]),
        (Reach, &["ここでは", "このプロジェクト", "このリポジトリ", "このレポ", "全体で", "すべての", "全ての"]),
        (Occasion, &["コミットする前に", "コミット前に", "プッシュする前に", "プッシュ前に", "のたびに", "するときは", "する際は"]),
        (Please, &["ください", "下さい", "お願い"]),
        (Objection, &["^いや", "^いいえ", "^違います", "^違う", "^それは違", "^実は", "^間違"]),
        (Reason, &["から", "ので", "ため"]),
        (Question, &["ますか", "ですか", "でしょうか", "なぜ", "どうして", "どこ", "どう", "何が", "できる？", "？", "何を"]),
        (Task, &["追加して", "修正して", "直して", "作成して", "実装して", "変更して", "削除して", "確認して", "見せて", "説明して", "教えて"]),
        (Deictic, &["今回", "今は", "この関数", "このファイル", "このpr", "行目", "とりあえず", "一旦", "もう一度", "さっき", "先ほど", "上記", "次に", "まず"]),
        (Hedge, &["たぶん", "かも", "と思う", "と思い", "おそらく"]),
        (Past, &["ました", "でした", "失敗する", "動かない"]),
        (Praise, &["ありがとう", "素晴らしい", "いいね", "完璧"]),
        (Pronoun, &["^それ", "^これ", "^あれ"]),
        (LeadIn, &["^いや、", "^いいえ、", "^あと、", "^ちなみに、", "^実は、", "^ok、", "^はい、", "^でも、", "^違います。"]),
        (Plain, &["の", "は", "を", "に", "で"]),
    ],
};

#[rustfmt::skip]
const CHINESE: LanguageCues = LanguageCues {
    language: "zh", is_unspaced: true, words_before_adverb: 0, directive_endings: &[],
    cues: &[
        (Remember, &["^记住", "^请记住", "^記住", "^请你记住", "^记得：", "^记一下", "^请记一下", "^备注：", "^牢记", "^以后记住", "^帮我记住", "^记住："]),
        (Lasting, &["总是", "永远", "从不", "以后", "从现在开始", "今后", "始终", "一律", "每次", "绝不", "绝对不", "千万不", "任何时候", "始終", "從現在開始", "永遠", "一定要", "务必"]),
        (Norm, &["必须", "应该", "应当", "不能", "不许", "禁止", "确保", "不得", "不允许", "必須", "應該"]),
        (Prefer, &["我更喜欢", "我喜欢", "优先", "偏好", "最好用", "我偏向"]),
        (Choose, &["请用", "请使用", "使用", "要用", "用的是", "都用", "我们用"]),
        (Prohibit, &["^不要", "^请不要", "^别", "^请勿", "^禁止", "^不准"]),
        (We, &["我们用", "我们使用", "我们不", "我们都", "我们从", "我们这边", "我们团队", "我们项目", "我們用", "我們使用", "我們不"]),
        (Negation, &["不", "没", "别", "勿", "我们不"]),
        (Contrast, &["而不是", "不是", "不用", "不要用", "代替", "，不", "，别用", "只用", "只能"]),
        (Reach, &["这里", "这个项目", "本项目", "这个仓库", "所有", "到处", "項目", "全部"]),
        (Occasion, &["提交之前", "提交前", "每次提交", "推送前", "推送之前", "之前先"]),
        (Please, &["请", "麻烦"]),
        (Objection, &["^不，", "^不对", "^不是", "^错了", "^其实", "^实际上", "^这不对", "^我是说"]),
        (Reason, &["因为", "否则", "不然", "所以"]),
        (Question, &["吗", "为什么", "怎么", "什么", "哪里", "能不能", "可以吗", "是否", "呢", "？", "有没有"]),
        (Task, &["添加", "修复", "创建", "实现", "修改", "删除", "看一下", "帮我", "解释", "检查", "让我们", "改成", "加一个"]),
        (Deictic, &["现在", "这次", "今天", "暂时", "这个文件", "这个函数", "这个pr", "这一行", "上面", "下面", "再", "先", "刚才", "这一步", "然后"]),
        (Hedge, &["也许", "可能", "我觉得", "我想", "大概", "好像"]),
        (Past, &["失败", "报错", "过了", "已经"]),
        (Praise, &["谢谢", "很好", "完美", "不错", "太棒"]),
        (Pronoun, &["^它", "^这是", "^那个"]),
        (LeadIn, &["^不，", "^不对，", "^其实", "^对了，", "^好的，", "^嗯，", "^但是", "^另外，", "^错了，", "^ok，"]),
        (Plain, &["的", "了", "是", "在"]),
    ],
};

#[rustfmt::skip]
const KOREAN: LanguageCues = LanguageCues {
    language: "ko", is_unspaced: true, words_before_adverb: 0,
    directive_endings: &["하세요", "마세요", "해줘", "해주세요", "말아줘", "말아주세요", "합니다", "않습니다", "써줘", "사용해", "말 것", "세요"],
    cues: &[
        (Remember, &["^기억해", "^기억해줘", "^기억해 줘", "^메모:", "^참고로 기억", "기억해줘", "기억해 줘", "기억하세요", "잊지 마"]),
        (Lasting, &["항상", "절대", "앞으로", "언제나", "매번", "결코", "이제부터", "지금부터"]),
        (Norm, &["해야", "하면 안", "금지", "반드시", "꼭"]),
        (Prefer, &["선호", "더 좋아", "좋겠"]),
        (Choose, &["사용하", "사용해", "쓰세요", "써줘", "를 써", "을 써"]),
        (We, &["우리는", "저희는", "우리 팀", "여기서는"]),
        (Negation, &["않", "말고", "아니", "없이", "마세요", "말아"]),
        (Contrast, &["말고", "대신", "아니라", "보다는", "만 "]),
        (Reach, &["여기서", "이 프로젝트", "이 저장소", "이 레포", "모든"]),
        (Occasion, &["커밋하기 전에", "커밋 전에", "푸시하기 전에", "푸시 전에", "할 때마다"]),
        (Please, &["주세요", "세요", "줘"]),
        (Objection, &["^아니", "^아니요", "^틀렸", "^사실", "^그게 아니라"]),
        (Reason, &["왜냐하면", "때문에", "그래야"]),
        (Question, &["까?", "나요", "왜", "어떻게", "무엇", "어디", "뭐", "인가요"]),
        (Task, &["추가해", "수정해", "고쳐", "만들어", "구현해", "변경해", "삭제해", "확인해", "보여", "설명해"]),
        (Deictic, &["지금", "이번", "오늘", "일단", "이 함수", "이 파일", "줄", "위의", "다시", "먼저", "아직"]),
        (Hedge, &["아마", "것 같"]),
        (Past, &["했습니다", "됐", "실패", "안 돼"]),
        (Praise, &["고마워", "감사", "좋아요", "완벽"]),
        (Pronoun, &["^그거", "^이거", "^그것"]),
        (LeadIn, &["^아니, ", "^아니요, ", "^아니 ", "^그리고 ", "^근데 ", "^사실 ", "^참고로 ", "^네, "]),
        (Plain, &["을", "를", "은", "는"]),
    ],
};

/// All languages. Of two that fit a message equally well, the earlier one is taken.
pub(super) const LANGUAGES: &[LanguageCues] = &[
    ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH, RUSSIAN, POLISH, TURKISH,
    CHINESE, JAPANESE, KOREAN,
];
