// The stored results and a run that goes on, as the reader's browser shows them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { cutFields, root, scrolledBoxes, seriousFindings, untidyTexts, workbench } from "./browser.mjs";

const run = ["run", "hello", "--quick", "--quiet", "--wait-for-lock",
  "--subjects-dir", "subjects", "--suites", "suites"];

let bench;
let server;
let address;

before(async () => {
  bench = await workbench();
  project(bench.folder);
  for (let i = 0; i < 2; i += 1) bench.bookend([...run, "--rounds", "2"], bench.folder);
  server = spawn(process.env.BOOKEND, ["ui"], { cwd: bench.folder });
  [address] = await once(createInterface(server.stdout), "line");
});

after(async () => {
  server.kill();
  await bench.close();
});

/** A suite of one cell: our server, called by our generator. */
function project(folder) {
  const write = (name, text) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const bookend = JSON.stringify(process.env.BOOKEND);
  const subject = (name, roles, words) => write(`subjects/${name}/subject.toml`, `name = "${name}"
language = "Rust"
description = "for a test"
roles = ["${roles}"]
version = [${bookend}, "--version"]
run = [${bookend}, ${words}]
`);
  subject("served", "server", '"serve", "--port", "0"');
  subject("caller", "instrument", `"load", "--insecure", "--proto", "{proto}", "--call", "{method}",
    "-D", "{data_file}", "--connections", "{connections}", "-c", "{concurrency}",
    "--warmup", "{warmup_ms}ms", "-z", "{measure_ms}ms", "{target}"`);
  const schedule = `warmup = "100ms"
window = "300ms"
grid = [{ connections = 1, concurrency = [2] }]
`;
  for (const name of ["helloworld.proto", "helloworld.json"]) {
    write(`suites/hello/${name}`, readFileSync(join(root, "proto", name)));
  }
  write("suites/hello/suite.toml", `name = "hello"
title = "a server of our own"
analysis = ""
instruments = ["caller"]
[request]
method = "helloworld.Greeter/SayHello"
proto = "helloworld.proto"
json = "helloworld.json"
[limits]
server_cpus = 1.0
[[subjects]]
name = "served"
baseline = true
[full]
rounds = 10
${schedule}[quick]
rounds = 7
${schedule}`);
}

test("the list leads to a result, a comparison and a history, by keyboard too", async () => {
  const page = await bench.open(address);
  assert.equal(await page.locator("tbody tr").count(), 2);
  await page.getByRole("button", { name: "Compare the two" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/compare\?run=2&run=1$/);
  assert.match(await page.locator("h1").textContent(), /^Run 2 over run 1$/);
  await page.getByRole("link", { name: "All results" }).click();
  await page.getByRole("link", { name: "1", exact: true }).click();
  assert.ok(await page.locator("#method").count() === 1);
  await page.getByText("Each cell over all runs").click();
  await page.getByRole("link", { name: "served C=1 S=2 via caller" }).click();
  assert.ok(await page.locator("figure svg circle").count() >= 2);
  assert.deepEqual(page.complaints, []);
});

test("every page can be read on a narrow and on a wide screen, light and dark", async () => {
  for (const path of ["", "runs/1", "runs/1/cells/0", "compare?run=2&run=1"]) {
    for (const [width, colorScheme] of [[400, "dark"], [1600, "light"]]) {
      const page = await bench.open(address + path, { colorScheme, viewport: { width, height: 800 } });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${path}: ${wide}`);
      assert.deepEqual(await untidyTexts(page), []);
      assert.deepEqual(await cutFields(page), []);
      if (path === "") assert.deepEqual(await scrolledBoxes(page), []);
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(page.complaints, []);
      await page.context().close();
    }
  }
});

test("one tick alone compares nothing", async () => {
  const page = await bench.open(address);
  const button = page.getByRole("button", { name: "Compare the two that are ticked" });
  const ticked = () => page.locator("input[name=run]:checked").evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(await ticked(), ["2", "1"]);
  await page.getByLabel("compare run 2").uncheck();
  assert.equal(await button.isDisabled(), true);
  await page.getByLabel("compare run 2").check();
  assert.equal(await button.isDisabled(), false);
});

test("a live run appears and moves without a reload", async () => {
  const page = await bench.open(address);
  await page.evaluate(() => { globalThis.stayed = true; });
  const status = page.getByRole("status");
  const going = spawn(process.env.BOOKEND, [...run, "--rounds", "8"], { cwd: bench.folder, stdio: "ignore" });
  // A round may be over between two looks at the store, so no certain one is waited for.
  for (const text of [/Run 3, hello: [0-7] of 8 /, /Run 3, hello: ended /]) {
    await status.filter({ hasText: text }).waitFor();
  }
  assert.equal(await page.evaluate(() => globalThis.stayed), true);
  if (going.exitCode === null) await once(going, "exit");
  await page.getByRole("link", { name: "Its page" }).click();
  await page.waitForURL(/runs\/3$/);
  assert.deepEqual(page.complaints, []);
});

test("a third tick takes the place of the first", async () => {
  const page = await bench.open(address);
  const ticked = () => page.locator("input[name=run]:checked").evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(await ticked(), ["3", "2"]);
  await page.getByLabel("compare run 1").check();
  assert.deepEqual(await ticked(), ["2", "1"]);
  assert.deepEqual(page.complaints, []);
});
