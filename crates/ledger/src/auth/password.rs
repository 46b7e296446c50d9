//! Password hashes: argon2id, t = 2, m = 19 MiB, p = 1 (OWASP ASVS 5.0 appendix C), two at a time.

use crate::{
    Ledger,
    error::{Error, Result},
};
use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use domain::limit::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};

const MEMORY_KIB: u32 = 19 * 1024;
const ITERATIONS: u32 = 2;
const LANES: u32 = 1;

/// What hashing a password costs, whoever guesses and whoever signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PasswordCost {
    /// 19 MiB and tens of milliseconds of a core.
    #[default]
    Full,
    /// The least that argon2 takes. It protects nothing: for people who are thrown away with their test.
    Least,
}

/// A hash of no password: checked for unknown addresses, so that they take as long as known ones.
const DUMMY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c2hpZnRib29rLWR1bW15$0000000000000000000000000000000000000000000";

fn hasher(cost: PasswordCost) -> Result<Argon2<'static>> {
    let (memory_kib, iterations) = match cost {
        PasswordCost::Full => (MEMORY_KIB, ITERATIONS),
        PasswordCost::Least => (Params::MIN_M_COST, Params::MIN_T_COST),
    };
    let params = Params::new(memory_kib, iterations, LANES, None).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The PHC string of a new password.
pub(crate) async fn hash_password(ledger: &Ledger, password: &str) -> Result<String> {
    if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
        return Err(Error::invalid(
            "password",
            format!("at least {PASSWORD_CHARS_MIN} characters, at most {PASSWORD_BYTES_MAX} bytes"),
        ));
    }
    let mut salt = [0_u8; 16];
    ledger.entropy().fill(&mut salt);
    let (password, cost) = (password.to_owned(), ledger.password_cost());
    compute(ledger, move || {
        let hash: PasswordHash = hasher(cost)?
            .hash_password_with_salt(password.as_bytes(), &salt)
            .map_err(|e| Error::Internal(format!("argon2: {e}")))?;
        Ok(hash.to_string())
    })
    .await
}

/// Whether the password is the one of this hash. `None` takes as long and is never right.
pub(crate) async fn verify_password(ledger: &Ledger, password: &str, hash: Option<String>) -> Result<bool> {
    if password.len() > PASSWORD_BYTES_MAX {
        return Ok(false);
    }
    let password = password.to_owned();
    compute(ledger, move || {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| DUMMY.to_owned());
        // The hash says itself what it cost.
        let right = hasher(PasswordCost::Full)?.verify_password(password.as_bytes(), hash.as_str()).is_ok();
        Ok(known && right)
    })
    .await
}

/// Runs a hash off the async threads, bounded in number.
async fn compute<T: Send + 'static>(ledger: &Ledger, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let _permit = ledger.password_permits().acquire().await.map_err(|e| Error::Unavailable(e.to_string()))?;
    tokio::task::spawn_blocking(work).await.map_err(|e| Error::Internal(e.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dummy_hash_is_computed_with_the_parameters_of_real_ones() {
        let dummy = PasswordHash::new(DUMMY).unwrap();
        let real: PasswordHash = hasher(PasswordCost::default())
            .unwrap()
            .hash_password_with_salt(b"long enough", b"0123456789abcdef")
            .unwrap();
        assert_eq!(dummy.params, real.params);
        assert_eq!(dummy.algorithm, real.algorithm);
    }
}
