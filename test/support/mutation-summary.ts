interface Place {
  line: number;
  column: number;
}

/** What the mutation tester reports, as far as it is read here (mutation-testing-report-schema). */
export interface MutationReport {
  files: Readonly<
    Record<
      string,
      {
        source: string;
        mutants: readonly {
          mutatorName: string;
          replacement?: string;
          status: string;
          location: { start: Place; end: Place };
        }[];
      }
    >
  >;
}

/** How it is told what became of a change, where that is not simply that a test failed. */
const hows: Readonly<Record<string, string>> = {
  Timeout: 'ran out of time',
  Survived: 'survived',
  NoCoverage: 'not reached',
};

/** A replacement longer than this is shortened, in characters. */
const maxShown = 60;

/**
 * The changes that no test noticed, one a line by file and place, those that ran out of time, which is noticed too and may be a
 * busy machine's doing, then a line for each file and one for all.
 *
 * @returns `score`: percentage of changes that were noticed, of those that could be tried; 100 where there were none
 */
export function summarize({ files }: MutationReport): { lines: string[]; score: number } {
  const survivors: string[] = [];
  const late: string[] = [];
  const scores: string[] = [];
  let [noticed, tried] = [0, 0];
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const text = source.split('\n');
    let [noticedHere, triedHere] = [0, 0];
    for (const { mutatorName, replacement = '', status, location } of mutants) {
      // A change that does not compile, or that was told to be left alone, is none.
      if (!['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status)) continue;
      triedHere += 1;
      if (status === 'Killed' || status === 'Timeout') noticedHere += 1;
      if (status === 'Killed') continue;
      const { start, end } = location;
      const line = text[start.line - 1] ?? '';
      const was = line.slice(start.column - 1, end.line === start.line ? end.column - 1 : undefined);
      const how = hows[status] ?? status;
      const lines = status === 'Timeout' ? late : survivors;
      lines.push(
        `${file}:${start.line}:${start.column} ${how}: ${mutatorName} ${short(was)} → ${short(replacement)}`,
      );
    }
    scores.push(`${percent(noticedHere, triedHere)} ${file} (${noticedHere} of ${triedHere})`);
    noticed += noticedHere;
    tried += triedHere;
  }
  const score = tried === 0 ? 100 : (100 * noticed) / tried;
  const all = `${percent(noticed, tried)} noticed: ${noticed} of ${tried} changes, ${survivors.length} not`;
  return { lines: [...survivors, ...late, ...scores, all], score };
}

function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 100 : (100 * part) / whole).toFixed(1).padStart(5)} %`;
}

function short(text: string): string {
  const flat = text.replace(/\s+/g, ' ');
  return flat.length > maxShown ? `${flat.slice(0, maxShown)}…` : flat;
}
