// Load tests as a page, as a reader's browser shows it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cutParts, root, seriousFindings, untidyTexts, workbench } from "./browser.mjs";

const hostile = "<script>document.title='mine'</script>\"'><img src=x onerror=\"document.title='mine'\">";

let bench;
let server;
const pages = {};

before(async () => {
  bench = await workbench();
  server = spawn(process.env.BOOKEND, ["serve", "--port", "0", "--threads", "1"], { cwd: root });
  const port = await new Promise((found) => {
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
      const ready = /^ready (\d+)$/m.exec(said);
      if (ready) found(ready[1]);
    });
  });
  const results = ["200", "400", "800"].map((rate) => {
    const file = join(bench.folder, `${rate}.json`);
    bench.bookend(["load", "--insecure", "--proto", "proto/helloworld.proto",
      "--call", "helloworld.Greeter/SayHello", "-d", "{}", "-r", rate, "-z", "1s", "--warmup", "300ms",
      "--live", "off", "-O", "json", "-o", file, `127.0.0.1:${port}`]);
    return file;
  });
  results.push(join(bench.folder, "hostile.json"));
  writeFileSync(results[3], spoilt(results[2]));
  pages.one = join(bench.folder, "one.html");
  bench.bookend(["report", results[0], "-o", pages.one]);
  // Beyond what a slow server answers: three seconds, for a line of latency has a point a second.
  pages.ramp = join(bench.folder, "ramp.html");
  bench.bookend(["load", "--insecure", "--proto", "proto/helloworld.proto",
    "--call", "helloworld.Greeter/SayHello", "-d", "{}", "--load-schedule", "line", "--load-start", "100",
    "--load-step", "200", "-z", "3s", "--live", "off", "-O", "html", "-o", pages.ramp, `127.0.0.1:${port}`]);
  pages.several = join(bench.folder, "several.html");
  bench.bookend(["report", ...results, "-o", pages.several]);
});

after(async () => {
  server.kill();
  await bench.close();
});

/** The result with hostile texts, failed calls and calls that were never made. */
function spoilt(file) {
  const result = JSON.parse(readFileSync(file, "utf8"));
  result.name = hostile;
  result.errorDistribution = { [hostile]: 100, [hostile.repeat(10_000)]: 3 };
  result.options.data = hostile;
  result.bookend.errors = { UNAVAILABLE: 100, [hostile]: 3 };
  result.bookend.ok -= 150;
  result.bookend.open_loop.not_made = { [hostile]: 47 };
  result.bookend.origin.command = hostile;
  return JSON.stringify(result);
}

test("load tests open from disk, ask for nothing and complain of nothing", async () => {
  for (const file of Object.values(pages)) {
    const page = await bench.open(file);
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.asked, [page.url()]);
    assert.deepEqual(await untidyTexts(page), []);
    await page.context().close();
  }
});

test("a ramp has its offered and its answered rate above its latency", async () => {
  const page = await bench.open(pages.ramp);
  const picture = page.locator("#rate-and-latency-over-time svg:visible");
  const texts = await picture.locator("text").allTextContents();
  for (const text of ["due", "answered OK", "50 %", "99 %"]) assert.ok(texts.includes(text), `${text}: ${texts}`);
  assert.equal(await picture.locator("path[stroke-width='1.8']").count(), 4);
  await page.context().close();
});

test("every picture of load tests is drawn, with its numbers one click away", async () => {
  const page = await bench.open(pages.several);
  const titles = await page.locator("figure h3").allTextContents();
  assert.deepEqual(titles, ["Rate and latency over the offered load", "Latency by percentile",
    "Rate over time", "The fate of every call"]);
  for (const figure of await page.locator("figure").all()) {
    const marks = await figure.locator("svg path").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().width > 0).length);
    assert.ok(marks > 2, await figure.getAttribute("id"));
    const numbers = figure.locator("table");
    assert.equal(await numbers.isVisible(), false);
    await figure.locator("summary").click();
    assert.equal(await numbers.isVisible(), true);
  }
});

test("what a server answered to a load test runs nowhere", async () => {
  const page = await bench.open(pages.several);
  assert.notEqual(await page.title(), "mine");
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.locator("body").textContent()).includes(hostile));
});

test("load tests can be read on a narrow screen, and axe finds nothing serious", async () => {
  for (const file of Object.values(pages)) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await bench.open(file, { colorScheme, viewport: { width: 400, height: 800 } });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 400, `${file}: ${wide}`);
      assert.deepEqual(await untidyTexts(page), []);
      assert.deepEqual(await cutParts(page), []);
      await page.locator("summary").evaluateAll((all) => all.forEach((one) => one.click()));
      assert.deepEqual(await seriousFindings(page), []);
      await page.context().close();
    }
  }
});
