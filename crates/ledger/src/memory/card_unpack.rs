//! How much the compressed chunks of a PNG unpack to, which is checked before anything reads the image.

use domain::{
    limit::MEMORY_CARD_UNPACKED_BYTES_MAX,
    memory::{BadCard, Packed},
};
use flate2::bufread::ZlibDecoder;
use std::io::Read as _;

/// Length of the signature before the first chunk.
const SIGNATURE: usize = 8;
/// Width, height, depth, colour type, compression, filter and interlacing.
const HEADER: usize = 13;

/// Refuses an image whose pixels unpack to more than its header announces, or whose texts and colour profile unpack to
/// more than [`MEMORY_CARD_UNPACKED_BYTES_MAX`] together. Unpacks no further than that, and keeps nothing. Whether the
/// image is whole is for the decoder to say.
///
/// # Errors
/// [`BadCard::Unpacks`]
pub(super) fn check(image: &[u8]) -> Result<(), BadCard> {
    let mut left = MEMORY_CARD_UNPACKED_BYTES_MAX;
    let mut pixels = Vec::new();
    let mut announced = None;
    for (kind, data) in chunks(image) {
        let (packed, stream) = match kind {
            b"IHDR" => {
                // A second header is for the decoder to refuse.
                announced = announced.or_else(|| raw_bytes(data));
                continue;
            }
            b"IDAT" => {
                pixels.extend_from_slice(data);
                continue;
            }
            b"zTXt" => (Packed::Text, after_names(data, 1).and_then(|rest| rest.get(1..))),
            b"iTXt" => (Packed::InternationalText, international(data)),
            b"iCCP" => (Packed::Profile, after_names(data, 1).and_then(|rest| rest.get(1..))),
            _ => continue,
        };
        let Some(stream) = stream else { continue };
        let max = MEMORY_CARD_UNPACKED_BYTES_MAX;
        left = left.checked_sub(unpacked(stream, left)).ok_or(BadCard::Unpacks { packed, max })?;
    }
    let announced = announced.unwrap_or(0);
    if unpacked(&pixels, announced) > announced {
        return Err(BadCard::Unpacks { packed: Packed::Pixels, max: announced });
    }
    Ok(())
}

/// Kind and data of each chunk, up to the last one that is whole.
fn chunks(image: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = image.get(SIGNATURE..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let (kind, after) = after.split_at_checked(4)?;
        let (data, after) = after.split_at_checked(length)?;
        rest = after.get(4..).unwrap_or_default();
        Some((kind, data))
    })
}

/// What follows `count` texts that end with a zero byte.
fn after_names(mut data: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        let end = data.iter().position(|byte| *byte == 0)?;
        data = data.get(end + 1..)?;
    }
    Some(data)
}

/// The compressed text of an iTXt chunk. `None` if its text is not compressed.
fn international(data: &[u8]) -> Option<&[u8]> {
    let (flags, rest) = after_names(data, 1)?.split_at_checked(2)?;
    if flags[0] == 0 { None } else { after_names(rest, 2) }
}

/// How many bytes a zlib stream unpacks to. Stops one byte behind `most`, and where the stream is damaged.
fn unpacked(stream: &[u8], most: u64) -> u64 {
    let mut reader = ZlibDecoder::new(stream).take(most.saturating_add(1));
    let mut buffer = [0; 32 * 1024];
    let mut bytes = 0;
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        bytes += read as u64;
    }
    bytes
}

/// Bytes of the unpacked rows of an image, each with its filter byte.
fn raw_bytes(header: &[u8]) -> Option<u64> {
    let header: &[u8; HEADER] = header.first_chunk()?;
    let number =
        |at: usize| u64::from(u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
    let (width, height, depth) = (number(0), number(4), u64::from(header[8]));
    let channels = match header[9] {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    let rows = |width: u64, height: u64| {
        let row = width.saturating_mul(depth * channels).div_ceil(8) + 1;
        if width == 0 { 0 } else { row.saturating_mul(height) }
    };
    if header[12] == 0 {
        return Some(rows(width, height));
    }
    // Adam7: first column and row of each pass, and the steps between two.
    let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];
    let part = |all: u64, first: u64, step: u64| all.saturating_sub(first).div_ceil(step);
    Some(passes.iter().map(|(x, y, across, down)| rows(part(width, *x, *across), part(height, *y, *down))).sum())
}
