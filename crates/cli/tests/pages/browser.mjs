// A browser for all tests of a file, and what pages are made of.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const root = process.env.BOOKEND_ROOT;

/** A folder that goes away with `close`, and a browser without a network. */
export async function workbench() {
  const folder = mkdtempSync(join(tmpdir(), "bookend-pages-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
  });
  return {
    folder,
    bookend(words, cwd = root) {
      return execFileSync(process.env.BOOKEND, words, { cwd, encoding: "utf8" });
    },
    publication(words, cwd = root) {
      return execFileSync(process.env.PUBLICATION, words, { cwd, encoding: "utf8" });
    },
    open: (file, options) => open(browser, file, options),
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Opens a file or an address, and notes what the page complains of and what it asks for. */
async function open(browser, file, options = {}) {
  // Not `bypassCSP`: what the page's own policy allows is part of what is tested.
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.asked = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => page.asked.push(request.url()));
  await page.goto(file.startsWith("http:") ? file : pathToFileURL(file).href);
  return page;
}

/** What axe finds and calls serious or critical. */
export async function seriousFindings(page) {
  // Playwright evaluates beside the page's policy, which allows no script but the page's own.
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run());
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

/** Texts of pictures that leave their picture or lie over each other, in words. */
export function untidyTexts(page) {
  return page.evaluate(() => {
    const found = [];
    for (const picture of document.querySelectorAll("svg")) {
      const whole = picture.getBoundingClientRect();
      const texts = [...picture.querySelectorAll("text")];
      const boxes = texts.map((text) => ({ words: text.textContent, box: text.getBoundingClientRect() }));
      const name = picture.getAttribute("aria-label");
      for (const { words, box } of boxes) {
        const inside = box.left >= whole.left - 1 && box.right <= whole.right + 1
          && box.top >= whole.top - 1 && box.bottom <= whole.bottom + 1;
        if (!inside) found.push(`${name}: "${words}" is cut`);
      }
      for (let i = 0; i < boxes.length; i += 1) {
        for (let k = i + 1; k < boxes.length; k += 1) {
          const [a, b] = [boxes[i].box, boxes[k].box];
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          // Lines of text stand closer than their boxes, which have room for accents.
          if (wide > 1.5 && high > 4) found.push(`${name}: "${boxes[i].words}" over "${boxes[k].words}"`);
        }
      }
    }
    return found;
  });
}

/**
 * What a reader cannot get at, in words: parts of the page that are cut by its edge, pictures that are
 * wider than their place, and boxes that scroll without saying so. Folded parts are opened first.
 */
export async function cutParts(page) {
  await page.locator("summary").evaluateAll((all) => all.forEach((one) => { one.parentElement.open = true; }));
  // Boxes are marked as they are laid out.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => requestAnimationFrame(done)))));
  return page.evaluate(() => {
    const found = [];
    const edge = document.documentElement.clientWidth + 1;
    const name = (part) => `${part.localName} "${(part.getAttribute("aria-label") || part.textContent).slice(0, 60)}"`;
    for (const part of document.querySelectorAll("body *:not(svg *)")) {
      const box = part.getBoundingClientRect();
      const scrolls = part.parentElement.closest(".scroll");
      if (!scrolls && box.width > 0 && box.right > edge) found.push(`${name(part)} leaves the page`);
    }
    for (const box of document.querySelectorAll(".scroll")) {
      const isWider = box.scrollWidth > box.clientWidth + 1;
      const style = getComputedStyle(box);
      if (isWider && !["auto", "scroll"].includes(style.overflowX)) found.push(`${name(box)} is cut`);
      const hint = getComputedStyle(box, "::before").content;
      if (isWider !== hint.includes("scroll")) found.push(`${name(box)}: wider ${isWider}, hint ${hint}`);
      for (const svg of box.querySelectorAll(":scope > svg")) {
        const wide = svg.getBoundingClientRect().width;
        if (wide > box.clientWidth + 1) found.push(`${name(svg)} is wider than its place`);
      }
    }
    for (const cell of document.querySelectorAll("td")) {
      // A figure stands on one line: what is broken is words.
      const range = document.createRange();
      range.selectNodeContents(cell);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (/^[\d.]+( \S{1,3})?$/.test(cell.textContent.trim()) && lines.size > 1) {
        found.push(`${name(cell)} is broken`);
      }
    }
    return found;
  });
}

/** Fields of tables and bars that nobody can see whole, in words: cut by the screen, and by no box that scrolls. */
export function cutFields(page) {
  return page.evaluate(() => [...document.querySelectorAll("th, td, .bar, p, h1, h2, h3, li")]
    .filter((field) => field.checkVisibility() && !field.closest("thead, details:not([open])"))
    .filter((field) => {
      const box = field.getBoundingClientRect();
      const scrolls = field.closest(".scroll");
      const room = scrolls && scrolls.scrollWidth > scrolls.clientWidth && getComputedStyle(scrolls).overflowX === "auto";
      return !room && (box.left < 0 || box.right > innerWidth || field.scrollWidth > field.clientWidth + 1 && field.clientWidth > 0);
    })
    .map((field) => `${field.tagName} "${field.textContent.slice(0, 60)}"`));
}

/** The widths of boxes that have to be scrolled, by their labels. */
export function scrolledBoxes(page) {
  return page.evaluate(() => [...document.querySelectorAll(".scroll")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.getAttribute("aria-label")}: ${box.scrollWidth} in ${box.clientWidth}`));
}
