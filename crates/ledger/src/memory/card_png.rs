//! The text chunk of a PNG in which a character card is kept.

use super::card_unpack;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{limit::MEMORY_CARD_PIXELS_MAX, memory::BadCard};
use png::{Decoder, DecodingError, Limits};
use std::io::Cursor;

/// Names of the chunks, the preferred one first.
const CHUNKS: [&str; 2] = ["ccv3", "chara"];

/// The first bytes of a PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What is wrong with an image, for people. The decoder's own texts have its names of types and fields in them.
const fn damage(error: &DecodingError) -> &'static str {
    match error {
        DecodingError::IoError(_) => "the file ends too early",
        DecodingError::Format(_) => "a part of it is damaged",
        DecodingError::Parameter(_) => "its parts do not fit together",
        DecodingError::LimitsExceeded => "a part of it is too large",
    }
}

/// Returns the JSON of the card in an image. The chunk of version 3 wins over that of version 2. The image is read to
/// its end, because cards are written behind the pixels; the pixels are not kept.
///
/// # Errors
/// [`BadCard`]
pub(super) fn json_of(image: &[u8]) -> Result<String, BadCard> {
    if !image.starts_with(SIGNATURE) {
        return Err(BadCard::Png("it does not begin as a PNG does"));
    }
    let damaged = |error: DecodingError| BadCard::Png(damage(&error));
    // Buffers of the decoder are bounded by the file, which is bounded itself.
    let limits = Limits { bytes: image.len().saturating_mul(2) + 1024 * 1024 };
    let mut decoder = Decoder::new_with_limits(Cursor::new(image), limits);
    let header = decoder.read_header_info().map_err(damaged)?;
    let (width, height) = (header.width, header.height);
    if u64::from(width) * u64::from(height) > MEMORY_CARD_PIXELS_MAX {
        return Err(BadCard::Pixels { width, height, max: MEMORY_CARD_PIXELS_MAX });
    }
    card_unpack::check(image)?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    let texts = &reader.info().uncompressed_latin1_text;
    let found = CHUNKS.iter().find_map(|name| {
        let chunk = texts.iter().find(|text| text.keyword.eq_ignore_ascii_case(name))?;
        Some((*name, chunk))
    });
    let (name, chunk) = found.ok_or(BadCard::NoChunk)?;
    let bytes = STANDARD.decode(chunk.text.trim()).map_err(|_| BadCard::Chunk(name))?;
    String::from_utf8(bytes).map_err(|_| BadCard::Chunk(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of one pixel with these text chunks behind the pixels.
    fn image(width: u32, texts: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, 1);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&vec![0; width as usize]).unwrap();
        for (name, text) in texts {
            writer.write_text_chunk(&png::text_metadata::TEXtChunk::new(*name, *text)).unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn the_chunk_of_version_3_wins_and_names_are_compared_without_case() {
        let (two, three) = (STANDARD.encode("{\"v\":2}"), STANDARD.encode("{\"v\":3}"));
        let both = image(1, &[("Chara", &two), ("CCV3", &three), ("Comment", "x")]);
        assert_eq!(json_of(&both).unwrap(), "{\"v\":3}");
        assert_eq!(json_of(&image(1, &[("chara", &two)])).unwrap(), "{\"v\":2}");
    }

    #[test]
    fn images_that_are_no_cards_are_refused_by_name() {
        assert_eq!(json_of(&image(1, &[])), Err(BadCard::NoChunk));
        assert_eq!(json_of(&image(1, &[("chara", "%%%")])), Err(BadCard::Chunk("chara")));
        let not_utf8 = STANDARD.encode([0xff, 0xfe]);
        assert_eq!(json_of(&image(1, &[("chara", &not_utf8)])), Err(BadCard::Chunk("chara")));
        assert_eq!(json_of(b"GIF89a"), Err(BadCard::Png("it does not begin as a PNG does")));
        let whole = image(1, &[("chara", "e30=")]);
        for cut in [8, 20, whole.len() / 2, whole.len() - 1] {
            let why = json_of(&whole[..cut]).unwrap_err().to_string();
            let plain = ["ends too early", "is damaged", "fit together", "too large"];
            assert!(plain.iter().any(|part| why.ends_with(*part)), "{cut}: {why}");
        }
        let mut broken = whole;
        let at = broken.len() - 20;
        broken[at] ^= 0xff;
        assert!(json_of(&broken).is_err());
    }

    #[test]
    fn an_image_of_too_many_pixels_is_refused_before_it_is_unpacked() {
        let mut huge = image(1, &[("chara", "e30=")]);
        // Width and height of the header, and its checksum.
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        let checksum = crc32fast::hash(&huge[12..29]);
        huge[29..33].copy_from_slice(&checksum.to_be_bytes());
        assert!(matches!(json_of(&huge), Err(BadCard::Pixels { .. })));
    }
}
