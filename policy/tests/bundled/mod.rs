//! How the bundled directors pick, line by line: the oracle of those that do the same.

/// `vdir_update_health` and `vdir_pick_by_weight` of the bundled VMOD.
pub fn pick_by_weight(weights: &[f64], healthy: &[bool], r: f64) -> Option<usize> {
    let mut total = 0.0;
    for (w, h) in weights.iter().zip(healthy) {
        if *h {
            total += w;
        }
    }
    if total <= 0.0 {
        return None;
    }
    let w = r * total;
    let mut a = 0.0;
    for (u, (weight, h)) in weights.iter().zip(healthy).enumerate() {
        if !h {
            continue;
        }
        a += weight;
        if w < a {
            return Some(u);
        }
    }
    panic!("the bundled VMOD dies here");
}
