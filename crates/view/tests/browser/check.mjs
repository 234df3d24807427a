// The page in a real browser: each page at three widths, light and dark; keys and forms; no console error, no request elsewhere, no
// violation that axe-core finds. Usage: node check.mjs PROGRAM FOLDER_FOR_SCREENSHOTS
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program, pictures] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const home = mkdtempSync(join(tmpdir(), "adage-view-"));
const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
const adage = (args, input) => execFileSync(program, ["--dir", join(home, "memory"), "--embedder", "none", ...args], { env, input, stdio: ["pipe", "pipe", "ignore"] }).toString();

adage(["init"]);
adage(["learn"], [
  { trigger: "pushing a rebased branch", mistake: "git push --force overwrote a colleague's commits", correct_pattern: "Use --force-with-lease, never --force.", situations: ["update my pull request after squashing"] },
  { trigger: "pinning numpy", correct_pattern: "Pin numpy below 2.0.", signs: ["numpy.dtype size changed"] },
  { trigger: "تثبيت الحزم", correct_pattern: "استخدم البيئة الافتراضية دائما." },
  { trigger: "依存関係を更新する", correct_pattern: "ロックファイルも更新する。" },
  { trigger: "a very long lesson", correct_pattern: "long words ".repeat(700) },
].map((row) => JSON.stringify(row)).join("\n"));

const server = spawn(program, ["--dir", join(home, "memory"), "--embedder", "none", "view", "--no-open"], { env });
const link = await new Promise((done) => server.stdout.on("data", (data) => { const found = /http:\S+/.exec(data); if (found) done(found[0]); }));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const faults = [];
const page = await (await browser.newContext({ bypassCSP: false })).newPage();
page.on("console", (message) => { if (message.type() === "error") faults.push(`console: ${message.text()}`); });
page.on("request", (request) => { if (new URL(request.url()).host !== new URL(link).host) faults.push(`request: ${request.url()}`); });
await page.goto(link);
const base = page.url().replace(/[^/]*$/, "");
if (!page.url().endsWith("/ask")) console.log("not let in:", page.url(), await page.textContent("body"));
await page.goto(`${base}lessons?q=pushing`);
if (!(await page.locator("a.trigger").count())) console.log(await page.textContent("body"));
const lesson = await page.locator("a.trigger").first().getAttribute("href", { timeout: 3000 });
const pages = { ask: "ask?q=pushing+a+rebased+branch", lessons: "lessons", lesson, edit: `${lesson}&edit=1`, review: "review", history: "history", time: "time" };
for (const [name, path] of Object.entries(pages)) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [375, 800, 1400]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(base + path);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) faults.push(`${name} at ${width}: ${overflow} pixels too wide`);
      await page.evaluate(await (await import("node:fs/promises")).readFile(axe, "utf8"));
      const found = await page.evaluate(() => axe.run());
      for (const violation of found.violations) faults.push(`${name} ${colorScheme} ${width}: ${violation.id}: ${violation.nodes[0].html.slice(0, 160)}`);
      await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`) });
    }
  }
}
await page.goto(`${base}${lesson}&edit=1`);
await page.fill("textarea[name=correct_pattern]", "Use --force-with-lease.");
await page.click("text=Save");
if (!(await page.textContent(".notice")).includes("Saved:")) faults.push("the edit was not saved");
await page.click(".notice button");
if (!(await page.textContent(".notice")).includes("Undone.")) faults.push("the edit was not undone");
await browser.close();
server.kill("SIGINT");
console.log(faults.length ? faults.join("\n") : "no fault");
process.exit(faults.length ? 1 : 0);
