import { type ErrorEntry, statusesOf } from '../errors.ts';
import type { Change } from './change.ts';

type Retry = ErrorEntry['retry'];

interface Code {
  /** Retry advice by status. The status is 0 for a code that occurs in no response. */
  retries: Map<number, Retry>;
  statuses: Set<number>;
  families: Set<string>;
  texts: string;
}

/** How early a client may repeat a request. A lower value breaks clients that follow the previous advice. */
const eagerness: Readonly<Record<Retry, number>> = { never: 0, later: 1, now: 2 };

/** Compares the error codes. `operationsOf` returns the operations of an error family. */
export function errorChanges(
  base: readonly ErrorEntry[] | undefined,
  next: readonly ErrorEntry[] | undefined,
  operationsOf: (families: ReadonlySet<string>) => string[],
): Change[] {
  if (base === undefined || next === undefined) return [];
  const [before, after] = [byCode(base), byCode(next)];
  const changes = [...before].flatMap(([code, old]) => {
    const now = after.get(code);
    const operations = operationsOf(old.families);
    const changed = (severity: Change['severity'], rule: string, change: string): Change => {
      return { document: 'errors', severity, at: code, rule, change, operations };
    };
    if (now === undefined)
      return [changed('major', 'error-code-removed', `The error code ${code} was removed.`)];
    const found: Change[] = [];
    const status = lost(old.statuses, now.statuses);
    if (status !== '')
      found.push(changed('major', 'error-status-removed', `${code} no longer has status ${status}.`));
    const family = lost(old.families, now.families);
    if (family !== '')
      found.push(changed('major', 'error-family-removed', `${code} no longer occurs in family ${family}.`));
    for (const [of, retry] of old.retries) {
      const advice = now.retries.get(of);
      if (advice === undefined || advice === retry) continue;
      const name = of === 0 ? code : `${code} with status ${of}`;
      found.push(
        changed(
          eagerness[advice] < eagerness[retry] ? 'major' : 'minor',
          'error-retry-changed',
          `The retry advice of ${name} was "${retry}" and is now "${advice}".`,
        ),
      );
    }
    const moreStatuses = lost(now.statuses, old.statuses);
    if (moreStatuses !== '')
      found.push(changed('minor', 'error-status-added', `${code} can have status ${moreStatuses}.`));
    const moreFamilies = lost(now.families, old.families);
    if (moreFamilies !== '')
      found.push(changed('minor', 'error-family-added', `${code} can occur in family ${moreFamilies}.`));
    if (now.texts !== old.texts)
      found.push(changed('patch', 'documentation', `The texts of ${code} changed.`));
    return found;
  });
  const added = [...after].filter(([code]) => !before.has(code));
  return [
    ...changes,
    ...added.map(([code, { families }]): Change => {
      const change = `The error code ${code} was added.`;
      const operations = operationsOf(families);
      return {
        document: 'errors',
        severity: 'minor',
        at: code,
        rule: 'error-code-added',
        change,
        operations,
      };
    }),
  ];
}

const lost = (had: Set<unknown>, has: Set<unknown>) => [...had.difference(has)].join(', ');

function byCode(entries: readonly ErrorEntry[]): Map<string, Code> {
  const codes = new Map<string, Code>();
  for (const entry of entries) {
    const known = codes.getOrInsertComputed(entry.code, () => {
      return { retries: new Map(), statuses: new Set(), families: new Set(), texts: '' };
    });
    const statuses = statusesOf(entry);
    for (const status of statuses) known.statuses.add(status);
    for (const status of statuses.length > 0 ? statuses : [0]) known.retries.set(status, entry.retry);
    for (const family of entry.families) known.families.add(family);
    known.texts += `${entry.when}\n${entry.remedy}\n`;
  }
  return codes;
}
