//! Where the vectors come from.

use std::path::Path;

use adage::index::UnitVector;
use adage_eval::Random;

use crate::{Failure, npy};

/// Rows, and the queries that are asked of them.
pub(crate) struct Vectors {
    pub(crate) base: Vec<UnitVector>,
    pub(crate) queries: Vec<UnitVector>,
}

/// The vectors of a folder.
pub(crate) fn read(folder: &Path) -> Result<Vectors, Failure> {
    let float = folder.join("base_f32.npy");
    let base = if float.exists() { float_vectors(&float)? } else { decoded(folder)? };
    Ok(Vectors { base, queries: float_vectors(&folder.join("queries.npy"))? })
}

fn float_vectors(path: &Path) -> Result<Vec<UnitVector>, Failure> {
    let (bytes, width) = npy::read(path, "<f4")?;
    Ok(npy::floats(&bytes).chunks_exact(width).map(UnitVector::new).collect::<Result<_, _>>()?)
}

fn decoded(folder: &Path) -> Result<Vec<UnitVector>, Failure> {
    let (codes, width) = npy::read(&folder.join("base_i8.npy"), "|i1")?;
    let (scales, _) = npy::read(&folder.join("base_scale.npy"), "<f4")?;
    let row = |(codes, scale): (&[u8], f32)| {
        let row: Vec<f32> = codes.iter().map(|code| f32::from(code.cast_signed()) * scale).collect();
        UnitVector::new(&row)
    };
    Ok(codes.chunks_exact(width).zip(npy::floats(&scales)).map(row).collect::<Result<_, _>>()?)
}

/// Writes what [`read`] reads.
pub(crate) fn save(folder: &Path, Vectors { base, queries }: &Vectors) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    for (name, rows) in [("base_f32.npy", base), ("queries.npy", queries)] {
        let n_components = rows.first().map_or(0, |row| row.as_slice().len());
        npy::write(&folder.join(name), n_components, rows.iter().map(UnitVector::as_slice))?;
    }
    Ok(())
}

/// Embeds the lines of a file; every tenth becomes a query.
pub(crate) fn embed(file: &Path) -> Result<Vectors, Failure> {
    use adage::embed::{Engine, Model, Role};
    use adage::{Embedder, OnnxEmbedder};
    let embedder = OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn);
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (mut base, mut queries) = (Vec::new(), Vec::new());
    for (nth, lines) in lines.chunks(64).enumerate() {
        eprint!("\r{} of {} texts embedded", nth * 64, text.lines().count());
        for (nth, row) in embedder.embed(lines, Role::Document)?.outer_iter().enumerate() {
            let into = if nth % 10 == 9 { &mut queries } else { &mut base };
            into.push(UnitVector::new(&row.to_vec())?);
        }
    }
    eprintln!();
    Ok(Vectors { base, queries })
}

/// `n` vectors of 384 components, and 1,000 queries from the same distribution: 2,000 clusters whose sizes fall as 1/rank. They spread
/// in 32 directions that all clusters share, because vectors of texts do not fill their space either, and a little in all others.
pub(crate) fn synthetic(n: usize) -> Result<Vectors, Failure> {
    const DIMENSION: usize = 384;
    const CENTRES: usize = 2_000;
    const DIRECTIONS: usize = 32;
    let mut random = Random(3);
    let mut gauss =
        |n: usize| -> Vec<Vec<f32>> { (0..n).map(|_| (0..DIMENSION).map(|_| normal(&mut random)).collect()).collect() };
    let (centres, directions) = (gauss(CENTRES), gauss(DIRECTIONS));
    let mut mass = 0.0;
    let masses: Vec<f64> = (1..=CENTRES)
        .map(|rank| {
            mass += 1.0 / rank as f64;
            mass
        })
        .collect();
    let mut draw = || {
        let at = random.unit() * mass;
        let mut row = centres[masses.partition_point(|upto| *upto < at).min(CENTRES - 1)].clone();
        for direction in &directions {
            let weight = 0.3 * normal(&mut random);
            for (component, direction) in row.iter_mut().zip(direction) {
                *component += weight * direction;
            }
        }
        for component in &mut row {
            *component += 0.1 * normal(&mut random);
        }
        UnitVector::new(&row)
    };
    let queries = (0..1_000).map(|_| draw()).collect::<Result<_, _>>()?;
    Ok(Vectors { base: (0..n).map(|_| draw()).collect::<Result<_, _>>()?, queries })
}

/// `n` rows: each is one of `base` in turn, plus half of another one at random, plus noise of a quarter of their length.
pub(crate) fn enlarge(base: &[UnitVector], n: usize) -> Result<Vec<UnitVector>, Failure> {
    let mut random = Random(5);
    let noise = 0.25 / (base[0].as_slice().len() as f32).sqrt();
    let mut draw = |own: &UnitVector| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let other = base[(random.unit() * base.len() as f64) as usize].as_slice();
        let mix = |(own, other): (&f32, &f32)| own + 0.5 * other + noise * normal(&mut random);
        UnitVector::new(&own.as_slice().iter().zip(other).map(mix).collect::<Vec<f32>>())
    };
    Ok(base.iter().cycle().take(n).map(&mut draw).collect::<Result<_, _>>()?)
}

/// The direction of a vector plus a vector of this length that is spread over four components.
pub(crate) fn shifted(vector: &UnitVector, length: f32) -> Result<UnitVector, Failure> {
    let mut components = vector.as_slice().to_vec();
    let step = components.len().div_ceil(4);
    components.iter_mut().step_by(step).for_each(|component| *component += 0.5 * length);
    Ok(UnitVector::new(&components)?)
}

#[allow(clippy::cast_possible_truncation, reason = "f32 is what an index holds")]
fn normal(random: &mut Random) -> f32 {
    random.normal() as f32
}
