// The report of a run and the site, as a reader's browser shows them.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cutFields, cutParts, root, scrolledBoxes, seriousFindings, untidyTexts, workbench } from "./browser.mjs";

let bench;
const reports = {};

before(async () => {
  bench = await workbench();
  for (const suite of ["pajamax-tonic", "grpc-thrift-go", "java-executors"]) {
    reports[suite] = join(bench.folder, `${suite}.html`);
    bench.bookend(["report", `records/intel-xeon-processor-2-cpus/${suite}`, "-o", reports[suite]]);
  }
});

after(() => bench.close());

test("a report opens from disk, asks for nothing and complains of nothing", async () => {
  for (const file of Object.values(reports)) {
    const page = await bench.open(file);
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.asked, [page.url()]);
    await page.context().close();
  }
});

test("every picture is drawn, with all its numbers one click away", async () => {
  const page = await bench.open(reports["pajamax-tonic"]);
  // Beyond three of a kind they are behind a click of their own.
  const folds = await page.locator("details:has(figure) > summary").all();
  for (const fold of folds) await fold.click();
  const figures = await page.locator("figure").all();
  assert.ok(figures.length >= 8, `${figures.length} pictures`);
  for (const figure of figures) {
    const marks = await figure.locator("svg path, svg rect").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().width > 0).length);
    assert.ok(marks > 4, await figure.getAttribute("id"));
    const numbers = figure.locator("table");
    assert.equal(await numbers.isVisible(), false);
    await figure.locator("summary").click();
    assert.equal(await numbers.isVisible(), true);
    // The least are the four cells of the published profile, through ghz.
    const rows = await numbers.locator("tbody tr").count();
    assert.ok(rows >= 4, `${await figure.getAttribute("id")}: ${rows} rows`);
  }
});

test("no text of a picture is cut or lies over another", async () => {
  for (const file of Object.values(reports)) {
    const page = await bench.open(file);
    assert.deepEqual(await untidyTexts(page), []);
    await page.context().close();
  }
});

test("a table is sorted by a heading that is pressed, by keyboard too", async () => {
  const page = await bench.open(reports["pajamax-tonic"]);
  const long = page.locator("#table-latency-and-memory + details");
  await long.locator("summary").click();
  const table = long.locator("table");
  const column = async (index) => {
    const rows = table.locator("tbody tr:not(:has([colspan]))");
    return rows.evaluateAll((all, place) => all.map((row) => row.cells[place].textContent), index);
  };
  const seconds = (text) => {
    const [, figure, unit] = /([\d.]+) (ns|\u00b5s|ms|s)$/.exec(text);
    return Number(figure) * { ns: 1e-9, "\u00b5s": 1e-6, ms: 1e-3, s: 1 }[unit];
  };
  const heading = table.locator("thead button", { hasText: "p99.9" });
  const index = await heading.evaluate((button) => button.parentElement.cellIndex);
  await heading.click();
  const down = (await column(index)).map(seconds);
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  await heading.focus();
  await page.keyboard.press("Enter");
  const up = (await column(index)).map(seconds);
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  assert.equal(await table.locator("th[aria-sort=ascending]").count(), 1);
  const last = await table.locator("tbody tr").last().textContent();
  assert.match(last, /failed|refused/);
});

test("without script everything is there but the sorting", async () => {
  const page = await bench.open(reports["pajamax-tonic"], { javaScriptEnabled: false });
  assert.ok(await page.locator(".answer p").first().isVisible());
  assert.ok(await page.locator("svg").count() >= 8);
  assert.ok(await page.locator("#table-results + details tbody tr").count() > 100);
  assert.equal(await page.locator("button").count(), 0);
});

test("colours follow the reader, and paper is white", async () => {
  const page = await bench.open(reports["pajamax-tonic"]);
  const colours = () => page.evaluate(() => ({
    page: getComputedStyle(document.body).backgroundColor,
    line: getComputedStyle(document.querySelector("svg .stroke0")).stroke,
  }));
  await page.emulateMedia({ colorScheme: "light" });
  const light = await colours();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await colours();
  assert.notEqual(light.page, dark.page);
  assert.notEqual(light.line, dark.line);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  assert.deepEqual(await colours(), light);
});

