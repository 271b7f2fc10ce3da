import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Finding } from './lint.ts';

/** Permits the findings in a line of a file that contains a text. */
export interface Exception {
  file: string;
  text: string;
  reason: string;
}

/** Reads exceptions.yaml. Throws if an entry has no reason. */
export function readExceptions(): Exception[] {
  const exceptions = parse(readFileSync(join(import.meta.dirname, 'exceptions.yaml'), 'utf8')) as Exception[];
  if (!exceptions.every(({ reason }) => typeof reason === 'string' && reason !== ''))
    throw new Error('exceptions.yaml: an entry has no reason.');
  return exceptions;
}

const covers = ({ file, text }: Exception, finding: Finding) =>
  finding.file === file && finding.excerpt.includes(text);

/** Returns the findings that no exception permits, and the exceptions that permit none. */
export function withoutExceptions(
  findings: readonly Finding[],
  exceptions: readonly Exception[],
): { findings: Finding[]; unused: Exception[] } {
  return {
    findings: findings.filter((finding) => !exceptions.some((exception) => covers(exception, finding))),
    unused: exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding))),
  };
}
