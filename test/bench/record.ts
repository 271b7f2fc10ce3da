import { appendFile, readFile } from 'node:fs/promises';
import { git } from './checkout.ts';
import { maxLoad } from './verdict.ts';
import type { Comparison } from './versions.ts';

/** A verdict about a commit, or `busy` if the machine had too much other load to measure it. */
export interface VerdictRow {
  /** Day in UTC. */
  date: string;
  commit: string;
  /** The commit that it was compared with. */
  base: string;
  caseName: string;
  /** Undefined if the machine was busy. */
  result: Omit<Comparison, 'title'> | undefined;
  /** Load average per core before the measurement. */
  load: number;
  /** CPU time of other processes during it, per core and second. Undefined if it is not known. */
  otherLoad: number | undefined;
}

/** The part of a row that decides about the next comparison. */
export type RecordedCommit = Pick<VerdictRow, 'commit' | 'base'> & { isMeasured: boolean };

const columns = [
  'date',
  'commit',
  'compared with',
  'case',
  'measure',
  'ratio',
  '95 % interval',
  'verdict',
  'load per core before',
  'other load during',
] as const;
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const head = [line(columns), `|${'---|'.repeat(columns.length)}`].join('\n');
const commitLength = 12;

export function formatRow({ date, commit, base, caseName, result, load, otherLoad }: VerdictRow): string {
  const measured =
    result === undefined
      ? ['', '', '', 'busy']
      : [
          result.measure,
          result.ratio.toFixed(3),
          `${result.interval.low.toFixed(3)} to ${result.interval.high.toFixed(3)}`,
          result.verdict,
        ];
  const [commitId, baseId] = [commit, base].map((id) => id.slice(0, commitLength));
  return line([
    date,
    commitId ?? '',
    baseId ?? '',
    caseName,
    ...measured,
    load.toFixed(2),
    otherLoad?.toFixed(2) ?? '',
  ]);
}

/** Reads the rows of a table, oldest first. @throws Error if a line is not a row of it */
export function readTable(text: string): RecordedCommit[] {
  if (text.trim() === '') return [];
  if (!text.startsWith(`${head}\n`))
    throw new Error('The file of --record must be empty or a table that --record has created.');
  const rows = text.slice(head.length).split('\n').filter(Boolean);
  return rows.map((row) => {
    const [, , commit = '', base = '', , , , , verdict] = row.split('|').map((cell) => cell.trim());
    if (!/^[0-9a-f]+$/.test(commit) || !/^[0-9a-f]+$/.test(base))
      throw new Error(`The table of --record has an invalid row: ${row}`);
    return { commit, base, isMeasured: verdict !== 'busy' };
  });
}

/**
 * Returns the commit to compare `head` with: the last measured one. Commits for which the machine was busy are skipped, so
 * that their changes are part of the next comparison. Commits that no longer exist are skipped, too.
 */
export function selectBase(
  rows: readonly RecordedCommit[],
  headCommit: string,
  exists: (commit: string) => boolean,
): string {
  const earlier = rows.filter(({ commit }) => !headCommit.startsWith(commit));
  const measured = earlier.filter(({ commit, isMeasured }) => isMeasured && exists(commit)).at(-1);
  if (measured !== undefined) return measured.commit;
  const oldest = earlier.find(({ base }) => exists(base) && !headCommit.startsWith(base));
  return oldest?.base ?? `${headCommit}~1`;
}

/** The table of verdicts, for the commit of this checkout. */
export class VerdictTable {
  /** The commit to compare with. */
  readonly base: string;
  readonly #file: string;
  readonly #commit: string;

  private constructor(file: string, commit: string, base: string) {
    this.#file = file;
    this.#commit = commit;
    this.base = base;
  }

  /** @throws Error if the checkout has uncommitted changes or the file contains anything else */
  static async open(file: string): Promise<VerdictTable> {
    if ((await git('status', '--porcelain', '--untracked-files=no')) !== '')
      throw new Error('--record requires a checkout without uncommitted changes.');
    const commit = await git('rev-parse', 'HEAD');
    const rows = readTable(await readText(file));
    const mentioned = [...new Set(rows.flatMap((row) => [row.commit, row.base]))];
    const known = await Promise.all(mentioned.map(isCommit));
    const existing = new Set(mentioned.filter((_, index) => known[index]));
    return new VerdictTable(
      file,
      commit,
      selectBase(rows, commit, (one) => existing.has(one)),
    );
  }

  /** Appends the verdicts of a case. `results` is empty if the machine was busy. */
  async append(
    results: readonly VerdictRow['result'][],
    row: Omit<VerdictRow, 'date' | 'commit' | 'result'>,
  ): Promise<void> {
    const date = new Date().toISOString().slice(0, 10);
    const measured = results.length > 0 ? results : [undefined];
    await appendRows(
      this.#file,
      measured.map((result) => ({ ...row, date, commit: this.#commit, result })),
    );
  }
}

const isCommit = (commit: string) =>
  git('cat-file', '-e', `${commit}^{commit}`).then(
    () => true,
    () => false,
  );

/** Appends rows to a table. Creates it if the file does not exist or is empty. */
export async function appendRows(file: string, rows: readonly VerdictRow[]): Promise<void> {
  const isNew = (await readText(file)).trim() === '';
  await appendFile(file, [...(isNew ? [head] : []), ...rows.map(formatRow), ''].join('\n'));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

const pollMs = 5_000;
/** The load average of an idle machine falls by two thirds in a minute. */
const maxPolls = 36;

/** Waits up to 3 minutes until the load of an earlier step, such as an installation, has ended. Returns the load per core. */
export async function waitForIdle(
  readLoad: () => number,
  delay: (ms: number) => Promise<void>,
): Promise<number> {
  for (let polls = 0; polls < maxPolls && readLoad() > maxLoad; polls += 1) await delay(pollMs);
  return readLoad();
}
