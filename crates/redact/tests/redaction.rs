//! Measures how well secrets are found, with invented values: 300 secrets in places where people paste them,
//! and 300 texts that look like secrets and are not. `docs/feedback-data.md` quotes the figures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use redact::{Personal, Redactor};

/// Least recall (share of the secrets that are replaced) and least precision (share of secrets among the
/// replacements), in thousandths.
const RECALL_MIN: usize = 970;
const PRECISION_MIN: usize = 970;
/// Number of texts of either kind.
const TEXTS: usize = 300;
const SEED: u64 = 20;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// Returns random text of this length with characters of these alphabets.
fn random(rng: &mut Rng, alphabets: &[&str], length: usize) -> String {
    let letters: Vec<char> = alphabets.iter().flat_map(|alphabet| alphabet.chars()).collect();
    (0..length).map(|_| letters[rng.usize(..letters.len())]).collect()
}

fn word(rng: &mut Rng, length: usize) -> String {
    random(rng, &[LOWER, UPPER, DIGITS], length)
}

fn hex(rng: &mut Rng, length: usize) -> String {
    random(rng, &["0123456789abcdef"], length)
}

/// Returns a password like those of people: short, long, with symbols, or made of words.
fn password(rng: &mut Rng) -> String {
    let words = ["sunshine", "Sommer", "tr0ub4dor", "kaffee", "rex", "dragon", "lisboa", "hunter"];
    let word = |rng: &mut Rng| words[rng.usize(..words.len())].to_owned();
    match rng.u8(..5) {
        0 => format!("{}{}", word(rng), rng.u16(10..9_999)),
        1 => format!("{}!{}", word(rng), rng.u8(..)),
        2 => random(rng, &[LOWER, UPPER, DIGITS, "!?*+"], 10),
        3 => format!("{}-{}-{}", word(rng), word(rng), rng.u8(10..99)),
        _ => format!("{}{}", random(rng, &[LOWER], 4), rng.u8(10..99)),
    }
}

