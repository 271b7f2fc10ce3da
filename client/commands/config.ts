import { text as readText } from 'node:stream/consumers';
import type { Invocation } from './command-line.ts';
import {
  type Config,
  type ConfigName,
  configNames,
  configPath,
  readConfig,
  writeConfig,
} from './config-file.ts';
import { printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate config set`: stores a setting. Messages never contain the value, which may be a key. */
export async function setConfig({ text }: Invocation, terminal: Terminal): Promise<void> {
  const separator = text.indexOf('=');
  if (separator < 0) throw new UsageError('The setting must have the form NAME=VALUE.');
  const name = readName(text.slice(0, separator));
  const given = text.slice(separator + 1);
  const value = (given === '-' ? await readText(terminal.stdin) : given).trim();
  checkValue(name, value);
  writeConfig({ ...readConfig(terminal.env), [name]: value }, terminal.env);
}

/** `unigate config unset`: removes a stored setting. */
export async function unsetConfig({ text }: Invocation, terminal: Terminal): Promise<void> {
  const { [readName(text)]: _, ...others } = readConfig(terminal.env);
  writeConfig(others, terminal.env);
}

/** `unigate config show`: prints the stored settings, without the key. */
export async function showConfig({ options }: Invocation, terminal: Terminal): Promise<void> {
  const { key, 'base-url': url } = readConfig(terminal.env);
  const shown: Config & { file?: string | undefined } = {
    file: configPath(terminal.env),
    ...(url !== undefined && { 'base-url': url }),
    ...(key !== undefined && { key: '***' }),
  };
  const rows = Object.entries(shown).map(([name, value]) => [name, value ?? '']);
  printTable(terminal, options, rows, shown);
}

function readName(text: string): ConfigName {
  const name = configNames.find((known) => known === text);
  if (name === undefined) throw new UsageError(`The name must be one of ${configNames.join(', ')}.`);
  return name;
}

function checkValue(name: ConfigName, value: string): void {
  if (name === 'key' && !/^[\x21-\x7e]+$/.test(value))
    throw new UsageError('key must be one word of ASCII characters.');
  if (name === 'base-url' && !(URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)))
    throw new UsageError('base-url must be an http or https URL.');
}
