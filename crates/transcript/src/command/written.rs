//! The files that a simple command writes.

use super::invocation::Invocation;
use super::simple_command::base_name;

impl<'l> Invocation<'l> {
    /// The files and folders that the command creates, changes, moves or removes, as far as its words say: redirections, editors in
    /// place, `tee`, `cp`, `mv`. The path `.` stands for files that it does not name. What it writes to a device is not included.
    ///
    /// ```
    /// use adage_transcript::CommandLine;
    ///
    /// let line = CommandLine::parse("sed -i 's/v1.2/v1.3/' README.md && cat > src/a.go <<'EOF'\npackage a\nEOF");
    /// let written: Vec<String> = line.invocations().flat_map(|call| call.written_files()).collect();
    /// assert_eq!(written, ["README.md", "src/a.go"]);
    /// ```
    #[must_use]
    pub fn written_files(&self) -> Vec<String> {
        let own = match (self.name, self.form.as_str()) {
            ("sed" | "gsed", _) => self.edited_by(&SED),
            ("perl", _) => self.edited_by(&PERL),
            ("tee" | "sponge" | "touch" | "truncate" | "rm", _) | (_, "git rm") => owned(self.operands()),
            ("mv", _) | (_, "git mv") => {
                let sources = self.operands();
                let sources = sources.split_last().map_or(&[][..], |(_, sources)| sources).to_vec();
                owned(sources).into_iter().chain(self.targets()).collect()
            }
            ("cp" | "install", _) => self.targets(),
            ("patch", _) | (_, "git apply" | "git stash pop" | "git stash apply") => vec![".".to_owned()],
            _ => Vec::new(),
        };
        let all = own.into_iter().chain(owned(self.outputs.clone()));
        all.filter(|path| !path.starts_with("/dev/")).collect()
    }

    /// The operands of an editor that writes its files in place, without its script.
    fn edited_by(&self, editor: &Editor) -> Vec<String> {
        let (mut is_in_place, mut has_script, mut is_value) = (false, false, false);
        let mut files = Vec::new();
        for word in &self.words {
            if std::mem::take(&mut is_value) || word.is_empty() {
                continue;
            }
            is_in_place |= editor.is_in_place(word);
            let names_script = editor.names_script(word);
            has_script |= names_script;
            is_value = names_script && !word.contains('=');
            if !word.starts_with('-') {
                files.push((*word).to_owned());
            }
        }
        let n_scripts = usize::from(!has_script);
        if is_in_place { files.into_iter().skip(n_scripts).collect() } else { Vec::new() }
    }

    /// The words after program and subcommand that are not flags.
    fn operands(&self) -> Vec<&'l str> {
        self.arguments().into_iter().filter(|word| !word.starts_with('-') && !word.is_empty()).collect()
    }

    /// Where `cp` and `mv` put their files.
    fn targets(&self) -> Vec<String> {
        let operands = self.operands();
        let Some((target, sources)) = operands.split_last() else { return Vec::new() };
        let has_ending = |path: &&str| base_name(path).trim_start_matches('.').contains('.');
        let is_folder = target.ends_with(['/', '.'])
            || sources.len() > 1
            || (!has_ending(target) && sources.iter().any(has_ending));
        if !is_folder {
            return vec![(*target).to_owned()];
        }
        sources.iter().map(|source| format!("{}/{}", target.trim_end_matches('/'), base_name(source))).collect()
    }
}

/// The flags of an editor of streams that can write its files in place.
struct Editor {
    /// Letters that may come before the `i` of "in place" in one word.
    before_in_place: &'static str,
    /// Letters and long flags that the script follows.
    script_letters: [char; 2],
    script_flags: [&'static str; 2],
}

const SED: Editor =
    Editor { before_in_place: "nErsuz", script_letters: ['e', 'f'], script_flags: ["--expression", "--file"] };
const PERL: Editor = Editor { before_in_place: "pnlwasF0123456789", script_letters: ['e', 'E'], script_flags: [""; 2] };

impl Editor {
    /// `-i`, `-i.bak`, `-Ei`, `-0pi`, `--in-place=.bak`
    fn is_in_place(&self, word: &str) -> bool {
        let long = word.strip_prefix("--in-place").is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        long || short_flags(word).is_some_and(|letters| {
            letters.split_once('i').is_some_and(|(before, _)| before.chars().all(|c| self.before_in_place.contains(c)))
        })
    }

