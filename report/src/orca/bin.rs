//! The format `BIN`: protobuf in base64.

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::DecodePaddingMode;
use base64::{alphabet, Engine};
use protobuf::rt::WireType;
use protobuf::CodedInputStream;

use super::{Wanted, MAPS, NUMBERS};

/// gRPC sends base64 without padding, others with it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `None` if the report is refused.
pub(super) fn read(report: &[u8], wanted: &mut Wanted<'_>) -> Option<()> {
    let bytes = BASE64.decode(report.trim_ascii()).ok()?;
    let mut message = CodedInputStream::from_bytes(&bytes);
    while let Some((number, wire_type)) = tag(&mut message)? {
        if let Some((name, _)) = NUMBERS.iter().find(|(_, n)| *n == number) {
            let value = double(&mut message, wire_type)?;
            wanted.take(name.as_bytes().to_vec(), value)?;
        } else if let Some((map, _)) = MAPS.iter().find(|(_, n)| *n == number) {
            if wire_type != WireType::LengthDelimited {
                return None;
            }
            let (key, value) = entry(&message.read_bytes().ok()?)?;
            wanted.take_from_map(map, &key, value)?;
        } else {
            message.skip_field(wire_type).ok()?;
        }
    }
    Some(())
}

/// The number and type of the next field, or none at the end. `None` if it is no field.
fn tag(message: &mut CodedInputStream<'_>) -> Option<Option<(u32, WireType)>> {
    let Some(tag) = message.read_raw_tag_or_eof().ok()? else {
        return Some(None);
    };
    let (number, wire_type) = (tag >> 3, WireType::new(tag & 7)?);
    (number > 0).then_some(Some((number, wire_type)))
}

fn double(message: &mut CodedInputStream<'_>, wire_type: WireType) -> Option<f64> {
    (wire_type == WireType::Fixed64).then(|| message.read_double().ok())?
}

/// The key and value of an entry of a map: what is not there is empty, or 0.
fn entry(bytes: &[u8]) -> Option<(Vec<u8>, f64)> {
    let mut message = CodedInputStream::from_bytes(bytes);
    let (mut key, mut value) = (None, None);
    while let Some((number, wire_type)) = tag(&mut message)? {
        let again = match (number, wire_type) {
            (1, WireType::LengthDelimited) => key.replace(message.read_bytes().ok()?).is_some(),
            (2, _) => value.replace(double(&mut message, wire_type)?).is_some(),
            (1, _) => return None,
            _ => {
                message.skip_field(wire_type).ok()?;
                false
            }
        };
        if again {
            return None;
        }
    }
    Some((key.unwrap_or_default(), value.unwrap_or_default()))
}
