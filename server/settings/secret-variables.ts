import { readFileSync } from 'node:fs';
import { SettingsError } from './settings-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the gateway whose value can be in a file that `NAME_FILE` names. */
export const secretVariables: ReadonlySet<string> = new Set([
  'BOOTSTRAP_KEY',
  'USER_ASSERTION_SECRET',
  'DATABASE_URL',
  'DATABASE_LISTEN_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
]);

/**
 * Returns a variable, or if it is unset or empty, the contents of the file that `NAME_FILE` names, without the last line
 * break. Undefined: neither is set.
 *
 * @throws SettingsError when the file cannot be read or is empty; the message does not contain its contents
 */
export function readSecret(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  const path = environment[`${name}_FILE`];
  if (value || !path) return value;
  const contents = readContents(`${name}_FILE`, path).replace(/\r?\n$/, '');
  if (contents === '') throw new SettingsError(`${name}_FILE: ${path} is empty.`);
  return contents;
}

function readContents(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new SettingsError(`${variable}: cannot read ${path} (${code}).`, { cause });
  }
}
