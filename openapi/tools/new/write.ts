import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Changes } from './definitions.ts';
import { CannotCreate } from './new-operation.ts';

/** One run of the command, so that it can be undone. */
interface Run {
  /** File -> its text. */
  created: Record<string, string>;
  /** File -> the added lines and their position. */
  added: Record<string, { at: number; lines: string[] }[]>;
}

/** Where the runs in a folder are recorded. Copies of the checkout may share `node_modules`. */
const recordOf = (root: string) =>
  `node_modules/.cache/new-${createHash('sha256').update(resolve(root)).digest('hex').slice(0, 16)}.json`;

/** Creates and changes the files, and records the run. Throws CannotCreate if a file to create exists. */
export function write(root: string, { created, changed }: Pick<Changes, 'created' | 'changed'>): void {
  const existing = [...created.keys()].filter((file) => existsSync(join(root, file)));
  if (existing.length > 0)
    throw new CannotCreate(`${existing.join(' and ')} already exists; nothing was written`);
  const run: Run = { created: Object.fromEntries(created), added: {} };
  for (const [file, text] of changed)
    run.added[file] = additions(readFileSync(join(root, file), 'utf8'), text);
  for (const [file, text] of [...created, ...changed]) save(root, file, text);
  save(root, recordOf(root), JSON.stringify([...runs(root), run]));
}

/**
 * Undoes the last recorded run: deletes the created files and the added lines. Returns the files. Throws CannotCreate if
 * one of them was edited since then.
 */
export function undo(root: string): { deleted: string[]; restored: string[] } {
  const all = runs(root);
  const run = all.at(-1);
  if (run === undefined) throw new CannotCreate('there is no run to undo');
  const edited = Object.entries(run.created).filter(([file, text]) => textOf(root, file) !== text);
  const restored = new Map<string, string | undefined>();
  for (const [file, added] of Object.entries(run.added))
    restored.set(file, without(textOf(root, file), added));
  const changed = [...restored].filter(([, text]) => text === undefined);
  const files = [...edited, ...changed].map(([file]) => file);
  if (files.length > 0)
    throw new CannotCreate(`${files.join(' and ')} was edited since then; nothing was undone`);
  for (const file of Object.keys(run.created)) rmSync(join(root, file));
  for (const [file, text] of restored) save(root, file, text ?? '');
  save(root, recordOf(root), JSON.stringify(all.slice(0, -1)));
  return { deleted: Object.keys(run.created), restored: [...restored.keys()] };
}

const runs = (root: string): Run[] => JSON.parse(textOf(root, recordOf(root)) ?? '[]') as Run[];

function textOf(root: string, file: string): string | undefined {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function save(root: string, file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

/** The blocks of lines that the new text has in addition to the old one. */
function additions(before: string, after: string): Run['added'][string] {
  const old = before.split('\n');
  const blocks: Run['added'][string] = [];
  let index = 0;
  for (const [at, line] of after.split('\n').entries()) {
    if (line === old[index]) {
      index += 1;
      continue;
    }
    const last = blocks.at(-1);
    if (last !== undefined && last.at + last.lines.length === at) last.lines.push(line);
    else blocks.push({ at, lines: [line] });
  }
  return blocks;
}

/** Removes the blocks from a text, wherever they are now. Undefined if a block is not there exactly once. */
function without(text: string | undefined, blocks: Run['added'][string]): string | undefined {
  let lines = text?.split('\n');
  for (const { lines: block } of blocks) {
    if (lines === undefined) return undefined;
    const current = lines;
    const places = [...current.keys()].filter((at) =>
      block.every((line, index) => current[at + index] === line),
    );
    const [place] = places;
    lines = place === undefined || places.length > 1 ? undefined : current.toSpliced(place, block.length);
  }
  return lines?.join('\n');
}
