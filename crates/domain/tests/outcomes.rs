//! Measures how well outcomes are inferred, on turns that were labelled by hand. Thresholds and phrases are tuned on
//! the split `dev`, and the mistakes of `test`, `unseen` and `blind` were looked at. `held_out`, `final` and `fresh`
//! are used for measuring only, and the guaranteed figures are about the three together.
//! `docs/feedback-data.md` quotes the snapshot.

use domain::outcome::{CONFIDENT_MIN, Inferred, Languages, Outcome, infer};
use serde::Deserialize;
use std::fmt::Write as _;

/// Least precision for accepted and rejected outcomes on the measured splits, in thousandths.
const REJECTED_PRECISION_MIN: usize = 970;
const ACCEPTED_PRECISION_MIN: usize = 950;
/// Least recall for accepted and rejected outcomes on the measured splits, in thousandths.
const RECALL_MIN: usize = 500;
/// The splits whose mistakes may be looked at.
const LOOKED_AT: [&str; 4] = ["dev", "test", "unseen", "blind"];
/// The splits that are only measured. Their mistakes are counted and not looked at.
const MEASURED: [&str; 3] = ["held_out", "final", "fresh"];
/// Most turns of those splits that are taken for another language.
const MISTAKEN_MAX: usize = 2;
/// Languages with a table of phrases.
const LANGUAGES: [&str; 4] = ["en", "de", "es", "fr"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    id: u32,
    split: String,
    language: String,
    #[serde(rename = "domain")]
    _domain: String,
    prompt: String,
    reply: String,
    next: String,
    label: Outcome,
}

impl Labelled {
    fn is_measured(&self) -> bool {
        MEASURED.contains(&self.split.as_str())
    }

    fn inferred(&self) -> Inferred {
        infer(Languages::built_in(), &self.prompt, &self.reply, &self.next)
    }
}

const CLASSES: [Outcome; 3] = [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral];

