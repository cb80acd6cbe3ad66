//! Growth of `waylore index` with the repository, in processor time from spawn to exit: the first
//! index with commits and module map, an index with nothing changed, and one that only detects the
//! modules again.
//!
//! Arguments that are numbers are the sizes in files: `waylore-bench growth-files 1000 2000`. The
//! repositories are generated as for `waylore init`. Times of child processes come from `/proc`, so
//! this benchmark needs Linux.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};

use crate::bench_project::BenchProject;
use crate::init::write_repository;
use crate::table::{BenchRow, row};

const DEFAULT_SIZES: &[usize] = &[1_000, 5_000, 20_000];
const REPOSITORY_COMMITS: usize = 200;
/// Files of the repositories that differ in their number of folders only.
const FOLDER_FILES: usize = 6_000;
const FOLDER_COUNTS: &[usize] = &[300, 600, 1_200];
/// Runs of which the fastest counts.
const REPEATS: usize = 3;
/// `/proc` counts processor time in hundredths of a second on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor seconds of one repository.
struct GrowthTimes {
    cold: f64,
    unchanged: f64,
    /// Of an index after a README file was changed, which parses nothing.
    map: f64,
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let named: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if named.is_empty() { DEFAULT_SIZES.to_vec() } else { named };
    let mut rows = Vec::new();
    let mut before: Option<(usize, GrowthTimes)> = None;
    for n_files in sizes {
        let write = |root: &Path| write_repository(root, n_files, REPOSITORY_COMMITS);
        let times = measure_repository(write)?;
        let name = format!("{n_files} files in {} folders", n_files.div_ceil(25));
        rows.extend(growth_rows(&name, n_files, &times, before.as_ref()));
        before = Some((n_files, times));
    }
    before = None;
    for n_folders in FOLDER_COUNTS {
        let times = measure_repository(|root| write_folders(root, *n_folders))?;
        let name = format!("{FOLDER_FILES} files in {n_folders} folders");
        rows.extend(growth_rows(&name, *n_folders, &times, before.as_ref()));
        before = Some((*n_folders, times));
    }
    Ok(rows)
}

/// Three rows for a repository; the baseline is the one before it, with the factors of both.
fn growth_rows(
    name: &str,
    size: usize,
    times: &GrowthTimes,
    before: Option<&(usize, GrowthTimes)>,
) -> Vec<BenchRow> {
    let GrowthTimes { cold, unchanged, map } = times;
    let earlier = before.map(|(size, times)| (*size, [times.cold, times.unchanged, times.map]));
    let labels = ["first index", "index, nothing changed", "index, only the module map again"];
    let mut rows = Vec::new();
    for (nth, (label, seconds)) in labels.into_iter().zip([cold, unchanged, map]).enumerate() {
        let growth = earlier.map(|(earlier_size, earlier)| {
            let size_factor = size as f64 / earlier_size as f64;
            format!("size {size_factor:.1} ×, time {:.1} ×", seconds / earlier[nth])
        });
        let goal = match nth {
            1 => "< 0.3 s at 20,000 files",
            _ => "",
        };
        rows.push(row(
            format!("{label}, {name}"),
            format!("{seconds:.2} CPU-s"),
            goal,
            growth.unwrap_or_default(),
        ));
    }
    rows
}

fn measure_repository(write: impl Fn(&Path) -> anyhow::Result<()>) -> anyhow::Result<GrowthTimes> {
    let project = BenchProject::new()?;
    write(&project.root)?;
    let cold = time_index(&project)?;
    // The first index may have met files that were written just now.
    time_index(&project)?;
    let mut times = GrowthTimes { cold, unchanged: f64::MAX, map: f64::MAX };
    for round in 0..REPEATS {
        write_settled(&project.root.join("README.md"), &format!("# Shop\n\nSells {round}.\n"))?;
        times.map = times.map.min(time_index(&project)?);
        times.unchanged = times.unchanged.min(time_index(&project)?);
    }
    Ok(times)
}

/// Processor seconds of `waylore index`, those of git included.
fn time_index(project: &BenchProject) -> anyhow::Result<f64> {
    let before = child_seconds()?;
    project.run(&["index"])?;
    Ok(child_seconds()? - before)
}

/// Processor seconds of all children that have ended, in user and kernel mode.
fn child_seconds() -> anyhow::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("`/proc` exists on Linux only")?;
    // The second field is the program's name in brackets, which may contain spaces.
    let (_, fields) = stat.rsplit_once(')').context("a line of /proc/self/stat has a name")?;
    // `cutime` and `cstime` are the fields 16 and 17, counted from 1.
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

/// Files of equal size in folders of two levels; each file refers to one of another folder. A few
/// files at the top make the top a module, into which others can be merged.
fn write_folders(root: &Path, n_folders: usize) -> anyhow::Result<()> {
    ensure!(FOLDER_FILES.is_multiple_of(n_folders), "folders have equally many files");
    let module_of = |file: usize| {
        let folder = file / (FOLDER_FILES / n_folders);
        format!("app.area{}.part{folder}.file{file}", folder % 20)
    };
    for file in 0..FOLDER_FILES {
        let other = (file * 7 + 3) % FOLDER_FILES;
        let path = root.join(format!("{}.py", module_of(file).replace('.', "/")));
        fs::create_dir_all(path.parent().context("the file is in a folder")?)?;
        let text = format!(
            "from {} import total{other}\n\n\ndef total{file}(items):\n    return total{other}(items)\n",
            module_of(other)
        );
        fs::write(path, text)?;
    }
    for file in 0..5 {
        fs::write(root.join(format!("top{file}.py")), format!("def top{file}():\n    pass\n"))?;
    }
    Ok(())
}

/// Writes a file as if that had been a while ago: a stamp of just now proves nothing.
fn write_settled(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    let before = SystemTime::now() - Duration::from_secs(1);
    Ok(File::options().write(true).open(path)?.set_modified(before)?)
}
