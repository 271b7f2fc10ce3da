import { join } from 'node:path';
import { settle } from '../tools/drift.ts';
import { createMaker, type Outputs, readSources, type Sources } from '../tools/outputs.ts';
import { type Problem, SpecProblems } from '../tools/problem.ts';
import { openSpecs } from '../tools/specs.ts';
import { openTypes } from './types.ts';
import { changesInWords } from './words.ts';

/** What came of a save. */
export interface Verdict {
  /** Operations, schemas, events, error codes and models that are other than at the last verdict, in words. */
  changes: string[];
  /** Files of generated/ that were written or taken away. */
  written: string[];
  problems: Problem[];
  /** Files whose types were checked. */
  checked: number;
  /** Milliseconds of each step. */
  took: { lint: number; files: number; types: number };
}

export interface Loop {
  /** Carries a save through; undefined when something else was saved meanwhile, which then has to be carried through. */
  run(saved: readonly string[], isOvertaken: () => boolean): Promise<Verdict | undefined>;
  /** Checks the types of all files that the last verdict left out, until they are done or the signal comes. */
  rest(signal: AbortSignal): Promise<{ problems: Problem[]; checked: number }>;
  close(): Promise<void>;
}

/** Keeps linter, bundler and compiler warm for the contract below `root`. */
export async function createLoop(root: string): Promise<Loop> {
  const specs = await openSpecs(root);
  const make = createMaker(root);
  const types = await openTypes(root);
  let told: Sources | undefined;
  let outputs: Outputs = new Map();
  let sourceProblems: readonly Problem[] = [];
  let written = new Set<string>();

  /** Lints and bundles; undefined when that cannot be. */
  const read = async (): Promise<Sources | undefined> => {
    try {
      sourceProblems = [];
      return await readSources(root, specs);
    } catch (error) {
      sourceProblems = problemsOf(error);
      return undefined;
    }
  };

  const write = async (sources: Sources) => {
    try {
      const before = outputs;
      outputs = await make(sources);
      const names = await settle(join(root, 'generated'), outputs);
      for (const name of names) written.add(name);
      const code = names.filter((name) => name.endsWith('.ts'));
      const [same, other] = [code.filter(isSame), code.filter((name) => !isSame(name))];
      function isSame(name: string) {
        return codeOf(before.get(name)) === codeOf(outputs.get(name));
      }
      if (same.length > 0) await types.moved(same.map((name) => `generated/${name}`));
      if (other.length > 0) await types.changed(other.map((name) => `generated/${name}`));
    } catch (error) {
      sourceProblems = problemsOf(error);
    }
  };

  return {
    async run(saved, isOvertaken) {
      const begun = performance.now();
      specs.forget(saved);
      const code = saved.filter((path) => path.endsWith('.ts'));
      if (code.length > 0) await types.changed(code);
      const sources = await read();
      const linted = performance.now();
      if (isOvertaken()) return undefined;
      if (sources !== undefined) await write(sources);
      const made = performance.now();
      if (isOvertaken()) return undefined;
      const checked = await types.checkNearest();
      const changes = [
        ...(told !== undefined && sources !== undefined ? changesInWords(told, sources) : []),
        ...saved.filter((path) => ownCode.test(path)).map((path) => `${path} is used from the next start on`),
      ];
      told = sources ?? told;
      const verdict = {
        changes,
        written: [...written].sort(),
        problems: [...sourceProblems, ...types.problems()],
        checked,
        took: { lint: linted - begun, files: made - linted, types: performance.now() - made },
      };
      written = new Set();
      return verdict;
    },
    async rest(signal) {
      const before = new Set(types.problems().map((problem) => JSON.stringify(problem)));
      const checked = await types.checkRest(signal);
      return { checked, problems: types.problems().filter((one) => !before.has(JSON.stringify(one))) };
    },
    close: () => types.close(),
  };
}

/** What this loop itself is made of. */
const ownCode = /^openapi\/(rules|tools|dev)\//;

/** What a generator throws without a place is told as it is. */
const problemsOf = (error: unknown): readonly Problem[] =>
  error instanceof SpecProblems
    ? error.problems
    : [
        {
          file: 'generated',
          severity: 'error',
          message: error instanceof Error ? error.message : String(error),
        },
      ];

/** A source without its doc comments, which is what descriptions become. */
const codeOf = (text: string | undefined) => text?.replace(/^\s*(\/\*\*|\*).*\n/gm, '');