fn labelled() -> Vec<Labelled> {
    let lines = include_str!("outcome/labelled.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Counts of turns: rows are the labels of people, columns the inferred outcomes.
#[derive(Default, Clone, Copy)]
struct Confusion([[usize; 3]; 3]);

impl Confusion {
    fn of(turns: &[Labelled], keep: impl Fn(&Labelled) -> bool) -> Confusion {
        let mut table = Confusion::default();
        for turn in turns.iter().filter(|turn| keep(turn)) {
            table.0[turn.label as usize][turn.inferred().outcome as usize] += 1;
        }
        table
    }

    /// Turns that were inferred as `class`, and how many of them people label so too.
    fn inferred(&self, class: usize) -> Share {
        Share { right: self.0[class][class], of: self.0.iter().map(|row| row[class]).sum() }
    }

    /// Turns that people label as `class`, and how many of them were inferred so.
    fn labelled(&self, class: usize) -> Share {
        Share { right: self.0[class][class], of: self.0[class].iter().sum() }
    }

    fn render(&self, title: &str) -> String {
        let total: usize = self.0.iter().flatten().sum();
        let mut text = format!("{title}: {total} turns\n  {:8}  as accepted  as rejected  as neutral", "labelled");
        let _ = writeln!(text, "  {:24}  recall", "precision");
        for (at, class) in CLASSES.iter().enumerate() {
            let [accepted, rejected, neutral] = self.0[at];
            let (precision, recall) = (self.inferred(at).render(), self.labelled(at).render());
            let name = format!("{class:?}").to_lowercase();
            let row = format!("  {name:8}  {accepted:11}  {rejected:11}  {neutral:10}  {precision:24}  {recall}");
            let _ = writeln!(text, "{row}");
        }
        text
    }
}

/// A share of turns.
#[derive(Clone, Copy)]
struct Share {
    right: usize,
    of: usize,
}

impl Share {
    /// In thousandths; 1000 of no turns.
    fn thousandths(self) -> usize {
        (1_000 * self.right).checked_div(self.of).unwrap_or(1_000)
    }

    /// Wilson's interval, which holds the true share with a probability of 95 %, in thousandths.
    fn interval(self) -> (f64, f64) {
        let (z, n) = (1.96_f64, self.of as f64);
        let share = self.right as f64 / n;
        let centre = share + z * z / (2.0 * n);
        let reach = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1_000.0 / (1.0 + z * z / n);
        ((centre - reach) * scale, (centre + reach) * scale)
    }

    fn render(self) -> String {
        if self.of == 0 {
            return "none".to_owned();
        }
        let (low, high) = self.interval();
        format!("{} ({}/{}, {low:.0}-{high:.0})", self.thousandths(), self.right, self.of)
    }
}

#[test]
fn outcomes_are_inferred_as_well_as_promised() {
    let turns = labelled();
    let of = |split: &str| Confusion::of(&turns, |turn| turn.split == split);
    let measured = Confusion::of(&turns, Labelled::is_measured);
    let mut report = vec![
        of("dev").render("dev (tuned on)"),
        of("test").render("test (looked at)"),
        of("unseen").render("unseen (looked at)"),
        of("blind").render("blind (looked at)"),
        of("held_out").render("held_out (only measured)"),
        of("final").render("final (only measured)"),
        of("fresh").render("fresh (only measured, written after the last change of the rules)"),
        measured.render("all measured"),
    ];
    for language in LANGUAGES {
        let own = Confusion::of(&turns, |turn| turn.is_measured() && turn.language == language);
        report.push(own.render(&format!("all measured, {language}")));
    }
    for (split, language) in ["final", "fresh"].into_iter().flat_map(|split| LANGUAGES.map(|own| (split, own))) {
        let own = Confusion::of(&turns, |turn| turn.split == split && turn.language == language);
        report.push(own.render(&format!("{split}, {language}")));
    }
    let is_confident = |turn: &Labelled| turn.inferred().confidence >= CONFIDENT_MIN;
    let confident = Confusion::of(&turns, |turn| turn.is_measured() && is_confident(turn));
    report.push(confident.render("all measured, confident"));
    for split in MEASURED {
        let own = Confusion::of(&turns, |turn| turn.split == split && is_confident(turn));
        report.push(own.render(&format!("{split}, confident")));
    }
    insta::assert_snapshot!(report.join("\n"));
    for (class, precision_min) in [(0, ACCEPTED_PRECISION_MIN), (1, REJECTED_PRECISION_MIN)] {
        let (precision, recall) = (measured.inferred(class).thousandths(), measured.labelled(class).thousandths());
        assert!(precision >= precision_min, "precision of {:?} is {precision}", CLASSES[class]);
        assert!(recall >= RECALL_MIN, "recall of {:?} is {recall}", CLASSES[class]);
    }
}

#[test]
fn hardly_a_turn_is_taken_for_another_language() {
    let is_mistaken = |turn: &Labelled| {
        // Error messages of tools are English in every conversation.
        let is_error = ["error", "err!"].iter().any(|word| turn.next.to_lowercase().contains(word));
        !is_error && turn.inferred().evidence.language.is_some_and(|found| found != turn.language)
    };
    let mistaken: Vec<Labelled> = labelled().into_iter().filter(is_mistaken).collect();
    let (measured, wrong): (Vec<Labelled>, Vec<Labelled>) =
        mistaken.into_iter().partition(|turn| MEASURED.contains(&turn.split.as_str()));
    let listed: Vec<String> = wrong.iter().map(|turn| format!("{}: {:?}", turn.id, turn.next)).collect();
    assert!(listed.is_empty(), "{}", listed.join("\n"));
    assert!(measured.len() <= MISTAKEN_MAX, "{} of {MEASURED:?}", measured.len());
}

/// Requests of the same kind, and repeated requests: they are similar to the request before, and their outcome
/// is neutral.
#[test]
fn a_request_that_resembles_the_one_before_rejects_nothing() {
    let pairs = [
        ("What is a hash?", "And what is a salt?"),
        ("What is a hash?", "What is a hash?"),
        ("How do I sort a list in Python?", "How do I sort a dict in Python?"),
        ("How do I sort a list in Python?", "How can I sort a list using Python?"),
        ("Write a poem about the sea in four lines.", "Write a poem about the sea in eight lines."),
        ("What is the capital of France?", "And what is the capital of Spain and of Portugal?"),
        ("Translate the first paragraph into French.", "Translate the second paragraph into French."),
        ("Wie lange muss ich Linsen kochen?", "Wie lange muss ich denn rote Linsen kochen?"),
        ("¿Cómo ordeno una lista en Python?", "¿Cómo ordeno una lista grande en Python?"),
        ("Comment trier une liste en Python ?", "Comment trier une grande liste en Python ?"),
        ("Jak posortować listę w Pythonie?", "Jak posortować dużą listę w Pythonie?"),
    ];
    for (prompt, next) in pairs {
        let inferred = infer(Languages::built_in(), prompt, "Here is the answer.", next);
        assert_eq!((inferred.outcome, inferred.confidence), (Outcome::Neutral, 0), "{prompt} {next}: {inferred:?}");
    }
}

#[test]
fn the_labelled_set_is_large_and_varied() {
    let turns = labelled();
    assert!(turns.iter().all(|turn| LOOKED_AT.contains(&turn.split.as_str()) || turn.is_measured()));
    for language in LANGUAGES {
        let measured = turns.iter().filter(|turn| turn.is_measured() && turn.language == language);
        assert!(measured.count() >= 140, "{language}");
        assert!(turns.iter().filter(|turn| turn.language == language).count() >= 150, "{language}");
    }
    for class in CLASSES {
        assert!(turns.iter().filter(|turn| turn.label == class).count() >= 200, "{class:?}");
    }
    assert!(turns.iter().zip(1..).all(|(turn, number)| turn.id == number), "ids count from 1");
}

/// Prints the wrong outcomes on the splits that are tuned on: `cargo test -p domain --test outcomes -- --nocapture`.
#[test]
fn mistakes_of_the_splits_for_tuning_can_be_listed() {
    let tuned_on = |turn: &Labelled| LOOKED_AT.contains(&turn.split.as_str());
    let turns: Vec<Labelled> = labelled().into_iter().filter(tuned_on).collect();
    let mistakes = turns.iter().filter_map(|turn| {
        let inferred = turn.inferred();
        (inferred.outcome != turn.label)
            .then(|| format!("{} {:?}: {:?} {:?}", turn.id, turn.label, turn.next, inferred))
    });
    let listed: Vec<String> = mistakes.collect();
    println!("{}", listed.join("\n"));
    assert!(listed.len() * 5 < turns.len(), "{} mistakes", listed.len());
}

#[test]
fn what_is_about_something_else_rejects_nothing() {
    for [prompt, reply, next] in [
        ["Fix the link.", "A slash was missing.", "Le lien du pied de page est cassé aussi, regarde."],
        ["Fix the login.", "Fixed.", "Next up is the password reset, it keeps failing."],
        ["Write tests for parse().", "Here are six.", "Add one that checks that parse(1) fails."],
        ["What is an IBAN?", "An account number.", "My bank sent back the last IBAN, it was incorrect."],
        ["When do I prune roses?", "In late winter.", "Last winter it didn't help much."],
        ["Make a poll for lunch.", "Pizza, sushi.", "Sushi doesn't work for Kim, she's allergic."],
        ["Review my pull request.", "Two issues.", "That's not a blocker for me."],
        ["Is wine ok?", "Better not.", "I wanted to drink a glass."],
        ["A title for my story?", "The Silent Harbour", "There's no harbour in chapter two yet."],
        ["Why does it loop?", "You never increase i.", "Facepalm. It terminates, thank you."],
        ["¿Cómo aliño la ensalada?", "Añade un poco de vinagre.", "no hay vinagre en casa"],
        ["Who can sign?", "I wrote to Ms Klein.", "Ms Klein is not there this week"],
        ["Is it dear?", "The parcel costs 20 euros.", "20 euros is not much"],
        ["When does it end?", "The contract ends on 31 March.", "still need to sign the contract first"],
        ["Paint it.", "Ho usato il blu.", "non so se mi piace il blu"],
        ["Draft an out-of-office note.", "I am away until June 3.", "It's June 5, as my flight changed."],
    ] {
        let inferred = infer(Languages::built_in(), prompt, reply, next);
        assert_ne!(inferred.outcome, Outcome::Rejected, "{next}: {inferred:?}");
    }
}

/// What is accepted, rejected and neither, in each language, after an answer in that language.
#[test]
fn each_language_is_understood() {
    for [answer, accepted, rejected, neutral] in [
        ["I fixed the script.", "That did it, cheers", "thats not what I asked for", "and the second table?"],
        ["Ich habe das Skript korrigiert.", "läuft jetzt, danke", "geht immer noch nicht", "noch eine Frage dazu"],
        ["Corregí el script.", "ya funciona, gracias", "te dije que sin emojis", "¿y la segunda tabla?"],
        ["J'ai corrigé le script.", "ça marche, merci", "c'est faux, refais", "et pour le deuxième tableau ?"],
        ["Ho corretto lo script.", "ora funziona, grazie", "non va, stesso errore di prima", "ancora una domanda"],
        ["スクリプトを修正しました。", "動きました、ありがとう", "まだエラーが出ます", "グラフも追加できますか"],
        ["Ik heb het script aangepast.", "werkt, dankjewel", "klopt niet, doe het opnieuw", "nog een vraag hierover"],
        ["Poprawiłem skrypt.", "działa, dzięki", "dalej to samo, nie działa", "a dla drugiej tabeli?"],
        ["Corrigi o script.", "funcionou, obrigado", "nao foi isso que pedi", "ainda não rodei o script"],
        ["Я исправил скрипт.", "заработало, спасибо", "та же ошибка, не работает", "а для второй таблицы?"],
        ["Betiği düzelttim.", "çalıştı, teşekkürler", "hâlâ aynı hata", "peki ikinci tablo?"],
        ["我修好了脚本。", "可以了，谢谢", "还是报错，不对", "第二张表呢"],
    ] {
        let outcome = |next: &str| {
            let inferred = infer(Languages::built_in(), "", answer, next);
            if inferred.confidence >= CONFIDENT_MIN { inferred.outcome } else { Outcome::Neutral }
        };
        let found = [accepted, rejected, neutral].map(outcome);
        assert_eq!(found, [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral], "{answer}");
    }
}

#[test]
fn praise_of_one_part_beside_a_complaint_about_another_decides_nothing() {
    for [reply, next] in [
        ["I rewrote the title and the end.", "The beginning is very good, the end makes no sense."],
        ["开头重写了，结尾也加了一段。", "开头不错，结尾有点啰嗦"],
    ] {
        assert_eq!(infer(Languages::built_in(), "", reply, next).outcome, Outcome::Neutral, "{next}");
    }
}

#[test]
fn praise_beside_what_the_request_excluded_is_not_taken_as_meant() {
    let outcome =
        |reply: &str, next: &str| infer(Languages::built_in(), "Suggest a dinner without gluten.", reply, next).outcome;
    assert_eq!(outcome("Pasta and bread.", "Great, gluten everywhere. Another one?"), Outcome::Neutral);
    assert_eq!(outcome("Rice and beans.", "Great, no gluten at all! Another one?"), Outcome::Accepted);
}

#[test]
fn a_fault_that_the_person_denies_is_a_success() {
    let inferred = infer(Languages::built_in(), "", "多焖十分钟。", "真的不夹生了");
    assert_eq!(inferred.outcome, Outcome::Accepted, "{inferred:?}");
}

#[test]
fn praise_beside_a_statement_may_be_sarcasm() {
    let outcome = |next: &str| infer(Languages::built_in(), "Move it to Monday.", "I deleted it.", next).outcome;
    for next in ["Great, now nobody has any date.", "The calendar is empty, nice work", "Great, thanks..."] {
        assert_ne!(outcome(next), Outcome::Accepted, "{next}");
    }
    for next in ["Great, thanks!", "The calendar is fine. Thanks!", "Great! Can you do the same for May?"] {
        assert_eq!(outcome(next), Outcome::Accepted, "{next}");
    }
}

#[test]
fn a_remark_about_something_else_beside_a_question_decides_nothing() {
    for [reply, next] in [
        ["Drive to Dijon, sleep there.", "Perfect weather forecast all week btw. Is the detour longer?"],
        ["Send the complaint to the office.", "The shop sold everybody the wrong charger. Do I have to go there?"],
        ["Envie a reclamação pelo site.", "A loja me vendeu tudo errado e ainda foi grossa. Preciso ir pessoalmente?"],
        ["200番です。", "私の携帯は海外で使えません。現金で払えますか？"],
        ["Der Bus ist die Linie 9.", "Mein Bruder fährt super, sagt er. Was kostet die Karte?"],
        ["I Sassi, la cattedrale.", "Il treno era in ritardo, che disastro."],
    ] {
        let inferred = infer(Languages::built_in(), "", reply, next);
        assert_eq!(inferred.outcome, Outcome::Neutral, "{next}: {inferred:?}");
    }
    let next = "It doesn't work in Safari. What else can I try?";
    assert_eq!(infer(Languages::built_in(), "", "Use the new API.", next).outcome, Outcome::Rejected);
    let next = "It deleted half the rows, what a mess.";
    assert_eq!(infer(Languages::built_in(), "", "I updated the table.", next).outcome, Outcome::Rejected);
}

#[test]
fn words_of_the_answer_and_errors_with_a_question_mark_are_read_as_such() {
    let outcome = |reply: &str, next: &str| infer(Languages::built_in(), "", reply, next).outcome;
    assert_ne!(outcome("多半是系统时间不对,先校准时间。", "还真是时间不对,调完就好了"), Outcome::Rejected);
    assert_eq!(outcome("Wpisz `=DNI.SUMA(A1)`.", "wyskakuje #NAZWA? po wpisaniu"), Outcome::Rejected);
    let sql = "```sql\nDELETE FROM a WHERE id IN (SELECT id FROM a);\n```";
    assert_eq!(outcome(sql, "ERROR 1093 (HY000): You can't specify target table 'a'"), Outcome::Rejected);
}