test("a narrow screen has narrow pictures, and scrolls tables, not the page", async () => {
  for (const file of Object.values(reports)) {
    const page = await bench.open(file, { viewport: { width: 400, height: 800 } });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 400, `${file}: ${wide}`);
    assert.deepEqual(await untidyTexts(page), []);
    assert.deepEqual(await cutParts(page), []);
    await page.context().close();
  }
});

test("axe finds nothing serious, light or dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await bench.open(reports["java-executors"], { colorScheme });
    await page.locator("summary").evaluateAll((all) => all.forEach((one) => one.click()));
    assert.deepEqual(await seriousFindings(page), []);
    await page.context().close();
  }
});

test("what a server answered or a person wrote runs nowhere", async () => {
  const hostile = "<script>document.title='mine'</script>\"'><img src=x onerror=\"document.title='mine'\">";
  // A record that is not compressed: its suite is one of java-grpc's executors.
  const text = readFileSync(join(root, "fuzz/seeds/record/measured"), "utf8");
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const rename = (name) => (name === "java-grpc/virtual" ? hostile : name);
  lines[0].suite = lines[0].plan.suite = `../../${hostile}`;
  lines[0].notes.push(hostile, hostile.repeat(10_000));
  lines[0].versions[hostile] = hostile;
  lines[0].plan.subjects.forEach((subject) => { subject.name = rename(subject.name); });
  lines.slice(1).forEach((row) => {
    row.cell.subject = rename(row.cell.subject);
    if (row.outcome.errors) row.outcome.errors[hostile] = 7;
  });
  const folder = join(bench.folder, "hostile");
  mkdirSync(folder);
  const record = join(folder, "full.jsonl");
  writeFileSync(record, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const said = bench.bookend(["report", record], folder);
  assert.match(said, /^script-document-title-[a-z0-9-]+\.html \(/);
  const page = await bench.open(join(folder, said.split(" ")[0]));
  assert.deepEqual(page.complaints, []);
  assert.notEqual(await page.title(), "mine");
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.locator("body").textContent()).includes(hostile));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 1600, String(wide));
  assert.deepEqual(await untidyTexts(page), []);
});

test("the site opens from its folder, filters by tag and keeps that in its address", async () => {
  const site = join(bench.folder, "site");
  bench.publication(["site", site]);
  const front = join(site, "index.html");
  const page = await bench.open(front);
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(await seriousFindings(page), []);
  const shown = () => page.locator("tr[data-tags]:visible").count();
  const all = await shown();
  await page.getByLabel("go", { exact: true }).check();
  const some = await shown();
  assert.ok(some > 0 && some < all, `${some} of ${all}`);
  assert.ok(page.url().endsWith("#tag=go"), page.url());
  const again = await bench.open(front);
  await again.goto(page.url());
  await again.reload();
  assert.equal(await again.locator("tr[data-tags]:visible").count(), some);
  await page.locator(".suite h2 a").first().click();
  assert.ok(await page.locator("figure svg").count() > 3);
  await page.getByRole("link", { name: "All claims" }).click();
  assert.match(await page.locator("h1").textContent(), /claim/);
  assert.deepEqual(page.complaints, []);
});

test("no table of the site is cut, on a narrow screen or on a wide one", async () => {
  const site = join(bench.folder, "narrow");
  bench.publication(["site", site]);
  for (const name of ["index.html", "claims.html"]) {
    for (const width of [400, 1400]) {
      const page = await bench.open(join(site, name), { viewport: { width, height: 800 } });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide}`);
      assert.deepEqual(await cutFields(page), []);
      assert.deepEqual(await scrolledBoxes(page), [], `${name} at ${width}`);
      await page.context().close();
    }
  }
});

test("bars of the site tell factors apart on a narrow screen", async () => {
  const site = join(bench.folder, "bars");
  bench.publication(["site", site]);
  const page = await bench.open(join(site, "index.html"), { viewport: { width: 400, height: 800 } });
  const rows = await page.locator("tr[data-tags]").evaluateAll((all) => all.map((row) => ({
    factor: Number(/[\d.]+/.exec(row.cells[1].textContent)[0]),
    width: row.querySelector(".bar").getBoundingClientRect().width,
  })));
  const far = rows.filter(({ factor }) => factor > 8 && factor < 12);
  const near = rows.filter(({ factor }) => factor > 1 && factor < 1.3);
  assert.ok(far.length > 0 && near.length > 0, JSON.stringify(rows));
  for (const { width } of far) assert.ok(width > 120, String(width));
  for (const { width } of near) assert.ok(width < 30, String(width));
});
