//! Shares and latency over time, as SVG: a column for each director.

use std::path::Path;

use bench::sample::quantile;
use plotters::prelude::*;

use crate::plan::{Plan, ORIGINS, SLOW, SLOWER};
use crate::run::Run;
use crate::Failure;

/// A point of a curve is this long, in seconds.
const STEP: f64 = 1.0;
/// Told apart by those who see few colours, too (Okabe and Ito).
const ORIGIN_COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
const P50: RGBColor = RGBColor(86, 180, 233);
const P99: RGBColor = RGBColor(213, 94, 0);
/// In milliseconds.
const LATENCIES: std::ops::Range<f64> = 50.0..10_000.0;

pub fn draw(file: &Path, runs: &[Run], plan: &Plan, date: &str) -> Result<(), Failure> {
    let root = SVGBackend::new(file, (1200, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let (body, foot) = root.split_vertically(530);
    let text = format!(
        "make bench-cluster, {date}. Between the two lines, origin {} takes {SLOWER} times as long. {}",
        ORIGINS[SLOW].name, "Above: which origin the requests go to. Below: from when a request was due to the answer."
    );
    foot.draw(&Text::new(text, (10, 8), ("sans-serif", 13)))?;
    let columns = body.split_evenly((1, runs.len()));
    for (column, (area, run)) in columns.iter().zip(runs).enumerate() {
        let (top, bottom) = area.split_vertically(270);
        shares(&top, run, plan, column == 0)?;
        latencies(&bottom, run, plan, column == 0)?;
    }
    root.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn steps(plan: &Plan) -> usize {
    (plan.total().as_secs_f64() / STEP).floor() as usize
}

fn step(at: std::time::Duration) -> usize {
    (at.as_secs_f64() / STEP).floor() as usize
}

fn shares(area: &Area<'_>, run: &Run, plan: &Plan, legend: bool) -> Result<(), Failure> {
    let steps = steps(plan);
    let end = steps as f64 * STEP;
    let mut counts = vec![[0.0; ORIGINS.len()]; steps];
    for (origin, arrivals) in run.arrivals.iter().enumerate() {
        for at in arrivals {
            if let Some(of_step) = counts.get_mut(step(*at)) {
                of_step[origin] += 1.0;
            }
        }
    }
    let mut chart = ChartBuilder::on(area)
        .caption(run.contender.name(), ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(22)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..end, 0.0..100.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(5)
        .y_labels(5)
        .y_desc("share, %")
        .y_label_formatter(&|share| format!("{share:.0}"))
        .x_label_formatter(&seconds)
        .draw()?;
    // From the top down: each area covers the lower part of the one before
    for origin in (0..ORIGINS.len()).rev() {
        let upto = counts.iter().enumerate().map(|(i, of_step)| {
            let total: f64 = of_step.iter().sum();
            let sum: f64 = of_step.iter().take(origin + 1).sum();
            ((i as f64 + 0.5) * STEP, if total > 0.0 { sum / total * 100.0 } else { 0.0 })
        });
        let colour = ORIGIN_COLOURS[origin];
        chart
            .draw_series(AreaSeries::new(upto, 0.0, colour.mix(1.0)))?
            .label(ORIGINS[origin].name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    for at in borders(plan) {
        chart.draw_series(DashedLineSeries::new([(at, 0.0), (at, 100.0)], 5, 3, BLACK.into()))?;
    }
    if legend {
        legend_of(&mut chart)?;
    }
    Ok(())
}

fn latencies(area: &Area<'_>, run: &Run, plan: &Plan, legend: bool) -> Result<(), Failure> {
    let steps = steps(plan);
    let mut of_steps = vec![Vec::new(); steps];
    for answer in &run.answers {
        if let Some(of_step) = of_steps.get_mut(step(answer.due)) {
            of_step.push(answer.latency.as_secs_f64() * 1000.0);
        }
    }
    of_steps.iter_mut().for_each(|of_step| of_step.sort_by(f64::total_cmp));
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(22)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..steps as f64 * STEP, LATENCIES.log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(5)
        .y_desc("latency, ms")
        .x_label_formatter(&seconds)
        .y_label_formatter(&whole)
        .draw()?;
    for (name, part, colour) in [("p99", 0.99, P99), ("p50", 0.5, P50)] {
        let curve = of_steps.iter().enumerate().filter(|(_, of_step)| !of_step.is_empty());
        let curve = curve.map(|(i, of_step)| ((i as f64 + 0.5) * STEP, quantile(of_step, part)));
        chart
            .draw_series(LineSeries::new(curve, colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 12, y)], colour.stroke_width(2)));
    }
    for at in borders(plan) {
        chart.draw_series(DashedLineSeries::new([(at, LATENCIES.start), (at, LATENCIES.end)], 5, 3, BLACK.into()))?;
    }
    if legend {
        legend_of(&mut chart)?;
    }
    Ok(())
}

/// What the colours stand for.
fn legend_of<'a, 'b: 'a, C: CoordTranslate>(chart: &mut ChartContext<'a, SVGBackend<'b>, C>) -> Result<(), Failure> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}

fn borders(plan: &Plan) -> impl Iterator<Item = f64> + '_ {
    (1..plan.phases.len()).map(|phase| plan.begin(phase).as_secs_f64())
}

/// Labels of the time.
fn seconds(at: &f64) -> String {
    format!("{at:.0} s")
}

fn whole(number: &f64) -> String {
    format!("{number:.0}")
}