    /// True for a flag whose value is the script: `-e`, `-ne`, `--expression=s/a/b/`.
    fn names_script(&self, word: &str) -> bool {
        let is_long = word.split('=').next().is_some_and(|flag| !flag.is_empty() && self.script_flags.contains(&flag));
        let is_letter = |c: char| self.before_in_place.contains(c) || c == 'i';
        is_long
            || short_flags(word).is_some_and(|letters| {
                letters.strip_suffix(self.script_letters).is_some_and(|before| before.chars().all(is_letter))
            })
    }
}

/// The letters of a word of short flags.
fn short_flags(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
}

fn owned(words: Vec<&str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use crate::CommandLine;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let parsed = CommandLine::parse(line);
        let written: Vec<String> = parsed.invocations().flat_map(|call| call.written_files()).collect();
        assert_eq!(written, expected, "{line}");
    }

    #[test]
    fn an_editor_in_place_writes_its_files_and_not_its_script() {
        for line in [
            "sed -i 's/v1.2/v1.3/' a.go",
            "sed -Ei 's/a/b.c/' a.go",
            "sed -i.bak -e s/a.b/c/ a.go",
            "sed --in-place=.bak s/a/b/ a.go",
            "sed --in-place --expression=s/a/b/ a.go",
            "sed -i '' 's/a/b/' a.go",
            "sed -n -i -f fix.sed a.go",
            "perl -pi -e 's/a/b/' a.go",
            "perl -0pi -e 's/a/b/' a.go",
            "perl -i -0777 -pe 's/a.b/b/' a.go",
            "sudo gsed -i s/a/b/ a.go",
        ] {
            check(line, &["a.go"]);
        }
        for line in [
            "sed -n 1,20p a.go",
            "sed -e s/i/j/ a.go",
            "perl -ne 'print if /i/' a.go",
            "perl -Ilib -Mstrict fix.pl a.go",
            "cat a.go | grep -i x",
            "go test ./... 2>&1 > /dev/null",
            "git commit -am 'a > b.go'",
        ] {
            check(line, &[]);
        }
    }

    #[test]
    fn redirections_of_commands_and_groups_write_files() {
        check("cat > lib/a.ex <<'EOF'\nx > y\nEOF", &["lib/a.ex"]);
        check("cat <<EOF >> a.go\nx\nEOF", &["a.go"]);
        check("echo x >> \"b c.go\" && sudo jq . x.json > y.json", &["b c.go", "y.json"]);
        check("{ echo a; echo b; } > a.ts", &["a.ts"]);
        check("for f in 1 2; do echo $f; done > out.txt", &["out.txt"]);
        check("(cd web && node gen.js) > web/gen.ts", &["web/gen.ts"]);
        check("go list ./... | tee a.txt | wc -l", &["a.txt"]);
        check("make 2> err.log", &["err.log"]);
    }

    #[test]
    fn files_are_moved_copied_and_removed() {
        check("mv a.ts b.ts", &["a.ts", "b.ts"]);
        check("cp /srv/a.go pkg/", &["pkg/a.go"]);
        check("cp -r a.go b.go pkg", &["pkg/a.go", "pkg/b.go"]);
        check("cp a.go ../b.go", &["../b.go"]);
        check("git mv pkg lib", &["pkg", "lib"]);
        check("git rm -f lib/a.ex", &["lib/a.ex"]);
        check("rm -rf pkg/old", &["pkg/old"]);
        check("git stash pop && git apply fix.diff", &[".", "."]);
    }
}
