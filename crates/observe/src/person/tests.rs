//! What people say and what they mean by it: sentences by kind, in the languages of the table.

use super::*;

const AFTER_WORK: PersonMoment = PersonMoment { after: Preceding::Work, is_first: false };

fn kinds(text: &str, moment: PersonMoment) -> Vec<WishKind> {
    hear_person(text, moment).iter().map(|it| it.kind).collect()
}

/// The sentences that are not heard as this kind.
fn unheard<'a>(sentences: &[&'a str], kind: WishKind) -> Vec<(&'a str, Vec<WishKind>)> {
    let heard = |it: &&'a str| (*it, kinds(it, AFTER_WORK));
    sentences.iter().map(heard).filter(|(_, it)| it.first() != Some(&kind)).collect()
}

#[rustfmt::skip]
const TOLD: &[&str] = &[
    "/remember the live tests need API_KEY",
    "remember: the live tests need API_KEY",
    "remember that the live tests need API_KEY",
    "Remember that we deploy on Fridays only",
    "please remember: staging has no redis",
    "ok, remember that the cache lives in var/cache",
    "Note for the future: the parser is not thread safe",
    "Can you remember that our CI has no network?",
    "merk dir: die Live-Tests brauchen API_KEY",
    "Merk dir bitte, dass die Live-Tests den Schlüssel brauchen",
    "merk dir: the live tests need API_KEY",
    "souviens-toi que les tests ont besoin de docker",
    "recuerda que las pruebas necesitan docker",
    "lembre-se de que os testes precisam do docker",
    "ricordati che i test hanno bisogno di docker",
    "onthoud dat de tests docker nodig hebben",
    "Запомни: тестам нужен docker",
    "zapamiętaj, że testy wymagają dockera",
    "覚えておいて：テストにはdockerが必要",
    "テストにはdockerが必要だと覚えておいて",
    "记住：测试需要 docker",
    "기억해줘: 테스트에는 docker가 필요해",
];

#[rustfmt::skip]
const RULES: &[&str] = &[
    "no, actually we use pnpm here",
    "Use vitest, not jest.",
    "never use npm here, always pnpm",
    "from now on write the tests first",
    "we never mock the database",
    "don't ever commit to main",
    "I'd prefer small commits",
    "please always run make fmt before committing",
    "Always use tabs in Makefiles.",
    "Prefer composition over inheritance",
    "In this repo we don't use default exports",
    "We don't use mocks in integration tests, only real repos.",
    "From now on, please write commit messages in English.",
    "ok but never push directly to main",
    "We always squash before merging.",
    "You must never edit generated files.",
    "Going forward, use snake_case for table names",
    "Commits should always reference a ticket",
    "I’d rather have explicit imports everywhere",
    "don't use emojis in commit messages",
    "Bitte nie direkt auf main pushen",
    "Wir benutzen hier pnpm, nicht npm",
    "Ab jetzt immer erst die Tests laufen lassen",
    "Wir mocken die Datenbank nie",
    "Vor jedem Commit bitte immer make fmt ausführen",
    "Ne pousse jamais directement sur main",
    "Ici on utilise pnpm, pas npm",
    "Utilise toujours pnpm dans ce projet",
    "Nunca hagas push directo a main",
    "Aquí usamos pnpm, no npm",
    "A partir de ahora usa siempre pnpm",
    "Nunca faça push direto na main",
    "Aqui usamos pnpm, não npm",
    "De agora em diante, use sempre pnpm",
    "Qui usiamo pnpm, non npm",
    "Non fare mai push diretto su main",
    "Gebruik hier altijd pnpm, nooit npm",
    "Никогда не пушь напрямую в main",
    "Мы используем pnpm, а не npm",
    "Używamy tutaj pnpm, nie npm",
    "Burada npm değil pnpm kullanıyoruz",
    "mainに直接プッシュしないでください。今後は必ずPRを使って",
    "ここではnpmではなくpnpmを使ってください",
    "我们用 pnpm，不用 npm",
    "以后不要直接推送到 main",
    "提交之前必须运行 make fmt",
    "항상 pnpm을 사용하세요, npm 말고",
    "앞으로 main에 직접 푸시하지 마세요",
];

#[rustfmt::skip]
const CORRECTIONS: &[&str] = &[
    "Actually, the API returns cents, not euros",
    "that's wrong, it's in config.ts",
    "No, the timeout is in seconds, not milliseconds.",
    "no, that's the staging database, not production",
    "Wrong, the retry limit is 5 instead of 3.",
    "Nein, die API liefert Cent, nicht Euro",
    "Non, l'API renvoie des centimes, pas des euros",
    "En realidad, la API devuelve céntimos, no euros",
];

#[test]
fn what_a_person_tells_us_to_remember_is_heard() {
    assert_eq!(unheard(TOLD, WishKind::Told), []);
}

#[test]
fn standing_rules_are_heard_in_every_language() {
    assert_eq!(unheard(RULES, WishKind::StandingRule), []);
}

#[test]
fn a_norm_that_may_be_meant_for_the_task_waits_for_the_person() {
    let suggestions = &[
        "please don't amend commits on the release branch",
        "we should be using the strong types instead of string wherever we can",
    ];
    assert_eq!(unheard(suggestions, WishKind::Suggestion), []);
    // With a reach, it is a rule.
    let rules = &["stop using any in TypeScript"];
    assert_eq!(unheard(rules, WishKind::StandingRule), []);
    // A reach alone is none.
    let remark =
        "we’re talking about the overall plan here, regarding the 3 phases we just spoke about";
    let moment = PersonMoment { after: Preceding::Work, is_first: false };
    let heard = hear_person(remark, moment);
    assert!(heard.iter().all(|it| it.kind != WishKind::StandingRule), "{heard:?}");
}

#[test]
fn the_persons_words_are_kept_without_lead_in_and_request() {
    let text = |message: &str| {
        let wishes = hear_person(message, AFTER_WORK).into_iter().map(|it| it.text);
        wishes.collect::<Vec<_>>().join(" | ")
    };
    assert_eq!(text("no, actually we use pnpm here"), "we use pnpm here");
    assert_eq!(text("Remember that the tests need docker."), "the tests need docker.");
    assert_eq!(
        text("remember: the tests need docker. And redis."),
        "the tests need docker. And redis."
    );
    assert_eq!(
        text("Note for the future. The parser is not thread safe."),
        "The parser is not thread safe."
    );
    assert_eq!(text("hmm ok but never push to main"), "never push to main");
    // Without its subject it is no rule.
    assert_eq!(
        text("The cache is shared by all workers. Never clear it in tests."),
        "The cache is shared by all workers. Never clear it in tests."
    );
    assert_eq!(kinds("always check it before committing", AFTER_WORK), [WishKind::Correction]);
}

#[test]
fn a_correction_is_heard_after_the_agent_worked() {
    assert_eq!(unheard(CORRECTIONS, WishKind::Correction), []);
    let at_start = PersonMoment { after: Preceding::Nothing, is_first: true };
    assert_eq!(kinds("Actually, the API returns cents, not euros", at_start), []);
}

/// Tasks, questions, praise and reports, one per line.
const ORDINARY: &str = include_str!("ordinary.txt");

#[test]
fn ordinary_prompts_are_no_wishes() {
    let at_start = PersonMoment { after: Preceding::Nothing, is_first: true };
    for moment in [AFTER_WORK, at_start] {
        let heard: Vec<_> = ORDINARY.lines().flat_map(|it| hear_person(it, moment)).collect();
        assert_eq!(heard, []);
    }
}
