import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { parse } from 'yaml';
import type { Finding } from './lint.ts';

/** Permits the findings in a line of a file that contains a text. */
export interface Exception {
  file: string;
  text: string;
  reason: string;
}

export interface Exceptions {
  /** Globs of files that are not checked yet, with the reason. */
  pending: Readonly<Record<string, string>>;
  /** Globs of files that are checked although a pending glob includes them. */
  checked: readonly string[];
  exceptions: readonly Exception[];
}

/** Reads exceptions.yaml. Throws if an entry has no reason. */
export function readExceptions(): Exceptions {
  const text = readFileSync(join(import.meta.dirname, 'exceptions.yaml'), 'utf8');
  const found = parse(text) as Exceptions;
  const reasons = [...Object.values(found.pending), ...found.exceptions.map(({ reason }) => reason)];
  if (!reasons.every((reason) => typeof reason === 'string' && reason !== ''))
    throw new Error('exceptions.yaml: an entry has no reason.');
  return found;
}

/** Whether a file is not checked yet. */
export function isPending({ pending, checked }: Exceptions, file: string): boolean {
  const isIn = (glob: string) => matchesGlob(file, glob);
  return Object.keys(pending).some(isIn) && !checked.some(isIn);
}

const covers = ({ file, text }: Exception, finding: Finding) =>
  finding.file === file && finding.excerpt.includes(text);

/** Returns the findings that no exception permits, and the exceptions that permit none. */
export function withoutExceptions(
  findings: readonly Finding[],
  { exceptions }: Exceptions,
): { findings: Finding[]; unused: Exception[] } {
  return {
    findings: findings.filter((finding) => !exceptions.some((exception) => covers(exception, finding))),
    unused: exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding))),
  };
}
