//! What the form of a value says: whether it is a placeholder, code, a path, words of a sentence, or public.

use crate::words::{CODE_STARTS, INNOCENT_VALUES, PUBLIC_BEFORE};

/// Bytes before random text that are searched for a sign that it is public.
const BEFORE_BYTES: usize = 24;
/// Bytes before random text that are searched for the beginning of a block of a certificate.
const BLOCK_BYTES: usize = 8 * 1024;

/// Whether a name, in lower case, is one for passwords of people, which may be words.
pub(crate) fn names_a_password(name: &str) -> bool {
    const PARTS: [&str; 19] = [
        "passw",
        "passphrase",
        "passcode",
        "kennwort",
        "contrase",
        "motdepasse",
        "mot_de_passe",
        "mot de passe",
        "pwd",
        "mdp",
        "senha",
        "wachtwoord",
        "hasło",
        "haslo",
        "ifre",
        "пароль",
        "パスワード",
        "密码",
        "口令",
    ];
    PARTS.iter().any(|part| name.contains(part)) || name == "pw" || name.ends_with("pass")
}

/// Whether a value is a path of files or of code, a call, or a member of something.
pub(crate) fn is_path(value: &str) -> bool {
    value.contains("::")
        || value.starts_with('/')
        || value.starts_with("./")
        || value.contains("()")
        || is_member(value)
}

/// Whether a value consists of names joined by dots, such as `parser.next` or `User.token_hash`.
fn is_member(value: &str) -> bool {
    let is_name = |part: &str| {
        part.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    value.contains('.') && value.split('.').all(is_name) && value.chars().filter(char::is_ascii_digit).count() < 3
}

/// Whether a value is a placeholder for a secret, a word about one, or code that reads one. A quoted value is no code.
pub(crate) fn is_placeholder_of_secret(value: &str, is_quoted: bool) -> bool {
    let is_variable = |name: &str| name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    let lower = value.to_lowercase();
    let trimmed = lower.trim_matches(|letter: char| !letter.is_alphanumeric());
    let first = lower.chars().next();
    lower.chars().all(|letter| Some(letter) == first)
        || lower.chars().all(|letter| "*•.x_-?#".contains(letter))
        || INNOCENT_VALUES.contains(&trimmed)
        || !is_quoted && CODE_STARTS.iter().any(|start| lower.starts_with(start))
        || value.strip_prefix('$').is_some_and(is_variable)
        || value.starts_with("$(")
        || lower.contains("${")
        || lower.contains("{{")
        || lower.starts_with(['<', '{', '['])
        || lower.contains("redacted")
        || ["your", "my-", "my_", "example", "placeholder", "xxxx", "****", "..."]
            .iter()
            .any(|word| lower.contains(word))
}

/// Whether a value has a form that words of a sentence do not have: letters with digits or symbols, an
/// upper-case letter after the first, or digits only.
pub(crate) fn is_mixed(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', '!', '?', ';', ':', ')']);
    let has = |of: fn(char) -> bool| value.chars().any(of);
    let later_upper = value.chars().skip(1).any(char::is_uppercase) && has(char::is_lowercase);
    let has_mark = value.chars().any(|letter| !letter.is_alphanumeric() && !"-_'’.".contains(letter));
    has(char::is_alphabetic) && (has(char::is_numeric) || has_mark)
        || later_upper && value.len() >= 8
        || value.len() >= 4 && value.chars().all(char::is_numeric)
}

/// Returns the Shannon entropy of a text, bits per byte.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len().max(1) as f64;
    let share = |count: u32| f64::from(count) / length;
    counts.iter().filter(|count| **count > 0).map(|count| -share(*count) * share(*count).log2()).sum()
}

/// Whether the text at `at` is public: the name of a digest or a public key is before it, or it is in such a block.
pub(crate) fn is_public(text: &str, at: usize) -> bool {
    let start = (at.saturating_sub(BEFORE_BYTES)..=at).find(|start| text.is_char_boundary(*start)).unwrap_or(at);
    let before = text.get(start..at).unwrap_or_default().to_ascii_lowercase();
    let digests = ["sha256-", "sha384-", "sha512-"];
    let is_digest = text.get(at..).is_some_and(|found| digests.iter().any(|digest| found.starts_with(digest)));
    // Keys of SSH, which begin with the names of their algorithms in base64.
    let keys = ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLX", "AAAAInNrLW"];
    let is_ssh_key = text.get(at..).is_some_and(|found| keys.iter().any(|key| found.starts_with(key)));
    is_digest
        || is_ssh_key
        || PUBLIC_BEFORE.iter().any(|public| before.contains(public))
        || is_in_public_block(text, at)
}

/// Whether the text at `at` is inside the armour of a certificate or a public key.
fn is_in_public_block(text: &str, at: usize) -> bool {
    let start = (at.saturating_sub(BLOCK_BYTES)..=at).find(|start| text.is_char_boundary(*start)).unwrap_or(at);
    let before = text.get(start..at).unwrap_or_default();
    let Some(mark) = before.rfind("-----BEGIN ") else { return false };
    let block = &before[mark..];
    (block.starts_with("-----BEGIN CERTIFICATE") || block.contains("PUBLIC KEY")) && !block.contains("-----END ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_shannon() {
        assert!((entropy("aaaa") - 0.0).abs() < 1e-9);
        assert!((entropy("abcd") - 2.0).abs() < 1e-9);
        assert!((entropy("") - 0.0).abs() < 1e-9);
    }
}
