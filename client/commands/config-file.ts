import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newId } from '../sockets/new-id.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** The settings that the configuration file can contain, with the names of their options. */
export const configNames = ['base-url', 'key'] as const;

export type ConfigName = (typeof configNames)[number];
export type Config = Partial<Record<ConfigName, string>>;

type Env = Terminal['env'];

/** Returns the path of the configuration file. Undefined without a home folder. */
export function configPath(env: Env): string | undefined {
  const home = env.HOME ?? env.USERPROFILE;
  const folder = env.XDG_CONFIG_HOME || env.APPDATA || (home && join(home, '.config'));
  return folder ? join(folder, 'unigate', 'config.json') : undefined;
}

/** Reads the configuration file. Throws UsageError if it is invalid. */
export function readConfig(env: Env): Config {
  const path = configPath(env);
  if (path === undefined) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const config = parse(text);
  if (!config) throw new UsageError(`${path} is not a valid configuration file; correct or delete it.`);
  return config;
}

/** Replaces the configuration file. Only the user can read it, because it contains a key. */
export function writeConfig(config: Config, env: Env): void {
  const path = configPath(env);
  if (path === undefined) throw new UsageError('There is no home folder; set HOME or XDG_CONFIG_HOME.');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const newFile = `${path}.${newId().slice(0, 8)}`;
  try {
    writeFileSync(newFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(newFile, path);
  } catch (error) {
    rmSync(newFile, { force: true });
    throw error;
  }
}

function parse(text: string): Config | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const names: readonly string[] = configNames;
  const isValid = Object.entries(data).every(
    ([name, value]) => names.includes(name) && typeof value === 'string',
  );
  return isValid ? data : undefined;
}
