//! The format `JSON`: protobuf's mapping to JSON.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::{number, Wanted, MAPS, NUMBERS};

/// `None` if the report is refused.
pub(super) fn read(report: &[u8], wanted: &mut Wanted<'_>) -> Option<()> {
    let mut json = serde_json::Deserializer::from_slice(report);
    Report(wanted).deserialize(&mut json).ok()?;
    json.end().ok()
}

/// Whether a name in JSON is that of a field, as it is or in camel case.
fn is(name: &str, field: &str) -> bool {
    let mut upper = false;
    let camel = field.chars().filter_map(|c| {
        let boundary = c == '_';
        let c = if upper { c.to_ascii_uppercase() } else { c };
        upper = boundary;
        (!boundary).then_some(c)
    });
    name == field || camel.eq(name.chars())
}

/// The whole message.
struct Report<'r, 'w>(&'r mut Wanted<'w>);

impl<'de> DeserializeSeed<'de> for Report<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Report<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if let Some((field, _)) = NUMBERS.iter().find(|(field, _)| is(&name, field)) {
                if let Some(value) = fields.next_value_seed(Number)? {
                    self.0.take(field.as_bytes().to_vec(), value).ok_or_else(refused)?;
                }
            } else if let Some((map, _)) = MAPS.iter().find(|(map, _)| is(&name, map)) {
                fields.next_value_seed(Map { wanted: &mut *self.0, name: map })?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

fn refused<E: Error>() -> E {
    E::custom("refused")
}

/// One of the maps. `null` is an empty one.
struct Map<'r, 'w> {
    wanted: &'r mut Wanted<'w>,
    name: &'static str,
}

impl<'de> DeserializeSeed<'de> for Map<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Map<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of numbers")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Number)?.ok_or_else(refused)?;
            self.wanted.take_from_map(self.name, key.as_bytes(), value).ok_or_else(refused)?;
        }
        Ok(())
    }
}

/// A number, or a string that has one, as protobuf's mapping allows. `null` is none.
struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = Option<f64>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<f64>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Number {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<f64>, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Option<f64>, E> {
        Ok(Some(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Option<f64>, E> {
        Ok(Some(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<f64>, E> {
        Ok(Some(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Option<f64>, E> {
        number(value.as_bytes()).map(Some).ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn names_in_camel_case() {
        assert!(is("cpu_utilization", "cpu_utilization"));
        assert!(is("cpuUtilization", "cpu_utilization"));
        assert!(is("eps", "eps"));
        for name in ["cpu_Utilization", "CpuUtilization", "cpuutilization", "cpuUtilizatio", "cpuUtilizations", ""] {
            assert!(!is(name, "cpu_utilization"), "{name}");
        }
    }
}
