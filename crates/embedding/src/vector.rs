//! Vectors in eight bits a dimension.

/// Bytes of the number in front of the values of a stored vector.
const HEAD: usize = size_of::<f32>();

/// A direction. Its values are integers from -127 to 127, so it takes a quarter of the memory of floating-point
/// numbers; the angle between two vectors changes by less than a degree.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// 1 divided by the length; 0 for the vector of a text about which nothing is known.
    inverse_length: f32,
    values: Vec<i8>,
}

impl Vector {
    /// Reduces these numbers. `None` if they are all 0 or one of them is not finite: such a vector has no direction.
    pub fn of(numbers: &[f32]) -> Option<Self> {
        let most = numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        if !numbers.iter().all(|number| number.is_finite()) || most <= 0.0 {
            return None;
        }
        let values: Vec<i8> = numbers.iter().map(|number| (number / most * 127.0).round() as i8).collect();
        let square: i32 = values.iter().map(|value| i32::from(*value) * i32::from(*value)).sum();
        let length = (square as f32).sqrt();
        Some(Self { inverse_length: 1.0 / length, values })
    }

    /// The vector of a text about which nothing is known. It is near to none.
    pub fn unknown(dimensions: usize) -> Self {
        Self { inverse_length: 0.0, values: vec![0; dimensions] }
    }

    /// Number of its values.
    pub fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// Appends the stored form: 1 divided by the length (32 bits, little-endian), then a byte for each value.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.inverse_length.to_le_bytes());
        to.extend(self.values.iter().map(|value| value.cast_unsigned()));
    }
}

/// How near each vector of a row of stored ones is to this one: the cosine of the angle, from -1 to 1. Bytes at the end
/// that are no whole vector are left out.
pub fn similarities<'a>(to: &'a Vector, stored: &'a [u8]) -> impl Iterator<Item = f32> + 'a {
    stored.chunks_exact(HEAD + to.values.len()).map(|one| {
        let (head, values) = one.split_at(HEAD);
        let inverse_length = <[u8; HEAD]>::try_from(head).map_or(0.0, f32::from_le_bytes);
        let product: i32 =
            to.values.iter().zip(values).map(|(one, other)| i32::from(*one) * i32::from(other.cast_signed())).sum();
        let product = product as f32;
        product * to.inverse_length * inverse_length
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &[f32], other: &[f32]) -> f32 {
        let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
    }

    #[test]
    fn stored_vectors_are_as_near_as_the_numbers_they_come_from() {
        let numbers = |seed: u32| -> Vec<f32> {
            (0..256_u32).map(|at| f64::from((at * 31 + seed * 17) * (at + 7 * seed) % 201) as f32 - 100.0).collect()
        };
        let query = Vector::of(&numbers(1)).unwrap();
        let mut stored = Vec::new();
        for seed in 0..5 {
            Vector::of(&numbers(seed)).unwrap().write(&mut stored);
        }
        Vector::unknown(256).write(&mut stored);
        stored.extend([1, 2, 3]);
        let near: Vec<f32> = similarities(&query, &stored).collect();
        assert_eq!(near.len(), 6);
        for (seed, near) in (0..5).zip(&near) {
            assert!((near - cosine(&numbers(1), &numbers(seed))).abs() < 0.01, "{seed}: {near}");
        }
        assert!(near[5].abs() < f32::EPSILON, "an unknown text is near to nothing");
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for numbers in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert_eq!(Vector::of(numbers), None, "{numbers:?}");
        }
    }
}
