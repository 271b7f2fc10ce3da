import { join } from 'node:path';
import { settle } from '../tools/drift.ts';
import { createMaker, type Outputs, readSources, type Sources } from '../tools/outputs.ts';
import { type Problem, SpecProblems } from '../tools/problem.ts';
import { openSpecs } from '../tools/specs.ts';
import { createCompatibility } from './compatibility.ts';
import { describeChanges } from './describe-changes.ts';
import { openTypes } from './types.ts';

/** Result of a run. */
export interface RunResult {
  /** Descriptions of the operations, schemas, events, error codes and models that changed since the last run. */
  changes: string[];
  /** Files of generated/ that were written or removed. */
  written: string[];
  problems: Problem[];
  /** Number of type-checked files. */
  checked: number;
  /** Duration of each step in milliseconds. */
  durations: { lint: number; files: number; types: number };
}

export interface Loop {
  /** Processes saved files. Returns undefined if a later save supersedes the run. */
  run(saved: readonly string[], isSuperseded: () => boolean): Promise<RunResult | undefined>;
  /**
   * Reports whether the contract breaks clients. Returns an empty list if the contract has not changed since the last
   * report, if it is invalid, or if the signal aborts.
   */
  checkCompatibility(signal: AbortSignal): Promise<string[]>;
  /** Type-checks the files that the last run did not check, until all are checked or the signal aborts. */
  checkRest(signal: AbortSignal): Promise<{ problems: Problem[]; checked: number }>;
  close(): Promise<void>;
}

/** Creates a loop that keeps the linter, bundler and compiler in memory for the contract below `root`. */
export async function createLoop(root: string): Promise<Loop> {
  const specs = await openSpecs(root);
  const make = createMaker(root);
  const types = await openTypes(root);
  let first: Sources | undefined;
  let previous: Sources | undefined;
  const compatibility = createCompatibility(root);
  let compared: string | undefined;
  let outputs: Outputs = new Map();
  let sourceProblems: readonly Problem[] = [];
  let written = new Set<string>();

  /** Lints and bundles. Undefined if that fails. */
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
      if (same.length > 0) await types.refresh(same.map((name) => `generated/${name}`));
      if (other.length > 0) await types.changed(other.map((name) => `generated/${name}`));
    } catch (error) {
      sourceProblems = problemsOf(error);
    }
  };

  return {
    async run(saved, isSuperseded) {
      const begun = performance.now();
      specs.forget(saved);
      const code = saved.filter((path) => path.endsWith('.ts'));
      if (code.length > 0) await types.changed(code);
      const sources = await read();
      const linted = performance.now();
      if (isSuperseded()) return undefined;
      if (sources !== undefined) await write(sources);
      const made = performance.now();
      if (isSuperseded()) return undefined;
      const checked = await types.checkNearest();
      const changes = [
        ...(previous !== undefined && sources !== undefined ? describeChanges(previous, sources) : []),
        ...saved.filter((path) => ownCode.test(path)).map((path) => `${path} takes effect at the next start`),
      ];
      previous = sources ?? previous;
      first ??= sources;
      const result = {
        changes,
        written: [...written].sort(),
        problems: [...sourceProblems, ...types.problems()],
        checked,
        durations: { lint: linted - begun, files: made - linted, types: performance.now() - made },
      };
      written = new Set();
      return result;
    },
    async checkCompatibility(signal) {
      if (previous === undefined || sourceProblems.length > 0) return [];
      const { openapi, asyncapi, errors } = previous;
      const state = JSON.stringify([openapi, asyncapi, errors]);
      if (state === compared) return [];
      compared = state;
      const lines = await compatibility.check(first ?? previous, { openapi, asyncapi, errors });
      if (!signal.aborted) return lines;
      // The next report must include this state.
      if (compared === state) compared = undefined;
      return [];
    },
    async checkRest(signal) {
      const before = new Set(types.problems().map((problem) => JSON.stringify(problem)));
      const checked = await types.checkRest(signal);
      return { checked, problems: types.problems().filter((one) => !before.has(JSON.stringify(one))) };
    },
    close: () => types.close(),
  };
}

/** Files of the loop itself. */
const ownCode = /^openapi\/(rules|tools|dev)\//;

/** Converts an error. An error without a location becomes one problem with its message. */
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

/** A source without doc comments, which contain the descriptions. */
const codeOf = (text: string | undefined) => text?.replace(/^\s*(\/\*\*|\*).*\n/gm, '');