/// Returns a text with a secret, and the secret. Secrets are built at run time, so that scanners find none in
/// this file.
fn secret(rng: &mut Rng, form: usize) -> (String, String) {
    let within = |before: &str, value: String, after: &str| (format!("{before}{value}{after}"), value);
    let joined = |parts: &[&str]| parts.concat();
    let w = |rng: &mut Rng, length| word(rng, length);
    match form {
        0 => within("DB_PASSWORD=", password(rng), "\n"),
        1 => within("export OPENAI_API_KEY=", joined(&["sk", "-proj-", &w(rng, 32)]), ""),
        2 => within("{\"db_password\": \"", password(rng), "\", \"db_host\": \"localhost\"}"),
        3 => within("https://api.example.org/v1/items?token=", w(rng, 20), "&page=2"),
        4 => within("password = \"", format!("my {} dog", password(rng)), "\""),
        5 => within("I use ", joined(&["hf", "_", &w(rng, 34)]), " for the hub."),
        6 => within("//registry.npmjs.org/:_authToken=", joined(&["npm", "_", &w(rng, 36)]), ""),
        7 => within("key: ", joined(&["SG", ".", &w(rng, 22), ".", &w(rng, 43)]), ", please rotate it"),
        8 => within("AccountName=x;AccountKey=", format!("{}==", w(rng, 86)), ";EndpointSuffix=core.windows.net"),
        9 => {
            let path = format!("T{}/B{}/{}", w(rng, 8), w(rng, 8), w(rng, 24));
            let host = joined(&["https://hooks.", "slack.com/services/"]);
            within(&format!("curl -d hi {host}"), path, "")
        }
        10 => within("Cookie: theme=dark; sid=", w(rng, 26), "\nAccept: */*"),
        11 => within("VAULT_TOKEN ", joined(&["hv", "s.", &w(rng, 24)]), ""),
        12 => within("bot ", format!("{}:AA{}", rng.u32(100_000_000..), w(rng, 33)), " says hi"),
        13 => within("token ", joined(&["gh", "p_", &w(rng, 36)]), "."),
        14 => within("aws_access_key_id = ", joined(&["AK", "IA", &random(rng, &[UPPER, "234567"], 16)]), ""),
        15 => within("AWS_SECRET_ACCESS_KEY=", w(rng, 40), ""),
        16 => within("url: postgres://app:", password(rng), "@db/app"),
        17 => within("Authorization: Bearer ", w(rng, 32), "\r\n"),
        18 => {
            let part = |rng: &mut Rng| joined(&["ey", "J", &w(rng, 30)]);
            within("jwt is ", format!("{}.{}.{}", part(rng), part(rng), w(rng, 40)), "")
        }
        19 => within("stripe: ", joined(&["sk", "_live_", &w(rng, 24)]), ""),
        20 => {
            let body = format!("{}\n{}", w(rng, 64), w(rng, 40));
            let mark = |end: &str| format!("-----{end} RSA PRIVATE {}-----", "KEY");
            within(&format!("{}\n", mark("BEGIN")), body, &format!("\n{}", mark("END")))
        }
        21 => within("slack ", joined(&["xox", "b-", &random(rng, &[DIGITS], 12), "-", &w(rng, 24)]), ""),
        22 => within("GITLAB=", joined(&["gl", "pat-", &w(rng, 20)]), ""),
        23 => within("maps key ", joined(&["AI", "za", &w(rng, 35)]), ""),
        24 => within("My password is ", format!("{}7!", password(rng)), ", what now?"),
        25 => within("mysql -u root --password=", password(rng), " shop"),
        26 => within("MAILGUN_KEY=", format!("key-{}", hex(rng, 32)), ""),
        27 => within("twilio ", joined(&["SK", &hex(rng, 32)]), ""),
        28 => within("client_secret: '", w(rng, 30), "'"),
        29 => within("api_key: ", hex(rng, 32), ""),
        30 => within("X-Api-Key: ", w(rng, 24), ""),
        31 => within("PHPSESSID=", random(rng, &[LOWER, DIGITS], 26), "; path=/"),
        32 => within("datadog_api_key=", hex(rng, 40), ""),
        33 => within("DISCORD_TOKEN=", hex(rng, 64), ""),
        34 => within(
            "heroku key: ",
            format!("{}-{}-{}-{}-{}", hex(rng, 8), hex(rng, 4), hex(rng, 4), hex(rng, 4), hex(rng, 12)),
            "",
        ),
        35 => within("digital ocean: ", joined(&["dop", "_v1_", &hex(rng, 64)]), ""),
        36 => within("shop ", joined(&["shp", "at_", &hex(rng, 32)]), ""),
        37 => within("pypi ", joined(&["pypi", "-AgEIcHlwaS5vcmc", &w(rng, 60)]), ""),
        38 => within("Das Passwort lautet ", format!("{}9", password(rng)), "."),
        39 => within("mot_de_passe = '", password(rng), "'"),
        40 => within("contraseña: ", format!("{}8", password(rng)), ""),
        41 => within("SECRET_KEY = '", random(rng, &[LOWER, DIGITS, "!@#%^&*"], 50), "'"),
        42 => within("the value ", format!("{}7Qx{}", w(rng, 20), w(rng, 24)), " is in the log"),
        43 => within("  password: ", password(rng), "\n  user: app"),
        44 => within("JWT_SIGNING_KEY=", w(rng, 44), ""),
        45 => within("?sv=2022&sig=", format!("{}%3D", w(rng, 43)), "&se=2026"),
        46 => within("{\\\"password\\\": \\\"", password(rng), "\\\"}"),
        47 => within("set-cookie: session=", w(rng, 32), "; HttpOnly"),
        48 => within("Authorization: Basic ", format!("{}==", w(rng, 22)), ""),
        _ => within("passphrase: \"", format!("{} {}", password(rng), password(rng)), "\""),
    }
}

/// Returns a text that looks like a secret or mentions one.
fn innocent(rng: &mut Rng, form: usize) -> String {
    match form {
        0 => format!("commit {}", hex(rng, 40)),
        1 => format!("sha256:{}", hex(rng, 64)),
        2 => format!("{}-{}-{}-{}-{}", hex(rng, 8), hex(rng, 4), hex(rng, 4), hex(rng, 4), hex(rng, 12)),
        3 => "DB_PASSWORD=${DB_PASSWORD}".to_owned(),
        4 => "password = os.environ[\"DB_PASSWORD\"]".to_owned(),
        5 => format!("max_tokens={}", rng.u16(100..8_000)),
        6 => "OPENAI_API_KEY=<your key>".to_owned(),
        7 => "The password is required and must have 12 characters.".to_owned(),
        8 => format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{}", word(rng, 43)),
        9 => format!("\"integrity\": \"sha512-{}==\"", word(rng, 86)),
        10 => "token_type: bearer".to_owned(),
        11 => format!("order {}-{}", rng.u32(10_000..99_999), random(rng, &[UPPER], 3)),
        12 => "let token = parser.next_token();".to_owned(),
        13 => "fn login(user: &str, password: &str) -> Result<Token>".to_owned(),
        14 => format!("/usr/lib/x86_64-linux-gnu/libssl.so.{}", rng.u8(1..9)),
        15 => format!("https://example.org/posts/{}/how-to-rotate-an-api-key", rng.u32(..)),
        16 => "How do I reset my password?".to_owned(),
        17 => format!("primary_key: order_id_{}", rng.u8(..)),
        18 => "if (password == null) throw new Error('password missing')".to_owned(),
        19 => "secret = vault.read('kv/app')".to_owned(),
        20 => format!("image: ghcr.io/acme/web@sha256:{}", hex(rng, 64)),
        21 => format!("at {}:{} in module kernel/sched/core.c", rng.u16(..), rng.u8(..)),
        22 => "The token expires after 15 minutes; refresh it before.".to_owned(),
        23 => format!("tokens = {}", rng.u16(..)),
        24 => "Authorization: Bearer $TOKEN".to_owned(),
        25 => "API_KEY=\"\"".to_owned(),
        26 => format!("versions: 1.{}.{}-beta+{}", rng.u8(..), rng.u8(..), hex(rng, 7)),
        27 => "a_fairly_long_function_name_that_does_2_things_at_once".to_owned(),
        28 => "SpringBootApplicationContextInitializerFactoryBean2".to_owned(),
        29 => format!("GET /api/sessions/{}/events?afterSequence={}", hex(rng, 32), rng.u16(..)),
        30 => "password: ********".to_owned(),
        31 => "export TOKEN=$(gcloud auth print-access-token)".to_owned(),
        32 => "const secretName = config.secretName;".to_owned(),
        33 => "Das Passwort ist falsch.".to_owned(),
        34 => "La contraseña es incorrecta".to_owned(),
        35 => "le mot de passe est obligatoire".to_owned(),
        36 => format!("call me at {}", rng.u16(1_000..9_999)),
        37 => format!("ISBN 978-3-16-{}-0", rng.u32(100_000..999_999)),
        38 => "{{ secrets.DEPLOY_TOKEN }}".to_owned(),
        39 => "<input type=\"password\" name=\"password\" placeholder=\"Password\">".to_owned(),
        40 => "api_key = get_api_key()".to_owned(),
        41 => format!("etag: \"{}\"", hex(rng, 32)),
        42 => "The key insight: tokens are words, more or less.".to_owned(),
        43 => format!("node_modules/@babel/plugin-transform-{}/lib/index.js", random(rng, &[LOWER], 12)),
        44 => "password_hash = argon2.hash(password)".to_owned(),
        45 => "Cookie banners are annoying: accept or decline?".to_owned(),
        46 => "kubectl create secret generic app --from-file=./secret.txt".to_owned(),
        47 => format!("trace {} span {}", hex(rng, 32), hex(rng, 16)),
        48 => "passwd: password updated successfully".to_owned(),
        _ => "keyboard: qwerty, monkey: banana, hotkey: ctrl+k".to_owned(),
    }
}

fn redacted(text: &str) -> String {
    Redactor::built_in(Personal::default()).unwrap().redact(text).unwrap().into_owned()
}

#[test]
fn secrets_are_found_and_what_looks_like_them_is_left() {
    const FORMS: usize = 50;
    let mut rng = Rng::with_seed(SEED);
    let mut missed = Vec::new();
    for at in 0..TEXTS {
        let (text, value) = secret(&mut rng, at % FORMS);
        // No usable part of a secret is left either.
        let after = redacted(&text);
        let leaks = value.split('\n').any(|line| after.contains(line));
        if leaks || !after.contains("[REDACTED:") {
            missed.push(format!("{} {text:?} -> {after:?}", at % FORMS));
        }
    }
    let innocents: Vec<String> = (0..TEXTS).map(|at| innocent(&mut rng, at % FORMS)).collect();
    let wrong: Vec<String> = innocents
        .iter()
        .filter(|text| redacted(text) != **text)
        .map(|text| format!("{text:?} -> {:?}", redacted(text)))
        .collect();
    let found = TEXTS - missed.len();
    let (recall, precision) = (1_000 * found / TEXTS, 1_000 * found / (found + wrong.len()).max(1));
    println!("recall {recall}, precision {precision}\nmissed:\n{}\nwrong:\n{}", missed.join("\n"), wrong.join("\n"));
    assert!(recall >= RECALL_MIN, "recall {recall}: {}", missed.join("\n"));
    assert!(precision >= PRECISION_MIN, "precision {precision}: {}", wrong.join("\n"));
}

#[test]
fn text_around_a_secret_stays() {
    let before = "Run `export DB_PASSWORD=hunter2` and then ask Ann. The host is db.example.org, port 5432.";
    let after =
        "Run `export DB_PASSWORD=[REDACTED:assigned_secret]` and then ask Ann. The host is db.example.org, port 5432.";
    assert_eq!(redacted(before), after);
    assert_eq!(redacted("naïve café — 密码 is Chinese for password"), "naïve café — 密码 is Chinese for password");
}
